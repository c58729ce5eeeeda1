package flakestorm_test

import (
	"fmt"
	"os"
	"os/exec"
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

// The case without faults shows what its tools answered, beside which a finding stands, and
// no case that held is exported with answers that were cut.
func TestAnswersOfWhatHolds(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	tool := answerer(t, func(string, int) (int, string) { return 200, "7 pens" + strings.Repeat(".", 2000) })
	dir := t.TempDir()
	program := "import os, urllib.request\nopener = urllib.request.build_opener(urllib.request.ProxyHandler({}))\n" +
		"print(opener.open(urllib.request.Request(os.environ['STOCK_URL'], b'{}'), timeout=5).read().decode()[:20])\n"
	if err := os.WriteFile(dir+"/shop.py", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	p := play(t, campaign.Spec{Path: dir + "/flakestorm.yaml", Data: []byte("agent: {type: command, command: [python3, shop.py], env: {STOCK_URL: \"{gateway:stock}\"}, tool_gateways: {stock: \"" + tool.URL + "\"}}\n" +
		"golden_prompts: [pens]\ncontract:\n  name: c\n  invariants: [{id: a, type: contains, value: \"7 pens\"}]\n" +
		"  chaos_matrix: [{name: calm}, {name: slow, tool_faults: [{tool: stock, mode: slow, delay_ms: 1}]}]\n")}, flakestorm.OptPhase, flakestorm.PhaseContract)
	if p.count(campaign.VerdictPass) != 2 {
		t.Fatal(p.titles())
	}
	d, _ := campaign.As[campaign.Describer[any]](p.campaign)
	for i, want := range []string{`answer  {"output":"7 pens....`, "answer  status 200\n"} {
		text := ""
		for _, e := range d.Describe(p.campaign.Start(p.facts), campaign.Case{Index: int64(i)}, p.outcomes[i], nil) {
			if e.Title == "Conversation" {
				text = e.Text.Body
			}
			if e.Title == flakestorm.SessionExhibit {
				t.Errorf("case %d is exported: %s", i, e.Text.Body)
			}
		}
		if !strings.Contains(text, want) || i == 0 && !strings.Contains(text, "... […]") || len(cellText(p.outcomes[i])) > 4000 {
			t.Errorf("case %d: no %s in\n%s", i, want, text)
		}
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
