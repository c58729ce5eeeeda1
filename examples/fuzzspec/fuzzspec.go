// Package fuzzspec holds example programs with planted bugs; README.md lists
// them. Its tests compile them, write seeds and FuzzSpecs, which must hold
// absolute paths and so cannot be shipped as they are, and run them.
package fuzzspec
