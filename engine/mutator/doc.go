// Package mutator applies operators: it chooses operators for a seed, applies
// one or several, checks the result, and counts.
//
// A [Registry] holds operators of any make, sorted by id; a [Mutator] is a
// registry with a [Config]; a [Lane] makes children with it, one goroutine at a
// time. A child depends on its seed, the configuration, what a policy has
// learned in earlier rounds, and its own testcase id: never on the children
// before it. Two generators are derived from the testcase id (OC-7.4): one
// draws strength and operators, the other is what operators draw from, one
// after the other.
//
// [Seen] tells duplicates, exact and near; [Bandit] learns from rewards, between
// rounds; [Stats] is the published statistics file; [Entropy] and [Novelty]
// say how diverse children are.
//
// The rules come from the Operator Contract v0.1 and from the engine that its
// users know; where the two differ the contract wins. The package is pure: it
// imports textop, pyrand and diag, and applies operators that live in another
// process through [Remote].
package mutator
