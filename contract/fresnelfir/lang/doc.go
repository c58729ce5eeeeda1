// Package lang is the language in which people write models: NAME.model.star, in
// Starlark's syntax. A model is parsed and never executed. It is translated into the
// tree of an IR document whose values keep their places in the source, so that package
// ir reads it, and says what is wrong with it, as if it were JSON.
//
// The other way, [Format] writes the language from a document. What the language has no
// words for stands in calls of ir("section", "key", ..., value), so nothing is lost.
//
// What the language can say and the published IR cannot goes into keys that existing
// readers ignore: full, picks, steps and values, see package ir. It must not know what
// a model means beyond that: names and types are checked by package ir alone.
//
// Start reading at [Compile].
package lang
