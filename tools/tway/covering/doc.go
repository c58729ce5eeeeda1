// Package covering makes covering arrays: few rows of values in which every combination of the
// values of any t parameters occurs, as far as the conditions of a model allow.
//
// Levels may be mixed, strengths from 1 to 6 may differ between groups of parameters, conditions
// are any functions that package solve accepts, rows can be given in advance, and invalid values
// are kept apart so that no two of them hide each other. Combinations that cannot be covered are
// proven so, with the conflicting conditions; undecided ones are reported as such.
//
// An array is built greedily, one row at a time, and then made smaller by a tabu search that
// removes rows and repairs the coverage. Uniform arrays may start from a construction instead:
// orthogonal arrays over finite fields (Bose, 1938; Bush, 1952) and cyclic starters (Meagher and
// Stevens, 2005). Model, seed and effort determine everything; effort is counted in looks at the
// table of tuples, never in time, so that equal inputs give equal arrays on every machine. Verify
// checks an array by other means than those that made it.
//
// The package is pure: it imports package solve and the standard library. Package modelfile reads
// the files of models. Package engine/tway makes the same arrays for Thresh itself, without these
// extras. Start reading at Generate.
package covering
