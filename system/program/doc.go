// Package program starts programs that run beside Thresh: a [Child] that speaks on its standard
// streams, a [Service] at an address. Each has its own process group, which is killed as a whole,
// even when Thresh is killed; a service that dies is restarted a limited number of times.
//
// It serves agents and systems; package system/command runs programs to their end for each case. It
// must not import a contract or another edge.
package program
