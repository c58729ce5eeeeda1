// Package score has the formulas that turn the results of an agent's tests into
// numbers: the contract matrix ([Matrix]), mutations ([Weighted]), the whole
// ([Resilience]), confidence intervals ([Wilson]) and the shape of a
// distribution ([Percentile]).
//
// The rules are exactly those of the flakestorm v2 specification, "Resilience
// score formula"; where it is silent (severity low, rounding), those of its
// users' reports. Without measurements there is no score: every function that
// could divide by zero reports that instead of inventing a perfect score.
//
// The package is pure and imports the standard library alone.
package score
