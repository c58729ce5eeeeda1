package flakestorm

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
)

// A run in which no cell showed a call of a tool says that checks of calls had
// nothing to look at.
func TestNoteOfUnseenCalls(t *testing.T) {
	s := &shared{c: &Campaign{cfg: &config.Config{}, reach: reach{own: true}}}
	noted := func() bool {
		return slices.ContainsFunc(s.notes(), func(n string) bool { return strings.Contains(n, "nothing to check") })
	}
	if noted() {
		t.Error("before any cell")
	}
	if s.keepNotes(&fault.Report{}); !noted() {
		t.Error("no note of a cell without calls")
	}
	s.keepNotes(&fault.Report{ToolCalls: []fault.SeenCall{{Tool: "charge"}}})
	if s.keepNotes(&fault.Report{}); noted() {
		t.Error("a call was seen")
	}
}

// An invariant about one reply says nothing of what a check found in another
// conversation.
func TestCoverOfOtherConversations(t *testing.T) {
	x := &trial{failed: &config.Invariant{Type: "not_contains"}, failedIn: 1}
	if x.covers("false-success", &spotted{first: 0}) || !x.covers("false-success", &spotted{first: 1}) {
		t.Error("a claim in another conversation is taken for what failed")
	}
}

// Personal data is the same words as a secret only if the secret holds some.
func TestCoverOfPersonalData(t *testing.T) {
	x := &trial{failed: &config.Invariant{Type: "excludes_pii"}, reply: "The password is hunter22, call +1 415 555 0123."}
	x.note.reason = "personal data found: phone"
	for words, covered := range map[string]bool{"hunter22": false, "+1 415 555 0123": true} {
		if x.covers("secret-in-reply", &spotted{Problem: judge.Problem{Text: words}}) != covered {
			t.Errorf("%q: covered is %v", words, !covered)
		}
	}
}

// A fault that no call of its scenario matched does not name calls of other cases as if
// they were of another tool.
func TestIdleFaultWhoseToolOthersCalled(t *testing.T) {
	s := &state{occurred: map[judge.Kind][]string{judge.Request: {"book_room", "weather"}}}
	for _, x := range []struct{ tool, url, want string }{
		{"book-room", "", ": its cases made no call that matches it, although others called book_room"},
		{"*", "", ": its cases made no call that matches it, although others called book_room, weather"},
		{"charge", "", ": no call of the agent matched it; those seen: book_room, weather"},
		{"*", "http://x/*", ": no call of the agent matched it; those seen: book_room, weather"},
	} {
		c := &Campaign{cfg: &config.Config{}, rules: []ruleAt{{scenario: "down", rule: fault.Rule{ID: "f", Layer: fault.Tool, Tool: x.tool, MatchURL: x.url}}}}
		if got := c.idleText(0, fired{}, s); !strings.HasSuffix(got, x.want) {
			t.Errorf("%s %s: %s", x.tool, x.url, got)
		}
	}
}
