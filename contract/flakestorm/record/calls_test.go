package record

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
)

// mixed are calls of every kind, in the order in which an agent made them.
func mixed() []fault.Exchange {
	model := hello()
	failed := hello()
	failed.Status = 400
	return []fault.Exchange{
		{Kind: fault.OtherCall, Tool: "license", Method: "GET", URL: "http://licenses.example/check", Status: 500},
		{Kind: fault.ToolCall, Tool: "save", Method: "POST", URL: "http://shop.example/save", Status: 400, Request: []byte(`{ "b": 1 }`)},
		{Kind: fault.MCPCall, Tool: "find", URL: "http://shop.example/mcp", Status: 399,
			Request: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"q": "x"}}}`)},
		model,
		{Kind: fault.ToolCall, Tool: "say", Method: "POST", URL: "http://shop.example/say", Request: []byte("  so\n long\xff ")},
		{Kind: fault.ToolCall, Tool: "fetch", Method: "GET", URL: "http://shop.example/fetch?of=http://localhost:5555/x&from=[::1]:80"},
		failed,
		{Kind: fault.ToolCall, Tool: "when"},
		{Kind: fault.ToolCall, Tool: "log", Request: []byte(strings.Repeat("y", 301))},
	}
}

// Calls between two questions to a model are sorted, and no line holds what differs from run to
// run.
func TestTrace(t *testing.T) {
	want := []string{
		`tool find {"q":"x"}`, `tool save {"b":1} -> 400`, "model openai",
		"tool fetch /fetch?of=http://localhost/x&from=[::1]", "tool say so long", "model openai -> 400",
		"tool log " + strings.Repeat("y", 300) + "…", "tool when",
	}
	if got := Trace(mixed()); !slices.Equal(got, want) {
		t.Errorf("trace\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A session holds the answers of tools and models, and says what it leaves out.
func TestPut(t *testing.T) {
	calls := mixed()
	calls[1].Call, calls[1].Response, calls[1].ResponseSize = 2, []byte("par"), 9
	var s config.Session
	Put(&s, calls)
	var tools []string
	for _, r := range s.Tools {
		tools = append(tools, r.Tool)
	}
	if got := strings.Join(tools, " "); got != "find say fetch when log" {
		t.Errorf("answers of %s", got)
	}
	if len(s.Models) != 2 || s.Models[0].Asked == "" || s.Model != config.ModelRecorded || len(s.Trace) != 8 {
		t.Errorf("%d replies of %q, asked %+v, trace %q", len(s.Models), s.Model, s.Models, s.Trace)
	}
	if want := []string{"call 2, an answer of save with 9 bytes"}; !slices.Equal(s.LeftOut, want) {
		t.Errorf("left out %q, want %q", s.LeftOut, want)
	}

	var tool config.Session
	if Put(&tool, calls[2:3]); len(tool.Tools) != 1 || tool.Trace != nil || tool.Model != "" {
		t.Errorf("without a model: %+v", tool)
	}

	// Nobody can compare a question of which a part is missing, nor one at no address.
	for _, change := range []func(*fault.Exchange){func(e *fault.Exchange) { e.RequestSize++ }, func(e *fault.Exchange) { e.URL = "http://%" }} {
		e := hello()
		change(&e)
		var s config.Session
		if Put(&s, []fault.Exchange{e}); len(s.Models) != 1 || s.Models[0].Asked != "" {
			t.Errorf("%+v", s.Models)
		}
	}
}

// A recording made without a document's gateways has other names than the run, so both are compared
// by address.
func TestByAddress(t *testing.T) {
	calls := mixed()
	for i := range calls {
		calls[i].Tool = "gateway"
	}
	other := hello()
	other.Kind, other.Tool = fault.OtherCall, "other"
	calls = append(calls, fault.Exchange{Kind: fault.ToolCall, Tool: "broken", URL: "http://%"}, fault.Exchange{Kind: fault.ToolCall, Tool: "gateway", URL: "http://shop/4711"}, other)
	var got []string
	for _, e := range ByAddress(calls) {
		got = append(got, e.Tool)
	}
	if s := strings.Join(got, " "); s != "gateway save gateway openai say fetch openai gateway gateway broken shop other" {
		t.Errorf("named %s", s)
	}
	if calls[1].Tool != "gateway" {
		t.Error("the calls themselves were renamed")
	}
}

// What else a tool or a model answers is recorded as it was, with the type that it declared.
func TestDeclaredTypes(t *testing.T) {
	web := func(contentType, body string) fault.Exchange {
		return fault.Exchange{Kind: fault.ToolCall, Tool: "find", Method: "GET", Status: 200, ContentType: contentType, Response: []byte(body)}
	}
	for name, x := range map[string]struct {
		exchange fault.Exchange
		want     config.ToolResponse
	}{
		"JSON":                {web("application/json; charset=utf-8", ` {"n":1}`), config.ToolResponse{Status: 200, Body: ` {"n":1}`}},
		"another JSON":        {web("application/problem+json", `{"n":1}`), config.ToolResponse{Status: 200, Body: `{"n":1}`, ContentType: "application/problem+json"}},
		"JSON that is broken": {web("application/json", `{"n":`), config.ToolResponse{Status: 200, Body: `{"n":`, Text: true, ContentType: "application/json"}},
		"null":                {web("application/json", `null`), config.ToolResponse{Status: 200, Body: `null`, Text: true, ContentType: "application/json"}},
		"a list":              {web("application/json", `[1]`), config.ToolResponse{Status: 200, Body: `[1]`, Text: true, ContentType: "application/json"}},
		"an error and a body": {fault.Exchange{Kind: fault.ToolCall, Tool: "find", Method: "GET", Response: []byte("part"), Error: "late"}, config.ToolResponse{Body: "part", Text: true}},
		"an error and a status": {fault.Exchange{Kind: fault.ToolCall, Tool: "find", Method: "GET", Status: 302, Error: "late"},
			config.ToolResponse{Status: 302, Text: true}},
		"no answer of a server": {fault.Exchange{Kind: fault.MCPCall, Tool: "find", Status: 202}, config.ToolResponse{Status: 202, Text: true}},
		"a result that broke off": {fault.Exchange{Kind: fault.MCPCall, Tool: "find", Response: []byte(`{"jsonrpc":"2.0","id":3,"result":{}}`), Ended: fault.WasClosed},
			config.ToolResponse{Body: `{"jsonrpc":"2.0","id":3,"result":{}}`, Text: true, Connection: "closed"}},
		"an answer of a tool in the form of the protocol": {web("", `{"jsonrpc":"2.0","id":3,"result":{}}`),
			config.ToolResponse{Status: 200, Body: `{"jsonrpc":"2.0","id":3,"result":{}}`}},
		"a model's string": {fault.Exchange{Kind: fault.ModelCall, Tool: "find", Status: 200, Response: []byte(`"x"`)}, config.ToolResponse{Status: 200, Body: `"x"`, Text: true}},
	} {
		x.want.Tool = "find"
		if got := answered(&x.exchange); got != x.want {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
	}
}
