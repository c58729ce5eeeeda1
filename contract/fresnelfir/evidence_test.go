package fresnelfir

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// An input that a call uses is not also what a field of its name begins with, where
// actions set that field: the module begins at 0, whatever the input is. One that
// nothing else uses is there for that alone.
func TestInputsNamedLikeAFieldThatActionsSet(t *testing.T) {
	g := engine(t)
	m := wasmemit.New()
	i := wasmemit.I32
	mode := m.Global(i, true, 0)
	m.Func("set_mode", wasmemit.Params(i), nil).Get(0).GlobalSet(mode)
	m.Func("get_mode", nil, wasmemit.Results(i)).GlobalGet(mode)
	const text = `
module("m.wasm")
Panel = entity(mode = int(0, 3))
mode = input(int(0, 3))
def set_mode():
    actor.mode = SET
    call("set_mode", SET)
def get_mode():
    call("get_mode", returns = int, answer = actor.mode, mutates = False)
explore(threads = 1)
`
	for set, begins := range map[string]bool{"mode": false, "2": true} {
		camp := withModuleNamed(t, g, "m.model.star", strings.ReplaceAll(text, "SET", set), m.Bytes())
		camp.budget = 200
		if _, failing := explore(t, camp, ""); len(failing) > 0 != begins {
			t.Errorf("set to %s: %v", set, failing)
		}
	}
}

// boxes is a model of some with a word and a box below, and what a module answers.
const boxes = `
module("m.wasm")
Box = entity(word = string, below = ref(Box))
word = input(string("a b"))
constraint("no variants", word == "a b")
def word_of(b = Box): return b.word
def below_of(b = Box): return b.below
said = observer("said", b = Box, returns = string, models = word_of)
under = observer("under", b = Box, returns = Box, models = below_of)
def make():
    require(count(Box) < 2)
    b = new(Box, word = "", below = "")
    call("make", returns = Box)
def mark():
    b = any(Box, word = "")
    b.word = word
    call("mark", b)
`

// boxModule is a module whose boxes have these handles, of which it says a text and
// a box below.
func boxModule(first, step, below int32, text string) []byte {
	m := wasmemit.New()
	i := wasmemit.I32
	m.Memory(1, 1)
	m.Data(128, []byte(text))
	next := m.Global(i, true, int64(first))
	m.Func("make", nil, wasmemit.Results(i)).GlobalGet(next).GlobalGet(next).I32(step).Op(wasmemit.I32Add).GlobalSet(next)
	m.Func("mark", wasmemit.Params(i), nil).Get(0).I32(4).Op(wasmemit.I32Mul).I32(1).Memory(wasmemit.I32Store, 0)
	said := m.Func("said", wasmemit.Params(i), wasmemit.Results(wasmemit.I64))
	said.I64(128<<32).I64(128<<32|int64(len(text))).Get(0).I32(4).Op(wasmemit.I32Mul).Memory(wasmemit.I32Load, 0).Op(wasmemit.I32Eqz).Op(wasmemit.Select)
	m.Func("under", wasmemit.Params(i), wasmemit.Results(i)).I32(below)
	return m.Bytes()
}

// What a step shows says which text, which box and whose handle is meant, also where it
// is no text, no box, or a handle that two boxes have.
func TestEvidenceNamesTextsReferencesAndHandles(t *testing.T) {
	g := engine(t)
	for name, c := range map[string]struct {
		module []byte
		title  string
		want   []string
	}{
		"another text": {boxModule(5, 1, 0, "a"), "said differs from the model after mark",
			[]string{`+ Box#1 below=nothing word=""`, `Box#1.word: "" -> "a b"`, `said(Box#1) is "a", the model says "a b"`}},
		"another box": {boxModule(5, 1, 5, "a b"), "under differs from the model after make", []string{"under(Box#1) is Box#1, the model says nothing"}},
		"one handle": {boxModule(5, 0, 0, "a b"), "said differs from the model after mark",
			[]string{"5, the handle of Box#1", `is "a b", the model says ""; Box#1 and Box#2 have the same handle`}},
	} {
		camp := withModuleNamed(t, g, "m.model.star", boxes, c.module)
		camp.budget = 300
		_, failing := explore(t, camp, "")
		at, found := failing[c.title]
		if !found {
			t.Errorf("%s: found %v", name, failing)
			continue
		}
		o, err := open(t, camp).Execute(context.Background(), nil, campaign.Case{Payload: at.Payload})
		var tr trace
		if err != nil || json.Unmarshal(o.Attached("steps"), &tr) != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range tr.Steps {
			b.WriteString(strings.Join(s.Changes, "; ") + "; " + s.Answer + "\n")
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, b.String())
			}
		}
	}
}

// A recording may say that an argument refers to nothing in three ways.
func TestConformReferencesToNothing(t *testing.T) {
	const text = `
module("none.wasm")
Box = entity(below = ref(Box))
def make():
    b = new(Box, below = "")
    call("make", b.below, returns = Box)
`
	for said, want := range map[string]int{`""`: 1, `null`: 1, `"nothing"`: 1, `"k"`: 0, `1`: 0} {
		steps, err := readTrace([]byte(`{"action":"make","args":{"b.below":` + said + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if at, why, _, _ := alone(t, "boxes.model.star", text).conform(steps, false); at != want {
			t.Errorf("%s: step %d, %s", said, at, why)
		}
	}
}
