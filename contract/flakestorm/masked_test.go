package flakestorm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// An invariant that fails only where another one makes the finding has a finding, too: a
// finding that is accepted hides no other. The score counts the case once.
func TestEveryBrokenInvariantHasAFinding(t *testing.T) {
	s := answerer(t, func(string, int) (int, string) { return 200, "write to ann@example.org, password hunter2" })
	const head = `golden_prompts: [one, two]
phases: [chaos]
chaos: {tool_faults: [{tool: "*", mode: error, after_calls: 100}]}
checks: off
invariants:
  - {type: contains, value: order}
  - {type: not_contains, value: hunter2}
`
	for extra, want := range map[string][]string{
		"": {"contains: ", "not_contains: "},
		"  - {type: excludes_pii, severity: critical}\n":                  {"excludes_pii: ", "contains: ", "not_contains: "},
		"  - {type: contains, value: total}\n":                            {"contains: ", "not_contains: ", "contains 2: "},
		"  - {type: not_contains, value: ann, prompt_filter: two}\n":      {"contains: ", "not_contains: ", "not_contains 2: "},
		"  - {type: not_contains, value: harmless, severity: critical}\n": {"contains: ", "not_contains: "},
	} {
		p := play(t, spec(t, "agent: {endpoint: \""+s.URL+"/chat\"}\n"+head+extra))
		causes := map[string]string{}
		for _, o := range p.outcomes {
			if o.Verdict == campaign.VerdictFail {
				causes[o.Signature] = o.Title
			}
		}
		if len(causes) != len(want) || p.planned != 2 {
			t.Errorf("%s: %d cases planned, findings %v, want %q", extra, p.planned, causes, want)
		}
		for _, name := range want {
			found := false
			for _, title := range causes {
				found = found || strings.Contains(title, ": "+name) || strings.HasPrefix(title, name)
			}
			if !found {
				t.Errorf("%s: no finding of %s: %v", extra, name, causes)
			}
		}
		weak := fmt.Sprint(p.shown[1].Table.Rows)
		if p.shown[1].Title != "Weaknesses" || strings.Count(weak, " 2 cases ") != len(want) && !strings.Contains(extra, "prompt_filter") {
			t.Errorf("%s: each is seen in both cases: %s", extra, weak)
		}
		if x := p.tally.Chaos; x.Score != 0 {
			t.Errorf("%s: %+v", extra, x)
		}
	}
}

// What does not fail again is a finding in a run all the same: one that does not reproduce.
func TestBrokenOnceBesideAnother(t *testing.T) {
	s := answerer(t, func(_ string, n int) (int, string) {
		if n == 1+1 { // the first tries the agent
			return 200, "hunter2"
		}
		return 200, "nothing"
	})
	p := play(t, spec(t, "agent: {endpoint: \""+s.URL+"/chat\"}\ngolden_prompts: [one]\nphases: [chaos]\nchaos: {tool_faults: [{tool: \"*\", mode: error, after_calls: 100}]}\n"+
		"checks: off\ninvariants:\n  - {type: contains, value: order}\n  - {type: not_contains, value: hunter2, severity: low}\n"))
	if p.count(campaign.VerdictFail) != 2 || !strings.Contains(p.titles(), "not_contains: ") {
		t.Error(p.titles())
	}
}
