//go:build unix

package agent

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func systems() sut.Opener {
	return system.New(map[sut.Kind]system.Kind{sut.MCP: OpenMCP, sut.Chat: OpenChat}).Open
}

func TestMCPSystem(t *testing.T) {
	t.Setenv(systemtest.SpeakerVariable, "mcp")
	systemtest.RunSystem(t, systemtest.System{
		Open: systems(),
		Plan: func(t *testing.T) *sut.Plan {
			return &sut.Plan{Name: "speaker", Kind: sut.MCP, Command: []string{self(t)}, Per: sut.PerWorker}
		},
	})
}

// What is not an answer ends the client's session, and not that of the next call.
func TestCallAfterBadAnswer(t *testing.T) {
	t.Parallel() // mostly waits
	bad := map[string]func(http.ResponseWriter){
		"text": func(w http.ResponseWriter) { io.WriteString(w, "oops") },
		"page": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>hi</p>")
		},
		"stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"js")
		},
		"nothing": func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"gone":    func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name, ProtocolVersion string }
		}
		if json.NewDecoder(r.Body).Decode(&q) != nil || q.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"content": [{"type": "text", "text": "fine"}]}`
		switch {
		case q.Method == "initialize":
			result = `{"protocolVersion": "` + q.Params.ProtocolVersion + `", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}`
		case q.Method == "tools/list":
			result = `{"tools": [{"name": "ok", "inputSchema": {"type": "object"}}`
			for name := range bad {
				result += `, {"name": "` + name + `", "inputSchema": {"type": "object"}}`
			}
			result += `]}`
		case bad[q.Params.Name] != nil:
			w.Header().Set("Content-Type", "application/json")
			bad[q.Params.Name](w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc": "2.0", "id": `+string(q.ID)+`, "result": `+result+`}`)
	}))
	defer s.Close()
	x, err := systems()(t.Context(), &sut.Plan{Name: "s", Kind: sut.MCP, URL: s.URL}, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for name := range bad {
		if o, err := x.Call(t.Context(), sut.Call{Operation: name}); err != nil || o.End != sut.Crashed {
			t.Errorf("%s: %v %v", name, o, err)
		}
		if o, err := x.Call(t.Context(), sut.Call{Operation: "ok"}); err != nil || o.End != sut.Answered {
			t.Errorf("after %s: %v %s %v", name, o.End, o.Why, err)
		}
	}
}

func TestChatSystem(t *testing.T) {
	t.Setenv(systemtest.SpeakerVariable, "chat")
	plan := func(t *testing.T) *sut.Plan {
		return &sut.Plan{Name: "speaker", Kind: sut.Chat, Command: []string{self(t)}, Per: sut.PerWorker, URL: "http://127.0.0.1:{port}/v1",
			ChatPlan: sut.ChatPlan{Model: "m"}}
	}
	systemtest.RunSystem(t, systemtest.System{
		Open: systems(), Plan: plan,
		Call: func(verb, text string) sut.Call { return sut.Call{Input: []byte(verb + " " + text)} },
		Gone: func(t *testing.T) *sut.Plan {
			s := httptest.NewServer(http.NotFoundHandler())
			defer s.Close()
			p := plan(t)
			p.Command, p.URL = nil, s.URL
			return p
		},
	})
}

func TestToolsAreOperations(t *testing.T) {
	t.Setenv(systemtest.SpeakerVariable, "mcp")
	p := &sut.Plan{Name: "speaker", Kind: sut.MCP, Command: []string{self(t)}, Input: sut.Input{Operation: "echo", Argument: "text"}}
	x, err := systems()(t.Context(), p, sut.Worker{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	o, ok := sut.Find(x.Operations(), "echo")
	if !ok || o.Description != "does echo" || len(o.Arguments) != 1 || o.Arguments[0] != (sut.Argument{Name: "text", Type: "string"}) {
		t.Errorf("%+v", o)
	}
	if got, err := x.Call(t.Context(), sut.Call{Input: []byte("a\xff\"b")}); err != nil || string(got.Value) != `"a�\"b"` {
		t.Errorf("%+v %v", got, err)
	}
}

// A text goes to the only argument that a tool needs; of several, the file has to name one.
func TestTheArgumentOfATool(t *testing.T) {
	text, number := sut.Argument{Name: "text", Type: "string", Required: true}, sut.Argument{Name: "n", Type: "integer", Required: true}
	for _, x := range []struct {
		arguments []sut.Argument
		want      string
	}{
		{[]sut.Argument{text}, `{"tool":"say","arguments":{"text":"hi"}}`},
		{[]sut.Argument{text, {Name: "loud", Type: "boolean"}}, `{"tool":"say","arguments":{"text":"hi"}}`},
		{[]sut.Argument{{Name: "query"}}, `{"tool":"say","arguments":{"query":"hi"}}`},
		{[]sut.Argument{text, number}, ""},
		{[]sut.Argument{{Name: "a", Type: "string"}, {Name: "b", Type: "string"}}, ""},
		{[]sut.Argument{number}, ""},
		{nil, ""},
	} {
		op := &sut.Operation{Name: "say", Arguments: x.arguments}
		got, err := toolCall(&sut.Plan{Name: "speaker", Kind: sut.MCP})(op, &sut.Call{Input: []byte("hi")})
		if got.Prompt != x.want || (err == nil) != (x.want != "") || err != nil && !strings.Contains(err.Error(), "which argument of the tool say") {
			t.Errorf("%+v: %s, %v", x.arguments, got.Prompt, err)
		}
	}
}

// Each interface is asked in its own words, what was said before included, and its
// answer is understood, also in parts.
func TestChatInterfaces(t *testing.T) {
	answers := map[string][2]string{
		"/v1/chat/completions": {`{"choices":[{"message":{"content":"hello"}}]}`, "data: {\"choices\":[{\"delta\":{\"content\":\"hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\ndata: [DONE]\n\n"},
		"/v1/responses": {`{"output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"hello"}]}]}`,
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hel\"}\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"lo\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n"},
		"/v1/messages": {`{"content":[{"type":"text","text":"hello"}]}`,
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"hel\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"lo\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		"/api/chat": {`{"message":{"role":"assistant","content":"hello"},"done":true}`, "{\"message\":{\"content\":\"hel\"},\"done\":false}\n{\"message\":{\"content\":\"lo\"},\"done\":true}\n"},
	}
	wants := map[string]string{
		"/v1/chat/completions": `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"hi"}],"model":"m"}`,
		"/v1/responses":        `{"input":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"hi"}],"instructions":"be kind","model":"m"}`,
		"/v1/messages":         `{"max_tokens":1024,"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"hi"}],"model":"m","system":"be kind"}`,
		"/api/chat":            `{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"hi"}],"model":"m","stream":false}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var q map[string]any
		json.Unmarshal(body, &q)
		streams := q["stream"] == true
		if streams {
			delete(q, "stream")
			if r.URL.Path == "/api/chat" {
				q["stream"] = false
			}
		}
		got, _ := json.Marshal(q)
		var want map[string]any
		json.Unmarshal([]byte(wants[r.URL.Path]), &want)
		text, _ := json.Marshal(want)
		if string(got) != string(text) {
			http.Error(w, "asked "+string(got)+" at "+r.URL.Path, http.StatusTeapot)
			return
		}
		if r.URL.Path == "/v1/messages" && (r.Header.Get("Anthropic-Version") == "" || r.Header.Get("X-Api-Key") != "k") {
			http.Error(w, "headers", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if streams && r.URL.Path == "/api/chat" {
			w.Header().Set("Content-Type", "application/x-ndjson")
		} else if streams {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		io.WriteString(w, answers[r.URL.Path][map[bool]int{true: 1}[streams]])
	}))
	defer s.Close()
	for api, at := range map[string]string{"": "/v1", "openai": "/v1", "responses": "/v1", "anthropic": "/v1", "ollama": ""} {
		for _, stream := range []bool{false, true} {
			p := &sut.Plan{Name: "m", Kind: sut.Chat, URL: s.URL + at, Headers: [][2]string{{"X-Api-Key", "k"}},
				ChatPlan: sut.ChatPlan{API: api, Model: "m", System: "be kind", Stream: stream}}
			x, err := systems()(t.Context(), p, sut.Worker{Of: 1})
			if err != nil {
				t.Fatal(err)
			}
			history := []sut.Message{{Role: "user", Text: "one"}, {Role: "assistant", Text: "two"}}
			o, err := x.Call(t.Context(), sut.Call{Input: []byte("hi"), History: history})
			if err != nil || o.End != sut.Answered || string(o.Value) != `"hello"` {
				t.Errorf("%s, streamed %t: %+v %v %s", api, stream, o, err, strings.TrimSpace(string(o.Output)))
			}
			x.Close()
		}
	}
}

// Formats that bind by position take the order in which a tool requires its
// arguments.
func TestOrderOfToolArguments(t *testing.T) {
	schema := map[string]any{"type": "object", "required": []string{"order_id", "amount"},
		"properties": map[string]any{"amount": map[string]any{"type": "integer"}, "order_id": map[string]any{}, "note": map[string]any{"type": "string"}}}
	o := toolOperation(&mcp.Tool{Name: "refund", InputSchema: schema}, &sut.Plan{})
	want := []sut.Argument{{Name: "order_id", Required: true}, {Name: "amount", Type: "integer", Required: true}, {Name: "note", Type: "string"}}
	if !slices.Equal(o.Arguments, want) {
		t.Errorf("%+v", o.Arguments)
	}
}

// A tool that may destroy something by the protocol, or by its name if it says nothing of
// itself, is known as such.
func TestToolsThatDestroy(t *testing.T) {
	no, yes := false, true
	for want, tools := range map[bool][]*mcp.Tool{
		true: {
			{Name: "place", Annotations: &mcp.ToolAnnotations{}}, {Name: "refund", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}},
			{Name: "delete_order"}, {Name: "orders.purge"}, {Name: "dropTable"},
		},
		false: {
			{Name: "delete", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, {Name: "add", Annotations: &mcp.ToolAnnotations{DestructiveHint: &no}},
			{Name: "place"}, {Name: "dropdown"}, {Name: "list_deleted"},
		},
	} {
		for _, tool := range tools {
			if o := toolOperation(tool, &sut.Plan{}); o.Destroys != want {
				t.Errorf("%s %+v: destroys %t", tool.Name, tool.Annotations, o.Destroys)
			}
		}
	}
}

// An SDK wraps what a tool returns. The reply to a prompt is without that.
func TestWrappedReplies(t *testing.T) {
	x := &asked{plan: &sut.Plan{Kind: sut.MCP}}
	for input, want := range map[bool]string{true: `"hi"`, false: `{"result":"hi"}`} {
		var o sut.Observation
		r := agentcall.Reply{End: agentcall.Answered, Text: "hi", Value: []byte(`{"result":"hi"}`)}
		if x.judge(&o, &sut.Operation{}, &r, input); string(o.Value) != want {
			t.Errorf("input %v: %s, want %s", input, o.Value, want)
		}
	}
}
