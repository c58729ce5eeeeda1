// Package python runs Python code in python3 processes: commands, operators
// and agents, in the terms of port/pyhost. [OpenCommander], [OpenOperators]
// and [OpenAgent] are the openers that are named there.
//
// A lane has one warm process, the zygote: an interpreter that has loaded the
// embedded host (folder host, standard library only) and nothing of the user's.
// It forks a child for each case, so that a case costs a fork instead of the
// start of an interpreter and can see nothing of another one's modules,
// environment or output. A child is its own session. Its standard output and
// error are pipes that nobody else holds, so that what its own children write
// is caught too; what is said between it and this process goes over a socket
// of its own, never over those.
//
// Nothing that a case does is trusted to end by itself: it is killed at its time
// limit, and what it leaves running is hunted down by the zygote, to which all
// orphans come; a zygote that is hurt is replaced, and what it had below it is
// found by the mark that it bears (see system/lineage).
//
// The package imports port/pyhost, port/process and diag; it must not
// import a contract, run, store or report. Start reading at zygote.go.
package python
