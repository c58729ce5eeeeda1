// Package python runs Python code in python3 processes: commands, operators and agents, in the
// terms of port/pyhost. [OpenCommander], [OpenOperators] and [OpenAgent] implement its openers.
//
// A lane has one warm process, the zygote: an interpreter that has loaded the embedded host (folder
// host, standard library only) and, except for a system, nothing of the user's. It forks a child
// for each case, so a case costs a fork instead of the start of an interpreter and sees nothing of
// another case's modules, environment or output. A child has its own session. Its standard output
// and error are pipes that no other case holds, so the output of its own children is captured, too.
// The child and this process communicate only through a separate socket.
//
// No case is trusted to end by itself: it is killed at its time limit, and the zygote, which adopts
// all orphans, finds and kills what it leaves running. A damaged zygote is replaced, and its
// descendants are found by their mark (see system/lineage).
//
// Outside package system and its parts, the package imports only ports and diag; it must not import
// a contract, run, store or report. Start reading at zygote.go.
package python
