// Package systemfile reads system files, YAML documents of schema
// thresh.system.v1 that say what a system under test is and how it is reached,
// into plans (port/sut). It refuses what is not known, says of each fault where
// it is and what was expected, and says all of them at once.
//
// The package is pure: [Load] reads through the functions that it is given. It
// must not import a contract or an edge. Start at [Decode].
package systemfile
