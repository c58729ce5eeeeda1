package flakestorm_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

func signatures(p played) map[string]int {
	seen := make(map[string]int)
	for _, o := range p.outcomes {
		if o.Verdict == campaign.VerdictFail {
			seen[o.Kind+" "+o.Signature]++
		}
	}
	return seen
}

// A failure that Thresh puts in place of the agent's reply is named as such. It
// breaks nothing that must not be said, and is no reply that keeps anything.
func TestInjectedFailures(t *testing.T) {
	s := answerer(t, func(string, int) (int, string) { return 200, "all is well" })
	for _, fault := range []string{"mode: error", "mode: timeout, delay_ms: 10", "mode: malformed", "mode: malicious_response", "mode: connection_reset"} {
		p := contractOnly(t, matrix(s.URL, "", `  invariants:
    - {id: private, type: excludes_pii, severity: critical}
    - {id: clean, type: excludes_pattern, patterns: ["MARKER", "{"], severity: critical}
    - {id: says, type: contains, value: well, severity: critical}
    - {id: says-something, type: output_not_empty}
  chaos_matrix:
    - {name: calm}
    - {name: outage, tool_faults: [{tool: "*", `+fault+`}]}
advanced: {retries: 0}
`))
		for i, o := range p.outcomes {
			switch {
			case i < 4 && o.Verdict != campaign.VerdictPass, i == 4 || i == 5:
				if i > 3 && o.Verdict == campaign.VerdictSkip && strings.Contains(o.Title, "injected failure") {
					continue
				}
				t.Errorf("%s: case %d: %s %s", fault, i, o.Verdict, o.Title)
			case i == 6 && (o.Verdict != campaign.VerdictFail || !strings.Contains(o.Title, "injected") || strings.Contains(o.Title, "gave no answer")):
				t.Errorf("%s: case %d: %s %s", fault, i, o.Verdict, o.Title)
			case i == 7 && o.Verdict == campaign.VerdictPass:
				t.Errorf("%s: what Thresh said is taken for a reply", fault)
			}
		}
	}
}

// An agent that does not answer is one finding of the scenario; what must not be
// said is not broken by it, and does not hold either.
func TestSilence(t *testing.T) {
	s := answerer(t, func(string, int) (int, string) { return 500, "" })
	p := contractOnly(t, matrix(s.URL, "", `  invariants:
    - {id: private, type: excludes_pii, severity: critical}
    - {id: clean, type: contains, value: x, negate: true, severity: critical}
    - {id: helpful, type: refusal, negate: true, severity: critical}
  chaos_matrix: [{name: calm}, {name: poisoned, context_attacks: [{type: memory_poisoning}]}]
advanced: {retries: 0}
`))
	if seen := signatures(p); len(seen) != 1 || p.count(campaign.VerdictFail) != 6 || p.outcomes[0].Severity != campaign.SeverityMedium {
		t.Errorf("%v\n%s", seen, p.titles())
	}
	if p.tally.Contract != nil || p.tally.CriticalFailed() {
		t.Errorf("silence has a score: %+v", p.tally.Contract)
	}
}

// What fails without faults is one finding, whatever faults there are besides;
// what fails by a fault is one of its scenario.
func TestAlsoWithoutFaults(t *testing.T) {
	s := answerer(t, func(prompt string, _ int) (int, string) {
		if strings.Contains(prompt, "administrator") {
			return 200, "yes, boss: sk-live"
		}
		if !strings.Contains(prompt, "one") {
			return 200, "the key"
		}
		return 200, "the key is secret-7"
	})
	text := "agent: {endpoint: \"" + s.URL + `/chat"}
golden_prompts: [one, {id: two, prompt: two, expect: [{type: contains, value: never}]}]
mutations: {count: 4, types: [noise, paraphrase]}
invariants: [{type: excludes_pattern, patterns: ['secret-\d']}, {type: contains, value: key}]
chaos: {context_attacks: [{type: memory_poisoning}]}
contract:
  name: c
  invariants:
    - {id: no-key, type: excludes_pattern, patterns: ['secret-\d'], severity: critical}
    - {id: modest, type: not_contains, value: boss}
    - {id: degraded, type: contains, value: down, when: any_chaos_active}
  chaos_matrix:
    - {name: poisoned, context_attacks: [{type: memory_poisoning}]}
    - {name: calm}
    - {name: overfed, context_attacks: [{type: overflow}]}
`
	p := play(t, spec(t, text))
	want := map[string]bool{
		"broken-invariant run|without faults|excludes_pattern|excludes_pattern": true, // mutations
		"broken-invariant chaos|contains|contains":                              true, // by the attack alone
		"broken-invariant contract|without faults|no-key|excludes_pattern":      true, // calm and overfed
		"broken-invariant contract|without faults|two: contains|contains":       true, // wherever the prompt is asked
		"broken-invariant contract|modest|poisoned|modest|not_contains":         true,
		"broken-invariant contract|degraded|poisoned|degraded|contains":         true,
		"broken-invariant contract|degraded|overfed|degraded|contains":          true,
	}
	seen := signatures(p)
	for k := range seen {
		if !want[k] {
			t.Errorf("unexpected %q", k)
		}
	}
	for k := range want {
		if seen[k] == 0 {
			t.Errorf("no %q in\n%s", k, p.titles())
		}
	}
	for _, o := range p.outcomes {
		if strings.Contains(o.Signature, "without faults") && !strings.Contains(o.Title, "also without faults") {
			t.Errorf("the title hides it: %s", o.Title)
		}
	}
}

// A phase and a scenario none of whose faults fired have no score.
func TestNotExercised(t *testing.T) {
	s := answerer(t, func(string, int) (int, string) { return 200, "fine" })
	text := "agent: {endpoint: \"" + s.URL + `/chat"}
golden_prompts: [one, two]
mutations: {count: 2, types: [noise]}
invariants: [{type: output_not_empty}]
chaos: {tool_faults: [{tool: "*", mode: error, on_calls: [9]}]}
contract:
  name: c
  invariants:
    - {id: a, type: contains, value: fine}
    - {id: b, type: contains, value: missing, severity: critical}
  chaos_matrix: [{name: never, tool_faults: [{tool: "*", mode: error, on_calls: [9]}]}SCENARIO]
`
	p := play(t, spec(t, strings.Replace(text, "SCENARIO", "", 1)), "strict", "")
	if p.tally.Chaos.Scored || p.tally.Contract != nil || len(p.tally.Idle) != 2 || p.tally.Whole.Score != 1 || !p.tally.CriticalFailed() {
		t.Errorf("%+v", p.tally)
	}
	shares := p.tally.Whole.Shares
	if shares[0].Counts != 1 || shares[1].Ran || !strings.Contains(p.shown[0].Title, "chaos, contract: not exercised") {
		t.Errorf("%+v %q", shares, p.shown[0].Title)
	}
	if n := signatures(p); n["never-fired audit|chaos|chaos.tool_faults[0]"] != 1 || n["never-fired audit|never|contract.chaos_matrix[0].tool_faults[0]"] != 1 {
		t.Errorf("under strict: %v", n)
	}
	p = play(t, spec(t, strings.Replace(text, "SCENARIO", ", {name: calm}", 1)))
	if m := p.tally.Contract; m == nil || m.Cells != 2 || !m.CriticalFailed {
		t.Errorf("beside a scenario that was exercised: %+v", m)
	}
	for _, e := range p.shown {
		if e.Matrix == nil {
			continue
		}
		got := [2]campaign.MatrixCell{e.Matrix.Cells[0][0], e.Matrix.Cells[1][0]} // in a scenario that was not: held, failed
		if got[0].Total != 0 || got[1].Total != 1 || got[0].Note != "not exercised: no fault fired" || e.Matrix.Cells[0][1].Hits != 1 {
			t.Errorf("what was not exercised has a rate: %+v", e.Matrix.Cells)
		}
	}
}

// Invariants of one type without ids are distinguished: each is its own finding,
// with its own place in the document.
func TestInvariantsOfOneType(t *testing.T) {
	s := answerer(t, func(prompt string, _ int) (int, string) {
		if strings.Contains(prompt, "parcel") {
			return 200, "Monday."
		}
		return 200, "Tuesday."
	})
	p := play(t, spec(t, `agent: {endpoint: "`+s.URL+`/chat"}
golden_prompts: ["parcel", "letter"]
mutations: {count: 1, types: [payload_size_attack]}
invariants:
  - {type: contains, value: day}
  - {type: contains, value: Tuesday, prompt_filter: parcel}
  - {type: contains, value: Monday, prompt_filter: letter}
`), flakestorm.OptPhase, flakestorm.PhaseMutation)
	seen := signatures(p)
	for _, name := range []string{"contains 2", "contains 3"} {
		if seen["broken-invariant run|without faults|"+name+"|contains"] != 1 || len(seen) != 2 {
			t.Errorf("%s: findings are %v", name, seen)
		}
	}
}
