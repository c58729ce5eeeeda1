// Package fuzzspec holds example programs with planted bugs; README.md lists them. Its tests
// compile and run them, and write their seeds and FuzzSpecs, which cannot be shipped because they
// must contain absolute paths.
package fuzzspec
