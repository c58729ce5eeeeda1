package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/systemtest"
)

// role makes the test binary an agent of some kind.
const role = "AGENT_TEST_ROLE"

func TestMain(m *testing.M) {
	systemtest.Speak()
	switch os.Getenv(role) {
	case "":
		testproc.Ready(8)
		os.Exit(m.Run())
	case "server":
		beServer()
	case "silent":
		time.Sleep(time.Hour) // to wait for nothing at all would be a deadlock to the runtime
	case "ends":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(3)
	case "mcp":
		beMCP()
	case "no mcp":
		io.WriteString(os.Stdout, "Welcome!\n")
		os.Exit(0)
	}
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// beServer is an agent that counts and follows its prompts.
func beServer() {
	var mu sync.Mutex
	n := 0
	fmt.Println("listening")
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/health":
			return
		case strings.Contains(string(body), "leave"):
			leaveOne(w)
			return
		case strings.Contains(string(body), "cut"):
			panic(http.ErrAbortHandler)
		case strings.Contains(string(body), "deaf"):
			l.Close()
			w.Header().Set("Connection", "close")
			return
		case strings.Contains(string(body), "die"):
			fmt.Println("dying")
			os.Exit(7)
		}
		n++
		fmt.Fprintf(w, "%d %s %s", n, os.Getenv("EXTRA"), os.Args[len(os.Args)-1])
	}))
	fmt.Fprintln(os.Stderr, err)
	time.Sleep(time.Hour)
}

// leaveOne starts a program that leaves the agent's session and does not end
// when it is asked to, and tells its number.
func leaveOne(w io.Writer) {
	signal.Ignore(syscall.SIGTERM) // of the agent as well
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=silent")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprint(w, err)
		return
	}
	fmt.Fprint(w, cmd.Process.Pid)
}

func started(t testing.TB, as string) agentcall.Plan {
	return agentcall.Plan{
		HTTP: &agentcall.HTTP{URL: "http://127.0.0.1:{port}/", Method: "POST"},
		Start: &agentcall.Start{Argv: []string{self(t), "port-{port}"}, Env: []string{role + "=" + as, "GORACE=atexit_sleep_ms=0"}, Patience: patience,
			Ready: "http://127.0.0.1:{port}/health"},
	}
}

// An agent that runs and accepts no connection any more has failed, and is started again
// before the next case.
func TestAgentThatStopsListening(t *testing.T) {
	plan := started(t, "server")
	plan.HTTP.Template, plan.Reset.URL = "{prompt}", "/reset"
	a := open(t, plan)
	want := func(prompt string, end agentcall.End) {
		t.Helper()
		if r := ask(t, a, agentcall.Call{Prompt: prompt}); r.End != end {
			t.Errorf("%s: %s %s", prompt, r.End, r.Error)
		}
	}
	reset := func() {
		t.Helper()
		if err := a.Reset(t.Context(), patience); err != nil {
			t.Error(err)
		}
	}
	reset()
	want("cut", agentcall.Cut)
	want("deaf", agentcall.Answered)
	reset()
	if r := ask(t, a, agentcall.Call{Prompt: "a"}); !strings.HasPrefix(r.Text, "2 ") { // it was reset as well
		t.Errorf("%+v", r)
	}
	want("deaf", agentcall.Answered)
	want("a", agentcall.Died)
	reset()
	want("a", agentcall.Answered)
}

func TestStartedAgent(t *testing.T) {
	plan := started(t, "server")
	plan.Reset.Renew = true
	agents := New()
	a, err := agents.Open(t.Context(), plan, 0, []string{"EXTRA=proxy"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	e := a.(*endpoint)
	first := ask(t, a, agentcall.Call{})
	if first.Text != "1 proxy port-"+e.service.Port() || first.Printed != "listening\n" || first.Fresh {
		t.Errorf("%+v", first)
	}
	other, err := agents.Open(t.Context(), plan, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := ask(t, other, agentcall.Call{}); !strings.HasPrefix(r.Text, "1  port-") || e.service.Port() == other.(*endpoint).service.Port() {
		t.Errorf("lanes share a process: %+v", r)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	r := ask(t, a, agentcall.Call{Prompt: "die"})
	if r.End != agentcall.Died || r.Error != "the agent's program ended during the call: exit status 7" || !strings.Contains(r.Printed, "dying") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, a, agentcall.Call{}); !r.Fresh || !strings.HasPrefix(r.Text, "1 ") {
		t.Errorf("%+v", r)
	}
	if err := a.Reset(t.Context(), patience); err != nil || !a.Forgets() {
		t.Error(err)
	}
	if r := ask(t, a, agentcall.Call{}); !strings.HasPrefix(r.Text, "1 ") {
		t.Errorf("%+v", r)
	}
	if notes := a.Notes(); len(notes) != 1 || notes[0] != "the agent's program was started 3 times" {
		t.Errorf("%q", notes)
	}
	pid := e.service.PID()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the agent lives on: %v", err)
	}
}

func TestLanesShareAnAgentWithAFixedPort(t *testing.T) {
	port, err := program.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan := started(t, "server")
	plan.HTTP.URL, plan.Start.Ready, plan.Start.Argv = "http://127.0.0.1:"+port+"/", "", []string{self(t), "x"}
	plan.Start.Env = append(plan.Start.Env, "PORT="+port)
	agents := New()
	var texts []string
	var open []agentcall.Agent
	for lane := range 2 {
		a, err := agents.Open(t.Context(), plan, lane, nil)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, a)
		texts = append(texts, ask(t, a, agentcall.Call{}).Text)
	}
	if texts[0] != "1  x" || texts[1] != "2  x" {
		t.Errorf("%q", texts)
	}
	if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), "127.0.0.1:"+port+" is already in use") {
		t.Errorf("%v", err)
	}
	if err := open[0].Close(); err != nil {
		t.Error(err)
	}
	if r := ask(t, open[1], agentcall.Call{}); r.Text != "3  x" {
		t.Errorf("%+v", r)
	}
	if err := open[1].Close(); err != nil {
		t.Error(err)
	}
}

func TestAgentsThatDoNotStart(t *testing.T) {
	ends := started(t, "ends")
	silent := started(t, "silent")
	silent.Start.Patience = 100 * time.Millisecond
	missing := started(t, "server")
	missing.Start.Argv = []string{"no-such-program"}
	for want, plan := range map[string]agentcall.Plan{
		"it ended before it was ready (exit status 3); it wrote last:\nno configuration": ends,
		"it was not ready within 100ms":            silent,
		"find the agent's program no-such-program": missing,
	} {
		if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAgentThatCannotBeStartedAgain(t *testing.T) {
	plan := started(t, "server")
	a := open(t, plan)
	plan.Start.Env[0] = role + "=ends"
	ask(t, a, agentcall.Call{Prompt: "die"})
	for range program.MaxFailures + 2 {
		if _, err := a.Call(t.Context(), agentcall.Call{Timeout: patience}); !errors.Is(err, agentcall.ErrGone) {
			t.Errorf("%v", err)
		}
	}
	// Each time it is tried at the port that it had, and then at another.
	if n := a.(*endpoint).service.Starts(); n != 1+2*program.MaxFailures {
		t.Errorf("started %d times", n)
	}
}

func shell(t *testing.T, script string) agentcall.Plan {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	return agentcall.Plan{Command: &agentcall.Command{Argv: []string{path, "-c", script, "sh"}, Env: []string{"A=plan"}}}
}

func TestCommands(t *testing.T) {
	t.Parallel() // mostly waits
	for _, tc := range []struct {
		name, script, argument, path, template string
		limit                                  time.Duration
		end                                    agentcall.End
		text, err                              string
	}{
		{name: "standard input", script: "cat; echo; echo note >&2", end: agentcall.Answered, text: "say \"hi\""},
		{name: "argument", script: `printf %s "$1"; cat`, argument: "<{prompt}>", end: agentcall.Answered, text: "<say \"hi\">"},
		{name: "template", script: "cat", template: `{"q": "{prompt}", "at": "{where}"}`, path: "q", end: agentcall.Answered, text: "say \"hi\""},
		{name: "template and argument", script: `printf %s "$1"; cat`, argument: "{prompt}: ", template: "<{prompt}>", end: agentcall.Answered, text: "say \"hi\": <say \"hi\">"},
		{name: "environment", script: `echo $A $B $C`, end: agentcall.Answered, text: "plan extra call"},
		{name: "exit code", script: "echo half; echo broken >&2; exit 4", end: agentcall.Refused, text: "half", err: "exit code 4: broken"},
		{name: "signal", script: "kill -9 $$", end: agentcall.Died, err: "the program was ended by signal 9"},
		{name: "hangs", script: "echo half; sleep 60", limit: 300 * time.Millisecond, end: agentcall.TimedOut, text: "half", err: "no whole reply within 300ms"},
		{name: "without end", script: "yes", end: agentcall.TooLarge, err: "the program wrote more than 1000 bytes"},
		{name: "no UTF-8", script: `printf '\351'`, end: agentcall.Malformed, text: "�", err: "the output is not UTF-8"},
		{name: "JSON", script: `echo '{"a": {"b": "x"}}'`, path: "a.b", end: agentcall.Answered, text: "x"},
		{name: "no JSON", script: `echo x`, path: "a.b", end: agentcall.Malformed, text: "x", err: "the output is not JSON: 1:1: unexpected"},
		{name: "JSON error", script: `echo '{"error": "x"}'`, path: "a.b", end: agentcall.Reported, text: `{"error": "x"}`, err: "Agent error: x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := shell(t, tc.script)
			plan.MaxReply, plan.Command.ResponsePath = 1000, tc.path
			plan.Command.Template, plan.Command.Fields = tc.template, true
			if tc.argument != "" {
				plan.Command.Argv = append(plan.Command.Argv, tc.argument)
			}
			a, err := New().Open(t.Context(), plan, 0, []string{"B=extra"})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			r := ask(t, a, agentcall.Call{Prompt: "say \"hi\"", Env: []string{"C=call"}, Timeout: tc.limit})
			if r.End != tc.end || !strings.HasPrefix(r.Error, tc.err) || r.Text != tc.text && tc.end != agentcall.TooLarge || !a.Forgets() {
				t.Errorf("%+v", r)
			}
		})
	}
	plan := shell(t, "true")
	plan.Command.Argv = append(plan.Command.Argv, "{prompt}")
	if _, err := open(t, plan).Call(t.Context(), agentcall.Call{Prompt: "\x00", Timeout: patience}); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Error(err)
	}
}

// beMCP is an MCP server with tools of every temper.
func beMCP() {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	type input struct {
		Input string `json:"input"`
	}
	n := 0
	add := func(name string, f func(string) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			r, err := f(in.Input)
			return r, nil, err
		})
	}
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}, &mcp.TextContent{Text: os.Getenv("EXTRA")}}}
	}
	add("echo", func(in string) (*mcp.CallToolResult, error) { n++; return text(fmt.Sprintf("%d %s", n, in)), nil })
	add("fails", func(string) (*mcp.CallToolResult, error) { return nil, errors.New("out of stock") })
	add("hangs", func(string) (*mcp.CallToolResult, error) { select {} })
	add("babbles", func(string) (*mcp.CallToolResult, error) { fmt.Println("all is well"); return text("x"), nil })
	add("dies", func(string) (*mcp.CallToolResult, error) { os.Exit(5); return nil, nil })
	add("floods", func(string) (*mcp.CallToolResult, error) { return text(strings.Repeat("x", 1<<20)), nil })
	if url := os.Getenv("PORT"); url != "" {
		h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
		fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+url, h))
		return
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func TestMCP(t *testing.T) {
	t.Parallel() // mostly waits
	stdio := agentcall.Plan{MCP: &agentcall.MCP{Argv: []string{self(t)}, Env: []string{role + "=mcp", "EXTRA=e", "GORACE=atexit_sleep_ms=0"}}}
	byURL := started(t, "mcp")
	byURL.HTTP, byURL.MCP, byURL.Start.Ready = nil, &agentcall.MCP{URL: "http://127.0.0.1:{port}/mcp"}, ""
	byURL.Start.Env = append(byURL.Start.Env, "EXTRA=e")
	for name, plan := range map[string]agentcall.Plan{"stdio": stdio, "URL": byURL} {
		t.Run(name, func(t *testing.T) {
			plan.MaxReply = 64 << 10
			plan.Reset.Renew = true
			a := open(t, plan)
			if got := strings.Join(a.(*server).tools, " "); got != "babbles dies echo fails floods hangs" {
				t.Error(got)
			}
			for _, tc := range []struct {
				prompt    string
				limit     time.Duration
				end       agentcall.End
				text, err string
				fresh     bool
			}{
				{`{"tool": "echo", "arguments": {"input": "hi"}}`, 0, agentcall.Answered, "1 hi\ne", "", false},
				{`{"tool": "echo", "arguments": {"input": "hi"}}`, 0, agentcall.Answered, "2 hi\ne", "", false},
				{`{"tool": "fails", "arguments": {"input": ""}}`, 0, agentcall.Reported, "out of stock", "the tool failed: out of stock", false},
				{`{"tool": "none"}`, 0, agentcall.NoTool, "", "the server has no tool none, it has babbles, dies, echo, fails, floods, hangs", false},
				{`hello`, 0, agentcall.Malformed, "", "the prompt is not a call of a tool", false},
				{`["echo"]`, 0, agentcall.Malformed, "", "the prompt is not a call of a tool", false},
				{`{"arguments": {}}`, 0, agentcall.Malformed, "", "the prompt names no tool", false},
				{`{"tool": 1}`, 0, agentcall.Malformed, "", "the prompt names no tool", false},
				{`{"tool": "echo", "arguments": [1]}`, 0, agentcall.Malformed, "", "the arguments of the tool are not an object", false},
				{`{"tool": "hangs", "arguments": {"input": ""}}`, 300 * time.Millisecond, agentcall.TimedOut, "", "no whole reply within 300ms", true},
				{`{"tool": "floods", "arguments": {"input": ""}}`, 0, agentcall.TooLarge, "", "the reply is larger than 65536 bytes", true},
				{`{"tool": "dies", "arguments": {"input": ""}}`, 0, agentcall.Died, "", "", true},
				{`{"tool": "echo", "arguments": {"input": "again"}}`, 0, agentcall.Answered, "1 again\ne", "", true},
			} {
				r := ask(t, a, agentcall.Call{Prompt: tc.prompt, Timeout: tc.limit})
				if r.End != tc.end || tc.text != "" && r.Text != tc.text || !strings.HasPrefix(r.Error, tc.err) || r.Fresh != tc.fresh {
					t.Errorf("%s: %+v", tc.prompt, r)
				}
				if r.OK() && (len(r.Tools) != 1 || r.Tools[0].Tool != "echo" || r.Size == 0) {
					t.Errorf("%+v", r)
				}
			}
			if name == "stdio" {
				r := ask(t, a, agentcall.Call{Prompt: `{"tool": "babbles", "arguments": {"input": ""}}`})
				if again := ask(t, a, agentcall.Call{Prompt: `{"tool": "echo", "arguments": {"input": "x"}}`}); again.Text != "1 x\ne" ||
					r.End != agentcall.Malformed || r.Error != `the server printed a line that is not a message of MCP: "all is well"` {
					t.Errorf("%+v, then %+v", r, again)
				}
			}
			if err := a.Reset(t.Context(), patience); err != nil || !a.Forgets() {
				t.Error(err)
			}
			if r := ask(t, a, agentcall.Call{Prompt: `{"tool": "echo", "arguments": {"input": "x"}}`}); r.Text != "1 x\ne" {
				t.Errorf("%+v", r)
			}
			plan.MCP.Tool = "echo"
			if r := ask(t, open(t, plan), agentcall.Call{Prompt: "a \"b\""}); r.Text != "1 a \"b\"\ne" || string(r.Tools[0].Args) != `{"input": "a \"b\""}` {
				t.Errorf("%+v", r)
			}
			plan.MCP.Tool = "none"
			if _, err := New().Open(t.Context(), plan, 0, nil); err == nil || !strings.Contains(err.Error(), "has no tool none") {
				t.Error(err)
			}
		})
	}
	proxy, through := forwarding(t)
	byURL.MCP.Via.Proxy, byURL.MCP.Tool = proxy, "echo"
	if r := ask(t, open(t, byURL), agentcall.Call{Prompt: "x"}); r.Text != "1 x\ne" || through.Load() == 0 {
		t.Errorf("%+v, %d requests through the proxy", r, through.Load())
	}
	for end, strike := range map[agentcall.End]http.HandlerFunc{
		agentcall.Cut: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		},
		agentcall.Malformed: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
	} {
		byURL.MCP.Via.Proxy = serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte("tools/call")) {
				strike(w, r)
				return
			}
			(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}).ServeHTTP(w, r)
		})
		if r := ask(t, open(t, byURL), agentcall.Call{Prompt: "x"}); r.End != end {
			t.Errorf("%+v, not %s", r, end)
		}
	}
	stdio.MCP.Env[0] = role + "=no mcp"
	if _, err := New().Open(t.Context(), stdio, 0, nil); err == nil || !strings.Contains(err.Error(), "connect to the MCP server") {
		t.Error(err)
	}
}

// forwarding is a proxy that counts what goes through it.
func forwarding(t *testing.T) (address string, through *atomic.Int64) {
	through = new(atomic.Int64)
	pass := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) { through.Add(1) }}
	s := httptest.NewServer(pass)
	t.Cleanup(s.Close)
	return s.URL, through
}
