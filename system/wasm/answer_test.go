package wasm_test

import (
	"fmt"
	"strings"
	"testing"

	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// A function answers with a text if the system file gives a path in its result. Without one,
// the number that it returns is never judged as the answer to a prompt.
func TestFunctionsThatAnswerWithText(t *testing.T) {
	open := system.New(map[sut.Kind]system.Kind{sut.WASM: engine(t).OpenSystem}).Open
	m := texts()
	bump(m, "malloc", e.Params(e.I32), 0)
	said := []sut.Operation{{Name: "pair", Returns: "$.n", Arguments: []sut.Argument{{Name: "text"}}}, {Name: "half", Arguments: []sut.Argument{{Name: "n"}}}}
	for _, c := range []struct {
		function, reply, given, want string
		text                         bool
	}{
		{"echo", "$", "no JSON", `"no JSON"`, true},
		{"echo", "$", "no JSON", `"no JSON"`, false},
		{"echo", "$.n", `{"n":7}`, "7", true},
		{"echo", "", "abc", "4294967296003", false}, // malloc's first address is 1000
		{"echo", "", "abc", `answers the prompt with an i64, not with a text: add reply: "$"`, true},
		{"pair", "", `{"n":7}`, "7", true},
		{"length", "", "abc", "3", true},
	} {
		p := &sut.Plan{Name: "texts", Kind: sut.WASM, Module: m.Bytes(), Entry: "texts.wasm", Operations: said,
			Input: sut.Input{Operation: c.function}, Reply: c.reply}
		x, err := open(t.Context(), p, sut.Worker{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		o, err := x.Call(t.Context(), sut.Call{Input: []byte(c.given), Text: c.text})
		if got := string(o.Value) + fmt.Sprint(err); !strings.Contains(got, c.want) {
			t.Errorf("%s(%s) read by %q: %s %v, want %s", c.function, c.given, c.reply, o.Value, err, c.want)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	said[1].Returns = "$"
	_, err := open(t.Context(), &sut.Plan{Name: "texts", Kind: sut.WASM, Module: m.Bytes(), Entry: "texts.wasm", Operations: said}, sut.Worker{Of: 1})
	if err == nil || !strings.Contains(err.Error(), "the function returns (f64), the binding wants string") {
		t.Error(err)
	}
}
