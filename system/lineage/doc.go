// Package lineage finds and kills what a process has left running: also what
// went into its own session and what lost its parents. It marks a process,
// and all descendants inherit the mark.
//
// It is for targets that keep a process over many cases, such as started agents
// and hosts; system/command, which starts one for every case, hunts in its own,
// quicker way.
package lineage
