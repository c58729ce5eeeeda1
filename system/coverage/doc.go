// Package coverage compiles programs for guided campaigns: with clang's calls at
// every edge, against our own runtime that counts them and ends a case at a
// budget of work. The runtime speaks AFL's fork-server protocol, so afl-fuzz and
// afl-showmap run such programs too. What a program compares it says only to a
// client that asks for it.
//
// It imports the standard library alone; how the programs are run is package
// command's part.
package coverage
