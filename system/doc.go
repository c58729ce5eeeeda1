// Package system opens systems under test: it turns a plan (port/sut) into a
// [sut.System] through the edge of its kind. What is the same for every kind is
// here and nowhere else: variables are resolved, programs started, awaited and
// revived, cases given a fresh state, calls limited in rate and number and
// tried again.
//
// An edge is a [Kind] in a package below; the program lists them (app).
// A system is hostile until proven otherwise: every call has one deadline,
// every answer is read up to a limit. Whoever is not reached is the
// environment's fault (sut.Unreachable) and never a finding.
//
// The package must not import a contract, run, store or report, nor an edge.
// Start at [Systems.Open].
package system
