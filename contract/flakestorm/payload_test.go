package flakestorm_test

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

const oneOfEach = `agent: {endpoint: "http://127.0.0.1:1/chat"}
golden_prompts: [one]
phases: [chaos, contract, replay]
invariants: [{type: behavior_unchanged}]
chaos: {tool_faults: [{tool: "*", mode: error}]}
contract: {name: c, invariants: [{id: a, type: output_not_empty}], chaos_matrix: [{name: calm}]}
replays: {sessions: [{id: x, input: hello, contract: c}]}
`

// What a campaign has no case of is refused before the agent is asked: a payload may come from
// another machine, or out of a store that was edited.
func TestPayloadsThatAreNoCase(t *testing.T) {
	list, diags := front().Compile(t.Context(), spec(t, oneOfEach), settings())
	if len(list) != 1 {
		t.Fatal(diags)
	}
	c := list[0]
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	const none = `case 7: the campaign has no such case: phase `
	for payload, want := range map[string]string{
		"":                                      "flakestorm.yaml: case 7 has no payload",
		"{":                                     "reading the payload of case 7: unexpected end of JSON input",
		"{}":                                    none + `""`,
		`{"phase":"other"}`:                     none + `"other"`,
		`{"phase":"baseline","prompt":1}`:       none + `"baseline"`,
		`{"phase":"baseline","prompt":-1}`:      none + `"baseline"`,
		`{"phase":"mutation"}`:                  none + `"mutation"`,
		`{"phase":"chaos","prompt":1}`:          none + `"chaos"`,
		`{"phase":"chaos","before":-1}`:         none + `"chaos"`,
		`{"phase":"contract","invariant":1}`:    none + `"contract"`,
		`{"phase":"contract","scenario":1}`:     none + `"contract"`,
		`{"phase":"contract","scenario":-1}`:    none + `"contract"`,
		`{"phase":"rate","sample":{"runs":1}}`:  none + `"rate"`, // its invariant is not sampled
		`{"phase":"replay","session":1}`:        none + `"replay"`,
		`{"phase":"replay","session":-1}`:       none + `"replay"`,
		`{"phase":"audit","rule":1}`:            none + `"audit"`,
		`{"phase":"check","check":"call-loop"}`: none + `"check"`,
		`{"phase":"check","of":{"phase":"no"}}`: none + `"check"`,
		`{"phase":"check","of":{"phase":"check","check":"unhealthy-baseline","of":{"phase":"chaos"}}}`: none + `"check"`,
	} {
		at := campaign.Case{Index: 7, Payload: []byte(payload)}
		if payload == "" {
			at.Payload = nil
		}
		o, err := x.Execute(t.Context(), c.Start(campaign.Facts{}), at)
		if got := ""; err != nil {
			if got = err.Error(); got != want && !(payload == "" && len(got) > len(want) && got[len(got)-len(want):] == want) {
				t.Errorf("%s: %s, want %s", payload, got, want)
			}
		} else {
			t.Errorf("%s is executed: %+v", payload, o)
		}
	}
}

// Outcomes that are not the campaign's, as a damaged journal has them, are folded without
// harm: they add nothing.
func TestOutcomesOfNoCase(t *testing.T) {
	list, diags := front().Compile(t.Context(), spec(t, oneOfEach), settings())
	if len(list) != 1 {
		t.Fatal(diags)
	}
	c := list[0]
	sum, ok := campaign.As[campaign.Summarizer[any]](c)
	if !ok {
		t.Fatal("no summary")
	}
	fired := func(data string) (cells []string) {
		state := c.Start(campaign.Facts{})
		for {
			round, more := c.Round(state)
			if !more {
				break
			}
			state = c.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
				for i := range round.Len + 3 { // more than there are
					if !yield(campaign.Case{Index: i}, campaign.Outcome{Data: []byte(data)}) {
						return
					}
				}
			})
		}
		for _, e := range sum.Summarize(state).Exhibits {
			if e.Title == "Faults" {
				return e.Table.Rows[0][3:]
			}
		}
		return nil
	}
	for data, want := range map[string][3]string{
		"":                        {"0", "0", "never fired"},
		"{":                       {"0", "0", "never fired"},
		`{"fired":[[2,1]]}`:       {"6", "3", ""},
		`{"fired":[[2,0],[5,5]]}`: {"6", "0", "never fired"},
		`{"first":1,"fired":[[2,1]],"missed":["late"]}`: {"0", "0", "never fired"},
		`{"fired":[[1,0]],"missed":["late","later"]}`:   {"3", "0", "never fired late"},
	} {
		if got := fired(data); len(got) != 3 || [3]string(got) != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}
