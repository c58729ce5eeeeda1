package fuzzspec

import (
	"context"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// textSteps is the maximum number of operators for a case of the text mutators, unless the document
// gives another.
const textSteps = 3

// textMaker makes cases with the operators of the Operator Contract: the seed is a text, and so is
// every case. Case n is child n of the seed.
type textMaker struct {
	mutators []*mutator.Mutator // by number of operators, less one
	seed     *mutator.Seed
	limit    int64 // bytes; 0: none
}

// newTextMaker makes a maker; the seed must be valid UTF-8.
func newTextMaker(c *Campaign) (maker, error) {
	r, faults := mutator.NewRegistry(mutator.Builtins())
	if faults.HasErrors() {
		return nil, faults
	}
	m := &c.spec.Mutations
	steps := textSteps
	if m.OpsGiven {
		steps = int(min(max(m.OpLimit(), 1), 32))
	}
	t := textMaker{seed: &mutator.Seed{ID: "seed", Text: string(c.seed)}}
	t.limit, _ = m.ByteLimit()
	base := m.EffectiveSeed(0) // the document's seed
	for n := range steps {
		t.mutators = append(t.mutators, mutator.New(r, mutator.Config{
			SeedBase: base, Rule: textop.RuleContract, Steps: n + 1, Strength: textop.Range{Min: 1, Max: 5},
			Policy: mutator.Uniform, Redraws: 3, Constraints: textop.Constraints{KeepControls: true}, Partners: []string{t.seed.Text},
		}))
	}
	return t, nil
}

func (m textMaker) lane() laneMaker {
	l := &textLane{textMaker: m}
	for _, x := range m.mutators {
		l.lanes = append(l.lanes, x.NewLane(nil))
	}
	return l
}

type textLane struct {
	textMaker
	lanes []*mutator.Lane
	child []byte
	steps []byte
}

func (l *textLane) input(_ bytemut.Pool, index int64) []byte {
	l.child, l.steps = l.child[:0], l.steps[:0]
	job := []mutator.Job{{Seed: l.seed, ID: mutator.TestcaseID(l.seed.ID, index), Index: index}}
	// Built-in operators return no error, and the context is never cancelled.
	_ = l.lanes[index%int64(len(l.lanes))].Make(context.Background(), job, func(c *mutator.Child) error {
		l.child = append(l.child, c.Text...)
		for i := range c.Steps {
			l.steps = append(mutator.AppendStep(l.steps, &c.Steps[i]), '\n')
		}
		return nil
	})
	if l.limit > 0 && int64(len(l.child)) > l.limit {
		l.child = l.child[:l.limit]
		for len(l.child) > 0 { // do not end in a partial character
			if r, n := utf8.DecodeLastRune(l.child); r != utf8.RuneError || n != 1 {
				break
			}
			l.child = l.child[:len(l.child)-1]
		}
	}
	return l.child
}

func (l *textLane) log() []byte { return l.steps }

func (m textMaker) parent(bytemut.Pool, int64) int { return 0 }
