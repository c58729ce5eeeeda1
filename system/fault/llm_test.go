package fault

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
)

// model is an LLM server that answers in the shape that it is asked in, by
// streaming if asked, an event at a time.
func model(t testing.TB) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body strings.Builder
		bufio.NewReader(r.Body).WriteTo(&body)
		q := fault.Recognize(r.Method, r.URL.Path, []byte(body.String()))
		if q == nil {
			http.Error(w, "what?", http.StatusBadRequest)
			return
		}
		if last := strings.Contains(body.String(), "MARKER"); last {
			w.Header().Set("X-Marker", "seen")
		}
		a := q.Answer("one two three four five", 1, time.Unix(0, 0))
		w.Header().Set("Content-Type", a.ContentType)
		for line := range strings.Lines(string(a.Body)) {
			fmt.Fprint(w, line)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

var chats = []struct{ path, body string }{
	{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":%t}`},
	{"/v1/responses", `{"model":"m","input":"hi","stream":%t}`},
	{"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stream":%t}`},
	{"/api/chat", `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":%t}`},
	{"/api/generate", `{"model":"m","prompt":"hi","stream":%t}`},
}

func TestLLMFaults(t *testing.T) {
	server := model(t)
	llm := func(m fault.Mode, set func(*fault.Rule)) fault.Rule {
		r := fault.Rule{ID: string(m), Layer: fault.LLM, Mode: m}
		if set != nil {
			set(&r)
		}
		return r
	}
	tests := []struct {
		rule  fault.Rule
		check func(got) error
	}{
		{llm(fault.Truncated, func(r *fault.Rule) { r.MaxTokens = 2 }), func(g got) error {
			if g.err != nil || g.status != 200 || !strings.Contains(g.body, "one two") || strings.Contains(g.body, "three") || !strings.Contains(g.body, "length") && !strings.Contains(g.body, "max_") {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
		{llm(fault.RateLimit, func(r *fault.Rule) { r.RetryAfter = 7 * time.Second }), func(g got) error {
			if g.status != 429 || g.header.Get("Retry-After") != "7" || !json.Valid([]byte(g.body)) {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
		{llm(fault.Error, func(r *fault.Rule) { r.Status = 529 }), func(g got) error {
			if g.status != 529 || !strings.Contains(g.body, `"error"`) {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
		{llm(fault.Empty, nil), func(g got) error {
			if g.status != 200 || strings.Contains(g.body, "four") || g.body == "" {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
		{llm(fault.Garbage, nil), contains("zzkrt")},
		{llm(fault.Drift, func(r *fault.Rule) { r.DriftType, r.Direction = fault.DriftVerbosity, "compress" }), func(g got) error {
			if g.err != nil || !strings.Contains(g.body, "one two") || strings.Contains(g.body, "four") {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
		{llm(fault.Malformed, nil), func(g got) error {
			if g.err != nil || g.status != 200 || json.Valid([]byte(g.body)) && !strings.Contains(g.body, "\n{") {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
		{fault.Rule{ID: "memory", Layer: fault.Context, Mode: fault.MemoryPoisoning, At: fault.AtLLMRequest, Payload: "MARKER"}, func(g got) error {
			if g.header.Get("X-Marker") != "seen" || !strings.Contains(g.body, "three") {
				return fmt.Errorf("%+v", g)
			}
			return nil
		}},
	}
	s := open(t, nil)
	agent := s.client()
	for _, test := range tests {
		for _, chat := range chats {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s%s stream=%t", test.rule.Mode, chat.path, stream), func(t *testing.T) {
					c := s.enter(test.rule, tool(fault.Error, nil)) // which must leave LLMs alone
					if err := test.check(post(agent, server.URL+chat.path, "application/json", fmt.Sprintf(chat.body, stream))); err != nil {
						t.Error(err)
					}
					r := c.Close()
					if k := r.Tallies[0]; k.Fired != 1 || len(k.Missed) > 0 || r.Tallies[1].Considered != 0 {
						t.Errorf("%+v", r.Tallies)
					}
					if e := r.Exchanges[0]; e.Kind != fault.ModelCall || e.Tool == "" {
						t.Errorf("%+v", e)
					}
				})
			}
		}
	}
}

// A call of a tool that breaks off does so within its arguments, with the connection.
func TestCutToolCalls(t *testing.T) {
	server := model(t)
	s := open(t, nil)
	const offer = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":%t,"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]}`
	for _, stream := range []bool{false, true} {
		c := s.enter(fault.Rule{ID: "cut", Layer: fault.LLM, Mode: fault.CutCall})
		g := post(s.client(), server.URL+chats[0].path, "application/json", fmt.Sprintf(offer, stream))
		if g.err == nil || g.status != 200 || !strings.Contains(strings.ReplaceAll(g.body, `\`, ""), "a note that goes on") {
			t.Errorf("streamed %t: %+v", stream, g)
		}
		if r := c.Close(); r.Tallies[0].Fired != 1 || r.Exchanges[0].Ended != fault.WasClosed {
			t.Errorf("streamed %t: %+v", stream, r)
		}
	}
}

// What no fault looks into is streamed: the agent has the first event before
// the server writes the second. Tokens are counted all the same.
func TestStreamsAreNotHeldBack(t *testing.T) {
	next := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-next
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n")
	}))
	defer server.Close()
	s := open(t, nil)
	c := s.enter()
	resp, err := s.client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(chats[0].body, true)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if first, err := lines.ReadString('\n'); err != nil || !strings.Contains(first, `"a"`) {
		t.Fatal(first, err)
	}
	next <- true
	if _, err := lines.WriteTo(&strings.Builder{}); err != nil {
		t.Error(err)
	}
	if r := c.Close(); r.InputTokens != 5 || r.OutputTokens != 6 {
		t.Errorf("%d, %d tokens", r.InputTokens, r.OutputTokens)
	}
}

// Tokens of a streamed answer are counted although a fault gives it another type, and an answer that
// a fault delays until the agent leaves is none that counts no tokens.
func TestTokensUnderFaults(t *testing.T) {
	server, s := model(t), open(t, nil)
	ask := func(c *http.Client) (*http.Response, error) {
		return c.Post(server.URL+"/v1/messages", "application/json", strings.NewReader(fmt.Sprintf(chats[2].body, true)))
	}
	c := s.enter(fault.Rule{Layer: fault.LLM, Mode: fault.WrongType})
	if g := read(ask(s.client())); g.err != nil || strings.HasPrefix(g.header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%+v", g)
	}
	if r := c.Close(); r.OutputTokens != 5 || r.Uncounted != 0 {
		t.Errorf("another type: %d tokens, %d answers uncounted", r.OutputTokens, r.Uncounted)
	}
	c = s.enter(fault.Rule{Layer: fault.LLM, Mode: fault.Bandwidth, Rate: 1})
	resp, err := ask(s.client())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if r := c.Close(); r.OutputTokens != 0 || r.Uncounted != 0 || r.Tallies[0].Fired != 1 {
		t.Errorf("an answer that nobody waited for: %d tokens, %d answers uncounted", r.OutputTokens, r.Uncounted)
	}
}

// The report that is taken when the agent has its answer holds the call.
func TestTheReportIsNotBehind(t *testing.T) {
	server := model(t)
	s := open(t, nil)
	agent := s.client()
	for i := range 50 {
		rules := [][]fault.Rule{nil, {{Layer: fault.LLM, Mode: fault.Reset}}, {{Layer: fault.LLM, Mode: fault.Partial}}, {{Layer: fault.LLM, Mode: fault.Garbage}}}[i%4]
		c := s.enter(rules...)
		post(agent, server.URL+"/api/chat", "application/json", fmt.Sprintf(chats[3].body, i%3 == 0))
		if r := c.Report(); len(r.Exchanges) != 1 || i%4 == 0 && r.OutputTokens != 5 {
			t.Fatalf("%d: %+v", i, r)
		}
		c.Close()
	}
}

func TestTheAgentItselfIsNoTool(t *testing.T) {
	server, _ := tools(t)
	s := open(t, nil)
	c := s.plan(fault.Plan{Self: server.URL + "/agent*", Rules: []fault.Rule{tool(fault.Error, func(r *fault.Rule) { r.Tool = "*" }), tool(fault.Slow, func(r *fault.Rule) { r.MatchURL, r.Delay = "*", time.Millisecond })}})
	if err := contains("sun")(post(client(t, c.Proxy(), s.port.CAFile()), server.URL+"/agent", "application/json", `{"input":"q"}`)); err != nil {
		t.Error(err)
	}
	if r := c.Close(); len(r.ToolCalls) != 0 || r.Tallies[0].Considered != 0 || r.Tallies[1].Fired != 1 {
		t.Errorf("%+v", r)
	}
}

func TestToolCallsAreSeenInConversations(t *testing.T) {
	server := model(t)
	s := open(t, nil)
	c := s.enter()
	body := `{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"search","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}`
	for range 2 {
		post(s.client(), server.URL+"/v1/chat/completions", "application/json", body)
	}
	if calls := c.Close().ToolCalls; len(calls) != 1 || calls[0].Tool != "search" || calls[0].Source != fault.SeenInChat {
		t.Errorf("%+v", calls)
	}
}
