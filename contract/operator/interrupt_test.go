package operator_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// slow is an operator that spends its time in the interpreter, and one that
// spends it inside of a function of the language, which nothing interrupts.
const slowMeta = `OPERATOR_META = {"op_id": "op_lex_slow", "bucket_tags": ["PROMPT_INJECTION"], "surface_compat": ["PROMPT_TEXT"], "risk_level": "LOW", "strength_range": [1, 5]}
`

var slow = map[string]string{
	"a loop": slowMeta + `def apply(seed_text, ctx, rng):
    while True:
        pass
`,
	"a search in a list": slowMeta + `def apply(seed_text, ctx, rng):
    long = "a" * 2000000
    return ApplyResult("OK", str((long + "b") in ([long + "c"] * 2000)))
`,
}

// Whatever an operator is busy with, a run that is over ends within a second.
func TestSlowOperatorsDoNotHoldTheRun(t *testing.T) {
	t.Parallel() // mostly waits
	for name, src := range slow {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			place(t, dir, "seeds.jsonl", seeds)
			place(t, dir, "op_lex_slow.star", src)
			path := place(t, dir, "operators.json", `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "operators": ["op_lex_slow.star"], "builtins": false, "children": 400}`)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			list, found := front().Compile(t.Context(), campaign.Spec{Path: path, Data: data}, settings())
			if found.HasErrors() {
				t.Fatal(found)
			}
			plugins := operator.LoadPlugins(t.Context(), []string{dir}, disk(), nil)
			r, _ := mutator.NewRegistry(plugins.Entries)
			for verb, run := range map[string]func(context.Context) error{
				"run": func(ctx context.Context) error {
					exec, err := campaign.Solo(ctx, list[0], campaign.Lane{Of: 1})
					if err != nil {
						return err
					}
					defer exec.Close()
					b, _ := campaign.As[campaign.Batcher](exec)
					cases := make([]campaign.Case, 100)
					for i := range cases {
						cases[i].Index = int64(i)
					}
					_, err = b.ExecuteBatch(ctx, list[0].Start(campaign.Facts{}), cases, func(campaign.Case, campaign.Outcome) error { return nil })
					return err
				},
				"mutate": func(ctx context.Context) error {
					s := operator.Stream{Lane: mutator.New(r, mutator.Config{Strength: textop.Range{Min: 1, Max: 1}}).NewLane(nil), Children: 100}
					asked := false
					_, err := s.Run(ctx, func() (*mutator.Seed, error) {
						if asked {
							return nil, io.EOF
						}
						asked = true
						return &mutator.Seed{ID: "s", Text: "Read on.", Surface: textop.PromptText}, nil
					}, func([]byte) error { return nil }, func(*mutator.Child) {})
					return err
				},
				"examples": func(ctx context.Context) error {
					w, _ := campaign.As[campaign.Summarizer[any]](list[0])
					sum := w.Summarize(list[0].Fold(list[0].Start(campaign.Facts{}), func(yield func(campaign.Case, campaign.Outcome) bool) {
						yield(campaign.Case{}, campaign.Outcome{})
					}))
					for range 100 {
						sum.Examples(ctx)
					}
					return ctx.Err()
				},
				"check": func(ctx context.Context) error {
					_, err := operator.CheckPlugins(ctx, plugins, os.ReadFile)
					return err
				},
				"apply": func(ctx context.Context) error {
					for range 100 {
						if _, err := plugins.ApplyOnce(ctx, &plugins.Entries[0], "Read on.", &textop.Context{Strength: 1}, 1); err != nil {
							return err
						}
					}
					return nil
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				began := time.Now()
				if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", verb, err)
				}
				cancel()
				if d := time.Since(began); d > 20*time.Second { // the run takes minutes; the rest is for a busy machine
					t.Errorf("%s: ended after %v", verb, d)
				}
			}
		})
	}
}
