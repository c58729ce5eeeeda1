// Package mutator applies operators: it chooses operators for a seed, applies
// one or several, checks the result, and counts.
//
// A [Registry] holds operators of any kind, sorted by id; a [Mutator] is a
// registry with a [Config]; a [Lane] makes children with it, one goroutine at a
// time. A child depends on its seed, the configuration, what a policy has
// learned in earlier rounds, and its own testcase id, never on the children
// before it. Two generators are derived from the testcase id (OC-7.4): one draws
// strength and operators, and the operators draw from the other, one after the
// other.
//
// [Seen] finds exact and near duplicates; [Bandit] learns from rewards, between
// rounds; [Stats] is the published statistics file; [Entropy] and [Novelty]
// measure how diverse children are.
//
// The rules come from the Operator Contract v0.1 and from the engine that its
// users know; where the two differ, the contract wins. The package is pure:
// besides textop, pyrand, diag and small engines it imports only port/pyhost,
// through which it applies operators that live in another process.
package mutator
