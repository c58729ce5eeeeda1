package flakestorm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

// cellText is what the run keeps of a case.
func cellText(o campaign.Outcome) string { return string(o.Attached("cell.json")) }

// A cell that holds tells prompt, reply and checks; of long texts their beginning
// and how long they were. Equal runs tell the same.
func TestEvidenceOfWhatHolds(t *testing.T) {
	long := strings.Repeat("a word ", 3000)
	s := answerer(t, func(prompt string, _ int) (int, string) { return 200, prompt + " " + long })
	text := "agent: {endpoint: " + s.URL + "}\ngolden_prompts: [hello]\ninvariants: [{type: output_not_empty}]\n" +
		"contract:\n  name: c\n  invariants: [{id: says, type: contains, value: word, severity: high}]\n" +
		"  chaos_matrix: [{name: calm}, {name: other}]\n"
	p := contractOnly(t, text)
	if p.count(campaign.VerdictPass) != 2 {
		t.Fatal(p.titles())
	}
	for i, o := range p.outcomes {
		got := cellText(o)
		size := fmt.Sprintf("(4096 of %d bytes)", len("hello "+long))
		for _, want := range []string{`"prompt":"hello"`, `"text":"hello a word`, size, `"id":"says"`, `"passed":true`} {
			if !strings.Contains(got, want) {
				t.Errorf("case %d lacks %s:\n%.300s … %s", i, want, got, got[max(0, len(got)-300):])
			}
		}
		if len(got) > 8<<10 {
			t.Errorf("case %d: %d bytes of evidence", i, len(got))
		}
	}
	if again := contractOnly(t, text); cellText(again.outcomes[1]) != cellText(p.outcomes[1]) {
		t.Errorf("%s\n%s", cellText(p.outcomes[1]), cellText(again.outcomes[1]))
	}
	none := contractOnly(t, text+"output: {evidence: failures}\n")
	if len(none.outcomes[0].Evidence) != 0 {
		t.Errorf("%v", none.outcomes[0].Evidence)
	}
}

// Over the prompts of the chaos phase after_calls counts on, a call for each
// prompt before, as in a run of the profile that names it.
func TestAfterCallsOverChaos(t *testing.T) {
	s := answerer(t, echo)
	text := "agent: {endpoint: " + s.URL + "}\ngolden_prompts: [a, b, c, d, e, f]\ninvariants: [{type: output_not_empty}]\n" +
		"chaos: {llm_faults: [{mode: rate_limit, after_calls: 5}]}\nadvanced: {retries: 0}\n"
	p := play(t, spec(t, text), flakestorm.OptPhase, flakestorm.PhaseChaos)
	if p.tally.Chaos.Passed != 4 || p.tally.Chaos.Total != 6 || len(p.warnings) != 0 {
		t.Errorf("%+v, %q\n%s", p.tally.Chaos, p.warnings, p.titles())
	}
}
