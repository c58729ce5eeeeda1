// Package systemfile reads system files, YAML documents of schema
// thresh.system.v1 that describe a system under test and how to reach it, into
// plans (port/sut). It refuses unknown keys, and reports all errors at once,
// each with its position and what was expected.
//
// The package is pure: [Load] reads through the functions that it gets. It must
// not import a contract or an edge. Start at [Decode].
package systemfile
