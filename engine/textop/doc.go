// Package textop makes variants of prompts: operators that turn one text into
// another, by the rules of the Operator Contract v0.1, and a set of built-in
// ones. Same text, same context, same generator: same child and same trace.
//
// Start at [Operator] and [Run]. [Meta] is what an operator says of itself,
// [Context] what it is given, [Result] and its [Step] what it answers.
// [Deriver] and [Streams] give every test case its own generators, by
// section 7.3 of the contract. [Normalize] is what happens to a text when it
// comes in, [Guard] what happens to a child before it goes out. [Builtins]
// lists the operators of the house, one file a family.
//
// The rules come from the contract and, where it is silent, from what tools
// that implement it are known to do; vectors are in testdata. Lengths are
// Unicode code points. Operators are text in, text out: bytes appear inside a
// pure function at most. An operator that moves or deletes text keeps what a
// reader sees as one character whole.
//
// What operators add to a text is a generic probe for one's own system: it
// asks for a marker word and for nothing else.
//
// The package imports the standard library, golang.org/x/text, diag and lower
// engines. It knows no contract and no plug-in host, and reads no clock, file
// or global randomness.
package textop
