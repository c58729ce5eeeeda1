package flakestorm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A stored case is found in a document that was edited by what it names, not by its place.
func TestAdopt(t *testing.T) {
	doc := func(prompts, invariants, scenarios, sessions, phases string) campaign.Any {
		list, diags := front().Compile(t.Context(), spec(t, fmt.Sprintf(`agent: {endpoint: "http://127.0.0.1:1/chat"}
golden_prompts: [%s]
phases: [%s]
invariants: [{type: behavior_unchanged}]
chaos: {tool_faults: [{tool: "*", mode: error}]}
contract: {name: c, invariants: [%s], chaos_matrix: [%s]}
replays: {sessions: [%s]}
`, prompts, phases, invariants, scenarios, sessions)), settings())
		if len(list) != 1 {
			t.Fatal(diags)
		}
		return list[0]
	}
	const all = "mutation, chaos, contract, replay"
	const rated = "{id: b, type: output_not_empty, min_pass_rate: 0.5}"
	session := func(name string) string { return "{id: " + name + ", input: hello, contract: c}" }
	was := doc("one, two", "{id: a, type: output_not_empty}, "+rated, "{name: calm}, {name: storm}", session("x")+", "+session("y"), all)
	now := doc("two, one", rated+", {id: a, type: output_not_empty}", "{name: storm}, {name: calm}", session("y")+", "+session("x"), all)
	gone := doc("three", "{id: b, type: completes}", "{name: storm}", session("z"), "chaos, contract, replay")
	adopt := func(to campaign.Any, payload []byte) ([]byte, error) {
		x, _ := campaign.As[campaign.Adopter](to)
		return x.Adopt(t.Context(), was, payload, "")
	}
	for payload, want := range map[string][2]string{
		`{"phase":"baseline"}`:                    {`{"phase":"baseline","prompt":1}`, `it has no prompt "one"`},
		`{"phase":"chaos","prompt":1,"before":2}`: {`{"phase":"chaos","before":2}`, `it has no prompt "two"`},
		`{"phase":"contract"}`:                    {`{"phase":"contract","scenario":1,"invariant":1}`, `it has no invariant "a"`},
		`{"phase":"contract","invariant":1}`:      {`{"phase":"contract","scenario":1}`, `it has no scenario "calm"`},
		`{"phase":"rate","scenario":1,"invariant":1,"sample":{"runs":1,"passed":0,"answer":""}}`: {`{"phase":"rate","sample":{"runs":1,"passed":0,"answer":""}}`, `its invariant "b" has no min_pass_rate`},
		`{"phase":"replay","session":1}`: {`{"phase":"replay"}`, `it has no session "y"`},
		`{"phase":"mutation","mutation":{"id":"m","type":"noise","original":"one","mutated":"oen"}}`: {"", "it does not run the phase mutation"},
		`{"phase":"check","check":"call-loop","of":{"phase":"replay"}}`:                              {`{"phase":"check","check":"call-loop","of":{"phase":"replay","session":1}}`, `it has no session "x"`},
		`{"phase":"check","check":"unhealthy-baseline"}`:                                             {`{"phase":"check","check":"unhealthy-baseline"}`, ""},
		`{"phase":"audit","rule":9}`:                                                                 {"", "it has no case"},
	} {
		got, err := adopt(now, []byte(payload))
		if want[0] != "" && (err != nil || string(got) != want[0]) {
			t.Errorf("%s: %s, %v", payload, got, err)
		}
		if _, err = adopt(gone, []byte(payload)); (err == nil) != (want[1] == "") || err != nil && !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%s: %v, want %s", payload, err, want[1])
		}
	}
}

// A stored case applies no longer once the document has ceased to check what failed in it.
func TestAdoptedCasesCheckWhatFailed(t *testing.T) {
	doc := func(expect, invariants, rules, checks string) campaign.Any {
		list, diags := front().Compile(t.Context(), spec(t, fmt.Sprintf(`agent: {endpoint: "http://127.0.0.1:1/chat"}
golden_prompts: [{prompt: one, expect: [{type: output_not_empty}%s]}]
phases: [chaos, contract, replay]
invariants: [{type: latency, max_ms: 9000}%s]
chaos: {tool_faults: [{tool: "*", mode: error}]}
contract: {name: c, invariants: [{id: a, type: output_not_empty}%s], chaos_matrix: [{name: calm}]}
replays: {sessions: [{id: x, input: hello, contract: c}]}
%s`, expect, invariants, rules, checks)), settings())
		if len(list) != 1 {
			t.Fatal(diags)
		}
		return list[0]
	}
	was := doc(", {type: contains, value: x}", ", {id: order, type: contains, value: order}", ", {id: b, type: contains, value: y}", "")
	now := doc("", "", "", "checks: {call-loop: off}\n")
	x, _ := campaign.As[campaign.Adopter](now)
	for _, row := range [][3]string{
		{`{"phase":"chaos"}`, "chaos|latency|latency", ""},
		{`{"phase":"chaos"}`, "chaos|order|contains", `it has no invariant "order"`},
		{`{"phase":"chaos"}`, "run|without faults|one: contains|contains", `it has no invariant "one: contains"`},
		{`{"phase":"chaos"}`, "chaos|no answer|refused", ""},
		{`{"phase":"contract"}`, "contract|a|calm|a|output_not_empty", ""},
		{`{"phase":"replay"}`, "replay|x|a|output_not_empty", ""},
		{`{"phase":"replay"}`, "replay|x|b|contains", `it has no invariant "b"`},
		{`{"phase":"check","check":"call-loop","of":{"phase":"chaos"}}`, "check|call-loop", "it does not make the check call-loop"},
		{`{"phase":"check","check":"unhealthy-baseline"}`, "check|unhealthy-baseline", ""},
	} {
		got := ""
		if _, err := x.Adopt(t.Context(), was, []byte(row[0]), row[1]); err != nil {
			got = err.Error()
		}
		if got != row[2] {
			t.Errorf("%s, %s: %q, want %q", row[0], row[1], got, row[2])
		}
	}
}
