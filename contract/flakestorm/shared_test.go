package flakestorm

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
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
