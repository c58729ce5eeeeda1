package similarity

import (
	"context"
	"fmt"
)

// Measure compares texts. Implementations are safe for concurrent use.
type Measure interface {
	// Name returns the name of the measure, with everything that its numbers
	// depend on: "lexical-v1", "embeddings all-minilm at
	// http://localhost:11434/v1".
	Name() string
	// Score returns how similar two texts are: 1 for equal ones, around 0 for
	// unrelated ones, below 0 for opposites according to an encoder. An error
	// means that the texts could not be measured; it is never a score.
	Score(ctx context.Context, a, b string) (float64, error)
	// Translate converts a threshold for a sentence encoder, from 0 to 1, to the
	// one of this measure that separates the same pairs best. It is monotone, and
	// maps 0 to 0 and 1 to 1.
	Translate(threshold float64) float64
}

// Result is a comparison with everything that it depends on.
type Result struct {
	Measure   string  `json:"measure"`
	Score     float64 `json:"score"`
	Wanted    float64 `json:"wanted"`    // the threshold in the document
	Threshold float64 `json:"threshold"` // the same, translated for the measure
}

// Compare measures two texts and compares the score with a document's threshold.
func Compare(ctx context.Context, m Measure, a, b string, wanted float64) (Result, error) {
	s, err := m.Score(ctx, a, b)
	if err != nil {
		return Result{}, fmt.Errorf("compare two texts by %s: %w", m.Name(), err)
	}
	return Result{Measure: m.Name(), Score: s, Wanted: wanted, Threshold: m.Translate(wanted)}, nil
}

// Alike reports whether the score reaches the threshold.
func (r Result) Alike() bool { return r.Score >= r.Threshold }

// String returns the comparison in one line.
func (r Result) String() string {
	text := fmt.Sprintf("%.3f by %s, threshold %.3f", r.Score, r.Measure, r.Threshold)
	if r.Threshold != r.Wanted {
		text += fmt.Sprintf(" (for %g of a sentence encoder)", r.Wanted)
	}
	return text
}

// Thresholds in documents are written for the cosine of a sentence encoder,
// all-MiniLM-L6-v2. testdata/pairs.json has 72 pairs of our own sentences with
// their cosines by that encoder: 8 that differ only in form, 24 paraphrases, 16
// with different statements on the same subject, 12 answers with a refusal or
// failure, 12 unrelated. By kind, lowest, median and highest:
//
//	             encoder              lexical-v1
//	same         0.86  0.93  0.99     0.86  1.00  1.00
//	paraphrase   0.52  0.74  0.97     0.00  0.46  0.84
//	related      0.28  0.44  0.76     0.00  0.31  0.81
//	refusal      0.01  0.16  0.61     0.00  0.01  0.33
//	unrelated   -0.02  0.03  0.17     0.00  0.01  0.02
//
// A threshold of the encoder is translated to the one that sorts most pairs like
// the encoder. For 0.75, the default of behavior_unchanged, that is 0.545: 68 of
// the 72 pairs are sorted alike, and no refusal, failure or unrelated answer
// passes. The measure is the stricter one: it fails on paraphrases without common
// words. TestCalibration checks these figures.
var lexicalKnots = [...]struct{ encoder, lexical float64 }{
	{0, 0}, {0.3, 0.03}, {0.4, 0.225}, {0.5, 0.24}, {0.55, 0.25}, {0.6, 0.41}, {0.65, 0.435}, {0.7, 0.545},
	{0.75, 0.545}, {0.8, 0.545}, {0.85, 0.55}, {0.9, 0.6}, {1, 1},
}

// Translate implements [Measure]: straight lines between calibrated points.
func (Lexical) Translate(threshold float64) float64 {
	last := lexicalKnots[0]
	for _, k := range lexicalKnots[1:] {
		if threshold < k.encoder {
			if threshold <= last.encoder {
				return last.lexical
			}
			part := (threshold - last.encoder) / (k.encoder - last.encoder)
			return last.lexical + part*(k.lexical-last.lexical)
		}
		last = k
	}
	return last.lexical
}
