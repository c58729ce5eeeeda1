// Package judge decides whether a system behaved as allowed, from the trace of
// one case: the ordered events of messages, calls of tools and models, and
// faults.
//
// A [Rule] comes from a document: how often an event may occur, what must come
// before it, what it must never follow. The checks of [Checks] need no document:
// they know what no agent should do. A check that cannot be decided, because
// calls were not seen, says [Unknown], never [Pass].
//
// The package is pure: a trace in, a verdict with its reason out. It knows no
// format and no system; whoever saw the events makes the trace.
package judge
