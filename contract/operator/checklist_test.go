package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// endless is a host whose one operator hangs in every call.
type endless struct{ calls int }

func (h *endless) Modules() []pyhost.OperatorModule {
	return []pyhost.OperatorModule{{MetaLine: 1, ApplyLine: 3, Meta: json.RawMessage(
		`{"op_id": "op_lex_endless", "bucket_tags": ["PROMPT_INJECTION"], "surface_compat": ["PROMPT_TEXT"], "risk_level": "LOW", "strength_range": [1, 5]}`)}}
}

func (h *endless) Apply(_ context.Context, calls []pyhost.OperatorCall, reply func(int, *pyhost.OperatorReply) error) error {
	h.calls += len(calls)
	for i := range calls {
		if err := reply(i, &pyhost.OperatorReply{End: pyhost.Hung, Fault: &pyhost.Fault{Class: "TimeLimit", Message: "no answer within 5s"}}); err != nil {
			return err
		}
	}
	return nil
}

func (h *endless) Notes() []string { return nil }
func (h *endless) Close() error    { return nil }

// An operator that hangs is given up after the first call: the checklist makes
// dozens, and each would be waited for.
func TestCheckGivesUpOnOperatorsThatHang(t *testing.T) {
	path := place(t, t.TempDir(), "op_lex_endless.py", "OPERATOR_META = {}\n\ndef apply(seed_text, ctx, rng):\n    while True: pass\n")
	host := new(endless)
	plugins := operator.LoadPlugins(t.Context(), []string{path}, disk(), func(context.Context, pyhost.OperatorSet) (pyhost.Operators, error) { return host, nil })
	if plugins.Faults.HasErrors() || len(plugins.Entries) != 1 {
		t.Fatal(plugins.Faults)
	}
	list, err := operator.CheckPlugins(t.Context(), plugins, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	c := list[0]
	last := len(operator.Boxes()) - 1
	if host.calls != 1 || c.Answered || c.Snapshot != nil || c.Holds(1) || c.Holds(last) || !strings.Contains(c.Faults[last].Error(), "stopped during application 1 of 24") {
		t.Errorf("%d calls; answered %t, snapshot of %d bytes: %v", host.calls, c.Answered, len(c.Snapshot), c.Faults)
	}
}

// moody is a host of operators with something besides their arguments in what they return.
type moody struct {
	sleepy
	seed    string
	process int
}

func (h *moody) Apply(_ context.Context, calls []pyhost.OperatorCall, reply func(int, *pyhost.OperatorReply) error) error {
	for i, c := range calls {
		r := &pyhost.OperatorReply{End: pyhost.Applied, Status: "OK", Child: c.Seed + "!"}
		switch h.id(c.Module) {
		case "op_lex_orders":
			if h.seed == "3" {
				r.Child += "!"
			}
		case "op_lex_salts":
			r.Child = fmt.Sprintf("%s %d", c.Seed, h.process)
		case "op_lex_raises":
			r = &pyhost.OperatorReply{End: pyhost.RaisedIn, Fault: &pyhost.Fault{Class: "ValueError", Message: fmt.Sprintf("<object at %d>", h.process)}}
		}
		r.Trace = fmt.Appendf(nil, `{"op_id":%q,"status":"OK","params":{},"len_before":%d,"len_after":%d}`, h.id(c.Module), utf8.RuneCountInString(c.Seed), utf8.RuneCountInString(r.Child))
		if err := reply(i, r); err != nil {
			return err
		}
	}
	return nil
}

// What another process, or another order of sets, changes is no longer the same elsewhere, and the
// two are distinguished.
func TestCheckInOtherProcesses(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{"op_lex_orders": "with PYTHONHASHSEED=3", "op_lex_salts": "in another process", "op_lex_raises": "", "op_lex_works": ""}
	for id := range want {
		place(t, dir, id+".py", "OPERATOR_META = {}\ndef apply(seed_text, ctx, rng): pass\n")
	}
	opened := 0
	plugins := operator.LoadPlugins(t.Context(), []string{dir}, disk(), func(_ context.Context, set pyhost.OperatorSet) (pyhost.Operators, error) {
		opened++
		return &moody{sleepy{files: set.Files}, set.HashSeed, opened}, nil
	})
	list, err := operator.CheckPlugins(t.Context(), plugins, os.ReadFile)
	if err != nil || len(list) != len(want) {
		t.Fatal(list, err)
	}
	for _, c := range list {
		text := want[c.Entry.Meta.ID]
		if c.Holds(2) != (text == "") || !strings.Contains(c.Faults[2].Error(), text) {
			t.Errorf("%s: %v", c.Entry.Meta.ID, c.Faults[2])
		}
	}
}
