package flakestorm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// The title of a finding is one sentence: the check, the reason and the place. Prompt,
// fault and reply stand below it.
func TestSentenceOfAFinding(t *testing.T) {
	for _, x := range []struct{ about, original, signature, title, want string }{
		{"polite in waiter-ill", "", "contract|polite|waiter-ill|x", `polite in waiter-ill: polite: the reply is empty`, "polite: the reply is empty (waiter-ill)"},
		{"polite in waiter-ill", "", "contract|*|waiter-ill|x", `polite in waiter-ill: the agent gave no answer: hung: 5 s`, "the agent gave no answer: hung: 5 s (polite in waiter-ill)"},
		{"polite in waiter-ill", "", "contract|polite|waiter-ill|x", `polite in waiter-ill: 3 of 9 runs held`, "polite: 3 of 9 runs held (waiter-ill)"},
		{`Noise of "Is there soup in the pot?"`, "Is there soup in the pot?", "mutation|noise|x", `Noise of "Is there soup in the pot?": contains: "soup" not found`, `contains: "soup" not found (Noise)`},
		{`chaos, "Soup?"`, "", "chaos|x", `chaos, "Soup?": contains: "soup" not found`, `contains: "soup" not found (chaos)`},
		{"replay of monday", "", "replay|monday", "replay of monday: contains: no soup", "contains: no soup (replay of monday)"},
		{`chaos, "Soup?"`, "", "check|loop", `loop: 12 times the same call (chaos, "Soup?")`, "loop: 12 times the same call (chaos)"},
		{"polite in calm", "", "contract|without faults", "polite: also without faults: the reply is empty", "polite: also without faults: the reply is empty"},
		{"polite in calm", "", "contract|polite|calm|x", "polite in calm: polite: " + strings.Repeat("long ", 60), "polite: " + strings.Repeat("long ", 21) + "long… (calm)"},
	} {
		text, err := json.Marshal(transcript{Case: x.about, Original: x.original, Turns: []turn{{Prompt: "Soup?", Reply: agentcall.Reply{Text: "No soup.\nSorry."}}},
			Faults: fault.Report{Events: []fault.Event{{Mode: "empty", Target: "model"}, {Mode: "error", Missed: true}}}})
		if err != nil {
			t.Fatal(err)
		}
		o := campaign.Outcome{Verdict: campaign.VerdictFail, Title: x.title, Signature: x.signature, Evidence: []campaign.Attachment{{Name: evidenceName, Data: text}}}
		if got, _ := (&Campaign{}).Refine(x.title, o.Severity, o); got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.title, got, x.want)
		}
	}
	x := transcript{Turns: []turn{{Prompt: "Soup?", Reply: agentcall.Reply{Text: "No soup.\nSorry.", End: agentcall.Answered}}}, Faults: fault.Report{Events: []fault.Event{{Mode: "empty", Target: "model"}, {Mode: "error", Missed: true}}}}
	if got := x.failure("it failed").Text.Body; got != "it failed\nprompt: \"Soup?\"\nfault:  empty of model\nreply:  \"No soup.\"" {
		t.Errorf("what failed:\n%s", got)
	}
}
