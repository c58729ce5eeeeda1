package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
)

// A recorded response answers a replay as the tool had answered: the value of a
// tool in Python, the body of one behind HTTP, and a failure where there was one.
func TestAnswersAreRecordedAsTheyWere(t *testing.T) {
	python := func(value string) fault.Exchange {
		return fault.Exchange{Kind: fault.ToolCall, Tool: "find", Response: []byte(value)}
	}
	http := func(status int, body string) fault.Exchange {
		return fault.Exchange{Kind: fault.ToolCall, Tool: "find", Method: "GET", URL: "http://x/find", Status: status, Response: []byte(body)}
	}
	for name, x := range map[string]struct {
		exchange fault.Exchange
		want     config.ToolResponse
	}{
		"a string":         {python(`"say \"yes\""`), config.ToolResponse{Body: `say "yes"`, Text: true}},
		"a mapping":        {python(`{"n":1}`), config.ToolResponse{Body: `{"n":1}`}},
		"nothing":          {python(`null`), config.ToolResponse{}},
		"a list":           {python(`[1,"2"]`), config.ToolResponse{Body: `[1,"2"]`}},
		"a number":         {python(`7.0`), config.ToolResponse{Body: `7.0`}},
		"a truth":          {python(`true`), config.ToolResponse{Body: `true`}},
		"JSON in a string": {python(`"{\"n\":1}"`), config.ToolResponse{Body: `{"n":1}`, Text: true}},
		"an exception": {fault.Exchange{Kind: fault.ToolCall, Tool: "find", Response: []byte(`"no such order"`), Raised: "shop.Missing", Error: "shop.Missing: no such order"},
			config.ToolResponse{Body: "no such order", Text: true, Raises: "shop.Missing"}},
		"a result": {fault.Exchange{Kind: fault.MCPCall, Tool: "find", Response: []byte(`{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`)}, config.ToolResponse{Body: `{"content":[]}`}},
		"a result in a stream": {fault.Exchange{Kind: fault.MCPCall, Tool: "find", Status: 200, ContentType: "text/event-stream",
			Response: []byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}\n\n")},
			config.ToolResponse{Body: `{"content":[]}`}},
		"an error of the protocol": {fault.Exchange{Kind: fault.MCPCall, Tool: "find", Response: []byte(`{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}`)},
			config.ToolResponse{Status: 500, Body: "no", Text: true}},
		"a part": {fault.Exchange{Kind: fault.ToolCall, Tool: "find", Method: "GET", Status: 200, Response: []byte(`{"n":1`), Ended: fault.WasClosed},
			config.ToolResponse{Status: 200, Body: `{"n":1`, Text: true, Connection: "closed"}},
		"a connection that was reset": {fault.Exchange{Kind: fault.MCPCall, Tool: "find", Error: "reset", Ended: fault.WasReset}, config.ToolResponse{Connection: "reset"}},
		"a page": {fault.Exchange{Kind: fault.ToolCall, Tool: "find", Method: "GET", Status: 200, ContentType: "text/html", Response: []byte("<p>")},
			config.ToolResponse{Status: 200, Body: "<p>", Text: true, ContentType: "text/html"}},
		"a body in quotes": {http(200, `"yes"`), config.ToolResponse{Status: 200, Body: `"yes"`, Text: true}},
		"an object":        {http(200, `{"n":1}`), config.ToolResponse{Status: 200, Body: `{"n":1}`}},
		"an empty body":    {http(204, ``), config.ToolResponse{Status: 204, Text: true}},
		"raised":           {fault.Exchange{Kind: fault.ToolCall, Tool: "find", Error: "no answer within 1s"}, config.ToolResponse{Status: 500, Body: "no answer within 1s", Text: true}},
	} {
		x.want.Tool = "find"
		if got := answered(&x.exchange); got != x.want {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
	}
}

// asks is a question to a model in a trace, with its answer.
func asks(trace, messages, answer string) fault.Exchange {
	body := fmt.Sprintf(`{"model":"m","messages":[%s]}`, messages)
	return fault.Exchange{Kind: fault.ModelCall, Tool: "openai", Method: "POST", URL: "http://127.0.0.1:4000/v1/chat/completions", Status: 200, Trace: trace,
		Request: []byte(body), RequestSize: int64(len(body)), Response: []byte(answer), ResponseSize: int64(len(answer))}
}

const user = `{"role":"user","content":%q}`

func says(text string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":%q}}]}`, text)
}

func wants(id, tool string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}]}}]}`, id, tool)
}

// results is a conversation in which a call was made and its result is handed in.
func results(asked, id, tool string) string {
	return fmt.Sprintf(user, asked) + fmt.Sprintf(`,{"role":"assistant","tool_calls":[{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}]},{"role":"tool","tool_call_id":%q,"content":"r"}`, id, tool, id)
}

func looksUp(trace, tool string) fault.Exchange {
	return fault.Exchange{Kind: fault.ToolCall, Tool: tool, Method: "GET", URL: "http://127.0.0.1:5000/" + tool + "/4711?since=2024-01-02T10:00:00Z", Status: 200, Trace: trace, Response: []byte(`{"n":1}`), ResponseSize: 7}
}

// Sessions are distinguished by their traces and the identifiers of calls; those of
// an agent that does one thing at a time, by order.
func TestSessionsAreToldApart(t *testing.T) {
	hello := hello()
	for _, x := range []struct {
		name  string
		alone bool
		calls []fault.Exchange
		want  string // sessions with their calls
		stray int
	}{
		{"one question", false, []fault.Exchange{hello}, "Hello: model", 0},
		{"two questions", false, []fault.Exchange{hello, asks("", fmt.Sprintf(user, "Bye"), says("!"))}, "Hello: model; Bye: model", 0},
		{"a tool", false, []fault.Exchange{asks("", fmt.Sprintf(user, "A?"), wants("call_1", "find")), looksUp("", "find"), asks("", results("A?", "call_1", "find"), says("a"))},
			"A?: model tool model", 0},
		{"two at once, by identifiers", false, []fault.Exchange{
			asks("", fmt.Sprintf(user, "A?"), wants("call_a", "find")), asks("", fmt.Sprintf(user, "B?"), wants("call_b", "count")), looksUp("", "count"), looksUp("", "find"),
			asks("", results("B?", "call_b", "count"), says("b")), asks("", results("A?", "call_a", "find"), says("a"))},
			"A?: model tool model; B?: model tool model", 0},
		{"two at once with the same tool", false, []fault.Exchange{
			asks("", fmt.Sprintf(user, "A?"), wants("call_a", "find")), asks("", fmt.Sprintf(user, "B?"), wants("call_b", "find")), looksUp("", "find")}, "A?: model; B?: model", 1},
		{"the same, with traces", false, []fault.Exchange{
			asks("1", fmt.Sprintf(user, "A?"), wants("call_a", "find")), asks("2", fmt.Sprintf(user, "B?"), wants("call_b", "find")), looksUp("2", "find"), looksUp("1", "find")}, "A?: model tool; B?: model tool", 0},
		{"a tool of the second trace", false, []fault.Exchange{
			asks("1", fmt.Sprintf(user, "A?"), wants("call_a", "find")), asks("2", fmt.Sprintf(user, "B?"), wants("call_b", "find")), looksUp("2", "find")}, "A?: model; B?: model tool", 0},
		{"a tool that the second named", false, []fault.Exchange{
			asks("", fmt.Sprintf(user, "A?"), wants("call_a", "find")), asks("", fmt.Sprintf(user, "B?"), wants("call_b", "count")), looksUp("", "count")}, "A?: model; B?: model tool", 0},
		{"a question that was asked again", false, []fault.Exchange{hello, hello}, "Hello: model; Hello: model", 0},
		{"a question that was asked again before the tool answered", false, []fault.Exchange{
			asks("", fmt.Sprintf(user, "A?"), wants("call_a", "find")), asks("", fmt.Sprintf(user, "A?"), wants("call_b", "find"))}, "A?: model model", 0},
		{"a result in another trace", false, []fault.Exchange{asks("1", fmt.Sprintf(user, "A?"), wants("x123", "find")), asks("2", results("A?", "x123", "find"), says("a"))}, "A?: model model", 0},
		{"an identifier that is too short to be one", false, []fault.Exchange{asks("1", fmt.Sprintf(user, "A?"), wants("x12", "find")), asks("2", results("A?", "x12", "find"), says("a"))},
			"A?: model; A?: model", 0},
		{"a result of an earlier call", false, []fault.Exchange{asks("1", fmt.Sprintf(user, "A?"), wants("x123", "find")), asks("1", fmt.Sprintf(user, "A?"), says("so")), asks("2", results("A?", "x123", "find"), says("a"))},
			"A?: model model model", 0},
		{"a tool after the last answer", false, []fault.Exchange{asks("", fmt.Sprintf(user, "A?"), wants("call_1", "find")), asks("", results("A?", "call_1", "find"), says("a")), looksUp("", "find")},
			"A?: model model", 1},
		{"nothing that a user said", false, []fault.Exchange{asks("", `{"role":"system","content":"Be kind."}`, says("s"))}, "", 1},
		{"no question", false, []fault.Exchange{{Kind: fault.ModelCall, Method: "POST", URL: "http://x/v1/embeddings"}, {Kind: fault.OtherCall, URL: "http://x/"}}, "", 1},
		{"another model on the way", true, []fault.Exchange{asks("", fmt.Sprintf(user, "A?"), wants("call_1", "find")), asks("", fmt.Sprintf(user, "Shorten this"), says("s")), looksUp("", "find")},
			"A?: model model tool", 0},
		{"another model on the way of a server", false, []fault.Exchange{asks("", fmt.Sprintf(user, "A?"), wants("call_1", "find")), hello}, "A?: model; Hello: model", 0},
		{"looked up first", true, []fault.Exchange{looksUp("", "find"), hello, looksUp("", "save")}, "Hello: tool model tool", 0},
		{"a tool of nobody", false, []fault.Exchange{looksUp("", "find"), hello}, "Hello: model", 1},
		{"the next turn", false, []fault.Exchange{hello, asks("", fmt.Sprintf(user, "Hello")+`,{"role":"assistant","content":"Hi"},`+fmt.Sprintf(user, "And?"), says("so"))}, "Hello: model; And? after 2: model", 0},
	} {
		var got []string
		tape := Tape{Alone: x.alone, Done: func(s config.Session) {
			name := s.Input
			if len(s.Context) > 0 {
				name += fmt.Sprintf(" after %d", len(s.Context))
			}
			kinds := make([]string, len(s.Trace))
			for i, line := range s.Trace {
				kinds[i], _, _ = strings.Cut(line, " ")
			}
			got = append(got, name+": "+strings.Join(kinds, " "))
		}}
		for _, e := range x.calls {
			tape.Add(e)
		}
		tape.End(time.Hour)
		if s := strings.Join(got, "; "); s != x.want || tape.Stray != x.stray {
			t.Errorf("%s: %s, %d stray; want %s, %d", x.name, s, tape.Stray, x.want, x.stray)
		}
	}
}

// What is written is read as the same, and replays are compared without what
// differs from run to run.
func TestASessionHoldsWhatItNeeds(t *testing.T) {
	var s config.Session
	tape := Tape{Done: func(x config.Session) {
		s = x
		if shape := Shape(&x); shape != "model openai\ntool find\nmodel openai\n" {
			t.Errorf("shape %q", shape)
		}
	}}
	stream := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It is \"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"here\"}}]}\n\ndata: [DONE]\n\n"
	last := asks("", results("A?", "call_1", "find"), stream)
	last.ContentType = "text/event-stream"
	for _, e := range []fault.Exchange{asks("", fmt.Sprintf(user, "A?"), wants("call_1", "find")), looksUp("", "find"), last} {
		tape.Add(e)
	}
	tape.End(time.Hour)
	if s.Reply != "It is here" || s.Model != config.ModelRecorded || len(s.Models) != 2 || s.Models[0].Asked == s.Models[1].Asked {
		t.Fatalf("%+v", s)
	}
	if want := []string{"model openai", "tool find /find/4711?since=*", "model openai"}; !slices.Equal(s.Trace, want) {
		t.Errorf("trace %q, want %q", s.Trace, want)
	}
	again, diags := config.DecodeSession("x.yaml", Format(s), config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	again.At = s.At
	one, _ := json.Marshal(s)
	two, _ := json.Marshal(again)
	if string(one) != string(two) {
		t.Errorf("written\n%s\nread\n%s", one, two)
	}
	// A reply of which a part is missing cannot be replayed.
	last.ResponseSize++
	var cut config.Session
	Put(&cut, []fault.Exchange{hello(), last})
	if cut.Model != "" || len(cut.LeftOut) != 1 {
		t.Errorf("a reply that was cut: %+v", cut)
	}
}

func hello() fault.Exchange { return asks("", fmt.Sprintf(user, "Hello"), says("Hi")) }

// Sessions are bounded, and end when nothing was called for a while.
func TestSessionsAreBounded(t *testing.T) {
	ended := 0
	tape := Tape{Done: func(config.Session) { ended++ }}
	for i := range maxCalls + 1 {
		e := asks("1", fmt.Sprintf(user, "A?"), says("a"))
		e.At = time.Duration(i)
		tape.Add(e)
	}
	early := asks("2", fmt.Sprintf(user, "B?"), says("b"))
	tape.Add(early)
	late := asks("3", fmt.Sprintf(user, "C?"), says("c"))
	late.At = time.Minute
	tape.Add(late)
	if tape.End(time.Second); ended != 1 || tape.Large != 1 {
		t.Errorf("%d ended, %d too large", ended, tape.Large)
	}
	for i := range maxOpen + 5 {
		tape.Add(asks(fmt.Sprint("t", i), fmt.Sprintf(user, "D?"), says("d")))
	}
	if len(tape.open) > maxOpen {
		t.Errorf("%d sessions at once", len(tape.open))
	}
}

// A session ends when its last call had ended by then, and is named after what it holds.
func TestSessionsEnd(t *testing.T) {
	var ids []string
	tape := Tape{Done: func(s config.Session) { ids = append(ids, s.ID) }}
	call := hello()
	call.At, call.Took = time.Second, 2*time.Second
	tape.Add(call)
	if tape.End(3*time.Second - 1); len(ids) != 0 {
		t.Errorf("ended within its last call: %q", ids)
	}
	if tape.End(3 * time.Second); len(ids) != 1 || ids[0] != "recorded-5bde9f3c" {
		t.Errorf("ended: %q", ids)
	}

	alone := Tape{Alone: true, Done: func(s config.Session) { ids = append(ids, s.Input) }}
	alone.Add(call)
	next := asks("", fmt.Sprintf(user, "Bye"), says("!"))
	next.At = 4 * time.Second
	if alone.Add(next); !slices.Equal(ids[1:], []string{"Hello"}) {
		t.Errorf("an agent that does one thing after the other began the next: %q ended", ids[1:])
	}

	ended := 0
	full := Tape{Done: func(config.Session) { ended++ }}
	for i := range maxOpen + 5 {
		e := asks(fmt.Sprint("t", i), fmt.Sprintf(user, "D?"), says("d"))
		e.At = time.Duration(i)
		full.Add(e)
	}
	if len(full.open) != maxOpen || ended != 5 {
		t.Errorf("%d sessions at once, %d ended", len(full.open), ended)
	}
}

// A session may have so many bytes and no more, in questions and answers together.
func TestSessionsAreBoundedInBytes(t *testing.T) {
	tape := Tape{Alone: true}
	first := hello()
	tape.Add(first)
	rest := maxBytes - len(first.Request) - len(first.Response)
	tape.Add(fault.Exchange{Kind: fault.ToolCall, Tool: "find", Request: make([]byte, rest/2), Response: make([]byte, rest-rest/2)})
	if tape.Large != 0 || len(tape.open) != 1 {
		t.Errorf("at the bound: %d too large, %d open", tape.Large, len(tape.open))
	}
	tape.Add(fault.Exchange{Kind: fault.ToolCall, Tool: "find", Response: make([]byte, 1)})
	if tape.Large != 1 || len(tape.open) != 0 {
		t.Errorf("beyond the bound: %d too large, %d open", tape.Large, len(tape.open))
	}
}
