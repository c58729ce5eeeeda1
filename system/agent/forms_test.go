package agent

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
)

// What a plan says of a chat is asked in the words of its interface, and what it does not say
// is left out.
func TestFormsOfChats(t *testing.T) {
	half, none := 0.5, 0.0
	history := []agentcall.Message{{Role: "user", Text: "a"}, {Role: "assistant", Text: ""}, {Role: "user", Text: ""}}
	for _, x := range []struct {
		chat agentcall.Chat
		at   string
		body string
	}{
		{agentcall.Chat{}, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":""},{"role":"user","content":"q"}]}`},
		{agentcall.Chat{System: "s", Temperature: &half, MaxTokens: 7, Stream: true}, "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":""},{"role":"user","content":"q"}],"temperature":0.5,"max_tokens":7,"stream":true}`},
		{agentcall.Chat{API: "responses"}, "/v1/responses", `{"model":"m","input":[{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":""},{"role":"user","content":"q"}]}`},
		{agentcall.Chat{API: "responses", System: "s", Temperature: &none, MaxTokens: 7, Stream: true}, "/v1/responses",
			`{"model":"m","input":[{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":""},{"role":"user","content":"q"}],"instructions":"s","temperature":0,"max_output_tokens":7,"stream":true}`},
		{agentcall.Chat{API: "anthropic"}, "/v1/messages", `{"model":"m","max_tokens":1024,"messages":[{"role":"user","content":"a"},{"role":"user","content":""},{"role":"user","content":"q"}]}`},
		{agentcall.Chat{API: "anthropic", System: "s", Temperature: &half, MaxTokens: 1, Stream: true}, "/v1/messages",
			`{"model":"m","max_tokens":1,"system":"s","messages":[{"role":"user","content":"a"},{"role":"user","content":""},{"role":"user","content":"q"}],"temperature":0.5,"stream":true}`},
		{agentcall.Chat{API: "ollama"}, "/v1/api/chat", `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":""},{"role":"user","content":"q"}],"stream":false}`},
		{agentcall.Chat{API: "ollama", System: "s", Temperature: &half, MaxTokens: 1, Stream: true}, "/v1/api/chat",
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":""},{"role":"user","content":""},{"role":"user","content":"q"}],"options":{"num_predict":1,"temperature":0.5},"stream":true}`},
	} {
		x.chat.Model, x.chat.URL, x.chat.Retries = "m", "http://host/v1/?k=1", 3
		x.chat.Headers = [][2]string{{"X-Key", "{session}"}}
		d := chatDialect(&x.chat)
		q, err := d.build(&agentcall.Call{Prompt: "q", History: history}, "s1")
		if err != nil || q.method != http.MethodPost || q.url != "http://host"+x.at+"?k=1" || string(q.body) != x.body || d.retries != 3 {
			t.Errorf("%s: %s %s %s, %v\nwant %s %s", x.chat.API, q.method, q.url, q.body, err, x.at, x.body)
		}
		if q.header("x-key") != "s1" || q.header("content-type") != "application/json" || (q.header("Anthropic-Version") == anthropicVersion) != (x.chat.API == "anthropic") {
			t.Errorf("%s: %q", x.chat.API, q.headers)
		}
		if x.chat.Headers = append(x.chat.Headers, [2]string{"anthropic-version", "mine"}); x.chat.API == "anthropic" {
			if q, err := chatDialect(&x.chat).build(&agentcall.Call{}, ""); err != nil || q.header("Anthropic-Version") != "mine" || len(q.headers) != 3 {
				t.Errorf("%q, %v", q.headers, err)
			}
		}
		odd := math.NaN()
		x.chat.Temperature = &odd
		if q, err := chatDialect(&x.chat).build(&agentcall.Call{}, ""); err == nil || !strings.Contains(err.Error(), "write the request: ") || q.body != nil {
			t.Errorf("%s: %s, %v", x.chat.API, q.body, err)
		}
	}
	for at, want := range map[string]string{
		"http://h": "http://h/chat", "http://h/": "http://h/chat", "http://h/v1/chat": "http://h/v1/chat", "http://h/v1/chat?k=1": "http://h/v1/chat?k=1", "http://h:x": "http://h:x",
	} {
		if got := endOf(at, "/chat"); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

// Each call goes through the proxy that it names.
func TestProxiesOfCalls(t *testing.T) {
	var names [3]string
	for i := range names {
		names[i] = serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%d %t", i, r.URL.IsAbs()) })
	}
	a := open(t, post(names[0]))
	for _, i := range []int{1, 1, 2, 0, 1, 0, 2} {
		via := agentcall.Via{Proxy: names[i]}
		if i == 0 {
			via.Proxy = ""
		}
		if r := ask(t, a, agentcall.Call{Via: via}); r.Text != fmt.Sprintf("%d %t", i, i > 0) {
			t.Errorf("through %d: %+v", i, r)
		}
	}
	for want, via := range map[string]agentcall.Via{
		`the proxy's address "http://" is invalid`: {Proxy: "http://"}, `the proxy's address "http://a:b" is invalid`: {Proxy: "http://a:b"},
		"the proxy's certificate authority is not a PEM certificate": {CA: []byte("x")},
	} {
		if r, err := a.Call(t.Context(), agentcall.Call{Timeout: patience, Via: via}); err == nil || err.Error() != want || r.End != "" {
			t.Errorf("%+v, %v, want %s", r, err, want)
		}
	}
}

// The replies of a client are the ends of calls of a system, in the words of systems.
func TestRepliesOfClients(t *testing.T) {
	for _, x := range []struct {
		kind sut.Kind
		r    agentcall.Reply
		end  sut.End
		why  string
		out  string
		val  string
	}{
		{sut.Chat, agentcall.Reply{End: agentcall.Answered, Text: "hi"}, sut.Answered, "", "hi", `"hi"`},
		{sut.Chat, agentcall.Reply{End: agentcall.Answered, Text: "hi", Value: []byte(`{"a":1}`)}, sut.Answered, "", `{"a":1}`, `"hi"`},
		{sut.MCP, agentcall.Reply{End: agentcall.Answered, Text: "hi", Value: []byte(`{"a":1}`)}, sut.Answered, "", "hi", `{"a":1}`},
		{sut.MCP, agentcall.Reply{End: agentcall.Answered, Text: "hi"}, sut.Answered, "", "hi", `"hi"`},
		{sut.MCP, agentcall.Reply{End: agentcall.TooLarge, Error: "x"}, sut.Flooded, "", "", ""},
		{sut.Chat, agentcall.Reply{End: agentcall.Unreachable, Error: "x"}, sut.Unreachable, "x", "", ""},
		{sut.MCP, agentcall.Reply{End: agentcall.NoTool, Error: "x"}, sut.Refused, "x", "", ""},
		{sut.Chat, agentcall.Reply{End: agentcall.Refused, Error: "HTTP 499: x", Status: 499}, sut.Refused, "HTTP 499: x", "", ""},
		{sut.Chat, agentcall.Reply{End: agentcall.Refused, Error: "HTTP 500: x", Status: 500}, sut.Crashed, "HTTP 500", "", ""},
		{sut.MCP, agentcall.Reply{End: agentcall.Reported, Error: "the tool failed: x"}, sut.Refused, "the tool failed: x", "", ""},
		{sut.MCP, agentcall.Reply{End: agentcall.Reported, Error: "MCP error -32602: x"}, sut.Refused, "MCP error -32602: x", "", ""},
		{sut.MCP, agentcall.Reply{End: agentcall.Reported, Error: "MCP error -32603: x"}, sut.Crashed, "MCP error -32603: x", "", ""},
		{sut.Chat, agentcall.Reply{End: agentcall.Reported, Error: "the tool failed: x"}, sut.Crashed, "the tool failed: x", "", ""},
		{sut.MCP, agentcall.Reply{End: agentcall.Malformed, Error: "x"}, sut.Crashed, "x", "", ""},
		{sut.Chat, agentcall.Reply{End: agentcall.Cut, Error: "x"}, sut.Crashed, "x", "", ""},
	} {
		client := &fakeAgent{reply: x.r}
		client.reply.Tools = []agentcall.ToolCall{{Tool: "look", Args: []byte("1"), Error: "no"}}
		client.reply.Printed, client.reply.Latency, client.reply.Wait = "printed", 7, 8
		edge := &asked{plan: &sut.Plan{Name: "x", Kind: x.kind}, agent: client, ops: []sut.Operation{{Name: "do"}},
			call: func(op *sut.Operation, c *sut.Call) (agentcall.Call, error) {
				return agentcall.Call{Prompt: op.Name}, nil
			}}
		o, err := edge.Call(t.Context(), sut.Call{Operation: "do", Timeout: patience})
		why := x.why
		if x.end == sut.Flooded {
			why = o.Why
		}
		if err != nil || o.End != x.end || o.Why != why || string(o.Output) != x.out || string(o.Value) != x.val || string(o.Printed) != "printed" || o.Elapsed != 7 || o.Wait != 8 {
			t.Errorf("%s %s: %+v, %v, want %s %q %s", x.kind, x.r.End, o, err, x.end, x.why, x.val)
		}
		if (len(o.Events) == 1 && o.Events[0].Name == "look" && o.Events[0].Error == "no") != (x.kind == sut.Chat) {
			t.Errorf("%s %s: events %+v", x.kind, x.r.End, o.Events)
		}
		if client.asked.Prompt != "do" || client.asked.Timeout != patience || edge.Notes()[0] != "a note of the client" || edge.Dead() || edge.Left() != nil {
			t.Errorf("asked %+v", client.asked)
		}
	}
	client := &fakeAgent{reply: agentcall.Reply{End: agentcall.TimedOut, Error: "x"}}
	edge := &asked{plan: &sut.Plan{Name: "x"}, agent: client, ops: []sut.Operation{{Name: "do"}},
		call: func(*sut.Operation, *sut.Call) (agentcall.Call, error) { return agentcall.Call{}, nil }}
	if o, err := edge.Call(t.Context(), sut.Call{Operation: "do", Timeout: patience}); err != nil || o.End != sut.Hung || o.Elapsed <= 0 {
		t.Errorf("%+v, %v", o, err)
	}
	client.err = errors.New("broken")
	if o, err := edge.Call(t.Context(), sut.Call{Operation: "do"}); !errors.Is(err, client.err) || o.End != "" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := edge.Call(t.Context(), sut.Call{Operation: "none"}); err == nil || o.End != "" {
		t.Errorf("%+v, %v", o, err)
	}
	edge.call = func(*sut.Operation, *sut.Call) (agentcall.Call, error) { return agentcall.Call{}, client.err }
	client.asked.Prompt = "not asked"
	if o, err := edge.Call(t.Context(), sut.Call{Operation: "do"}); !errors.Is(err, client.err) || o.End != "" || client.asked.Prompt != "not asked" {
		t.Errorf("%+v, %v", o, err)
	}
	client.err = nil
	over, cancel := context.WithCancel(t.Context())
	cancel()
	edge.call = func(*sut.Operation, *sut.Call) (agentcall.Call, error) { return agentcall.Call{}, nil }
	if o, err := edge.Call(over, sut.Call{Operation: "do"}); !errors.Is(err, context.Canceled) || o.End != "" {
		t.Errorf("%+v, %v", o, err)
	}
}

// fakeAgent gives each call the same reply.
type fakeAgent struct {
	reply agentcall.Reply
	err   error
	asked agentcall.Call
}

func (f *fakeAgent) Call(_ context.Context, c agentcall.Call) (agentcall.Reply, error) {
	f.asked = c
	return f.reply, f.err
}
func (f *fakeAgent) Reset(context.Context, time.Duration) error { return nil }
func (f *fakeAgent) Forgets() bool                              { return true }
func (f *fakeAgent) Notes() []string                            { return []string{"a note of the client"} }
func (f *fakeAgent) Close() error                               { return f.err }

// What a tool gives is a text, with a place for each content that is none.
func TestContentsOfTools(t *testing.T) {
	for want, x := range map[string]struct {
		result mcp.CallToolResult
		value  string
		err    string
	}{
		"":                             {mcp.CallToolResult{}, "", ""},
		"a\nb\n7":                      {mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.TextContent{Text: "b"}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{Text: "7"}}, &mcp.EmbeddedResource{}}}, "", ""},
		"7":                            {mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "7"}}}, "7", ""},
		"8":                            {mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "8"}}, StructuredContent: map[string]any{"n": 8}}, `{"n":8}`, ""},
		"bad":                          {mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "bad"}}, IsError: true}, "", "the tool failed: bad"},
		"a\uFFFD":                      {mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a\xff"}}}, "", ""},
		"[resource: file:///x]":        {mcp.CallToolResult{Content: []mcp.Content{&mcp.ResourceLink{URI: "file:///x"}}}, "", ""},
		"[image: image/png, 3 bytes]":  {mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")}}}, "", ""},
		"[audio: audio/mpeg, 2 bytes]": {mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{MIMEType: "audio/mpeg", Data: []byte("ab")}}}, "", ""},
	} {
		r := mcpReply(agentcall.Reply{End: agentcall.Answered}, &x.result)
		if r.Text != want || string(r.Value) != x.value || r.Error != x.err || (r.End == agentcall.Answered) != (x.err == "") {
			t.Errorf("%q: %+v, value %s, want %s %q", want, r, r.Value, x.value, x.err)
		}
	}
}

// What went wrong on the way has a name that holds nothing of this machine or moment.
func TestFailures(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Post", URL: "http://h", Err: &net.OpError{Op: "dial", Err: err}}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range []struct {
		ctx  context.Context
		err  error
		end  agentcall.End
		want string
	}{
		{over, syscall.ECONNREFUSED, agentcall.TimedOut, "no whole reply within 30s"},
		{t.Context(), context.DeadlineExceeded, agentcall.TimedOut, "no whole reply within 30s"},
		{t.Context(), dial(syscall.ECONNREFUSED), agentcall.Unreachable, "the connection was refused"},
		{t.Context(), dial(&net.DNSError{Name: "nobody"}), agentcall.Unreachable, "the host nobody cannot be resolved"},
		{t.Context(), &tls.CertificateVerificationError{Err: errors.New("expired")}, agentcall.Unreachable, "the certificate is not trusted: expired"},
		{t.Context(), syscall.ECONNRESET, agentcall.Cut, "the connection ended before the reply did"},
		{t.Context(), syscall.EPIPE, agentcall.Cut, "the connection ended before the reply did"},
		{t.Context(), io.EOF, agentcall.Cut, "the connection ended before the reply did"},
		{t.Context(), io.ErrUnexpectedEOF, agentcall.Cut, "the connection ended before the reply did"},
		{t.Context(), &net.OpError{Op: "read", Err: errors.New("no route")}, agentcall.Cut, "the connection failed: no route"},
		{t.Context(), dial(errors.New("no route")), agentcall.Unreachable, "no route"},
		{t.Context(), &net.OpError{Op: "proxyconnect", Err: errors.New("no route")}, agentcall.Unreachable, "no route"},
		{t.Context(), gzip.ErrHeader, agentcall.Malformed, "the reply is declared as gzip but is not"},
		{t.Context(), gzip.ErrChecksum, agentcall.Malformed, "the reply is declared as gzip but is not"},
		{t.Context(), flate.CorruptInputError(1), agentcall.Malformed, "the reply is declared as gzip but is not"},
		{t.Context(), errors.New("server response headers exceeded"), agentcall.TooLarge, "the headers of the reply are larger than 1048576 bytes"},
		{t.Context(), errors.New("malformed status"), agentcall.Malformed, "the reply is not HTTP: malformed status"},
		{t.Context(), errors.New("invalid header name"), agentcall.Malformed, "the reply is not HTTP: invalid header name"},
		{t.Context(), errors.New("anything else"), agentcall.Unreachable, "anything else"},
	} {
		if r := failure(x.ctx, x.err, patience); r.End != x.end || r.Error != x.want {
			t.Errorf("%v: %s %q, want %s %q", x.err, r.End, r.Error, x.end, x.want)
		}
	}
}

// A refusal says how long to wait and where it leads to, without a name or a password.
func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		status    int
		to, after string
		body      string
		want      string
		wait      time.Duration
	}{
		{429, "", "11", "slow down", "HTTP 429: slow down", 11 * time.Second},
		{503, "", "0", "", "HTTP 503", 0},
		{503, "", "-1", "", "HTTP 503", 0},
		{503, "", "soon", "", "HTTP 503", 0},
		{302, "/login?a=b", "1", "moved", "HTTP 302: it redirects to /login?a=b, and redirects are not followed", time.Second},
		{302, "http://u:p@other.example/x", "", "", "HTTP 302: it redirects to http://u:xxxxx@other.example/x, and redirects are not followed", 0},
		{404, "/elsewhere", "", "none", "HTTP 404: none", 0},
		{500, "", "", " " + strings.Repeat("a", 600), "HTTP 500: " + strings.Repeat("a", told-1), 0},
		{199 + 101, "", "", "a\xff", "HTTP 300: a\uFFFD", 0},
	} {
		a := open(t, post(serve(t, func(w http.ResponseWriter, r *http.Request) {
			if x.to != "" {
				w.Header().Set("Location", x.to)
			}
			if x.after != "" {
				w.Header().Set("Retry-After", x.after)
			}
			w.WriteHeader(x.status)
			io.WriteString(w, x.body)
		})))
		if r := ask(t, a, agentcall.Call{}); r.End != agentcall.Refused || r.Error != x.want || r.Wait != x.wait || r.Status != x.status {
			t.Errorf("%d %s: %+v, want %s, %s", x.status, x.to, r, x.want, x.wait)
		}
	}
}

// An endpoint that asks for fewer calls is called again, unless the fault of a proxy may have asked.
func TestCalledAgain(t *testing.T) {
	var calls atomic.Int32
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	for via, want := range map[string]int{"": http.StatusOK, busy: http.StatusTooManyRequests} {
		plan := post(busy)
		plan.HTTP.Retries = 1
		calls.Store(0)
		if r := ask(t, open(t, plan), agentcall.Call{Via: agentcall.Via{Proxy: via}}); r.Status != want {
			t.Errorf("by %q: %+v", via, r)
		}
	}
}

// A header is sent only if HTTP has room for it.
func TestSendable(t *testing.T) {
	for h, want := range map[[2]string]bool{
		{"X-A", "b"}: true, {"!#$%&'*+-.^_`|~09az", "b"}: true, {"X-A", ""}: true, {"X-A", "\t é~"}: true,
		{"", "b"}: false, {"X A", "b"}: false, {"X:A", "b"}: false, {"é", "b"}: false, {"X\x7f", "b"}: false, {"X-A", "\x1f"}: false, {"X-A", "\x7f"}: false, {"X-A", "\n"}: false,
	} {
		if got := sendable(h); got != want {
			t.Errorf("%q: %t", h, got)
		}
	}
}
