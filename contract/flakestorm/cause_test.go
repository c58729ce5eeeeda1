package flakestorm

import (
	"encoding/json"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// What a case shows of faults has no part in a failure that also occurs without them.
func TestGroupOfFailuresWithoutFaults(t *testing.T) {
	group := func(signature, reply string, events ...fault.Event) string {
		text, err := json.Marshal(transcript{Turns: []turn{{Reply: agentcall.Reply{Text: reply}}}, Faults: fault.Report{Events: events}})
		if err != nil {
			t.Fatal(err)
		}
		return (&Campaign{}).Group(nil, campaign.Outcome{Signature: signature, Evidence: []campaign.Attachment{{Name: evidenceName, Data: text}}})
	}
	down := fault.Event{Mode: "error", Target: "tide"}
	mail, long := "contract|without faults|mail|excludes_pii", "contract|without faults|long|regex"
	said := "High tide at noon, says master@harbour.fi."
	plain := group(mail, said, down)
	if plain == "" || plain != group(long, said, down) {
		t.Errorf("two checks that one reply breaks: %q and %q", plain, group(long, said, down))
	}
	if other := group(mail, "Low tide at noon.", down); other == plain {
		t.Errorf("two replies: %q", other)
	}
	if a, b := group(mail, "Noon.", down), group(long, "Noon.", down); a == b || a == "" {
		t.Errorf("one word says nothing of the cause: %q and %q", a, b)
	}
	if g := group("contract|data|e5|not_contains", said, down); g != "" {
		t.Errorf("a failure that faults cause: %q", g)
	}
	if g := group(mail, said); g != "" {
		t.Errorf("a case without faults: %q", g)
	}
}

// A case with faults of which none fired tests nothing.
func TestExercised(t *testing.T) {
	for data, want := range map[string]bool{
		"": true, `{"why":"nothing else"}`: true, `{"fired":[[3,0],[1,1]]}`: true, `{"fired":[[3,0],[0,0]]}`: false, `{"first":2,"fired":[[1,0]]}`: false,
	} {
		if got := new(Contract).Exercised([]byte(data)); got != want {
			t.Errorf("%s: %v", data, got)
		}
	}
}
