// Package similarity measures how close two texts are in meaning. A [Measure]
// returns a number; which numbers mean "the same" depends on the measure, so a
// threshold is always translated for it (see [Measure.Translate]) and a result
// names both.
//
// [Lexical] is the measure without requirements: weighted overlap of words and
// of letter groups, equal on every machine. Measures by sentence encoders are
// edges; package embed under system has them behind the same interface.
//
// flakestorm's thresholds are written for the cosine of all-MiniLM-L6-v2;
// calibration.go has the scores of the same pairs of sentences by each measure,
// from which thresholds are translated. The package is pure and imports the
// standard library and golang.org/x/text. Start reading at [Measure].
package similarity
