package fault

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/golden"
)

// What an agent gets and reads of every fault, over HTTP, MCP and from models, whole and
// streamed, and how recordings answer, stands in testdata/strikes.txt.
func TestStrikes(t *testing.T) {
	var b strings.Builder
	call := ParseMCP([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","arguments":{"a": 1}}}`))
	fmt.Fprintf(&b, "call %+v\n\n", call.Call("shop", "http://s")) // its names
	answer := func(what string, r Reply, ok bool) {
		if ok {
			fmt.Fprintf(&b, "  %s %d %s %q %t %q\n", what, r.Status, r.ContentType, r.Header, r.Cut, r.Body)
		}
	}
	for _, layer := range []Layer{Tool, LLM, Context} {
		for _, mode := range []Mode{Timeout, Error, Slow, Malformed, Malicious, Reset, Partial, Bandwidth, WrongType, Stale, Duplicate, ReplyLost, Twice, Late, PartialWrite,
			Truncated, RateLimit, Empty, Garbage, BrokenCall, UnknownCall, CutCall, Refuses, TooLong, IndirectInjection, MemoryPoisoning, Overflow, ConflictingContext, InjectionViaContext, "none"} {
			rule := Rule{Layer: layer, Mode: mode, InjectTokens: map[Mode]int{Overflow: 20}[mode], MaxTokens: 2}
			if _, err := NewLedger(Plan{Rules: []Rule{rule}}, nil); err != nil {
				continue // of another layer
			}
			s := &Strike{Rule: rule.Filled(), Nth: 1}
			fmt.Fprintf(&b, "%s %s: %s | %s | %s\n", layer, mode, s.Change(), s.lostText(), s.injected("it"))
			text, why := s.Text("one two three")
			fmt.Fprintf(&b, "  text %q %q\n", text, why)
			reply, ok := s.Answer()
			answer("tool", reply, ok)
			if body, ok := call.Struck(s); ok {
				fmt.Fprintf(&b, "  mcp  %s\n", body)
			}
			for _, stream := range []bool{false, true} {
				r := Recognize("POST", "/v1/chat/completions", fmt.Appendf(nil, `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"t"}}],"stream":%t}`, stream))
				reply, ok = s.ModelAnswer(r, 3, noon)
				answer("model", reply, ok)
			}
		}
	}
	fmt.Fprintf(&b, "\nlost %s, %s\n", (&Strike{Rule: Rule{Status: 502, Message: "m"}}).lostText(), (&Strike{Rule: Rule{Delay: time.Second}}).lostText())
	several := &Strike{Rule: Rule{Payloads: []string{"a", "b"}}}
	for several.Nth = 1; several.Nth < 4; several.Nth++ {
		b.WriteString(several.wrapped())
	}
	b.WriteString("\n\n")
	for _, r := range []Recorded{
		{Response: json.RawMessage(`{"a":1}`)}, {Response: json.RawMessage(`"{\"a\":1}"`), Status: 201}, {Response: json.RawMessage(`"text"`), Status: 404, ContentType: "text/css"},
		{Bytes: []byte{0xff}}, {Response: json.RawMessage(`"boom"`), Raises: "ValueError"}, {Response: json.RawMessage(`"x"`), Raises: "KeyError", Status: 409},
		{Response: json.RawMessage(` {"content":[{"type":"text","text":"a"}]} `)}, {Response: json.RawMessage(`{"content":1}`), Status: 400}, {Response: json.RawMessage(`"399"`), Status: 399},
	} {
		answer("recorded", r.Reply(), true)
		fmt.Fprintf(&b, "  mcp  %s\n", call.Recorded(&r))
	}
	answer("refusal", Refusal("t"), true)
	const name = "testdata/strikes.txt"
	golden.Check(t, name, b.String())
}

// Payloads go into answers of MCP over HTTP, whole or as a stream, and into those alone.
func TestAnswersOfMCPOverHTTP(t *testing.T) {
	const (
		ping   = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ping"}]}}`
		answer = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}}`
		struck = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a\n\nP"}],"structuredContent":{"n":1,"_injected":"P"}}}`
		failed = `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}`
	)
	call := ParseMCP([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}`))
	for _, c := range []struct{ kind, body, want, result, failure, missed string }{
		{typeJSON, answer, struck, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}`, "", ""},
		{typeSSE, "data: " + answer + "\n\n", "data: " + struck + "\n\n", `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}`, "", ""},
		{typeSSE, "data: " + ping + "\n\ndata: " + answer + "\n\n", "data: " + ping + "\n\ndata: " + struck + "\n\n", `{"content":[{"type":"text","text":"ping"}]}`, "", ""},
		{typeJSON, failed, failed, "", "no", "the tool's result contains no text"},
		{typeJSON, ping, ping, `{"content":[{"type":"text","text":"ping"}]}`, "", "the tool gave no answer"},
		{"text/plain", "no", "no", "", "", "the tool gave no answer"},
	} {
		l := ledger(t, Plan{Rules: []Rule{{Layer: Context, Mode: IndirectInjection, Payload: "P"}}})
		d := l.Decide(call.Call("server", ""))
		if got := l.InjectAnswer(d, call, c.kind, []byte(c.body)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
		if missed := strings.Join(l.Report().Tallies[0].Missed, "; "); missed != c.missed {
			t.Errorf("%s: missed %q, want %q", c.body, missed, c.missed)
		}
		if result, failure := MCPResult(c.kind, []byte(c.body)); string(result) != c.result || failure != c.failure {
			t.Errorf("%s: %s %q", c.body, result, failure)
		}
	}
	for _, c := range []struct {
		kind, body, piece string
		request           *Message
		want              bool
	}{
		{typeSSE, "data: " + answer + "\n\n", "\n\n", call, true},
		{typeSSE, "data: " + answer + "\r\n\r\n", "\r\n\r\n", call, true},
		{typeSSE, "data: " + answer + "\n", "\n", call, false},
		{typeJSON, "data: " + answer + "\n\n", "\n\n", call, false},
		{typeSSE, "data: " + ping + "\n\n", "\n\n", call, false},
		{typeSSE, "", "data: [DONE]\n\n", nil, true},
		{typeSSE, "", "event: message_stop\ndata: {}\n\n", nil, true},
		{typeSSE, "", "event: response.completed\n\n", nil, true},
		{typeSSE, "", "data: {}\n\n", nil, false},
	} {
		if got := Ended(c.kind, []byte(c.body), []byte(c.piece), c.request); got != c.want {
			t.Errorf("%s %q %q: %t", c.kind, c.body, c.piece, got)
		}
	}
}

// A text that is replaced whole needs no model.
func TestWrittenTexts(t *testing.T) {
	for _, c := range []struct {
		modes    []Mode
		replaces bool
		want     string
	}{
		{[]Mode{Empty}, true, ""}, {[]Mode{Garbage}, true, gibberish}, {[]Mode{Truncated}, false, ""}, {[]Mode{Garbage, Truncated}, true, strings.Join(strings.Fields(gibberish)[:2], " ")}, {[]Mode{Empty, Truncated}, true, ""}, {nil, false, ""},
	} {
		p := Plan{}
		for _, m := range c.modes {
			p.Rules = append(p.Rules, Rule{Layer: LLM, Mode: m, MaxTokens: 2})
		}
		l := ledger(t, p)
		d := l.Decide(Call{Kind: ModelCall, Names: []string{"m"}})
		if d.Replaces() != c.replaces {
			t.Errorf("%v: %t", c.modes, d.Replaces())
		}
		if !c.replaces {
			continue
		}
		if got := l.Written(d); got != c.want {
			t.Errorf("%v: %q, want %q", c.modes, got, c.want)
		}
		for i, tally := range l.Report().Tallies {
			short := c.modes[i] == Truncated && c.want == "" // and so it missed
			if tally.Fired != map[bool]int{false: 1}[short] || len(tally.Missed) != map[bool]int{true: 1}[short] {
				t.Errorf("%v: %+v", c.modes, tally)
			}
		}
	}
	if (&Plan{}).NamesTools() || (&Plan{Rules: []Rule{{Tool: "*"}, {}}}).NamesTools() || !(&Plan{Rules: []Rule{{}, {Tool: "t"}}}).NamesTools() || !(&Plan{Recorded: []Recorded{{}}}).NamesTools() {
		t.Error("a plan names tools")
	}
}
