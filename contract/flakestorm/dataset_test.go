package flakestorm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
)

// asks is what was asked in a run, in order.
func asks(p played) (list []string) {
	for _, o := range p.outcomes {
		var x struct {
			Turns []struct{ Prompt string }
		}
		if json.Unmarshal(o.Attached("cell.json"), &x) == nil {
			for _, u := range x.Turns {
				list = append(list, u.Prompt)
			}
		}
	}
	return list
}

// Each row of a dataset is a prompt of its own, with what is expected of it; a
// sample is the same for the same seed.
func TestDatasets(t *testing.T) {
	s := answerer(t, func(prompt string, _ int) (int, string) { return 200, "You said " + prompt + ", so 4." })
	for name, rows := range map[string]string{
		"sums.csv":   "id,question,answer\na,\"What is 2, and 2?\",4\nb,What is 3+1?,4\nc,What is 2+3?,5\n",
		"sums.jsonl": `{"id":"a","question":"What is 2, and 2?","answer":4}` + "\n\n" + `{"id":"b","question":"What is 3+1?","answer":"4"}` + "\n" + `{"id":"c","question":"What is 2+3?","answer":5}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(more string, options ...string) played {
			text := fmt.Sprintf(`agent: {endpoint: "%s/chat"}
golden_prompts:
  - {dataset: %s, id: "sum {id}", prompt: "{question} \\d{1}", expect: [{type: regex, pattern: "so {answer}\\."}]%s}
contract: {name: c, chaos_matrix: [{name: calm}]}
advanced: {retries: 0}
`, s.URL, name, more)
			path := filepath.Join(dir, "flakestorm.yaml")
			return play(t, campaign.Spec{Path: path, Data: []byte(text)}, append(options, flakestorm.OptPhase, flakestorm.PhaseContract)...)
		}
		p := run("")
		if got := asks(p); !slices.Equal(got, []string{`What is 2, and 2? \d{1}`, `What is 3+1? \d{1}`, `What is 2+3? \d{1}`}) {
			t.Errorf("%s: asked %q", name, got)
		}
		if p.count(campaign.VerdictPass) != 2 || p.count(campaign.VerdictFail) != 1 || !strings.Contains(p.titles(), "sum c: regex") {
			t.Errorf("%s:\n%s", name, p.titles())
		}
		one, again := asks(run(", sample: 2")), asks(run(", sample: 2"))
		if len(one) != 2 || !slices.Equal(one, again) {
			t.Errorf("%s: samples %q and %q", name, one, again)
		}
	}
}

// A turn with when is said if the agent's last reply is of that kind.
func TestBranches(t *testing.T) {
	for _, x := range []struct {
		reply string // to the first turn
		want  []string
	}{
		{"Which ORDER number is it?", []string{"I want a refund.", "4711", "Thanks."}},
		{"I cannot do that.", []string{"I want a refund.", "Then a person, please.", "Thanks."}},
		{"Done, 12.50.", []string{"I want a refund."}},
	} {
		s := answerer(t, func(prompt string, _ int) (int, string) {
			if prompt == "I want a refund." {
				return 200, x.reply
			}
			return 200, "Noted: " + prompt
		})
		p := contractOnly(t, fmt.Sprintf(`agent: {endpoint: "%s/chat"}
golden_prompts:
  - turns:
      - I want a refund.
      - {when: {contains: [order number, order id]}, say: "4711", expect: [{type: contains, value: "4711"}]}
      - {when: {contains: cannot, not_contains: "4711"}, say: "Then a person, please.", expect: [{type: contains, value: nobody}]}
      - {when: {matches: "^Noted"}, say: Thanks.}
contract: {name: c, invariants: [{id: a, type: completes}], chaos_matrix: [{name: calm}]}
advanced: {retries: 0}
`, s.URL))
		asked := asks(p)
		if got := asked[:min(len(x.want), len(asked))]; !slices.Equal(got, x.want) || len(asked) != 3*len(x.want) {
			t.Errorf("%q: asked %q, want %q in each of 3 cells", x.reply, asked, x.want)
		}
		// What is expected of a turn that was not said is neither held nor failed.
		fail, skip := 0, 2
		switch {
		case strings.Contains(x.reply, "cannot"):
			fail, skip = 1, 1
		case strings.Contains(x.reply, "ORDER"):
			skip = 1
		}
		if p.count(campaign.VerdictFail) != fail || p.count(campaign.VerdictSkip) != skip {
			t.Errorf("%q:\n%s", x.reply, p.titles())
		}
	}
}
