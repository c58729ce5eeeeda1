//go:build unix

package agent

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/pyhost"
)

const module = `
import os, time

n = 0
def search(q, limit=1):
    return ["hit for " + q] * limit

def clear():
    global n
    n = 0

def agent(prompt):
    global n
    n += 1
    if prompt == "sleep": time.sleep(60)
    if prompt == "die": os._exit(3)
    if prompt == "raise": raise ValueError("no " + prompt)
    if prompt == "none": return None
    if prompt == "large": return "x" * 2000
    if prompt == "search":
        print("searching")
        try:
            return "%d %s %s" % (n, os.environ.get("EXTRA"), search("a", limit=2))
        except TimeoutError as e:
            return "late: %s" % e
    return str(n)
`

// striker raises in place of a tool's result.
type striker struct{ raise bool }

func (s striker) Called(pyhost.ToolCall) pyhost.ToolAnswer {
	if s.raise {
		return pyhost.ToolAnswer{Action: pyhost.Raise, Class: "TimeoutError", Message: "chaos"}
	}
	return pyhost.ToolAnswer{}
}

func (s striker) Returned(pyhost.ToolCall, json.RawMessage, *pyhost.Fault) pyhost.ToolAnswer {
	return pyhost.ToolAnswer{Action: pyhost.Replace, Value: json.RawMessage(`["other"]`)}
}

func TestPythonAgent(t *testing.T) {
	t.Parallel() // mostly waits
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	plan := agentcall.Plan{MaxReply: 1000, Python: &agentcall.Python{Plan: pyhost.AgentPlan{
		Target: "mine:agent", Sources: map[string]string{"mine": module}, Tools: []string{"mine:search"}, Reset: "mine:clear", LoadLimit: patience,
	}}}
	a, err := New().Open(t.Context(), plan, 0, []string{"EXTRA=e"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if !a.Forgets() {
		t.Error("what a call left behind is not cleared")
	}
	for _, tc := range []struct {
		prompt          string
		watcher         pyhost.ToolWatcher
		limit           time.Duration
		end             agentcall.End
		text, err, tool string
	}{
		{"search", nil, 0, agentcall.Answered, "1 e ['hit for a', 'hit for a']", "", `search {"q": "a", "limit": 2} -> ["hit for a", "hit for a"]`},
		{"search", striker{}, 0, agentcall.Answered, "2 e ['other']", "", `search {"q": "a", "limit": 2} -> ["other"]`},
		{"search", striker{true}, 0, agentcall.Answered, "late: chaos", "", `search {"q": "a", "limit": 2} -> TimeoutError: chaos`},
		{"none", nil, 0, agentcall.Answered, "", "", ""},
		{"raise", nil, 0, agentcall.Raised, "", "ValueError: no raise", ""},
		{"large", nil, 0, agentcall.TooLarge, strings.Repeat("x", 1000), "the reply is larger than 1000 bytes", ""},
		{"sleep", nil, 300 * time.Millisecond, agentcall.TimedOut, "", "no whole reply within 300ms", ""},
		{"die", nil, 0, agentcall.Died, "", "the agent's process ended during the call", ""},
		{"count", nil, 0, agentcall.Answered, "1", "", ""},
	} {
		r := ask(t, a, agentcall.Call{Prompt: tc.prompt, Watcher: tc.watcher, Timeout: tc.limit})
		tool := ""
		for _, c := range r.Tools {
			tool += c.Tool + " " + string(c.Args) + " -> " + string(c.Result) + c.Error
		}
		if r.End != tc.end || r.Text != tc.text || !strings.Contains(r.Error, tc.err) || tool != tc.tool {
			t.Errorf("%s: %+v, tools %s", tc.prompt, r, tool)
		}
		if tc.prompt == "search" && r.Printed != "searching\n" {
			t.Errorf("printed %q", r.Printed)
		}
	}
	if err := a.Reset(t.Context(), patience); err != nil {
		t.Error(err)
	}
	if r := ask(t, a, agentcall.Call{}); r.Text != "1" {
		t.Errorf("%+v", r)
	}
	plan.Python.Template, plan.Python.Fields = `{"question": "{prompt}", "topic": "{topic}"}`, true
	plan.Python.Plan.Tools, plan.Python.Plan.Target, plan.Python.Plan.Reset = nil, "builtins:str", ""
	shaped, err := New().Open(t.Context(), plan, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer shaped.Close()
	if r := ask(t, shaped, agentcall.Call{Prompt: "Topic: \"tea\""}); r.Text != `{'question': 'Topic: "tea"', 'topic': '"tea"'}` {
		t.Errorf("%+v", r)
	}
	if _, err := a.Call(t.Context(), agentcall.Call{Timeout: patience, Via: agentcall.Via{Proxy: "http://p"}}); err == nil {
		t.Error("a proxy for no request")
	}
}
