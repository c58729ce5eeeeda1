package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyhost"
	"github.com/thresh-dev/thresh/engine/textop"
)

// sleepy stands for a host of two modules. The first hangs for two generators
// out of three, without taking any time; the second does not.
type sleepy struct {
	files []string
	hung  *atomic.Int64
}

func openSleepy(hung *atomic.Int64) pyhost.OperatorOpener {
	return func(_ context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
		return &sleepy{set.Files, hung}, nil
	}
}

func (h *sleepy) id(module int) string {
	return strings.TrimSuffix(filepath.Base(h.files[module]), ".py")
}

func (h *sleepy) Modules() []pyhost.OperatorModule {
	var list []pyhost.OperatorModule
	for i, f := range h.files {
		meta := fmt.Sprintf(`{"op_id": %q, "bucket_tags": ["PROMPT_INJECTION"], "surface_compat": ["PROMPT_TEXT"], "risk_level": "LOW", "strength_range": [1, 5]}`, h.id(i))
		list = append(list, pyhost.OperatorModule{File: f, Meta: json.RawMessage(meta), MetaLine: 1, ApplyLine: 2})
	}
	return list
}

func (h *sleepy) Apply(_ context.Context, calls []pyhost.OperatorCall) ([]pyhost.OperatorReply, error) {
	replies := make([]pyhost.OperatorReply, len(calls))
	for i, c := range calls {
		if c.Module == 0 && c.RNG%3 > 0 {
			h.hung.Add(1)
			replies[i] = pyhost.OperatorReply{End: pyhost.Hung, Fault: &pyhost.Fault{Class: "TimeLimit", File: h.files[0], Line: 2}}
			continue
		}
		child := fmt.Sprintf("%s %d", c.Seed, c.RNG)
		trace := fmt.Sprintf(`{"op_id":%q,"status":"OK","params":{},"len_before":%d,"len_after":%d}`, h.id(c.Module), utf8.RuneCountInString(c.Seed), utf8.RuneCountInString(child))
		replies[i] = pyhost.OperatorReply{End: pyhost.Applied, Status: "OK", Child: child, Trace: json.RawMessage(trace)}
	}
	return replies, nil
}

func (h *sleepy) Notes() []string { return nil }
func (h *sleepy) Close() error    { return nil }

// An operator that hangs is given up between rounds, so that it costs little,
// and the same cases come out whoever makes them and however often the run is
// interrupted, even if the operator does not always hang.
func TestHangingOperatorIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "ops/op_lex_hangs.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	place(t, dir, "ops/op_lex_works.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	const text = `{"schema_version": "thresh.operators.v1", "name": "hangs", "seeds": ["seeds.jsonl"], "children": 200, "operators": ["ops"], "builtins": false}`
	var hung atomic.Int64
	spec := campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}
	contracttest.Run(t, contracttest.Fixture{
		Contract: operator.New(openSleepy(&hung), nil), Spec: spec, Findings: 1,
		UnknownKey: campaign.Spec{Path: spec.Path, Data: []byte(strings.Replace(text, `"children"`, `"childs"`, 1))},
	})

	plugins := operator.LoadPlugins(t.Context(), []string{filepath.Join(dir, "ops")}, disk(), openSleepy(&hung))
	r, faults := mutator.NewRegistry(plugins.Entries)
	if faults = append(faults, plugins.Faults...); faults.HasErrors() {
		t.Fatal(faults)
	}
	stream := func(seeds int) (string, int64, []int) {
		host, err := plugins.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hung.Store(0)
		var out strings.Builder
		var gone []int
		s := operator.Stream{Children: 50, Duplicates: operator.KeepDuplicates, All: true, GaveUp: func(op int) { gone = append(gone, op) }}
		s.Lane = mutator.New(r, mutator.Config{SeedBase: bigInt(5), Strength: textop.Range{Min: 2, Max: 2}, Policy: mutator.Uniform}).NewLane(host)
		i := 0
		_, err = s.Run(t.Context(), func() (*mutator.Seed, error) {
			if i++; i > seeds {
				return nil, io.EOF
			}
			return &mutator.Seed{ID: fmt.Sprint("s", i), Text: fmt.Sprint("Read page ", i, "."), Surface: textop.PromptText}, nil
		}, func(line []byte) error {
			out.Write(append(line, '\n'))
			return nil
		}, func(*mutator.Child) {})
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), hung.Load(), gone
	}
	few, _, _ := stream(2)
	many, cost, gone := stream(40)
	if cost < mutator.GiveUpAfter || cost > 20 || len(gone) != 1 || r.Entries()[gone[0]].Meta.ID != "op_lex_hangs" {
		t.Errorf("hung %d times, given up: %v", cost, gone)
	}
	if !strings.HasPrefix(many, few) || strings.Count(many, "\n") != 40*50 || strings.Count(many, `"reason":"given_up"`) < 500 {
		t.Errorf("%d lines, %d given up", strings.Count(many, "\n"), strings.Count(many, `"reason":"given_up"`))
	}
}
