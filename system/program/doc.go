// Package program starts programs that run beside Thresh: a [Child] that speaks
// on its standard streams, a [Service] at an address. Each is a process group
// of its own that is killed whole, also when Thresh is killed; a service that
// dies is started again, though not for ever.
//
// What programs that are run to their end for each case need is package
// system/command; this one serves agents and systems. It must not import a
// contract or another edge.
package program
