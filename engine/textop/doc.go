// Package textop makes variants of prompts: operators that turn one text into
// another, by the rules of the Operator Contract v0.1, and a set of built-in
// ones. Same text, same context, same generator: same child and same trace.
//
// Start at [Operator] and [Run]. [Meta] is the description of an operator,
// [Context] its input, [Result] with its [Step] its output. [Deriver] and
// [Streams] give every test case its own generators, according to section 7.3
// of the contract. [Normalize] is applied to incoming texts, [Guard] to
// outgoing children. [Builtins] lists the built-in operators, one file per
// family.
//
// The rules come from the contract and, where it is silent, from the known
// behaviour of tools that implement it; vectors are in testdata. Lengths are
// Unicode code points. Operators map text to text; bytes appear only inside
// pure functions. An operator that moves or deletes text never splits what a
// reader sees as one character.
//
// What operators add to a text is a generic probe for one's own system: it asks
// only for a marker word.
//
// The package imports the standard library, golang.org/x/text, diag and lower
// engines. It knows no contract and no plug-in host, and reads no clock, file
// or global randomness.
package textop
