package flakestorm

import (
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
)

// What was said before the input reaches agents that take it, in order; others get the input alone.
func TestHistoryOfASession(t *testing.T) {
	s := session{Session: config.Session{Context: []config.Message{{Role: "user", Content: "Hello"}, {Role: "assistant", Content: "Hi, who is it?"}}}}
	want := []agentcall.Message{{Role: "user", Text: "Hello"}, {Role: "assistant", Text: "Hi, who is it?"}}
	for name, plan := range map[string]*agentcall.Plan{"chat": {Chat: &agentcall.Chat{}}, "template": {HTTP: &agentcall.HTTP{Template: `{"messages": {history}}`}}} {
		if got := s.history(plan); !slices.Equal(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := s.history(&agentcall.Plan{HTTP: &agentcall.HTTP{Template: `{"q": "{prompt}"}`}}); got != nil {
		t.Errorf("an agent that takes none: %+v", got)
	}
}
