// Package system runs a system file as a campaign: it calls every operation
// with inputs made from the operation's schema, valid ones and ones that break
// one rule each, and reports what fails: a crash, a hang, a 5xx, an answer or a
// status that the description does not allow, a tool that reports an error of
// its runtime.
//
// Operations that write are called only if the user says so. The package may not
// import another contract or an edge; it reaches the system through the opener
// that it is given. Start at [New].
package system
