package flakestorm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// A replay is shown beside what it replays, and a case that is none is not.
func TestReplayBesideTheOriginal(t *testing.T) {
	c := &Campaign{cfg: &config.Config{}, sessions: []session{{Session: config.Session{
		ID: "incident-1", Input: "Where is it?", Expected: "the agent made an order up",
		Tools: []config.ToolResponse{{Tool: "orders", Status: 503, Body: "busy"}, {Tool: "weather", Body: "{}"}},
	}}}}
	x := transcript{
		Case:   replayName(&c.sessions[0]),
		Turns:  []turn{{Prompt: "Where is it?", Reply: agentcall.Reply{Text: "Order 1 is on its way."}}},
		Faults: fault.Report{Exchanges: []fault.Exchange{{Kind: fault.ToolCall, Tool: "orders"}, {Kind: fault.ToolCall, Tool: "orders"}}},
	}
	shown := func() (rows [][]string, title string) {
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		o := campaign.Outcome{Verdict: campaign.VerdictFail, Title: "it makes orders up", Evidence: []campaign.Attachment{{Name: evidenceName, Data: text}}}
		for _, e := range c.Describe(nil, campaign.Case{Index: 9}, o, nil) {
			if e.Title == "The replay beside the original" {
				return e.Table.Rows, e.Title
			}
		}
		return nil, ""
	}
	want := [][]string{
		{"input", "Where is it?", "Where is it?"},
		{"failure", "the agent made an order up", "it makes orders up"},
		{"tool orders", "status 503: busy", "calls: 2"},
		{"tool weather", "{}", "calls: 0"},
		{"reply", "not recorded", "Order 1 is on its way."},
	}
	if rows, _ := shown(); !cmp.Equal(rows, want) {
		t.Error(cmp.Diff(want, rows))
	}
	c.sessions[0].Reply = "Order 1 is on its long way."
	want[4][1] = "Order 1 is on its long way."
	if rows, _ := shown(); !cmp.Equal(rows, want) {
		t.Error(cmp.Diff(want, rows))
	}
	x.Case = "something else"
	if rows, title := shown(); rows != nil || title != "" {
		t.Errorf("a case that is no replay is shown beside one: %q", rows)
	}
}

// Answers from a recording are no faults, and what failed names none.
func TestFailureOfAReplay(t *testing.T) {
	x := transcript{Turns: []turn{{Prompt: "Where is it?"}}, Faults: fault.Report{
		Exchanges: []fault.Exchange{{Kind: fault.ToolCall, Tool: "orders", Call: 1}},
		Events:    []fault.Event{{Target: "orders", Call: 1}},
	}}
	if e := x.failure("departs"); strings.Contains(e.Text.Body, "fault") {
		t.Error(e.Text.Body)
	}
}

// A failure names its invariant once.
func TestNamedOnce(t *testing.T) {
	for title, want := range map[string]string{
		`no-orders in calm: no-orders: "MARKER" found`:             `no-orders in calm: "MARKER" found`,
		`answers in busy: the agent gave no answer`:                `answers in busy: the agent gave no answer`,
		`Noise of "Is it wet in Oslo?": contains: "wet" not found`: `Noise of "Is it wet in Oslo?": contains: "wet" not found`,
		`helpful: also without faults: any of "plan" not found`:    `helpful: also without faults: any of "plan" not found`,
	} {
		if got := namedOnce(title); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
