// Package fuzzspec holds the sources of the example programs with planted
// bugs. README.md lists them; package sample makes runnable campaigns of them.
package fuzzspec

import "embed"

// Bugs is the folder bugs: one C program a class of bug, and what they share.
//
//go:embed bugs/*.c bugs/*.h
var Bugs embed.FS
