package mutator_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

func builtins(t testing.TB) *mutator.Registry {
	t.Helper()
	r, list := mutator.NewRegistry(mutator.Builtins())
	if len(list) > 0 {
		t.Fatal(list)
	}
	return r
}

// prompt is a text of about n characters.
func prompt(n int) string {
	return strings.Repeat("Please summarise the attached report for the board, and keep the figures as they are. ", n/86+1)[:n]
}

// BenchmarkChildren is the whole engine on one core: selection, generators,
// operators, guard, trace and the line of JSON.
func BenchmarkChildren(b *testing.B) {
	for _, steps := range []int{1, 2} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			m := mutator.New(builtins(b), mutator.Config{
				SeedBase: big.NewInt(1), Rule: textop.RuleContract, Steps: steps, Strength: textop.Range{Min: 2, Max: 2}, Policy: mutator.Uniform, Redraws: 3,
			})
			lane := m.NewLane(nil)
			seed := &mutator.Seed{ID: "seed", Text: prompt(400), Surface: textop.PromptText}
			jobs := make([]mutator.Job, textop.Pairs)
			var line []byte
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				for j := range jobs {
					jobs[j] = mutator.Job{Seed: seed, Index: i, ID: mutator.TestcaseID(seed.ID, i)}
					i++
				}
				err := lane.Make(b.Context(), jobs, func(c *mutator.Child) error {
					line = mutator.AppendChild(line[:0], c)
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "children/s")
		})
	}
}
