package fresnelfir

import (
	"maps"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// What an action chooses and does not tell the system is none of the system's business: an attempt
// at what is not allowed is one if no such choice allows it.
func TestAttemptsWithChoicesThatTheSystemIsNotTold(t *testing.T) {
	m := wasmemit.New()
	m.Memory(1, 1)
	count := m.Global(wasmemit.I32, true, 0)
	one, two := wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32, wasmemit.I32)
	number := func(f *wasmemit.Func) {
		f.GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count).GlobalGet(count)
	}
	number(m.Func("event", nil, one))
	number(m.Func("book", one, one))
	m.Func("cancel", one, one).I32(0) // and nothing is ever refused
	m.Func("move", two, one).I32(0)
	module := m.Bytes()
	const model = `
module("m.wasm")
explore(threads = 1)
Event = entity(n = int(0, 99))
Booking = entity(event = ref(Event), n = int(0, 99))
n = input(int(1, 2))
def event():
    e = new(Event, n = n)
    call("event", returns = Event)
def book():
    e = any(Event, n = 1)
    b = new(Booking, event = e, n = 0)
    call("book", e, returns = Booking)
`
	for name, c := range map[string]struct {
		action string
		want   []string
	}{
		"one choice fits": {`
def cancel():
    b = any(Booking)
    e = any(Event, lambda e: b.event == e)
    call("cancel", b, returns = int, rejects = "<0")
`, nil},
		"what is hidden comes first": {`
def cancel():
    e = any(Event)
    b = any(Booking, lambda b: b.event == e)
    call("cancel", b, returns = int, rejects = "<0")
`, nil},
		"none fits": {`
def cancel():
    b = any(Booking)
    e = any(Event, lambda e: b.event == e and e.n < 2)
    e.n += 1
    call("cancel", b, returns = int, rejects = "<0")
`, []string{"the module takes cancel, which the model does not allow"}},
		"the call passes the choice on": {`
def move():
    b = any(Booking)
    e = any(Event, lambda e: b.event == e)
    call("move", b, e, returns = int, rejects = "<0")
`, []string{"the module takes move, which the model does not allow"}},
	} {
		camp := withModuleNamed(t, engine(t), "m.model.star", model+c.action, module)
		camp.budget = 400
		_, failing := explore(t, camp, "")
		if got := slices.Sorted(maps.Keys(failing)); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
