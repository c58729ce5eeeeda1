// Package score holds the formulas by which the results of an agent's tests
// become numbers: the contract matrix ([Matrix]), mutations ([Weighted]), the
// whole ([Resilience]), and what says how far a number can be trusted or how a
// distribution looks ([Wilson], [Percentile]).
//
// The rules are those of the flakestorm v2 specification, "Resilience score
// formula", to the digit; where it is silent (severity low, rounding) those of
// its users' reports. What has nothing to measure has no score: every function
// that could divide by zero says so instead of inventing a perfect one.
//
// The package is pure and imports the standard library alone.
package score
