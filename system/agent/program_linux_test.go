package agent

import (
	"bytes"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// An agent that does not end when it is asked to is made to, and what it has
// put into a session of its own ends with it: when it is closed and when it has
// died by itself.
func TestNothingOutlivesAnAgent(t *testing.T) {
	t.Parallel() // mostly waits
	gone := func(pid string) bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || bytes.Contains(stat, []byte(") Z ")) // who reaps it is not our affair
	}
	a, err := New().Open(t.Context(), started(t, "server"), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := ask(t, a, agentcall.Call{Prompt: "leave"}).Text
	if gone(first) {
		t.Fatalf("%q is not a process", first)
	}
	if r := ask(t, a, agentcall.Call{Prompt: "die"}); r.End != agentcall.Died || !gone(first) {
		t.Errorf("%+v; what it left is gone: %t", r, gone(first))
	}
	second := ask(t, a, agentcall.Call{Prompt: "leave"}).Text
	if gone(second) {
		t.Fatalf("%q is not a process", second)
	}
	if err := a.Close(); err != nil || !gone(second) {
		t.Errorf("%v; what it left is gone: %t", err, gone(second))
	}
}
