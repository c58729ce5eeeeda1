// Package similarity measures how close two texts are in meaning. A [Measure]
// gives a number; which numbers mean "the same" depends on the measure, so a
// threshold is always translated for it (see [Measure.Translate]) and a result
// names both.
//
// [Lexical] is the measure that needs nothing: weighted overlap of words and of
// letter groups, equal on every machine. Measures by sentence encoders are
// edges; package embed under system has them behind the same interface.
//
// Where the rules come from: flakestorm's thresholds are written for the cosine
// of all-MiniLM-L6-v2; calibration.go holds what the same pairs of sentences
// score by each measure, and how thresholds are translated by that. The package
// is pure and imports the standard library and golang.org/x/text. Start reading
// at [Measure].
package similarity
