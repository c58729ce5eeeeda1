package flakestorm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// A conversation is shown turn by turn with faults where they struck, and points at
// what the failed checks found.
func TestConversation(t *testing.T) {
	x := transcript{
		Turns: []turn{
			{Prompt: "Hello", Reply: agentcall.Reply{End: agentcall.Answered, Text: "Hi.\nWhich order?"}},
			{Prompt: "Order 1", Reply: agentcall.Reply{End: agentcall.Answered, Text: "Sure:\nMARKER, and 12 more"}, Tools: []verify.Tool{{Name: "orders", Args: json.RawMessage(`{"id":1}`)}}, Checks: []checked{
				{Reason: `"MARKER" found, but not allowed`}, {Reason: `the pattern "\\d+ more" found`}, {Reason: `"Sure" found`, Passed: true},
			}},
		},
		Faults: fault.Report{
			Exchanges: []fault.Exchange{{Call: 1, Kind: fault.ModelCall}, {Call: 2, Kind: fault.ToolCall, Tool: "orders", Status: 200}},
			Events:    []fault.Event{{Call: 2, Mode: "malicious_response", Target: "orders", Change: "says MARKER"}},
		},
		answers: []fault.Exchange{{Call: 2, Response: []byte("{\n}")}},
	}
	want := `user    Hello
agent   Hi.
        Which order?
user    Order 1
call    orders {"id":1}
fault   malicious_response of orders: says MARKER
answer  {
        }
agent   Sure:
        MARKER, and 12 more`
	e := x.conversation(&campaign.Outcome{})
	if d := cmp.Diff(want, e.Text.Body); d != "" {
		t.Error(d)
	}
	var marked []string
	for _, m := range e.Text.Marks {
		marked = append(marked, e.Text.Body[m.From:m.To])
	}
	if d := cmp.Diff([]string{"fault   malicious_response of orders: says MARKER", "MARKER", "12 more"}, marked); d != "" {
		t.Error(d)
	}
	x.answers = nil // of a case that held
	if got := x.conversation(&campaign.Outcome{}).Text.Body; !strings.Contains(got, "\nanswer  status 200\n") {
		t.Error(got)
	}
	x.Turn = 2
	for title, want := range map[string]string{"orders was called again": "call", "the reply holds a secret": "agent"} {
		e := x.conversation(&campaign.Outcome{Signature: "check|x", Title: title})
		if m := e.Text.Marks[0]; e.Text.Body[m.From:m.To] != want || strings.Count(e.Text.Body[:m.From], "\nuser") != 1 {
			t.Errorf("%s: begins with %q, want %s of the second turn", title, e.Text.Body[m.From:m.To], want)
		}
	}
}

// Beside a case with faults stands the one that asked the same without.
func TestCalmCase(t *testing.T) {
	c := &Campaign{cfg: &config.Config{}, asked: []string{"a"}, runs: 1}
	c.invariants = []config.Invariant{{ID: "polite"}, {ID: "true"}, {ID: "probed", Probes: []string{"x"}}}
	c.scenarios = []injection{{name: "calm"}, {name: "storm", active: activity{any: true}}}
	s := &state{
		items:   []item{{PhaseContract, 0, 0, 0}, {PhaseContract, 1, 0, 0}, {PhaseContract, 1, 1, 0}, {PhaseContract, 2, 1, 0}},
		results: []result{passed, failed, failed, failed},
	}
	for index, want := range map[int64]string{2: "", 3: "true in calm failed 2", 4: ""} {
		got := ""
		if e, ok := c.withoutFaults(s, campaign.Case{Index: index}); ok {
			row, _ := json.Marshal(e.Table.Cases)
			got = e.Table.Rows[0][0] + " " + e.Table.Rows[0][1] + " " + string(row[1:len(row)-1])
		}
		if got != want {
			t.Errorf("case %d: %q, want %q", index, got, want)
		}
	}
	s.results[1] = untried // it does not apply there, another one with its prompts does
	if e, ok := c.withoutFaults(s, campaign.Case{Index: 3}); !ok || *e.Table.Cases[0] != 1 {
		t.Errorf("%v %+v", ok, e)
	}
}

// A finding says where in the document the invariant stands that does not hold, or what
// was asked when a built-in check found something.
func TestPlaceInTheDocument(t *testing.T) {
	c := &Campaign{cfg: &config.Config{Prompts: []config.Prompt{
		{Text: "one", Path: "golden_prompts[0], row 3"},
		{Text: "bye", Path: "golden_prompts[1]", Turns: []config.Said{{Say: "hi", Path: "golden_prompts[1].turns[0]"}, {Say: "bye", Path: "golden_prompts[1].turns[1]",
			Expect: []config.Invariant{{ID: "talk: contains", Type: "contains", Path: "golden_prompts[1].turns[1].expect[0]"}}}}},
	}}}
	c.invariants = []config.Invariant{{ID: "answers", Type: "regex", Path: "contract.invariants[0]"}}
	turns := []turn{{Prompt: "one"}, {Prompt: "hi"}, {Prompt: "bye, changed"}}
	for _, x := range []struct {
		signature, original, want string
		turn                      int
	}{
		{"contract|answers|storm|answers|regex", "", "contract.invariants[0]", 0},
		{"mutation|noise|talk: contains|contains", "", "golden_prompts[1].turns[1].expect[0]", 0},
		{"contract|answers|storm|no answer|hung", "", "", 0},
		{"check|call-loop", "", "golden_prompts[0]", 1},
		{"check|call-loop", "", "golden_prompts[1].turns[0]", 2},
		{"check|call-loop", "", "", 3},
		{"check|call-loop", "bye", "golden_prompts[1].turns[1]", 0},
	} {
		if got := c.origin(&campaign.Outcome{Signature: x.signature}, &transcript{Turns: turns, Turn: x.turn, Original: x.original}); got != x.want {
			t.Errorf("%s of turn %d: %q, want %q", x.signature, x.turn, got, x.want)
		}
	}
}
