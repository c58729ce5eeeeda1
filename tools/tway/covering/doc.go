// Package covering makes covering arrays: the few rows of values in which every
// combination of the values of any t parameters occurs that the conditions of a
// model allow.
//
// Levels may be mixed, strengths from 1 to 6 may differ between groups of
// parameters, conditions are any functions that package solve takes, rows can be
// given beforehand, and invalid values are kept apart so that no two of them hide
// each other. What cannot be covered is proven so, with the conditions that
// conflict; what could not be decided within the budget is reported as such.
//
// An array is built greedily, one row at a time, and then made smaller by a tabu
// search that takes out rows and mends what they leave uncovered. Uniform
// arrays may start from a construction instead: orthogonal arrays over finite
// fields (Bose, 1938; Bush, 1952) and cyclic starters (Meagher and Stevens, 2005).
// Everything follows from model, seed and effort; effort is counted in looks at
// the table of tuples, never in time, so that equal questions get equal arrays
// on every machine. Verify checks an array by other means than it was made.
//
// The package is pure: it imports package solve and the standard library. The
// files of models are read by package modelfile. Package engine/tway makes the same
// arrays for Thresh itself, without these wishes. Start reading at
// Generate.
package covering
