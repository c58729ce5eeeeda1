package operator_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

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
