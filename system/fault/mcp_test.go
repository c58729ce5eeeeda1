package fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/engine/fault"
)

// library is an MCP server with a tool that counts its calls.
func library() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	n := 0
	type in struct {
		Title string `json:"title"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "find_book", Description: "finds a book"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		n++
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("found %s, call %d", i.Title, n)}}}, nil, nil
	})
	return s
}

// serveMCP is the server as its own program.
func serveMCP() int {
	if err := library().Run(context.Background(), &mcp.StdioTransport{}); err != nil && !strings.Contains(err.Error(), "EOF") {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// find calls the tool: its text, or the error.
func find(session *mcp.ClientSession) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "find_book", Arguments: map[string]any{"title": "Emma"}})
	if err != nil {
		return "error: " + err.Error()
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.(*mcp.TextContent).Text)
	}
	if r.IsError {
		texts = append([]string{"failed:"}, texts...)
	}
	return strings.Join(texts, " ")
}

// duplex is a pair of connected ends.
func duplex() (io.ReadWriteCloser, io.ReadWriteCloser) { return net.Pipe() }

// ways are the ways on which an agent reaches an MCP server.
var ways = []struct {
	name    string
	connect func(*testing.T, *stage, fault.Cell) *mcp.ClientSession
}{
	{"pipe", func(t *testing.T, s *stage, c fault.Cell) *mcp.ClientSession {
		serverSide, relaySide := duplex()
		go library().Run(t.Context(), &mcp.IOTransport{Reader: serverSide, Writer: serverSide})
		p := relayed(c, "library", relaySide)
		return connect(t, &mcp.IOTransport{Reader: p, Writer: p})
	}},
	{"shim", func(t *testing.T, s *stage, c fault.Cell) *mcp.ClientSession {
		argv, err := c.Shim("library", []string{os.Args[0], "fault-test-mcp"})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		return connect(t, &mcp.CommandTransport{Command: cmd})
	}},
	{"http", func(t *testing.T, s *stage, c fault.Cell) *mcp.ClientSession {
		l := library()
		server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return l }, nil))
		t.Cleanup(server.Close)
		gate, err := c.Gateway("library", server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return connect(t, &mcp.StreamableClientTransport{Endpoint: gate, MaxRetries: -1})
	}},
}

func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if list, err := session.ListTools(ctx, nil); err != nil || len(list.Tools) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	return session
}

func TestMCPFaults(t *testing.T) {
	tests := []struct {
		rule  fault.Rule
		wants []string // parts of the answers of calls one, two and three
	}{
		{tool(fault.Error, func(r *fault.Rule) { r.Tool, r.Calls = "find_book", []int{2} }), []string{"found Emma, call 1", "failed: 503 Service Unavailable", "found Emma, call 2"}},
		{tool(fault.Malformed, func(r *fault.Rule) { r.Times = 1 }), []string{`"results": [`, "call 1", "call 2"}},
		{tool(fault.Malicious, func(r *fault.Rule) { r.Payload, r.AfterCalls = "MARKER", 2 }), []string{"call 1", "MARKER", "MARKER"}},
		{tool(fault.Timeout, func(r *fault.Rule) { r.Delay, r.Times = time.Millisecond, 1 }), []string{"error: ", "call 1", "call 2"}},
		{tool(fault.Slow, func(r *fault.Rule) { r.Delay = time.Millisecond }), []string{"call 1", "call 2", "call 3"}},
		{tool(fault.Bandwidth, func(r *fault.Rule) { r.Rate = 5000 }), []string{"call 1", "call 2", "call 3"}},
		{tool(fault.Stale, func(r *fault.Rule) { r.AfterCalls = 2 }), []string{"call 1", "call 1", "call 1"}},
		{tool(fault.Reset, func(r *fault.Rule) { r.AfterCalls = 2 }), []string{"call 1", "error: ", "error: "}},
		{tool(fault.Partial, func(r *fault.Rule) { r.AfterCalls = 2 }), []string{"call 1", "error: ", "error: "}},
		{fault.Rule{ID: "i", Layer: fault.Context, Mode: fault.IndirectInjection, Payload: "MARKER"}, []string{"call 1\n\nMARKER", "MARKER", "MARKER"}},
	}
	for _, way := range ways {
		for i, test := range tests {
			if way.name == "shim" && i%3 != 0 && test.rule.Mode != fault.Reset {
				continue // what is behind a shim is the pipe; each takes two processes
			}
			t.Run(way.name+" "+string(test.rule.Mode), func(t *testing.T) {
				s := open(t, nil)
				c := s.enter(test.rule)
				session := way.connect(t, s, c)
				for i, want := range test.wants {
					if got := find(session); !strings.Contains(got, want) {
						t.Errorf("call %d: %q, want %q", i+1, got, want)
					}
				}
				session.Close()
				r := c.Close()
				if k := r.Tallies[0]; k.Fired == 0 || len(k.Missed) > 0 {
					t.Errorf("%+v", k)
				}
				if len(r.ToolCalls) == 0 || !reflect.DeepEqual(r.ToolCalls[0], fault.SeenCall{Tool: "find_book", Arguments: `{"title":"Emma"}`, Source: fault.SeenByMCP}) {
					t.Errorf("%+v", r.ToolCalls)
				}
			})
		}
		t.Run(way.name+" replay", func(t *testing.T) {
			s := open(t, nil)
			c := s.plan(fault.Plan{Recorded: []fault.Recorded{{Tool: "find_book", Response: []byte(`"recorded"`)}, {Tool: "library.find_book", Response: []byte(`{"content":[{"type":"text","text":"whole"}],"isError":true}`)}, {Tool: "library.find_book", Response: []byte(`"{"`), ContentType: "application/json", Ended: fault.WasClosed}}})
			session := way.connect(t, s, c)
			got := []string{find(session), find(session), find(session)}
			for i, want := range []string{"recorded", "failed: whole", "error: "} {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("call %d: %q, want %q", i+1, got[i], want)
				}
			}
			session.Close()
		})
	}
}

// A message that is too long to be looked into passes, and that is told.
func TestLongMessages(t *testing.T) {
	s := open(t, nil)
	c := s.enter(tool(fault.Error, nil))
	server, relaySide := duplex()
	agent := relayed(c, "library", relaySide)
	long := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", maxLine+1<<20) + `"}}` + "\n"
	go func() {
		agent.Write([]byte(long + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}` + "\n"))
	}()
	buffer := make([]byte, len(long))
	for n := 0; n < len(buffer); {
		m, err := server.Read(buffer[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if string(buffer) != long {
		t.Error("the message is not the same")
	}
	answer := make([]byte, 1000)
	n, err := agent.Read(answer)
	if err != nil || !strings.Contains(string(answer[:n]), `"id":2`) || !strings.Contains(string(answer[:n]), "503") {
		t.Errorf("%q %v", answer[:n], err)
	}
	agent.Close()
	if r := c.Close(); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "8 MiB") || r.Tallies[0].Considered != 1 {
		t.Errorf("%+v", r)
	}
}

func TestShimSaysWhatIsWrong(t *testing.T) {
	s := open(t, nil)
	argv, err := s.port.Shim("x", []string{"/no/such/program"})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, argv[2:], {"http://127.0.0.1:1/shim", "true"}, {s.port.Proxy() + "/other", "true"}} {
		var stdout, stderr strings.Builder
		if code := Shim(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != 3 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%q: %d %q", args, code, stderr.String())
		}
	}
	if _, err := s.port.Shim("x", nil); err == nil || err.Error() != "MCP server x has no command" {
		t.Errorf("a server without a command: %v", err)
	}
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -SEGV $$": 139} {
		argv, err := s.port.Shim("x", []string{"sh", "-c", "echo broken >&2; " + script})
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		if code := Shim(t.Context(), argv[2:], strings.NewReader(""), io.Discard, &stderr); code != want || stderr.String() != "broken\n" {
			t.Errorf("%s: exit code %d, %q", script, code, stderr.String())
		}
	}
	p, err := Options{}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d, err := p.Port("")
	if err != nil {
		t.Fatal(err)
	}
	if argv, err := d.Shim("x", []string{"true"}); err == nil || !strings.Contains(err.Error(), "has no command that stands between") {
		t.Errorf("%q, %v", argv, err)
	}
}

// A frame holds as much as is read at once, and a channel cuts what is longer.
func TestFrames(t *testing.T) {
	for size, want := range map[int][]int{0: nil, 1: {1}, maxFrame: {maxFrame}, maxFrame + 1: {maxFrame, 1}, 2 * maxFrame: {maxFrame, maxFrame}} {
		var wire bytes.Buffer
		out := &channel{&frameWriter{w: &wire}, ofAgent}
		if n, err := out.Write(make([]byte, size)); n != size || err != nil {
			t.Errorf("%d of %d bytes, %v", n, size, err)
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
		for _, n := range append(want, 0) {
			if name, data, err := readFrame(&wire); name != ofAgent || len(data) != n || err != nil {
				t.Errorf("%d bytes: a frame of %d of %c, want %d: %v", size, len(data), name, n, err)
			}
		}
		if _, _, err := readFrame(&wire); err != io.EOF {
			t.Errorf("%d bytes: %v at the end", size, err)
		}
	}
	if _, _, err := readFrame(strings.NewReader("a\x00\x01\x00\x01")); err == nil || err.Error() != "a frame of 65537 bytes" {
		t.Error(err)
	}
}

// Over stdio, an answer is changed as over HTTP, and each call is in the report with what the
// agent got of it. What is no answer to a call passes as it is.
func TestAnswersOnStdio(t *testing.T) {
	const chatter = `log: the "result" of nothing` + "\n" + `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\"result\""}}` + "\n" + `{"jsonrpc":"2.0","id":99,"result":{}}` + "\n"
	answer := func(id, n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"n %d"}]}}`, id, n)
	}
	for _, x := range []struct {
		rule   fault.Rule
		saw    string // after the chatter
		fired  int64
		missed []string
		kept   []string // of the answers, by call
	}{
		{tool(fault.Slow, func(r *fault.Rule) { r.Delay, r.Times = time.Millisecond, 1 }), answer(1, 1) + "\n" + answer(2, 2) + "\n", 1, nil, []string{answer(1, 1), answer(2, 2)}},
		{tool(fault.Duplicate, func(r *fault.Rule) { r.Times = 1 }), answer(1, 1) + "\n" + answer(1, 1) + "\n" + answer(2, 2) + "\n", 1, nil, []string{answer(1, 1), answer(2, 2)}},
		{tool(fault.Bandwidth, func(r *fault.Rule) { r.Rate, r.Times = 1<<20, 1 }), answer(1, 1) + "\n" + answer(2, 2) + "\n", 1, nil, []string{answer(1, 1), answer(2, 2)}},
		{tool(fault.WrongType, nil), answer(1, 1) + "\n" + answer(2, 2) + "\n", 0, []string{"a pipe has no content type"}, []string{answer(1, 1), answer(2, 2)}},
		{tool(fault.Stale, nil), answer(1, 1) + "\n" + answer(2, 1) + "\n", 1, []string{"nothing earlier to answer with"}, []string{answer(1, 1), answer(2, 1)}},
		{tool(fault.Partial, func(r *fault.Rule) { r.AfterCalls = 2 }), answer(1, 1) + "\n" + answer(2, 2)[:len(answer(2, 2))/2], 1, nil, []string{answer(1, 1), answer(2, 2)[:len(answer(2, 2))/2]}},
	} {
		s := open(t, nil)
		c := s.enter(x.rule)
		mine, its := duplex()
		go func() {
			io.WriteString(its, chatter)
			n := 0
			for line := range linesOf(its) {
				n++
				if m := fault.ParseMCP([]byte(line)); m == nil || m.Tool != "look" {
					t.Errorf("the server got %q", line)
				}
				io.WriteString(its, answer(n, n)+"\n")
			}
		}()
		agent := relayed(c, "shop", mine)
		var saw bytes.Buffer
		await := func(size int) {
			piece := make([]byte, 1<<16)
			for saw.Len() < size {
				n, err := agent.Read(piece)
				saw.Write(piece[:n])
				if err != nil {
					return
				}
			}
		}
		for id := range 2 {
			io.WriteString(agent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look"}}`+"\n", id+1))
			if id == 0 {
				await(len(chatter) + strings.Index(x.saw, answer(1, 1)+"\n") + len(answer(1, 1)) + 1)
			}
		}
		await(len(chatter) + len(x.saw))
		if saw.String() != chatter+x.saw {
			t.Errorf("%s: the agent saw %q, want %q", x.rule.Mode, saw.String(), chatter+x.saw)
		}
		r := c.Close()
		agent.Close()
		if k := r.Tallies[0]; int64(k.Fired) != x.fired || !slices.Equal(k.Missed, x.missed) {
			t.Errorf("%s: %+v", x.rule.Mode, k)
		}
		for i, want := range x.kept {
			if len(r.Exchanges) != 2 || string(r.Exchanges[i].Response) != want || r.Exchanges[i].ResponseSize != int64(len(want)) || (r.Exchanges[i].Ended != "") != (x.rule.Mode == fault.Partial && i == 1) {
				t.Errorf("%s: call %d of %d: %+v", x.rule.Mode, i+1, len(r.Exchanges), r.Exchanges)
			}
		}
	}
}

// An agent may close the input of its server right after a call: the answer still arrives, also one that a fault delays.
func TestAnswersAfterTheEndOfInput(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_book"}}`
	s := open(t, nil)
	for mode, want := range map[fault.Mode]string{fault.Error: "503", fault.Timeout: "request timed out", fault.Slow: "tools/call"} {
		c := s.enter(tool(mode, func(r *fault.Rule) { r.Delay = 50 * time.Millisecond }))
		argv, err := c.Shim("library", []string{"cat"})
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr strings.Builder
		if code := Shim(t.Context(), argv[2:], strings.NewReader(call+"\n"), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), want) {
			t.Errorf("%s: %d, %q, %s: want %s", mode, code, stdout.String(), stderr.String(), want)
		}
		c.Close()
	}
}
