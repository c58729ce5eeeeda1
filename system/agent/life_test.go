//go:build unix

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/program"
)

// The cases of an agent that ends learn how many of its calls were answered before, and whether
// one was cut by the end.
func TestLivesOfAgents(t *testing.T) {
	for _, own := range []bool{true, false} {
		life := &campaign.Life{}
		plan := started(t, "server")
		plan.HTTP.Template = "{prompt}"
		if !own {
			port := freePort(t)
			plan.HTTP.URL = "http://127.0.0.1:" + port + "/"
			plan.Start.Argv, plan.Start.Ready, plan.Start.Env = []string{self(t), "x"}, "", append(plan.Start.Env, "PORT="+port)
		}
		a, err := New().Open(campaign.WithLife(t.Context(), life), plan, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := a.(*endpoint)
		if life.System != nil {
			t.Error("a life without a call")
		}
		for range 2 {
			ask(t, a, agentcall.Call{Prompt: "hi"})
		}
		if life.System != &e.lead || life.Shared == own || life.Calls != 2 || life.End != nil {
			t.Errorf("own %t: %+v", own, life)
		}
		ask(t, a, agentcall.Call{Prompt: "die"})
		if life.End == nil || life.Before != 2 || !life.Cut || life.Calls != 2 {
			t.Errorf("own %t, after the end: %+v", own, life)
		}
		*life = campaign.Life{}
		ask(t, a, agentcall.Call{Prompt: "hi"})
		if life.End != nil || life.Calls != 1 {
			t.Errorf("own %t, started again: %+v", own, life)
		}
		if err := syscall.Kill(e.service.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if end := life.System.Watch(t.Context(), 20*time.Second); end == nil {
			t.Errorf("own %t: it is not seen to end", own)
		}
		ask(t, a, agentcall.Call{Prompt: "hi"})
		if err := syscall.Kill(e.service.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for !e.service.HasDied() {
			time.Sleep(time.Millisecond)
		}
		ask(t, a, agentcall.Call{Prompt: "hi"})
		if life.End == nil || life.Before != 2 || life.Cut || life.Program == nil {
			t.Errorf("own %t, between two calls: %+v", own, life)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server of MCP that this lane has started is the lane's own, and what it answers counts, be
// it that a tool has failed.
func TestLivesOfServers(t *testing.T) {
	life := &campaign.Life{}
	plan := agentcall.Plan{MCP: &agentcall.MCP{Argv: []string{self(t)}, Env: []string{role + "=mcp", "GORACE=atexit_sleep_ms=0"}}}
	a, err := New().Open(campaign.WithLife(t.Context(), life), plan, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for i, prompt := range []string{`{"tool": "echo", "arguments": {"input": ""}}`, `{"tool": "fails", "arguments": {"input": ""}}`, `{"tool": "none"}`, `{"tool": "dies", "arguments": {"input": ""}}`} {
		r := ask(t, a, agentcall.Call{Prompt: prompt})
		if life.Calls != min(i+1, 2) || life.Shared || life.System == nil || (life.End != nil) != (r.End == agentcall.Died) {
			t.Errorf("%s: %+v, %+v", prompt, r, life)
		}
	}
	if life.End == nil || life.Before != 2 || !life.Cut {
		t.Errorf("%+v", life)
	}
}

// Of several copies of a request, the first that was not answered is the reply.
func TestTheReplyOfCopies(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		var calls atomic.Int32
		a := open(t, post(serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(499 + int(calls.Add(1))) })))
		r := ask(t, a, agentcall.Call{Wire: &agentcall.Wire{Copies: n}})
		if int(calls.Load()) != n || (n > 1) != (len(r.Copies) == n) || n > 1 && r.Status != r.Copies[0].Status {
			t.Errorf("%d copies, %d requests: %+v", n, calls.Load(), r)
		}
	}
}

// rpc is a server of MCP over HTTP that does as a test says.
type rpc struct {
	mu       sync.Mutex
	requests []string
	without  bool // tools
	answers  map[string]string
	during   func() // each call of a tool; nil: nothing
}

func (s *rpc) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.requests, " ")
}

func (s *rpc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name, ProtocolVersion string }
	}
	_ = json.NewDecoder(r.Body).Decode(&q) // of a goodbye there is none
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+q.Method))
	s.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", "a")
	capabilities, result := `{"tools": {}}`, ""
	if s.without {
		capabilities = "{}"
	}
	switch {
	case r.URL.Path == "/broken":
		w.WriteHeader(http.StatusTeapot)
		return
	case q.Method == "initialize":
		result = `{"protocolVersion": "` + q.Params.ProtocolVersion + `", "capabilities": ` + capabilities + `, "serverInfo": {"name": "s", "version": "1"}}`
	case q.Method == "tools/list":
		result = `{"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}`
	case q.Method == "tools/call":
		if result = s.answers[q.Params.Name]; s.during != nil {
			s.during()
		}
	case q.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc": "2.0", "id": `+string(q.ID)+`, "result": `+result+`}`)
}

// An HTTP server hears of the end of its session and is reset at its own address. After an answer
// that is not MCP, the session is closed.
func TestSessionsOverHTTP(t *testing.T) {
	s := &rpc{answers: map[string]string{"say": `{"content": [{"type": "text", "text": "hi"}]}`}}
	url := serve(t, s.ServeHTTP)
	plan := agentcall.Plan{MCP: &agentcall.MCP{URL: url + "/mcp", Tool: "say", Arguments: `{"a": "{prompt}"}`}, Reset: agentcall.Reset{URL: "/clear"}}
	a, err := New().Open(t.Context(), plan, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	const begin = "POST /mcp initialize POST /mcp notifications/initialized POST /mcp tools/list"
	if r := ask(t, a, agentcall.Call{}); r.Text != "hi" || r.Fresh || a.Notes() != nil {
		t.Errorf("%+v, %q", r, a.Notes())
	}
	if err := a.Reset(t.Context(), patience); err != nil || !a.Forgets() {
		t.Error(err)
	}
	if want := begin + " POST /mcp tools/call POST /clear"; s.seen() != want {
		t.Errorf("%s\nwant %s", s.seen(), want)
	}
	s.mu.Lock()
	s.requests, s.answers["say"] = nil, `{"content": 7}`
	s.mu.Unlock()
	if r := ask(t, a, agentcall.Call{}); r.End != agentcall.Malformed || !r.Fresh {
		t.Errorf("%+v", r)
	}
	if want := "POST /mcp tools/call DELETE /mcp"; s.seen() != want {
		t.Errorf("%s\nwant %s", s.seen(), want)
	}
	earlier := a.(*server).meter // an answer that is too large may still be read when the next call is made
	s.mu.Lock()
	s.answers["say"], s.during = `{"content": [7]}`, func() { earlier.tooMuch.Store(true) }
	s.mu.Unlock()
	if r := ask(t, a, agentcall.Call{}); r.End != agentcall.Malformed {
		t.Errorf("%+v", r)
	}
	s.mu.Lock()
	s.answers["say"], s.during = `{"content": [{"type": "text", "text": "hi"}]}`, nil
	s.mu.Unlock()
	if r := ask(t, a, agentcall.Call{}); r.Text != "hi" || !r.Fresh || !slices.Equal(a.Notes(), []string{"the MCP server was connected to 3 times"}) {
		t.Errorf("%+v, %q", r, a.Notes())
	}
	if err := a.Close(); err != nil || !strings.HasSuffix(s.seen(), "tools/call DELETE /mcp") {
		t.Errorf("%v, %s", err, s.seen())
	}
	plan.Reset.URL = "/broken"
	if err := open(t, plan).Reset(t.Context(), patience); err == nil || !strings.Contains(err.Error(), "reset the agent by /broken: HTTP 418") {
		t.Error(err)
	}
	s.without = true
	if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), "it has no tools") {
		t.Error(err)
	}
}

// Why a server cannot be talked to is said with what it wrote.
func TestServersThatCannotBeTalkedTo(t *testing.T) {
	for want, argv := range map[string][]string{
		"find the agent's program no-such-program": {"no-such-program"},
		"it wrote last:\nno configuration":         {"sh", "-c", "echo no configuration >&2; exit 3"},
		"not a message of MCP: \"Welcome!\"":       {"sh", "-c", "echo Welcome!; read line; sleep 60"},
	} {
		if a, err := New().Open(t.Context(), agentcall.Plan{MCP: &agentcall.MCP{Argv: argv}}, 0, nil); a != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	plan := agentcall.Plan{MCP: &agentcall.MCP{Argv: []string{self(t)}, Env: []string{role + "=mcp", "GORACE=atexit_sleep_ms=0"}}, Reset: agentcall.Reset{Renew: true}}
	a := open(t, plan)
	if a.Notes() != nil {
		t.Errorf("%q", a.Notes())
	}
	plan.MCP.Env[0] = role + "=no mcp"
	if err := a.Reset(t.Context(), patience); err == nil || !strings.Contains(err.Error(), "connect to the MCP server") {
		t.Error(err)
	}
	if r, err := a.Call(t.Context(), agentcall.Call{Prompt: `{"tool": "echo"}`, Timeout: patience}); !errors.Is(err, agentcall.ErrGone) || r.End != "" {
		t.Errorf("%+v, %v", r, err)
	}
	plan.MCP.Tool, plan.MCP.Arguments = "echo", "{prompt}"
	if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), "no JSON object") {
		t.Error(err)
	}
}

// A tool is described by its own words; what the system file says of it stands.
func TestDescriptionsOfTools(t *testing.T) {
	schema := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}
	tool := &mcp.Tool{Name: "do", Description: "  first\nsecond", InputSchema: schema}
	o := toolOperation(tool, &sut.Plan{})
	if o.Description != "first" || len(o.Arguments) != 1 || o.Arguments[0] != (sut.Argument{Name: "a", Type: "string"}) || o.Answers != nil || !json.Valid(o.Schema) {
		t.Errorf("%+v", o)
	}
	tool.OutputSchema = map[string]any{"type": "object"}
	if o := toolOperation(tool, &sut.Plan{}); string(o.Answers["0"]) != `{"type":"object"}` {
		t.Errorf("%+v", o)
	}
	said := sut.Operation{Name: "do", Returns: "$.x", Arguments: []sut.Argument{{Name: "b"}}}
	if o := toolOperation(tool, &sut.Plan{Operations: []sut.Operation{said}}); o.Returns != "$.x" || !slices.Equal(o.Arguments, said.Arguments) {
		t.Errorf("%+v", o)
	}
	if o := toolOperation(&mcp.Tool{Name: "do", InputSchema: map[string]any{"type": "object"}}, &sut.Plan{}); o.Arguments != nil {
		t.Errorf("%+v", o)
	}
}

// The arguments of a call are written down by name as far as they have names.
func TestArgumentsOfCalls(t *testing.T) {
	for _, x := range []struct{ args, kwargs, named, want string }{
		{"", `{"a":1}`, "", `{"a":1}`},
		{"[]", `{"a":1}`, "null", `{"a":1}`},
		{"null", `{}`, "", `{}`},
		{"[1]", "{}", "", "[1]"},
		{"[1]", "null", "", "[1]"},
		{"[1]", "", "", "[1]"},
		{"[1]", `{"a":1}`, "", `{"args": [1], "kwargs": {"a":1}}`},
		{"[1]", `{"a":1}`, `{"b":1,"a":1}`, `{"b":1,"a":1}`},
	} {
		w := &recorder{}
		w.Called(pyhost.ToolCall{Tool: "do", Args: []byte(x.args), Kwargs: []byte(x.kwargs), Named: []byte(x.named)})
		if got := string(w.calls[0].Args); got != x.want {
			t.Errorf("%+v: %s", x, got)
		}
	}
	// Results are of the latest call of a tool that has none.
	w := &recorder{}
	for i := range 3 {
		w.Called(pyhost.ToolCall{Tool: []string{"a", "b", "a"}[i]})
	}
	w.Returned(pyhost.ToolCall{Tool: "a"}, []byte("3"), nil)
	w.Returned(pyhost.ToolCall{Tool: "a"}, []byte("1"), nil)
	w.Returned(pyhost.ToolCall{Tool: "a"}, []byte("9"), nil) // of none
	w.Returned(pyhost.ToolCall{Tool: "b"}, []byte("2"), &pyhost.Fault{Class: "E", Message: "m"})
	for i, want := range []string{"1|", "|E: m", "3|"} {
		if c := w.calls[i]; string(c.Result)+"|"+c.Error != want {
			t.Errorf("call %d: %s|%s, want %s", i, c.Result, c.Error, want)
		}
	}
}

// fakeCaller is a Python agent that cannot be opened.
func fakeCaller(got *pyhost.AgentPlan) pyhost.AgentOpener {
	return func(_ context.Context, p pyhost.AgentPlan) (pyhost.Caller, error) {
		*got = p
		return nil, errors.New("not here")
	}
}

// A Python agent has the environment of its plan or else this process's, and what is added.
func TestEnvironmentOfPythonAgents(t *testing.T) {
	t.Setenv("THRESH_AGENT_TEST", "mine")
	for _, x := range []struct {
		environ, env, extra []string
		want                []string // nil: that of this process
		added               []string
	}{
		{nil, nil, nil, nil, nil},
		{[]string{"A=1"}, nil, nil, []string{"A=1"}, nil},
		{[]string{"A=1"}, []string{"B=2"}, []string{"C=3"}, []string{"A=1"}, []string{"B=2", "C=3"}},
		{nil, []string{"B=2"}, nil, os.Environ(), []string{"B=2"}},
	} {
		var got pyhost.AgentPlan
		plan := agentcall.Plan{Python: &agentcall.Python{Plan: pyhost.AgentPlan{Environ: x.environ}, Env: x.env}}
		if a, err := openPython(t.Context(), lead{plan: plan}, x.extra, fakeCaller(&got)); a != nil || err == nil || err.Error() != "not here" {
			t.Errorf("%v, %v", a, err)
		}
		if want := append(slices.Clone(x.want), x.added...); !slices.Equal(got.Environ, want) {
			t.Errorf("%+v: %q", x, got.Environ)
		}
	}
}

// freePort is a port that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := program.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
