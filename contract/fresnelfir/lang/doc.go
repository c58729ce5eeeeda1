// Package lang is the language in which people write models: NAME.model.star, in Starlark's syntax.
// A model is parsed and never executed. It is translated into the tree of an IR document whose
// values keep their places in the source, so that package ir reads and checks it as if it were
// JSON.
//
// In the other direction, [Format] writes a document in the language. What the language has no
// words for becomes calls of ir("section", "key", ..., value), so nothing is lost.
//
// What the language can express and the published IR cannot goes into keys that existing readers
// ignore: full, picks, steps and values, see package ir. The package must not know more about a
// model's meaning: only package ir checks names and types.
//
// Start reading at [Compile].
package lang
