package fresnelfir

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/sut"
	edges "github.com/thresh-dev/thresh/system"
	httpsys "github.com/thresh-dev/thresh/system/http"
)

// document is a model of which only these sections say anything.
func document(sections map[string]string) string {
	all := map[string]string{
		"exploration": `{"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
  "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0.05,
  "concurrency": {"mode": "deterministic_interleaving", "threads": 2}}`,
		"inputs": `{"domains": {}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
	}
	var b strings.Builder
	for i, key := range ir.Sections() {
		text := sections[key]
		if text == "" {
			text = all[key]
		}
		if text == "" {
			text = "{}"
		}
		if key == "bindings" {
			text = `{"runtime": "wasm", "entry": "m.wasm", "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}, "actions": ` + text + "}"
		}
		b.WriteString(string("{,"[min(i, 1)]) + "\n\"" + key + "\": " + text)
	}
	return b.String() + "\n}\n"
}

// binding is one of an action with one argument.
func binding(function, args, returns, claims string) string {
	return `{"function": "` + function + `", "args": [` + args + `], "returns": {"type": "` + returns + `"}, ` + claims + `}`
}

const (
	writes = `"mutates": true, "idempotent": false, "reads": [], "writes": ["Lamp"]`
	reads  = `"mutates": false, "idempotent": true, "reads": ["Lamp"], "writes": []`
)

// lamps is a model of lamps that show a colour; told is the type that the
// observer of it, and the action that reads it, are said to return.
func lamps(told string) string {
	return document(map[string]string{
		"entities": `{"Lamp": {"fields": {"colour": {"type": "enum", "values": ["red", "green", "blue"]}, "before": {"type": "ref", "entity": "Lamp"}}}}`,
		"functions": `{"is": {"classification": "derived", "params": [{"name": "x", "type": "Lamp"}], "body": ["field", "x", "colour"], "returns": "` + told + `"},
  "asked": {"classification": "observer", "params": [{"name": "x", "type": "Lamp"}], "binding": "lamp_colour", "models": "is", "returns": "` + told + `"}}`,
		"protocols": `{"use": {"root": {"type": "seq", "children": [{"type": "call", "action": "make"}, {"type": "repeat", "min": 0, "max": 6, "body": {"type": "alt", "branches": [
  {"id": "paint", "weight": 2, "body": {"type": "call", "action": "paint"}}, {"id": "look", "weight": 1, "body": {"type": "call", "action": "look"}}]}}]}}}`,
		"effects": `{"make": {"creates": {"entity": "Lamp", "assign": "lamp"}, "sets": [{"target": ["lamp", "colour"], "value": "red"}]},
  "paint": {"sets": [{"target": ["lamp", "colour"], "value": ["field", "input", "colour"]}]}, "look": {}}`,
		"inputs": `{"domains": {"colour": {"type": "enum", "values": ["red", "green", "blue"]}}, "constraints": [],
  "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
		"bindings": `{"make": ` + binding("lamp_make", "", "Lamp", writes) + `, "paint": ` + binding("lamp_paint", `"lamp_id", "colour"`, "void", writes) + `,
  "look": {"function": "lamp_colour", "args": ["lamp_id"], "returns": {"type": "` + told + `"}, ` + reads + `, "answer": ["field", "lamp", "colour"]}}`,
	})
}

// lampModule keeps the colours of lamps in memory, four bytes each; shown is
// what becomes of a colour on the way out.
func lampModule(shown func(*wasmemit.Func)) []byte {
	m := wasmemit.New()
	m.Memory(1, 1)
	count := m.Global(wasmemit.I32, true, 0)
	one, two := wasmemit.Params(wasmemit.I32), wasmemit.Params(wasmemit.I32, wasmemit.I32)
	m.Func("lamp_make", nil, one).GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count).GlobalGet(count)
	m.Func("lamp_paint", two, nil).Get(0).I32(4).Op(wasmemit.I32Mul).Get(1).Memory(wasmemit.I32Store, 0)
	f := m.Func("lamp_colour", one, one)
	f.Get(0).I32(4).Op(wasmemit.I32Mul).Memory(wasmemit.I32Load, 0)
	shown(f)
	return m.Bytes()
}

// The value of an enum crosses as its place, out of the module as into it. The
// type may be told as that of a field, or by any name that means nothing else: then
// it is what the model says.
func TestEnumAnswers(t *testing.T) {
	g := engine(t)
	differs := []string{"asked differs from the model after paint", "asked differs from the model after make"}
	for _, told := range []string{"Lamp.colour", "Colour"} {
		for name, c := range map[string]struct {
			shown func(*wasmemit.Func)
			want  []string // one of them
		}{
			"sound":           {func(*wasmemit.Func) {}, nil},
			"the next colour": {func(f *wasmemit.Func) { f.I32(1).Op(wasmemit.I32Add).I32(3).Op(wasmemit.I32RemU) }, differs},
			"no colour":       {func(f *wasmemit.Func) { f.I32(3).Op(wasmemit.I32Mul) }, differs},
			"below zero":      {func(f *wasmemit.Func) { f.I32(-1).Op(wasmemit.I32Mul) }, differs},
		} {
			camp := withModuleNamed(t, g, "m.json", lamps(told), lampModule(c.shown))
			camp.budget = 400
			_, failing := explore(t, camp, firstFailure)
			found := len(failing) == 0 && c.want == nil
			for _, title := range c.want {
				if at, is := failing[title]; is {
					found = true
					smallest(t, camp, at, title)
				}
			}
			if !found {
				t.Errorf("%s, told as %s: found %v", name, told, failing)
			}
		}
	}
}

// A reference to nothing is "" to the model, and 0 or -1 to the module.
func TestReferencesToNothing(t *testing.T) {
	g := engine(t)
	text := document(map[string]string{
		"entities": `{"Node": {"fields": {"id": {"type": "string"}, "next": {"type": "ref", "entity": "Node"}}}}`,
		"functions": `{"is": {"classification": "derived", "params": [{"name": "x", "type": "Node"}], "body": ["field", "x", "next"], "returns": "Node"},
  "asked": {"classification": "observer", "params": [{"name": "x", "type": "Node"}], "binding": "next", "returns": "Node"}}`,
		"protocols": `{"use": {"root": {"type": "repeat", "min": 1, "max": 4, "body": {"type": "seq", "children": [{"type": "call", "action": "first"}, {"type": "call", "action": "behind"}]}}}}`,
		"effects": `{"first": {"creates": {"entity": "Node", "assign": "a"}, "sets": [{"target": ["a", "next"], "value": ""}]},
  "behind": {"creates": {"entity": "Node", "assign": "b"}, "sets": [{"target": ["b", "next"], "value": ["field", "a", "id"]}]}}`,
		"bindings": `{"first": ` + binding("make", `"nothing"`, "Node", `"mutates": true, "idempotent": false, "reads": [], "writes": ["Node"]`) + `,
  "behind": ` + binding("make", `"a_id"`, "Node", `"mutates": true, "idempotent": false, "reads": [], "writes": ["Node"]`) + `}`,
		"inputs": `{"domains": {"nothing": {"type": "int", "min": 0, "max": 0}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
	})
	for nothing, faulty := range map[int32]bool{0: false, -1: false, 77: true} {
		m := wasmemit.New()
		m.Memory(1, 1)
		count, i := m.Global(wasmemit.I32, true, 0), wasmemit.I32
		f := m.Func("make", wasmemit.Params(i), wasmemit.Results(i))
		f.GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count)
		f.GlobalGet(count).I32(4).Op(wasmemit.I32Mul).Get(0).Memory(wasmemit.I32Store, 0).GlobalGet(count)
		f = m.Func("next", wasmemit.Params(i), wasmemit.Results(i))
		next := f.Local(i)
		f.Get(0).I32(4).Op(wasmemit.I32Mul).Memory(wasmemit.I32Load, 0).Set(next)
		f.I32(nothing).Get(next).Get(next).Op(wasmemit.I32Eqz).Op(wasmemit.Select)
		camp := withModuleNamed(t, g, "m.json", text, m.Bytes())
		camp.budget = 100
		if _, failing := explore(t, camp, ""); len(failing) > 0 != faulty {
			t.Errorf("nothing is %d: found %v", nothing, failing)
		}
	}
}

// A number that is too large for 32 bits with a sign crosses in 32 bits without
// one, where the document says that it is never below 0.
func TestLargeAnswers(t *testing.T) {
	g := engine(t)
	for _, told := range []string{"int", "u32"} {
		for _, faulty := range []bool{false, true} {
			text := document(map[string]string{
				"entities": `{"Meter": {"fields": {"value": {"type": "int", "min": 0, "max": 4294967295, "default": 4294967295}}}}`,
				"functions": `{"is": {"classification": "derived", "params": [{"name": "x", "type": "Meter"}], "body": ["field", "x", "value"], "returns": "` + told + `"},
  "asked": {"classification": "observer", "params": [{"name": "x", "type": "Meter"}], "binding": "get", "returns": "` + told + `"}}`,
				"protocols": `{"use": {"root": {"type": "seq", "children": [{"type": "call", "action": "make"}, {"type": "repeat", "min": 0, "max": 4, "body": {"type": "call", "action": "set"}}]}}}`,
				"effects":   `{"make": {"creates": {"entity": "Meter", "assign": "m"}}, "set": {"sets": [{"target": ["m", "value"], "value": ["field", "input", "n"]}]}}`,
				"inputs":    `{"domains": {"n": {"type": "int", "min": 0, "max": 4294967295}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}}`,
				"bindings": `{"make": ` + binding("make", "", "Meter", `"mutates": true, "idempotent": false, "reads": [], "writes": ["Meter"]`) + `,
  "set": ` + binding("set", `"m_id", "n"`, told, `"mutates": true, "idempotent": true, "reads": [], "writes": ["Meter"], "answer": ["field", "input", "n"]`) + `}`,
			})
			m := wasmemit.New()
			m.Memory(1, 1)
			count, i := m.Global(wasmemit.I32, true, 0), wasmemit.I32
			f := m.Func("make", nil, wasmemit.Results(i))
			f.GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count)
			at(f.GlobalGet(count).Set(f.Local(i))).I32(-1).Memory(wasmemit.I32Store, 0)
			f.GlobalGet(count)
			f = m.Func("set", wasmemit.Params(i, i), wasmemit.Results(i))
			at(f).Get(1).Memory(wasmemit.I32Store, 0)
			if f.Get(1); faulty {
				f.I32(1).Op(wasmemit.I32Shl).I32(1).Op(wasmemit.I32ShrU) // the highest bit is lost
			}
			at(m.Func("get", wasmemit.Params(i), wasmemit.Results(i))).Memory(wasmemit.I32Load, 0)
			camp := withModuleNamed(t, g, "m.json", text, m.Bytes())
			camp.budget = 400
			if _, failing := explore(t, camp, ""); len(failing) > 0 != faulty {
				t.Errorf("%s, faulty %v: found %v", told, faulty, failing)
			}
		}
	}
}

// What the model is known to break does not hide what else it breaks, nor what
// the module does.
func TestKnownViolationsHideNothing(t *testing.T) {
	text := strings.Replace(lamps("Lamp.colour"), `"properties": {}`, `"properties": {
  "a": {"type": "invariant", "predicate": ["forall", "x", "Lamp", ["neq", ["field", "x", "colour"], "red"]]},
  "b": {"type": "temporal", "rule": ["never", "make"]},
  "c": {"type": "temporal", "rule": ["after", "paint", ["never", "look", {"same": "lamp"}]]}}`, 1)
	module := lampModule(func(f *wasmemit.Func) {
		f.I32(1).Op(wasmemit.I32And) // blue reads as red
	})
	g := engine(t)
	camp := withModuleNamed(t, g, "m.json", text, module)
	camp.budget = 400
	_, failing := explore(t, camp, "")
	for title, want := range map[string]string{
		"b does not hold after make":               "make",
		"a does not hold after make":               "make",
		"c does not hold after look":               "make paint look",
		"asked differs from the model after paint": "make paint",
	} {
		at, found := failing[title]
		if !found {
			t.Errorf("%s: not found; found %v", title, failing)
			continue
		}
		if steps, tests := smallest(t, camp, at, title); !slices.Equal(steps, strings.Fields(want)) || tests > 100 {
			t.Errorf("%s: made small by %d executions: %v", title, tests, steps)
		}
	}
	// A regression test holds once what it is about is gone, whatever else there is.
	at := failing["c does not hold after look"]
	for capsule, verdict := range map[*ir.Capsule]campaign.Verdict{nil: campaign.VerdictFail, {}: campaign.VerdictPass} {
		mended := withModuleNamed(t, g, "m.json", strings.Replace(text, `["after", "paint", ["never", "look", {"same": "lamp"}]]`, `["before", "look", true]`, 1), module)
		mended.plan.doc.Capsule = capsule
		if o, err := open(t, mended).Execute(t.Context(), nil, at); err != nil || o.Verdict != verdict {
			t.Errorf("with capsule %v: %v %q, %v", capsule != nil, o.Verdict, o.Title, err)
		}
	}
}

// What a system answers to a call that the model does not allow is shown as it answered it,
// also where its handles are texts.
func TestAnswersToWhatIsNotAllowed(t *testing.T) {
	made := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if made++; r.URL.Path == "/reset" {
			made = 0
		}
		_, _ = fmt.Fprintf(w, `{"id": "seat-%d"}`, made)
	}))
	defer server.Close()
	yaml := "schema: thresh.system.v1\nname: seats\nkind: http\nurl: " + server.URL + `
operations:
  take: {method: POST, path: /take, returns: $.id}
  reset: {method: POST, path: /reset}
reset: {operation: reset}
`
	list, diags := New(nil).Systems(edges.New(map[sut.Kind]edges.Kind{sut.HTTP: httpsys.Open}).Open).Compile(t.Context(), campaign.Spec{Path: "seats.model.star", Data: []byte(`
system("seats.system.yaml")
explore(threads = 1)
Seat = entity(taken = bool(default = True))
def take():
    require(count(Seat) < 2)
    s = new(Seat)
    call("take", returns = Seat, rejects = True)
`)}, campaign.Settings{
		Read:   func(string) ([]byte, error) { return []byte(yaml), nil },
		Digest: func(string) (string, error) { return "", nil },
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	if o, _ := histories(t, c, 20); len(o.Evidence) == 0 || !strings.Contains(string(o.Evidence[0].Data), `"answer":"\"seat-3\"","result":"the system takes take`) {
		t.Errorf("got %+v", o)
	}
}
