// Package bytemut makes variants of byte strings to test programs with. It has
// two mutators: [Reference] makes, byte for byte, the cases that FuzzSpec users
// know (four operations, drawn from CPython's generator), and [Deep] is our
// own, which knows numbers, text encodings, tokens, brackets, JSON, XML,
// dictionaries and other inputs of a corpus.
//
// Both are pure functions of their seeds and a case index: a case is the same
// alone, in sequence, in any order and on any machine. A [Buffer], of which
// every lane has one, holds what makes cases fast.
//
// The reference algorithm was derived from measured vectors, which are in
// testdata; the deep one is defined here, and [DeepVersion] names it. The
// package imports the standard library, diag and lower engines. It knows no
// contract, and reads no clock, file or global randomness.
package bytemut
