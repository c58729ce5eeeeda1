// Package triage turns failing cases into findings: it gives each a
// fingerprint, groups them, keeps a few distinct inputs per group, runs them
// again to see which are flaky, and minimizes the reproducer within a budget of
// executions.
//
// It imports campaign alone and touches a target only through the function it
// is handed, so that it works for every contract.
package triage
