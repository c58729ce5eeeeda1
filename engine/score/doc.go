// Package score holds the formulas that turn the results of an agent's tests
// into numbers: the contract matrix ([Matrix]), mutations ([Weighted]), the
// whole ([Resilience]), how far a number can be trusted ([Wilson]) and the
// shape of a distribution ([Percentile]).
//
// The rules are those of the flakestorm v2 specification, "Resilience score
// formula", to the digit; where it is silent (severity low, rounding) those of
// its users' reports. What has nothing to measure has no score: every function
// that could divide by zero says so instead of inventing a perfect one.
//
// The package is pure and imports the standard library alone.
package score
