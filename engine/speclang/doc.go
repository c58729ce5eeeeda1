// Package speclang evaluates spec-lang v1, the expression language of Spec-Test
// contracts: lists whose first element names a form or a builtin, evaluated
// against one subject within limits on steps, nodes, literal bytes and time.
//
// The rules are those of the Spec-Test contract. Where it is silent, the
// answers are those of its Python implementation (code points, truth, 1 == 1.0
// == true, str() of values). An expression is compiled once, with [Compile],
// and evaluated many times, perhaps concurrently, with [Program.Eval]. As the
// language demands, malformed forms are errors only when they are reached;
// [Program.Problems] lists those that are known beforehand.
//
// The package is pure: clocks and file systems come in as functions ([Host]).
// It imports diag, engine/match, engine/jsontree and engine/doctree.
package speclang
