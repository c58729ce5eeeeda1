// Package triage turns failing cases into findings: it gives each a
// fingerprint, groups them, keeps a few distinct inputs a group, runs them
// again to see what is flaky, and makes the reproducer small under a budget
// of executions.
//
// It imports campaign alone and touches a target only through the function it
// is handed, so that it works for every contract.
package triage
