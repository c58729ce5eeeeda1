// Package solve finds values for variables of finite domains that meet
// conditions, or proves that there are none, or reports that it gave up. It
// never confuses the three.
//
// A condition is any function of a partial assignment that answers true, false
// or unknown (Kleene's three values), so a caller's own expressions can be
// solved without translation. A condition over few values is compiled once to
// clauses over value sets; a larger one is evaluated directly. The search is
// backtracking with unit propagation, and learns from each dead end which
// choices together caused it (a no-good), so that it never meets the same one
// twice. Its budget is a number of choices, not of seconds: equal questions get
// equal answers on every machine.
//
// The package is pure and imports the standard library alone. Start reading at
// Solver.Solve.
package solve
