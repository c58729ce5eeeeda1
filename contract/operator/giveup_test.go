package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// sleepy stands for a host of two modules. The first hangs for some generators,
// without taking any time; the second does not.
type sleepy struct {
	files []string
	hangs func(rng uint64) bool
	hung  *atomic.Int64
}

func openSleepy(hangs func(uint64) bool, hung *atomic.Int64) pyhost.OperatorOpener {
	return func(_ context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
		return &sleepy{set.Files, hangs, hung}, nil
	}
}

func often(rng uint64) bool  { return rng%3 > 0 }
func seldom(rng uint64) bool { return rng%40 == 0 }

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

func (h *sleepy) Apply(_ context.Context, calls []pyhost.OperatorCall, reply func(int, *pyhost.OperatorReply) error) error {
	for i, c := range calls {
		if c.Module == 0 && h.hangs(c.RNG) {
			h.hung.Add(1)
			if err := reply(i, &pyhost.OperatorReply{End: pyhost.Hung, Fault: &pyhost.Fault{Class: "TimeLimit", File: h.files[0], Line: 2}}); err != nil {
				return err
			}
			continue
		}
		child := fmt.Sprintf("%s %d", c.Seed, c.RNG)
		trace := fmt.Sprintf(`{"op_id":%q,"status":"OK","params":{},"len_before":%d,"len_after":%d}`, h.id(c.Module), utf8.RuneCountInString(c.Seed), utf8.RuneCountInString(child))
		if err := reply(i, &pyhost.OperatorReply{End: pyhost.Applied, Status: "OK", Child: child, Trace: json.RawMessage(trace)}); err != nil {
			return err
		}
	}
	return nil
}

func (h *sleepy) Notes() []string { return nil }
func (h *sleepy) Close() error    { return nil }

// An operator that hangs is given up before a run, so that it costs little, and
// the same cases come out whoever makes them. One that hangs seldom is applied.
// No child depends on the others, in either case.
func TestHangingOperators(t *testing.T) {
	t.Parallel() // mostly waits
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "ops/op_lex_hangs.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	place(t, dir, "ops/op_lex_works.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	const text = `{"schema_version": "thresh.operators.v1", "name": "hangs", "seeds": ["seeds.jsonl"], "children": 150, "operators": ["ops"], "builtins": false}`
	spec := campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}
	var hung atomic.Int64
	for name, c := range map[string]struct {
		hangs   func(uint64) bool
		givenUp int
		most    int64 // times it may hang in a stream
	}{"often": {often, 1, 0}, "seldom": {seldom, 0, 200}} {
		contracttest.Run(t, contracttest.Fixture{
			Contract: operator.New(openSleepy(c.hangs, &hung), nil), Spec: spec, Findings: 1,
			UnknownKey: campaign.Spec{Path: spec.Path, Data: []byte(strings.Replace(text, `"children"`, `"childs"`, 1))},
		})

		plugins := operator.LoadPlugins(t.Context(), []string{filepath.Join(dir, "ops")}, disk(), openSleepy(c.hangs, &hung))
		endless, err := plugins.Trial(t.Context(), mutator.Filter{})
		if err != nil || len(endless) != c.givenUp || len(endless) > 0 && endless[0] != "op_lex_hangs" {
			t.Fatalf("%s: given up: %v, %v", name, endless, err)
		}
		if none, err := plugins.Trial(t.Context(), mutator.Filter{Exclude: []string{"op_lex_hangs"}}); err != nil || len(none) > 0 {
			t.Errorf("%s: given up, though left out: %v, %v", name, none, err)
		}
		hung.Store(0)
		there, back := hangingStream(t, plugins, endless, 1), hangingStream(t, plugins, endless, -1)
		if n := hung.Load(); n > c.most || n == 0 && c.most > 0 {
			t.Errorf("%s: hung %d times", name, n)
		}
		if len(there) != 40*50 || !maps.Equal(there, back) {
			t.Errorf("%s: %d children, or they depend on the order of the seeds", name, len(there))
		}
		for id, line := range there {
			if strings.Contains(line, `"op_lex_hangs","status":"INVALID"`) == strings.Contains(line, `"op_lex_hangs","status":"OK"`) && strings.Contains(line, "op_lex_hangs") {
				t.Errorf("%s: %s: %s", name, id, line)
			}
		}
	}
}

// hangingStream makes children of 40 seeds in one order or the other, and
// returns them by their testcase ids.
func hangingStream(t *testing.T, plugins *operator.Plugins, endless []string, step int) map[string]string {
	t.Helper()
	r, faults := mutator.NewRegistry(plugins.Entries)
	if faults = append(faults, plugins.Faults...); faults.HasErrors() {
		t.Fatal(faults)
	}
	host, err := plugins.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := mutator.New(r, mutator.Config{SeedBase: bigInt(5), Strength: textop.Range{Min: 2, Max: 2}, Policy: mutator.Uniform})
	s := operator.Stream{Lane: operator.GiveUp(m, endless).NewLane(host), Children: 50, Duplicates: operator.KeepDuplicates, All: true}
	at, left := (41+step)%41, 40
	made := make(map[string]string)
	_, err = s.Run(t.Context(), func() (*mutator.Seed, error) {
		if left == 0 {
			return nil, io.EOF
		}
		seed := &mutator.Seed{ID: fmt.Sprint("s", at), Text: fmt.Sprint("Read page ", at, "."), Surface: textop.PromptText}
		at, left = at+step, left-1
		return seed, nil
	}, func(line []byte) error {
		id, _, _ := strings.Cut(string(line), `","seed_id"`)
		made[id] = string(line)
		return nil
	}, func(*mutator.Child) {})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
