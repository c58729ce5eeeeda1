// Package coverage compiles programs for guided campaigns: with clang's calls at every edge,
// against our own runtime that counts them and ends a case at a budget of work. The runtime speaks
// AFL's fork server protocol, so afl-fuzz and afl-showmap can run such programs, too. A program
// reports its comparisons only to a client that asks for them.
//
// It imports only the standard library and system/scratch; package command runs the programs.
package coverage
