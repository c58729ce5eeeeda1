package mutator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// thrift is a host of operators that say OK, OK to what the guard undoes, OK to
// what is too long, or SKIPPED, by their generator. A generous one always
// returns the state.
type thrift struct {
	generous bool
	states   int
}

func (h *thrift) Modules() []pyhost.OperatorModule { return nil }
func (h *thrift) Notes() []string                  { return nil }
func (h *thrift) Close() error                     { return nil }

func (h *thrift) Apply(_ context.Context, calls []pyhost.OperatorCall, reply func(int, *pyhost.OperatorReply) error) error {
	for i, c := range calls {
		var rng pyrand.Rand
		rng.SeedUint64(c.RNG)
		if c.State != nil {
			if err := rng.SetState(c.State); err != nil {
				return err
			}
		}
		r := &pyhost.OperatorReply{End: pyhost.Applied, Status: "OK"}
		switch rng.Below(4) {
		case 0:
			r.Child = c.Seed + "\x01"
		case 1:
			r.Status, r.Child = "SKIPPED", c.Seed
		case 2:
			r.Child = c.Seed + prompt(200)
		default:
			r.Child = c.Seed + fmt.Sprint(rng.Below(10))
		}
		n := utf8.RuneCountInString(c.Seed)
		r.Trace = json.RawMessage(fmt.Sprintf(`{"op_id":"op_test_%d","status":%q,"params":{"drawn":%d},"len_before":%d,"len_after":%d}`,
			c.Module, r.Status, rng.Below(1000), n, utf8.RuneCountInString(r.Child)))
		if h.generous || c.WantState || c.WantStateUnlessOK && (r.Status != "OK" || r.Child == c.Seed) {
			r.State = rng.AppendState(nil)
			h.states++
		}
		if err := reply(i, r); err != nil {
			return err
		}
	}
	return nil
}

// Children do not depend on how often a host is asked for its generator's
// state, which is told only where something goes on from it.
func TestStatesAreAskedForWhereNeeded(t *testing.T) {
	var entries []mutator.Entry
	for i := range 4 {
		meta, list := textop.ParseMeta(map[string]any{
			"op_id": fmt.Sprintf("op_test_%d", i), "bucket_tags": []any{"PROMPT_INJECTION"}, "surface_compat": []any{"PROMPT_TEXT"},
			"risk_level": "LOW", "strength_range": []any{json.Number("1"), json.Number("5")},
		})
		if list.HasErrors() {
			t.Fatal(list)
		}
		entries = append(entries, mutator.Entry{Meta: &meta, Kind: mutator.Python, Module: i})
	}
	r, twice := mutator.NewRegistry(entries)
	if len(twice) > 0 {
		t.Fatal(twice)
	}
	seed := &mutator.Seed{ID: "s", Text: prompt(60), Bucket: textop.PromptInjection, Surface: textop.PromptText}
	for _, steps := range []int{1, 3} {
		cfg := config(mutator.Uniform, steps)
		cfg.Constraints.MaxChars = 150
		m := mutator.New(r, cfg)
		lines := func(h *thrift) (out []string) {
			err := m.NewLane(h).Make(t.Context(), jobs(seed, 300), func(c *mutator.Child) error {
				out = append(out, string(mutator.AppendChild(nil, c)))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		sparing, generous := &thrift{}, &thrift{generous: true}
		if a, b := lines(sparing), lines(generous); !slices.Equal(a, b) {
			for i := range a {
				if a[i] != b[i] {
					t.Fatalf("steps %d:\n%s\n%s", steps, a[i], b[i])
				}
			}
		}
		if sparing.states >= generous.states {
			t.Errorf("steps %d: %d states were told, %d of a generous host", steps, sparing.states, generous.states)
		}
	}
}

// endless gives a child that is longer than any limit, and keeps what it was told
// of limits.
type endless struct {
	meta *textop.Meta
	told textop.Constraints
}

func (o *endless) Meta() *textop.Meta { return o.meta }

func (o *endless) Apply(seed string, ctx *textop.Context, _ *pyrand.Rand) textop.Result {
	o.told = ctx.Constraints
	child := strings.Repeat("나", 20_000)
	n := utf8.RuneCountInString(seed)
	return textop.Result{Status: textop.OK, Child: child, Trace: textop.Step{OpID: o.meta.ID, Status: textop.OK, LenBefore: n, LenAfter: 20_000}}
}

// A child may be twice as long as its seed, and 8,000 code points at least,
// whatever number of bytes they take. A plug-in is told of a limit that was
// asked for, and not of this one.
func TestLimitCountsCodePoints(t *testing.T) {
	meta, list := textop.ParseMeta(map[string]any{
		"op_id": "op_test_0", "bucket_tags": []any{"PROMPT_INJECTION"}, "surface_compat": []any{"PROMPT_TEXT"},
		"risk_level": "LOW", "strength_range": []any{json.Number("1"), json.Number("5")},
	})
	op := &endless{meta: &meta}
	r, twice := mutator.NewRegistry([]mutator.Entry{{Meta: &meta, Kind: mutator.Python, New: func() (textop.Operator, error) { return op, nil }}})
	if list = append(list, twice...); list.HasErrors() {
		t.Fatal(list)
	}
	for _, tc := range []struct {
		seed        string
		asked, want int
	}{
		{strings.Repeat("가", 3000), 0, 8000},
		{strings.Repeat("가", 4001), 0, 8002},
		{strings.Repeat("a", 4000), 0, 8000},
		{strings.Repeat("a", 5000), 0, 10_000},
		{strings.Repeat("a", 5000), 30_000, 20_000},
	} {
		seed := &mutator.Seed{ID: "s", Text: tc.seed, Surface: textop.PromptText, Constraints: &textop.Constraints{MaxChars: tc.asked}}
		if err := mutator.New(r, config(mutator.Uniform, 1)).NewLane(nil).Make(t.Context(), jobs(seed, 1), func(c *mutator.Child) error {
			if n := utf8.RuneCountInString(c.Text); n != tc.want || c.Steps[0].LenAfter != n || op.told.MaxChars != tc.asked {
				t.Errorf("%d code points, max_chars %d: %d code points, the operator was told %d", utf8.RuneCountInString(tc.seed), tc.asked, n, op.told.MaxChars)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
