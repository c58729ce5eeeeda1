// Package system opens systems under test: it turns a plan (port/sut) into a [sut.System] through
// the edge of its kind. It contains everything that is the same for every kind: it resolves
// variables; starts, awaits and revives programs; gives cases a fresh state; limits the rate and
// number of calls, and retries them.
//
// An edge is a [Kind] in a package below; the program (app) lists them. A system is treated as
// hostile: every call has a deadline, every answer is read only up to a limit. A system that cannot
// be reached is the environment's fault (sut.Unreachable) and never a finding.
//
// The package must not import a contract, run, store or report, nor an edge. Start at
// [Systems.Open].
package system
