// Package lineage finds and kills the processes that a process has left running, including those
// that moved to their own session or lost their parents. It marks a process, and all descendants
// inherit the mark.
//
// It is for processes that live over many cases, such as started agents and hosts; system/command,
// which starts a process for every case, has its own, faster way.
package lineage
