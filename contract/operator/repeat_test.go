package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// counter is a host whose first operator counts its calls, and writes the number
// into the child. The others do not.
type counter struct {
	sleepy
	n int
}

func (h *counter) Apply(_ context.Context, calls []pyhost.OperatorCall, reply func(int, *pyhost.OperatorReply) error) error {
	for i, c := range calls {
		child := c.Seed + "!"
		if c.Module == 0 {
			h.n++
			child = fmt.Sprintf("%s %d", c.Seed, h.n)
		}
		trace := fmt.Sprintf(`{"op_id":%q,"status":"OK","params":{},"len_before":%d,"len_after":%d}`, h.id(c.Module), utf8.RuneCountInString(c.Seed), utf8.RuneCountInString(child))
		if err := reply(i, &pyhost.OperatorReply{End: pyhost.Applied, Status: "OK", Child: child, Trace: json.RawMessage(trace)}); err != nil {
			return err
		}
	}
	return nil
}

// A stream tells of an operator that keeps something between calls: a child
// would depend on the children before it. Those beside it are not blamed.
func TestStreamTellsWhatDoesNotRepeat(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "op_lex_counts.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	place(t, dir, "op_lex_works.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	plugins := operator.LoadPlugins(t.Context(), []string{dir}, disk(), func(_ context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
		return &counter{sleepy: sleepy{files: set.Files}}, nil
	})
	r, faults := mutator.NewRegistry(plugins.Entries)
	if faults = append(faults, plugins.Faults...); faults.HasErrors() {
		t.Fatal(faults)
	}
	host, err := plugins.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := operator.Stream{Lane: mutator.New(r, mutator.Config{Strength: textop.Range{Min: 1, Max: 1}, Steps: 2}).NewLane(host), Children: 100, Duplicates: operator.KeepDuplicates}
	told, asked := 0, false
	counts, err := s.Run(t.Context(), func() (*mutator.Seed, error) {
		if asked {
			return nil, io.EOF
		}
		asked = true
		return &mutator.Seed{ID: "s", Text: "Read on.", Surface: textop.PromptText}, nil
	}, func([]byte) error { return nil }, func(c *mutator.Child) {
		if b := c.Breaches[0]; b.Kind == "nondeterministic" && filepath.Base(b.At.File) == "op_lex_counts.py" && b.At.Line == 2 {
			told++
		} else {
			t.Errorf("%s: %+v", c.ID, c.Breaches)
		}
	})
	if err != nil || counts.Children != 100 || told < 5 || told > 25 {
		t.Errorf("%+v, told %d times: %v", counts, told, err)
	}
}

// A run finds what differs between processes only, whichever cases a lane makes at once, also when it repeats
// the case alone, and starts one further process however many lanes there are.
func TestRunRepeatsChildrenInAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "ops/op_lex_salts.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	place(t, dir, "ops/op_lex_works.py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	const text = `{"schema_version": "thresh.operators.v1", "name": "n", "seeds": ["seeds.jsonl"], "children": 2, "operators": ["ops"], "builtins": false, "chain": [%q]}`
	for id, want := range map[string]string{"op_lex_salts": "fail nondeterministic op_lex_salts.py:2: op_lex_salts: gives another result for the same text, context and generator (OC-5.3)", "op_lex_works": "pass  "} {
		opened, closed := 0, 0
		front := operator.New(func(_ context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
			opened++
			return &closing{moody{sleepy{files: set.Files}, set.HashSeed, opened}, &closed}, nil
		}, nil)
		list, found := front.Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: fmt.Appendf(nil, text, id)}, settings())
		if found.HasErrors() {
			t.Fatal(found)
		}
		before := opened
		state := list[0].Start(campaign.Facts{})
		session := list[0].Open(nil)
		var lanes []campaign.Executor[any]
		for i := range 3 {
			lane, err := session.Executor(t.Context(), campaign.Lane{Index: i, Of: 3})
			if err != nil {
				t.Fatal(err)
			}
			lanes = append(lanes, lane)
		}
		for i := range int64(3) {
			o, err := lanes[i].Execute(t.Context(), state, campaign.Case{Index: i})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(o.Verdict, " ", o.Kind, " ", o.Title); got != want {
				t.Errorf("%s: %q, want %q", id, got, want)
			}
		}
		for _, lane := range lanes {
			if err := lane.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		if opened-before != 4 || closed != opened {
			t.Errorf("%s: %d processes, %d of %d closed", id, opened-before, closed, opened)
		}
	}
}

// closing counts the hosts that were closed.
type closing struct {
	moody
	closed *int
}

func (h *closing) Close() error { *h.closed++; return nil }

// Missing keys of OPERATOR_META are reported at its own line, whatever follows in the file.
func TestMissingFieldsAreToldAtTheDict(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "op_lex_counts.py", "# one\nOPERATOR_META = {\n    'risk_level': 'HUGE',\n}\ndef apply(seed_text, ctx, rng):\n    return {'op_id': 1}\n")
	plugins := operator.LoadPlugins(t.Context(), []string{dir}, disk(), func(_ context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
		return &bare{sleepy{files: set.Files}}, nil
	})
	all := plugins.Faults.Error()
	for _, want := range []string{"op_lex_counts.py:2:1: error: OPERATOR_META.op_id: is missing", "op_lex_counts.py:3:1: error: OPERATOR_META.risk_level: is \"HUGE\""} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q in:\n%s", want, all)
		}
	}
	if len(plugins.Python) > 0 {
		t.Errorf("a module that cannot be used is loaded again: %v", plugins.Python)
	}
}

// bare is a host whose module has little of what is required.
type bare struct{ sleepy }

func (h *bare) Modules() []pyhost.OperatorModule {
	return []pyhost.OperatorModule{{File: h.files[0], Meta: json.RawMessage(`{"risk_level": "HUGE"}`), MetaLine: 2, ApplyLine: 5}}
}
