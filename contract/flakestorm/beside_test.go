package flakestorm

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// A replay is shown beside what it replays, and a case that is none is not.
func TestReplayBesideTheOriginal(t *testing.T) {
	c := &Campaign{cfg: &config.Config{}, sessions: []session{{Session: config.Session{
		ID: "incident-1", Input: "Where is it?", Expected: "the agent made an order up",
		Tools: []config.ToolResponse{{Tool: "orders", Status: 503, Body: "busy"}, {Tool: "weather", Body: "{}"}},
	}}}}
	x := transcript{
		Case:   replayName(&c.sessions[0]),
		Turns:  []turn{{Prompt: "Where is it?", Reply: agentcall.Reply{Text: "Order 1 is on its way."}}},
		Faults: fault.Report{Exchanges: []fault.Exchange{{Kind: fault.ToolCall, Tool: "orders"}, {Kind: fault.ToolCall, Tool: "orders"}}},
	}
	shown := func() (rows [][]string, title string) {
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		o := campaign.Outcome{Verdict: campaign.VerdictFail, Title: "it makes orders up", Evidence: []campaign.Attachment{{Name: evidenceName, Data: text}}}
		for _, e := range c.Describe(nil, campaign.Case{Index: 9}, o, nil) {
			if e.Title == "The replay beside the original" {
				return e.Table.Rows, e.Title
			}
		}
		return nil, ""
	}
	want := [][]string{
		{"input", "Where is it?", "Where is it?"},
		{"failure", "the agent made an order up", "it makes orders up"},
		{"tool orders", "status 503: busy", "calls: 2"},
		{"tool weather", "{}", "calls: 0"},
		{"reply", "not recorded", "Order 1 is on its way."},
	}
	if rows, _ := shown(); !cmp.Equal(rows, want) {
		t.Error(cmp.Diff(want, rows))
	}
	c.sessions[0].Reply = "Order 1 is on its long way."
	want[4][1] = "Order 1 is on its long way."
	if rows, _ := shown(); !cmp.Equal(rows, want) {
		t.Error(cmp.Diff(want, rows))
	}
	x.Case = "something else"
	if rows, title := shown(); rows != nil || title != "" {
		t.Errorf("a case that is no replay is shown beside one: %q", rows)
	}
}

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
