package similarity

import (
	"context"
	"fmt"
)

// Measure compares texts. Implementations are safe for concurrent use.
type Measure interface {
	// Name is the measure's, with all that its numbers depend on: "lexical-v1",
	// "embeddings all-minilm at http://localhost:11434/v1".
	Name() string
	// Score is how alike two texts are: 1 for equal ones, around 0 for unrelated
	// ones, below 0 for what an encoder thinks opposite. An error means that the
	// measure could not be taken; that is never a score.
	Score(ctx context.Context, a, b string) (float64, error)
	// Translate turns a threshold that was written for a sentence encoder, from
	// 0 to 1, into the one of this measure that parts the same pairs best. It is
	// monotone, and gives 0 for 0 and 1 for 1.
	Translate(threshold float64) float64
}

// Result is a comparison with all that it rests on.
type Result struct {
	Measure   string  `json:"measure"`
	Score     float64 `json:"score"`
	Wanted    float64 `json:"wanted"`    // the threshold as the document has it
	Threshold float64 `json:"threshold"` // the same, translated for the measure
}

// Compare takes the measure of two texts against a document's threshold.
func Compare(ctx context.Context, m Measure, a, b string, wanted float64) (Result, error) {
	s, err := m.Score(ctx, a, b)
	if err != nil {
		return Result{}, fmt.Errorf("compare two texts by %s: %w", m.Name(), err)
	}
	return Result{Measure: m.Name(), Score: s, Wanted: wanted, Threshold: m.Translate(wanted)}, nil
}

// Alike reports whether the score reaches the threshold.
func (r Result) Alike() bool { return r.Score >= r.Threshold }

// String is the comparison in one line.
func (r Result) String() string {
	text := fmt.Sprintf("%.3f by %s, threshold %.3f", r.Score, r.Measure, r.Threshold)
	if r.Threshold != r.Wanted {
		text += fmt.Sprintf(" (for %g of a sentence encoder)", r.Wanted)
	}
	return text
}
