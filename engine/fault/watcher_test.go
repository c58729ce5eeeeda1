package fault

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/port/pyhost"
)

// through calls a tool that returns value, and is what the agent sees of it: a
// value, or an exception.
func through(w *Watcher, tool, value string) (string, time.Duration) {
	c := pyhost.ToolCall{Tool: tool, Args: json.RawMessage(`[1]`), Kwargs: json.RawMessage(`{"q":"x"}`)}
	a := w.Called(c)
	if a.Action == "" || a.Action == pyhost.Pass {
		b := w.Returned(c, json.RawMessage(value), nil)
		if b.Action == "" {
			b.Value = json.RawMessage(value)
		}
		b.Delay += a.Delay
		a = b
	}
	if a.Action == pyhost.Raise {
		return a.Class + ": " + a.Message, a.Delay
	}
	return string(a.Value), a.Delay
}

func TestPythonTools(t *testing.T) {
	const value = `{"city":"Paris, France","n":1}`
	tests := []struct {
		rule  Rule
		value string
		want  string
		delay time.Duration
	}{
		{Rule{Mode: Timeout}, value, "TimeoutError: no answer within 30s", 30 * time.Second},
		{Rule{Mode: Error}, value, "RuntimeError: HTTP 503: Service Unavailable", 0},
		{Rule{Mode: Reset}, value, "ConnectionResetError: connection reset by peer", 0},
		{Rule{Mode: Malformed}, value, string(quoted(brokenJSON)), 0},
		{Rule{Mode: Malicious, Payload: "P"}, value, `"P"`, 0},
		{Rule{Mode: Slow}, value, value, 5 * time.Second},
		{Rule{Mode: Bandwidth, Rate: 10}, value, value, 3 * time.Second},
		{Rule{Mode: Partial}, `"abcdef"`, `"abc"`, 0},
		{Rule{Mode: WrongType}, `"x"`, `"<html><body>x</body></html>"`, 0},
		{Rule{Mode: Duplicate}, `"x"`, `"xx"`, 0},
		{Rule{Mode: Duplicate}, `[1, 2]`, `[1, 2,1, 2]`, 0},
		{Rule{Mode: Stale}, value, value, 0},
		{Rule{Layer: Context, Mode: IndirectInjection, Payload: "P"}, value, `{"city":"Paris, France\n\nP","n":1}`, 0},
		{Rule{Layer: Context, Mode: IndirectInjection, Payload: "P"}, `"x"`, `"x\n\nP"`, 0},
		{Rule{Layer: Context, Mode: IndirectInjection, Payload: "P"}, `7`, `"7\n\nP"`, 0},
	}
	for _, test := range tests {
		if test.rule.Layer == "" {
			test.rule.Layer = Tool
		}
		l := ledger(t, Plan{Rules: []Rule{test.rule}})
		got, delay := through(NewWatcher(l), "agent.tools.lookup", test.value)
		if got != test.want || delay != test.delay {
			t.Errorf("%s: %s after %s, want %s after %s", test.rule.Mode, got, delay, test.want, test.delay)
		}
		r := l.Report()
		if k := r.Tallies[0]; k.Fired+len(k.Missed) != 1 || (len(k.Missed) == 1) != (test.rule.Mode == Stale) {
			t.Errorf("%s: %+v", test.rule.Mode, k)
		}
		if len(r.ToolCalls) != 1 || r.ToolCalls[0].Tool != "lookup" || r.ToolCalls[0].Arguments != `{"q":"x"}` || len(r.Exchanges) != 1 {
			t.Errorf("%s: %+v %+v", test.rule.Mode, r.ToolCalls, r.Exchanges)
		}
	}
}

func TestPythonToolsStaleAndReplayed(t *testing.T) {
	w := NewWatcher(ledger(t, Plan{Rules: []Rule{{Layer: Tool, Mode: Stale}}}))
	through(w, "t", `"first"`)
	if got, _ := through(w, "t", `"second"`); got != `"first"` {
		t.Error(got)
	}
	w = NewWatcher(ledger(t, Plan{Recorded: []Recorded{{Tool: "t", Response: []byte(`{"a":1}`), Latency: time.Second}, {Tool: "t", Response: []byte(`"no"`), Status: 404}, {Tool: "t"}, {Tool: "t", Ended: WasReset}, {Tool: "t", Response: []byte(`"ha"`), Ended: WasClosed}}}))
	var got []string
	for range 6 {
		v, _ := through(w, "t", `"real"`)
		got = append(got, v)
	}
	want := []string{`{"a":1}`, "RuntimeError: HTTP 404: no", "null", "ConnectionResetError: connection reset by peer", "ConnectionError: the connection ended before the answer did", "RuntimeError: the replayed recording has no response of t left"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Asynchronous tools overlap; each return belongs to its own call.
func TestPythonToolsOverlap(t *testing.T) {
	l := ledger(t, Plan{Rules: []Rule{{Layer: Tool, Mode: WrongType, Tool: "b"}}})
	w := NewWatcher(l)
	a, b := pyhost.ToolCall{Tool: "a"}, pyhost.ToolCall{Tool: "b"}
	w.Called(a)
	w.Called(b)
	if got := w.Returned(a, json.RawMessage(`1`), nil); got.Action != "" {
		t.Errorf("%+v", got)
	}
	if got := w.Returned(b, nil, &pyhost.Fault{Class: "KeyError"}); got.Action != "" {
		t.Errorf("%+v", got)
	}
	if k := l.Report().Tallies[0]; k.Fired != 0 || len(k.Missed) != 1 || k.Missed[0] != "the tool gave no answer" {
		t.Errorf("%+v", k)
	}
}

func TestMCPMessages(t *testing.T) {
	call := ParseMCP([]byte(`{"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{"name":"t"}}`))
	if call == nil || call.Tool != "t" || call.ID != `"x-1"` {
		t.Fatalf("%+v", call)
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"jsonrpc":"1.0"}`, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}]`, `"jsonrpc"`,
	} {
		if m := ParseMCP([]byte(text)); m != nil {
			t.Errorf("%s is a message: %+v", text, m)
		}
	}
	if m := ParseMCP([]byte(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}}`)); m.Tool != "" {
		t.Error("a notification is a call")
	}
	answers := []string{
		`{"jsonrpc":"2.0","id":"x-1","result":{"structuredContent":{"t":"s"},"content":[{"type":"image","data":""},{"type":"text","text":"a"}]}}`,
		`{"jsonrpc":"2.0","id":"x-1","result":{"content":[]}}`,
		`{"jsonrpc":"2.0","id":"x-1","result":{"content":[],"structuredContent":["s"]}}`,
		`{"jsonrpc":"2.0","id":"x-1","result":{"content":[],"structuredContent":"s"}}`,
	}
	wants := []string{
		`{"jsonrpc":"2.0","id":"x-1","result":{"structuredContent":{"t":"s\n\nP"},"content":[{"type":"image","data":""},{"type":"text","text":"a\n\nP"}]}}`,
		answers[1],
		`{"jsonrpc":"2.0","id":"x-1","result":{"content":[],"structuredContent":["s\n\nP"]}}`,
		answers[3],
	}
	for i, answer := range answers {
		l := ledger(t, Plan{Rules: []Rule{{Layer: Context, Mode: IndirectInjection, Payload: "P"}}})
		d := l.Decide(call.Call("server", ""))
		got := l.InjectMCP(d, ParseMCP([]byte(answer)))
		if string(got.Bytes()) != wants[i] {
			t.Errorf("%s", got.Bytes())
		}
		if k := l.Report().Tallies[0]; k.Fired+len(k.Missed) != 1 {
			t.Errorf("%+v", k)
		}
	}
	if got := string(call.Readdressed("text/event-stream", []byte("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n"))); !strings.Contains(got, `"id":"x-1"`) {
		t.Error(got)
	}
	for _, answer := range [][]byte{call.Result("a \"quote\"\n", true), call.Failure(RequestTimeout, "m")} {
		if m := ParseMCP(answer); m == nil || !m.Answer || m.ID != call.ID {
			t.Errorf("%s", answer)
		}
	}
}
