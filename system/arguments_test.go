package system_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// Arguments of a call, with the input of the case where the system file puts it.
func TestArguments(t *testing.T) {
	op := &sut.Operation{Name: "refund", Arguments: []sut.Argument{{Name: "order", Type: "integer"}, {Name: "note", Type: "string"}, {Name: "all"}}}
	one, two := json.RawMessage("1"), json.RawMessage(`"b"`)
	for _, c := range []struct {
		name  string
		op    *sut.Operation
		input string // the argument that takes it
		call  sut.Call
		want  string
		raw   bool
		err   string
	}{
		{name: "by name", op: op, call: sut.Call{Named: []sut.Named{{Name: "x", Value: one}}}, want: `{"x":1}`},
		{name: "by position", op: op, call: sut.Call{Positional: []json.RawMessage{one, two}}, want: `{"order":1,"note":"b"}`},
		{name: "all positions", op: op, call: sut.Call{Positional: []json.RawMessage{one, two, one}}, want: `{"order":1,"note":"b","all":1}`},
		{name: "too many", op: op, call: sut.Call{Operation: "refund", Positional: []json.RawMessage{one, one, one, one}}, err: "called with 4 positional arguments but names 3;"},
		{name: "positions of nothing", call: sut.Call{Operation: "refund", Positional: []json.RawMessage{one}}, err: "called with 1 positional arguments but names 0;"},
		{name: "raw", op: op, call: sut.Call{Input: []byte("in")}, want: "{}", raw: true},
		{name: "as text", op: op, input: "note", call: sut.Call{Input: []byte("1")}, want: `{"note":"1"}`},
		{name: "as JSON", op: op, input: "order", call: sut.Call{Input: []byte(" 7\n"), Named: []sut.Named{{Name: "x", Value: one}}}, want: `{"x":1,"order":7}`},
		{name: "no JSON", op: op, input: "order", call: sut.Call{Input: []byte("seven")}, want: `{"order":"seven"}`},
		{name: "of no type", op: op, input: "all", call: sut.Call{Input: []byte("1")}, want: `{"all":"1"}`},
		{name: "of no operation", input: "order", call: sut.Call{Input: []byte("1")}, want: `{"order":"1"}`},
		{name: "empty", op: op, input: "note", call: sut.Call{Input: []byte{}}, want: `{"note":""}`},
	} {
		p := &sut.Plan{Name: "shop", Input: sut.Input{Argument: c.input}}
		list, raw, err := system.Arguments(p, c.op, &c.call)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if got := string(system.Object(list)); err != nil || raw != c.raw || got != c.want {
			t.Errorf("%s: %s %t %v, want %s", c.name, got, raw, err, c.want)
		}
	}
	for text, want := range map[string]string{"": `""`, "a b~": `"a b~"`, "<é>\n": `"<é>\n"`, `"\`: `"\"\\"`, "\x1f\x7f": "\"\\u001f\x7f\"", "a\xff": `"a` + "\uFFFD" + `"`} {
		if got := string(system.Text(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, c := range []struct{ path, answer, want string }{
		{"", " [1] ", "[1]"}, {"", "text", ""}, {"$.a", `{"a": {"b": 1}}`, `{"b":1}`}, {"$.b", `{"a": 1}`, ""}, {"$.a", "text", ""}, {"$[", "{}", ""},
	} {
		if got := string(system.Returned(&sut.Operation{Returns: c.path}, []byte(c.answer))); strings.ReplaceAll(got, " ", "") != c.want {
			t.Errorf("%s of %s: %s, want %s", c.path, c.answer, got, c.want)
		}
	}
	if got := string(system.Returned(nil, []byte("1"))); got != "1" {
		t.Error(got)
	}
}

// A call names its operation, or means the one that takes the input, or the only one.
func TestOperation(t *testing.T) {
	ops := []sut.Operation{{Name: "refund"}, {Name: "open", At: "s.yaml:3:1"}}
	for _, c := range []struct {
		name, input string
		ops         []sut.Operation
		want, hint  string
	}{
		{"open", "refund", ops, "open", ""},
		{"", "refund", ops, "refund", ""},
		{"", "", ops[:1], "refund", ""},
		{"", "", ops, "the system shop: no operation is named; say in input which one takes the case", "operations: refund, open"},
		{"refnd", "", ops, `the system shop has no operation "refnd"`, "did you mean refund?"},
		{"close", "", ops[:1], `the system shop has no operation "close"`, "operations: refund"},
		{"open", "", ops[:1], `s.yaml:3:1: the system shop has no operation "open"`, "operations: refund"},
	} {
		op, err := system.Operation(&sut.Plan{Name: "shop", Input: sut.Input{Operation: c.input}, Operations: ops}, c.name, c.ops)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = op.Name
		}
		if got != c.want || diag.Hint(err) != c.hint {
			t.Errorf("%q: %s (%s), want %s (%s)", c.name, got, diag.Hint(err), c.want, c.hint)
		}
	}
}
