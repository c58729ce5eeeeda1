package fresnelfir

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// slots is a model of boxes that a module with a single place keeps: box 5, again and again.
const slots = `
module("m.wasm")
Shelf = entity(top = ref(Box))
Box = entity(full = bool)
def Empty(self = Box): return not self.full
def fullness(b = Box): return b.full
def topmost(s = Shelf): return s.top
full = observer("full", b = Box, returns = bool, models = fullness)
top = observer("top", s = Shelf, returns = Box, models = topmost)
def make():
    require(count(Box, lambda b: b.full) < MOST)
    b = new(Box, full = True)
    call("make", returns = Box, reuses = Empty)
def drop():
    b = any(Box, full = True)
    b.full = False
    call("drop", b, returns = int, rejects = "<0")
def put():
    b = any(Box, full = True)
    actor.top = b
    call("put", actor, b)
explore(actor = Shelf, threads = 1)
`

func slotModule() []byte {
	m, i := wasmemit.New(), wasmemit.I32
	full, top := m.Global(i, true, 0), m.Global(i, true, 0)
	m.Func("make", nil, wasmemit.Results(i)).I32(1).GlobalSet(full).I32(5)
	m.Func("drop", wasmemit.Params(i), wasmemit.Results(i)).GlobalGet(full).I32(1).Op(wasmemit.I32Sub).I32(0).GlobalSet(full)
	m.Func("put", wasmemit.Params(i, i), nil).Get(1).GlobalSet(top)
	m.Func("full", wasmemit.Params(i), wasmemit.Results(i)).GlobalGet(full)
	m.Func("top", wasmemit.Params(i), wasmemit.Results(i)).GlobalGet(top)
	return m.Bytes()
}

// A module may give the handle of an instance that is gone to another: nothing is asked about the
// one that is gone, no call is made for it, and a reference to it remains that handle. The handle of
// an instance that is not gone is never given out again.
func TestHandlesGivenOutAgain(t *testing.T) {
	g := engine(t)
	for name, x := range map[string]struct{ most, reuses, want string }{
		"of what is gone":     {"1", ", reuses = Empty", ""},
		"of what is there":    {"2", ", reuses = Empty", "make returns the handle of an instance that is not Empty"},
		"without saying so":   {"1", "", "full differs from the model after make"},
		"a forbidden call":    {"1", "", "the module takes drop, which the model does not allow"},
		"a reference to that": {"1", "", "top differs from the model after put"},
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(slots, "MOST", x.most), ", reuses = Empty", x.reuses)
		if x.reuses == "" && !strings.Contains(x.want, "full") { // full alone would show what other observers and calls also show
			text = strings.ReplaceAll(text, `full = observer("full", b = Box, returns = bool, models = fullness)`, "")
		}
		camp := withModuleNamed(t, g, "m.model.star", text, slotModule())
		camp.budget = 600
		_, failing := explore(t, camp, "")
		if _, found := failing[x.want]; len(failing) > 0 != (x.want != "") || x.want != "" && !found {
			t.Errorf("%s: %v", name, failing)
		}
		for title, at := range failing { // the size of a finding is the number of the steps that are shown, with attempts
			var tr trace
			o, err := open(t, camp).Execute(t.Context(), nil, campaign.Case{Payload: at.Payload})
			if err != nil || json.Unmarshal(o.Attached("steps"), &tr) != nil {
				t.Fatal(err)
			}
			steps := slices.DeleteFunc(tr.Steps, func(s traceStep) bool { return s.Action == "" })
			if size, _ := camp.gauge(t.Context(), at.Payload); size != int64(len(steps)) {
				t.Errorf("%s: %s: %d actions, %d steps", name, title, size, len(steps))
			}
		}
	}
}

// A recording of such a module may use a handle again for a new instance, and not otherwise.
func TestRecordedHandlesGivenOutAgain(t *testing.T) {
	g := engine(t)
	box := map[string]any{"b": 5}
	steps := []recorded{{Action: "make", Returns: 5}, {Action: "drop", Args: box}, {Action: "make", Returns: 5}, {Action: "drop", Args: box}}
	for reuses, want := range map[string]int{", reuses = Empty": 4, "": 2} {
		text := strings.ReplaceAll(strings.ReplaceAll(slots, "MOST", "1"), ", reuses = Empty", reuses)
		if at, why, _, _ := withModuleNamed(t, g, "m.model.star", text, slotModule()).conform(steps, false); at != want {
			t.Errorf("%q: up to step %d: %s", reuses, at, why)
		}
	}
}
