package flakestorm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/system/agent"
	"github.com/thresh-dev/thresh/system/embed"
	"github.com/thresh-dev/thresh/system/fault"
)

// acting is the contract with agents in this process: a program named acting asks a model and
// calls its tools as one does that Thresh starts, by the proxy in its environment; every
// system plays a user.
func acting() *flakestorm.Contract {
	others := agent.New()
	open := func(ctx context.Context, plan agentcall.Plan, lane int, extra []string) (agentcall.Agent, error) {
		switch {
		case plan.System != nil:
			return actor{call: playUser}, nil
		case plan.Command != nil && plan.Command.Argv[0] == "acting":
			home := plan.Command.Argv[1]
			return actor{call: func(c agentcall.Call) (string, error) { return converse(home, c) }}, nil
		}
		return others.Open(ctx, plan, lane, extra)
	}
	return flakestorm.New(flakestorm.Targets{Agents: open, Faults: fault.Options{}.Open, Measures: embed.Open, Variants: shelf{}})
}

type actor struct {
	call func(agentcall.Call) (string, error)
}

func (a actor) Call(_ context.Context, c agentcall.Call) (agentcall.Reply, error) {
	r := agentcall.Reply{End: agentcall.Answered, Attempts: 1, Latency: time.Millisecond}
	text, err := a.call(c)
	if r.Text = text; err != nil {
		r.End, r.Error = agentcall.Refused, err.Error()
	}
	return r, nil
}

func (actor) Reset(context.Context, time.Duration) error { return nil }
func (actor) Forgets() bool                              { return true }
func (actor) Notes() []string                            { return nil }
func (actor) Close() error                               { return nil }

// playUser says two things, then that it is done.
func playUser(c agentcall.Call) (string, error) {
	switch said := strings.Count(c.Prompt, "\nYou: "); {
	case strings.Contains(c.Prompt, "goal: nothing"):
		return "", fmt.Errorf("no model: %s", c.Prompt)
	case said < 3:
		return fmt.Sprintf(" Look up order 470%d.\n", said), nil
	}
	return "\"DONE.\"", nil
}

// message is one of a conversation with a model.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	ID      string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

const offered = `[{"type":"function","function":{"name":"lookup","parameters":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}},` +
	`{"type":"function","function":{"name":"refund"}},{"type":"function","function":{"name":"mail"}}]`

// converse is an agent: it does what its model asks for, and refunds again what failed.
func converse(home string, c agentcall.Call) (string, error) {
	transport := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}
	for _, v := range c.Env {
		if proxy, ok := strings.CutPrefix(v, "HTTP_PROXY="); ok {
			transport.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy) }
		}
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	post := func(path, body string) (int, string) {
		r, err := client.Post(home+path, "application/json", strings.NewReader(body))
		if err != nil {
			return 0, "error: no connection"
		}
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return 0, "error: half an answer"
		}
		return r.StatusCode, string(data)
	}
	var list []message
	for _, m := range c.History {
		list = append(list, message{Role: m.Role, Content: m.Text})
	}
	list = append(list, message{Role: "user", Content: c.Prompt})
	for range 6 {
		said, err := json.Marshal(list)
		if err != nil {
			return "", err
		}
		status, text := post("/v1/chat/completions", `{"model":"m","tools":`+offered+`,"messages":`+string(said)+`}`)
		var a struct{ Choices []struct{ Message message } }
		if json.Unmarshal([]byte(text), &a) != nil || len(a.Choices) == 0 {
			if strings.Contains(c.Prompt, "counted") {
				return "I am sorry.", nil
			}
			return "", fmt.Errorf("the model said %d", status)
		}
		m := a.Choices[0].Message
		if len(m.Calls) == 0 {
			return m.Content, nil
		}
		list = append(list, m)
		for _, k := range m.Calls {
			if strings.Contains(c.Prompt, "refuse") {
				list = append(list, message{Role: "tool", ID: k.ID, Content: "error: refused"})
				continue
			}
			status, text := post("/tools/"+k.Function.Name, k.Function.Arguments)
			if status >= 500 && k.Function.Name == "refund" {
				status, text = post("/tools/"+k.Function.Name, k.Function.Arguments)
			}
			if status != http.StatusOK {
				text = fmt.Sprintf("error: %d %s", status, text)
			}
			list = append(list, message{Role: "tool", ID: k.ID, Content: text})
		}
	}
	return "I gave up.", nil
}

var orderNumber = regexp.MustCompile(`47\d+`)

// world is a server of tools, and of a model that asks for them as the prompt has it.
func world(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		switch strings.TrimPrefix(r.URL.Path, "/tools/") {
		case "/v1/chat/completions":
			var q struct{ Messages []message }
			if err := json.Unmarshal(body, &q); err != nil {
				t.Errorf("%s: %v", body, err)
			}
			answer := map[string]any{
				"choices": []any{map[string]any{"message": think(q.Messages, bytes.Contains(body, []byte(`"tools"`))), "finish_reason": "stop"}},
				"usage":   map[string]int{"prompt_tokens": 10 * len(q.Messages), "completion_tokens": 5},
			}
			if len(q.Messages) > 2 && strings.Contains(q.Messages[0].Content, "uncounted") {
				delete(answer, "usage")
			}
			_ = json.NewEncoder(w).Encode(answer)
		case "/mcp":
			serveMCP(w, body)
		case "lookup":
			fmt.Fprintf(w, `{"order":%q,"state":"open","total":5}`, orderNumber.FindString(string(body)))
		case "refund":
			fmt.Fprint(w, `{"refunded":true}`)
		case "mail":
			http.Error(w, `{"detail":"no such field"}`, http.StatusUnprocessableEntity)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// serveMCP is a server with one tool, which declines a question that asks it to refuse.
func serveMCP(w http.ResponseWriter, body []byte) {
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments struct{ Q string } }
	}
	if json.Unmarshal(body, &q) != nil || q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := map[string]any{}
	switch q.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": "2025-03-26", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]string{"name": "shop", "version": "1"}}
	case "tools/list":
		result["tools"] = []any{map[string]any{"name": "ask", "inputSchema": map[string]any{"type": "object"}}}
	case "tools/call":
		result["content"] = []any{map[string]string{"type": "text", "text": "Order " + q.Params.Arguments.Q}}
		result["isError"] = strings.Contains(q.Params.Arguments.Q, "refuse")
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result})
}

// think is what the model says next.
func think(list []message, tools bool) message {
	last, results := "", []string(nil)
	for _, m := range list {
		switch m.Role {
		case "user":
			last, results = m.Content, nil
		case "tool":
			results = append(results, m.Content)
		}
	}
	said := func(word string) bool { return strings.Contains(strings.ToLower(last), word) }
	switch {
	case strings.HasPrefix(last, "You judge"):
		return message{Role: "assistant", Content: fmt.Sprintf(`{"pass": %t, "reason": "as asked"}`, !said("sorry"))}
	case strings.HasPrefix(last, "Write one variant"):
		_, request, _ := strings.Cut(last, "Request: ")
		return message{Role: "assistant", Content: "Output: \"Could you: " + request + "\""}
	}
	id := orderNumber.FindString(last)
	var plan [][2]string
	if said("look") || said("refund") {
		plan = append(plan, [2]string{"lookup", fmt.Sprintf(`{"id":%q}`, id)})
	}
	if said("refund") {
		plan = append(plan, [2]string{"refund", fmt.Sprintf(`{"id":%q,"amount":5}`, id)})
	}
	if said("mail") {
		plan = append(plan, [2]string{"mail", `{"to":"ann"}`})
	}
	if said("odd") {
		plan = append(plan, [2]string{"lookup", `{"number":1}`}, [2]string{"ghost", `{}`})
	}
	if n := len(results); tools && n < len(plan) {
		k := toolCall{ID: fmt.Sprint("call_", n), Type: "function"}
		k.Function.Name, k.Function.Arguments = plan[n][0], plan[n][1]
		return message{Role: "assistant", Calls: []toolCall{k}}
	}
	all := strings.Join(results, " ")
	switch {
	case strings.Contains(all+last, "MARKER"):
		return message{Role: "assistant", Content: "MARKER"}
	case said("key"):
		return message{Role: "assistant", Content: "The key is sk-live-0123456789abcdef."}
	case strings.Contains(all, "error") && !said("lie"):
		return message{Role: "assistant", Content: "I am sorry, that did not work."}
	case said("refund"):
		return message{Role: "assistant", Content: "Your order has been refunded."}
	case len(results) > 0:
		return message{Role: "assistant", Content: "It is " + all}
	}
	return message{Role: "assistant", Content: "Hello, I can help. You said: " + last}
}

// An answer of the LLM that says no number of tokens makes the sum unknown, not smaller, also if a
// fault delays it; one that a fault has written costs nothing, whatever it counts.
func TestUncountedAnswers(t *testing.T) {
	s := spec(t, "agent: {type: command, command: [acting, \""+world(t).URL+"\"], timeout: 5000}\n"+
		"golden_prompts: [Look up counted order 4711, Look up uncounted order 4711]\nphases: [contract]\n"+
		"contract:\n  name: c\n  invariants: [{id: cheap, type: tokens, max: 50, prompt_filter: up counted}, {id: all, type: tokens, max: 50}]\n"+
		"  chaos_matrix: [{name: calm}, {name: slow, llm_faults: [{mode: slow, delay_ms: 1}]}, {name: garbled, llm_faults: [{mode: malformed}]},\n"+
		"    {name: refused, llm_faults: [{mode: refusal}]}, {name: empty, llm_faults: [{mode: empty}]}]\n")
	p := playBy(t, acting(), s)
	if p.count(campaign.VerdictError) != 2 || p.count(campaign.VerdictPass) != 8 || !strings.Contains(p.titles(), "1 answer of the LLM without `usage`") {
		t.Errorf("%s", p.titles())
	}
}

// Evidence shows what the agent said, in all its parts: a mark in its place could be the agent's own.
func TestRepliesAreShown(t *testing.T) {
	p := playBy(t, acting(), spec(t, "agent: {type: command, command: [acting, \""+world(t).URL+"\"], timeout: 5000}\n"+
		"golden_prompts: [Tell me the key]\nphases: [contract]\ncontract: {name: c, chaos_matrix: [{name: calm}], invariants: [{id: j, type: valid_json}]}\n"))
	d, ok := campaign.As[*flakestorm.Campaign](p.campaign)
	if !ok {
		t.Fatal("findings have no evidence")
	}
	for _, e := range d.Describe(nil, campaign.Case{Index: -1}, p.outcomes[0], nil)[:2] {
		if !strings.Contains(e.Text.Body, "The key is sk-live-0123456789abcdef.") {
			t.Errorf("%s: %s", e.Title, e.Text.Body)
		}
	}
}

// An agent that hangs exceeds a limit on its latency below the time it was given, and no other.
func TestHangs(t *testing.T) {
	hung := func(context.Context, agentcall.Plan, int, []string) (agentcall.Agent, error) { return hanging{}, nil }
	by := flakestorm.New(flakestorm.Targets{Agents: hung, Faults: fault.Options{}.Open, Measures: embed.Open, Variants: shelf{}})
	for limit, want := range map[string]campaign.Severity{"max_ms: 800": campaign.SeverityCritical, "max_ms: 1500": campaign.SeverityMedium, "max_ms: 800, percentile: 50": campaign.SeverityMedium} {
		p := playBy(t, by, spec(t, "agent: {type: command, command: [a], timeout: 1000}\ngolden_prompts: [hi]\nphases: [contract]\n"+
			"contract: {name: c, chaos_matrix: [{name: calm}], invariants: [{id: fast, type: latency, severity: critical, "+limit+"}]}\n"))
		if o := p.outcomes[0]; o.Verdict != campaign.VerdictFail || o.Severity != want {
			t.Errorf("%s: %v\n%s", limit, o.Severity, p.titles())
		}
	}
}

type hanging struct{ actor }

func (hanging) Call(context.Context, agentcall.Call) (agentcall.Reply, error) {
	return agentcall.Reply{End: agentcall.TimedOut, Error: "no answer", Attempts: 1, Latency: time.Second + 1}, nil
}

// visiting is the contract with an agent that posts to the paths in its prompt.
func visiting(home string) *flakestorm.Contract {
	paths := regexp.MustCompile(`/\S+`)
	open := func(context.Context, agentcall.Plan, int, []string) (agentcall.Agent, error) {
		return actor{call: func(c agentcall.Call) (string, error) {
			i := slices.IndexFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "HTTP_PROXY=") })
			proxy, err := url.Parse(strings.TrimPrefix(c.Env[i], "HTTP_PROXY="))
			if err != nil {
				return "", err
			}
			transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
			defer transport.CloseIdleConnections()
			said := ""
			for _, path := range paths.FindAllString(c.Prompt, -1) {
				r, err := (&http.Client{Transport: transport}).Post(home+path, "application/json", strings.NewReader("{}"))
				if err != nil {
					return "", err
				}
				r.Body.Close()
				said += fmt.Sprint(path, " ", r.StatusCode, ".")
			}
			return said, nil
		}}, nil
	}
	return flakestorm.New(flakestorm.Targets{Agents: open, Faults: fault.Options{}.Open, Measures: embed.Open, Variants: shelf{}})
}

// A tool's answer in JSON has the characters that it means, however it is written: rules over the
// trace find them and the evidence shows them.
func TestEscapedAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name": "J\u00fcrgen"}`)
	}))
	defer s.Close()
	p := playBy(t, visiting(s.URL), spec(t, "agent: {type: command, command: [clinic]}\nphases: [contract]\ngolden_prompts: [Go to /names]\ncontract:\n"+
		"  name: c\n  invariants: [{id: named, type: trace, event: {tool: names, text: Jürgen}}]\n  chaos_matrix: [{name: calm}]\n"))
	k, ok := campaign.As[*flakestorm.Campaign](p.campaign)
	if !ok || p.count(campaign.VerdictPass) != 1 {
		t.Fatal(p.titles())
	}
	if text := k.Describe(nil, campaign.Case{Index: -1}, p.outcomes[0], nil)[0].Text.Body; !strings.Contains(text, `{"name": "Jürgen"}`) {
		t.Errorf("%s", text)
	}
}

// A tool means the same requests in faults, rules and recorded answers: not those below its own,
// such as /visits/a/pay of visits, also in a case without such a request if the first prompt has it.
func TestRequestsBelowATool(t *testing.T) {
	on := visiting("http://clinic.invalid")
	document := "agent: {type: command, command: [clinic]}\nchecks: off\nphases: [chaos, contract, replay]\n" +
		"golden_prompts: [Go to /visits, Go to /visits/a/pay, Go to /visits/a/pay and /visits]\n" +
		"replays: {sessions: [{id: r, input: Go to /visits/a/pay and /visits, contract: c, tool_responses: [{tool: visits, status: 201, response: {}}]}]}\n" +
		"chaos: {tool_faults: [{tool: visits, mode: error, error_code: 418}]}\n" +
		"invariants:\n" +
		"    - {type: trace, event: {tool: visits}, at_most: 0, prompt_filter: pay$}\n" +
		"    - {type: tool_called, negate: true, tool: visits, prompt_filter: pay$}\n" +
		"    - {type: tool_called, tool: clinic}\n" +
		"contract:\n  name: c\n  invariants:\n" +
		"    - {id: counted, type: trace, event: {tool: visits}, exactly: 1, prompt_filter: visits$}\n" +
		"    - {id: struck, type: not_contains, value: pay 418}\n" +
		"    - {id: answered, type: contains_any, values: [visits 201, visits 418], prompt_filter: and}\n" +
		"  chaos_matrix: [{name: down, tool_faults: [{tool: visits, mode: error, error_code: 418}]}]\n"
	p := playBy(t, on, spec(t, document))
	if p.count(campaign.VerdictPass) != 7 || len(p.warnings) > 0 {
		t.Errorf("%q\n%s", p.warnings, p.titles())
	}
}
