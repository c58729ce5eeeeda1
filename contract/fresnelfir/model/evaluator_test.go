package model_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// depot is a model without an actor, whose values need all operators: boxes that are
// made, filled, forked on and emptied into each other, and crates.
const depot = `{
"entities": {
  "Box": {"fields": {"id": {"type": "string"}, "n": {"type": "int"}, "kind": {"type": "enum", "values": ["a", "b"]}, "open": {"type": "bool", "default": false}, "note": {"type": "string"}}},
  "Crate": {"fields": {"id": {"type": "string"}, "n": {"type": "int", "default": 4}}}},
"refinements": {"Bigger": {"base": "Box", "params": [{"name": "than", "type": "Box"}], "predicate": ["gt", ["field", "self", "n"], ["field", "than", "n"]]}},
"functions": {
  "empty": {"classification": "derived", "params": [{"name": "b", "type": "Box"}], "body": ["eq", ["field", "b", "n"], 0], "returns": "bool"},
  "alone": {"classification": "derived", "params": [{"name": "b", "type": "Box"}], "body": ["forall", "o", "Box", ["eq", ["field", "o", "id"], ["field", "b", "id"]]], "returns": "bool"},
  "first": {"classification": "derived", "params": [{"name": "b", "type": "Box"}, {"name": "o", "type": "Box"}], "body": ["is", "o", "Bigger", {"than": "b"}], "returns": "bool"},
  "through": {"classification": "derived", "params": [{"name": "b", "type": "Box"}], "body": ["not", ["derived", "alone", "b"]], "returns": "bool"},
  "told": {"classification": "observer", "params": [{"name": "b", "type": "Box"}], "binding": "told", "returns": "int"},
  "is_empty": {"classification": "observer", "params": [{"name": "b", "type": "Box"}], "binding": "is_empty", "returns": "bool", "models": "empty"},
  "seen": {"classification": "observer", "params": [{"name": "b", "type": "Box"}], "binding": "seen", "returns": "bool"}},
"protocols": {"p": {"root": {"type": "seq", "children": [%s]}}},
"effects": {
  "make": {"creates": {"entity": "Box", "assign": "box"}, "sets": [{"target": ["box", "n"], "value": 0}, {"target": ["box", "kind"], "value": "a"}, {"target": ["box", "note"], "value": "new"}]},
  "pack": {"creates": {"entity": "Crate", "assign": "crate"}, "sets": [{"target": ["box", "n"], "value": 7}]},
  "spawn": {"creates": {"entity": "Box", "assign": "box"}, "sets": [{"target": ["crate", "n"], "value": ["add", ["field", "crate", "n"], 1]}]},
  "wipe": {"sets": [{"target": ["y", "open"], "value": false}]},
  "twofold": {"sets": [{"target": ["box", "n"], "value": ["add", ["field", "box", "n"], 1]}, {"target": ["box", "n"], "value": ["mul", ["field", "box", "n"], 2]}]},
  "copy": {"sets": [{"target": ["box", "note"], "value": ["field", "x", "kind"]}]},
  "judge": {"sets": [{"target": ["box", "open"], "value": ["derived", "empty", "box"]}, {"target": ["box", "n"], "value": 1}]},
  "fork": {"steps": [{"if": ["eq", ["field", "box", "n"], 0],
    "then": [{"target": ["box", "n"], "value": 1}, {"target": ["box", "note"], "value": "zero"}],
    "else": [{"target": ["box", "n"], "value": 0}, {"if": ["field", "box", "open"], "then": [{"target": ["box", "note"], "value": "open"}], "else": [{"target": ["box", "note"], "value": "shut"}]}]}]},
  "move": {"picks": [{"var": "x", "entity": "Box", "where": ["gt", ["field", "x", "n"], 0]}, {"var": "y", "entity": "Box", "where": ["neq", ["field", "x", "id"], ["field", "y", "id"]]}],
    "sets": [{"target": ["y", "n"], "value": ["add", ["field", "y", "n"], ["field", "x", "n"]]}, {"target": ["x", "n"], "value": 0}]},
  "any": {"picks": [{"var": "z", "entity": "Box"}]},
  "put": {"sets": [{"target": ["box", "n"], "value": ["field", "input", "qty"]}]},
  "look": {}},
"properties": %s,
"generators": {},
"exploration": {"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
  "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0.05,
  "concurrency": {"mode": "deterministic_interleaving", "threads": 1}},
"inputs": {"domains": {"qty": {"type": "int", "min": -1, "max": 3}}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}},
"bindings": {"runtime": "wasm", "entry": "m.wasm", "actions": {%s}, "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}
}`

func depotWith(t testing.TB, properties string) *model.Program {
	t.Helper()
	return compiled(t, depotText(depot, properties))
}

func depotText(depot, properties string) string {
	var calls, bindings []string
	for name, args := range map[string]string{
		"make": "", "pack": "", "spawn": "", "wipe": "", "twofold": `"box"`, "copy": `"box"`, "judge": `"box"`, "fork": `"box"`, "move": `"x", "y"`, "any": `"z"`, "put": `"box", "qty"`, "look": `"box"`,
	} {
		more := `"returns": {"type": "void"}, "mutates": true, "writes": ["Box"]`
		if name == "look" {
			more = `"returns": {"type": "int"}, "mutates": false, "writes": [], "answer": ["sum", "c", "Crate", ["field", "c", "n"]]`
		}
		calls = append(calls, fmt.Sprintf(`{"type": "call", "action": %q}`, name))
		bindings = append(bindings, fmt.Sprintf(`%q: {"function": %q, "args": [%s], "idempotent": false, "reads": [], %s}`, name, name, args, more))
	}
	slices.Sort(calls)
	slices.Sort(bindings)
	return fmt.Sprintf(depot, strings.Join(calls, ","), properties, strings.Join(bindings, ","))
}

// yard is a machine with three boxes: x has -4, box has 3 and is open, y was never filled.
func yard(p *model.Program) *world {
	w := &world{p.New(1), p, 0}
	for i, name := range []string{"x", "box", "y"} {
		b := w.Create(p.Entity("Box"))
		w.Bind(p.Slot(name), b)
		if name != "y" {
			kind, _ := p.Symbol([]string{"a", "b"}[i])
			w.Set(b, w.field("Box", "n"), model.Number(int64(7*i-4)))
			w.Set(b, w.field("Box", "kind"), kind)
		}
	}
	w.Set(1, w.field("Box", "open"), model.True)
	return w
}

// answers is a module that says the same of every instance that it knows.
type answers struct {
	value model.Value
	err   error
	knows bool
	asked []int32
}

func (a *answers) Observe(_ int, args []int32) (model.Value, error) {
	a.asked = append(a.asked, args...)
	return a.value, a.err
}
func (a *answers) Knows(...int32) bool { return a.knows }

func evaluated(w *world, full string, t testing.TB) string {
	t.Helper()
	v, f := w.Eval(w.p.Condition(w.p.Document().Properties[0].Predicate).Code)
	if (v.Kind == model.Unset) != (f.Cause != model.NoFault) {
		t.Errorf("%s: %v with the fault %v", full, v, f)
	}
	if f.Cause != model.NoFault {
		return f.String()
	}
	return w.Text(v)
}

// What each operator makes of values at their bounds, of fields without a value and of
// nothing; and what it does not look at, since the answer is known.
func TestOperators(t *testing.T) {
	const (
		most, least = "9223372036854775807", "-9223372036854775808"
		overflow    = "arithmetic exceeds 64 bits or divides by 0"
		unset       = "y.n is read before it has a value"
		unbound     = "the variable crate stands for nothing yet"
		bad         = `["eq", ["field", "y", "n"], 1]`
	)
	for _, c := range []struct{ expr, want string }{
		{`["eq", ["add", ` + most + `, 0], ` + most + `]`, "true"},
		{`["eq", ["add", ` + most + `, 1], 0]`, overflow},
		{`["eq", ["sub", ` + least + `, 0], ` + least + `]`, "true"},
		{`["eq", ["sub", ` + least + `, 1], 0]`, overflow},
		{`["eq", ["mul", ["field", "box", "n"], ["field", "x", "n"]], -12]`, "true"},
		{`["eq", ["mul", ` + least + `, -1], 0]`, overflow},
		{`["eq", ["div", ["field", "x", "n"], ["field", "box", "n"]], -2]`, "true"},
		{`["eq", ["mod", ["field", "x", "n"], ["field", "box", "n"]], 2]`, "true"},
		{`["eq", ["div", 1, 0], 0]`, overflow},
		{`["eq", ["min", ["field", "x", "n"], 0], -4]`, "true"},
		{`["eq", ["max", ["field", "x", "n"], 0], 0]`, "true"},
		{`["eq", ["add", ["field", "y", "n"], 1], 0]`, unset},
		{`["eq", ["add", 1, ["field", "y", "n"]], 0]`, unset},

		{`["lt", ["field", "x", "n"], ["field", "box", "n"]]`, "true"}, {`["lt", ["field", "x", "n"], ["field", "x", "n"]]`, "false"},
		{`["lte", ["field", "x", "n"], ["field", "x", "n"]]`, "true"}, {`["lte", ["field", "box", "n"], ["field", "x", "n"]]`, "false"},
		{`["gt", ["field", "box", "n"], ["field", "x", "n"]]`, "true"}, {`["gt", ["field", "x", "n"], ["field", "x", "n"]]`, "false"},
		{`["gte", ["field", "x", "n"], ["field", "x", "n"]]`, "true"}, {`["gte", ["field", "x", "n"], ["field", "box", "n"]]`, "false"},
		{`["lt", ["field", "y", "n"], ["field", "x", "n"]]`, unset}, {`["lt", ["field", "x", "n"], ["field", "y", "n"]]`, unset},
		{`["gt", ["field", "y", "n"], 0]`, unset}, {`["gt", ["field", "crate", "n"], 0]`, unbound},

		{`["eq", ["field", "box", "kind"], "b"]`, "true"}, {`["neq", ["field", "box", "kind"], "b"]`, "false"}, {`["eq", ["field", "x", "kind"], "b"]`, "false"},
		{`["eq", ["field", "box", "open"], true]`, "true"}, {`["neq", ["field", "box", "open"], ["field", "x", "open"]]`, "true"},
		{`["eq", ["field", "box", "id"], ["field", "x", "id"]]`, "false"}, {`["eq", ["field", "x", "id"], ["field", "x", "id"]]`, "true"},
		{`["eq", ["field", "box", "n"], ["field", "y", "n"]]`, unset}, {`["eq", ["field", "y", "n"], ["field", "box", "n"]]`, unset},
		{`["neq", ["field", "y", "kind"], "a"]`, "y.kind is read before it has a value"}, {`["eq", ["field", "crate", "n"], ["field", "box", "n"]]`, unbound},

		{`["and", false, ` + bad + `]`, "false"}, {`["and", true, ` + bad + `]`, unset}, {`["and", ` + bad + `, false]`, unset},
		{`["or", true, ` + bad + `]`, "true"}, {`["or", false, ` + bad + `]`, unset}, {`["or", ` + bad + `, true]`, unset},
		{`["and", true, true]`, "true"}, {`["and", true, false]`, "false"}, {`["or", false, true]`, "true"}, {`["or", false, false]`, "false"},
		{`["and", true, true, true]`, "true"}, {`["and", true, false, ` + bad + `]`, "false"}, {`["and", true, true, ` + bad + `]`, unset},
		{`["or", false, false, false]`, "false"}, {`["or", false, true, ` + bad + `]`, "true"}, {`["or", false, ` + bad + `, true]`, unset},
		{`["not", ` + bad + `]`, unset}, {`["implies", false, ` + bad + `]`, "true"}, {`["implies", true, ` + bad + `]`, unset}, {`["implies", ` + bad + `, true]`, unset},
		{`["eq", ["if", true, 1, ["field", "y", "n"]], 1]`, "true"}, {`["eq", ["if", false, ["field", "y", "n"], 2], 2]`, "true"}, {`["eq", ["if", ` + bad + `, 1, 1], 1]`, unset},

		{`["forall", "c", "Crate", ` + bad + `]`, "true"}, {`["exists", "c", "Crate", ` + bad + `]`, "false"},
		{`["exists", "b", "Box", ["gt", ["field", "b", "n"], 0]]`, "true"}, {`["forall", "b", "Box", ["lt", ["field", "b", "n"], 3]]`, "false"},
		{`["exists", "b", "Box", ["gt", ["field", "b", "n"], 3]]`, "b.n is read before it has a value"}, {`["forall", "b", "Box", ["lt", ["field", "b", "n"], 4]]`, "b.n is read before it has a value"},
		{`["forall", "b", "Box", ["exists", "o", "Box", ["neq", ["field", "b", "id"], ["field", "o", "id"]]]]`, "true"},
		{`["exists", "b", "Box", ["forall", "o", "Box", ["eq", ["field", "b", "id"], ["field", "o", "id"]]]]`, "false"},
		{`["eq", ["count", "b", "Box", ["field", "b", "open"]], 1]`, "true"}, {`["eq", ["count", "c", "Crate", true], 0]`, "true"}, {`["eq", ["count", "b", "Box", true], 3]`, "true"},
		{`["eq", ["count", "b", "Box", ["eq", ["field", "b", "n"], 1]], 0]`, "b.n is read before it has a value"},
		{`["eq", ["sum", "c", "Crate", ["field", "c", "n"]], 0]`, "true"}, {`["eq", ["sum", "b", "Box", ["field", "b", "n"]], 0]`, "b.n is read before it has a value"},
		{`["eq", ["sum", "b", "Box", ["if", ["eq", ["field", "b", "id"], ["field", "y", "id"]], 10, ["field", "b", "n"]]], 9]`, "true"},
		{`["eq", ["sum", "b", "Box", ` + most + `], 0]`, overflow},

		{`["is", "box", "Bigger", {"than": "x"}]`, "true"}, {`["is", "x", "Bigger", {"than": "box"}]`, "false"}, {`["derived", "first", "x", "box"]`, "true"}, {`["derived", "first", "box", "x"]`, "false"},
		{`["derived", "through", "x"]`, "true"}, {`["derived", "alone", "x"]`, "false"}, {`["observer", "is_empty", "x"]`, "false"}, {`["eq", ["observer", "told", "x"], 1]`, "only a module can say what told is"},
		{`["forall", "b", "Box", ["implies", ["eq", ["field", "b", "id"], ["field", "box", "id"]], ["derived", "first", "x", "b"]]]`, "true"},
		{`["exists", "b", "Box", ["and", ["derived", "through", "b"], ["is", "b", "Bigger", {"than": "x"}]]]`, "true"},
	} {
		if got := evaluated(yard(depotWith(t, `{"v": {"type": "invariant", "full": `+c.expr+`}}`)), c.expr, t); got != c.want {
			t.Errorf("%s: %s, want %s", c.expr, got, c.want)
		}
	}
}

// A module answers for the instances that it knows; what is not an answer of the type that
// was declared fits nowhere.
func TestObserversAnswer(t *testing.T) {
	const told, seen = `["observer", "told", "box"]`, `["observer", "seen", "box"]`
	no, none := "an operand is not an integer", "a condition is neither true nor false"
	for _, c := range []struct {
		expr string
		a    answers
		want string
	}{
		{`["eq", ` + told + `, 5]`, answers{value: model.Number(5), knows: true}, "true"},
		{`["eq", ` + told + `, 5]`, answers{value: model.Number(5)}, "only a module can say what told is"},
		{`["eq", ` + told + `, 5]`, answers{err: errors.New("no"), knows: true}, "the module does not answer told"},
		{`["eq", ` + told + `, 1]`, answers{value: model.True, knows: true}, "false"},
		{`["observer", "is_empty", "box"]`, answers{value: model.True, knows: true}, "true"},
		{`["observer", "is_empty", "box"]`, answers{value: model.True}, "false"},
		{`["exists", "b", "Box", ["observer", "is_empty", "b"]]`, answers{value: model.True, knows: true}, "true"},
		{`["lt", ` + told + `, 5]`, answers{value: model.True, knows: true}, no}, {`["lt", 5, ` + told + `]`, answers{value: model.True, knows: true}, no},
		{`["eq", ["add", ` + told + `, 5], 1]`, answers{value: model.True, knows: true}, no}, {`["eq", ["add", 5, ` + told + `], 1]`, answers{value: model.True, knows: true}, no},
		{`["eq", ["sum", "b", "Box", ["observer", "told", "b"]], 1]`, answers{value: model.True, knows: true}, no},
		{`["eq", ["sum", "b", "Box", ["observer", "told", "b"]], 6]`, answers{value: model.Number(2), knows: true}, "true"},
		{`["not", ` + seen + `]`, answers{value: model.Number(1), knows: true}, none}, {`["implies", ` + seen + `, true]`, answers{value: model.Number(1), knows: true}, none},
		{`["and", ` + seen + `, true]`, answers{value: model.Number(1), knows: true}, none}, {`["and", true, ` + seen + `]`, answers{value: model.Number(1), knows: true}, none},
		{`["or", false, ` + seen + `, true]`, answers{value: model.Number(1), knows: true}, none}, {`["exists", "b", "Box", ["observer", "seen", "b"]]`, answers{value: model.Number(1), knows: true}, none},
		{`["eq", ["count", "b", "Box", ["observer", "seen", "b"]], 1]`, answers{value: model.Number(1), knows: true}, none}, {`["eq", ["if", ` + seen + `, 1, 2], 1]`, answers{value: model.Number(1), knows: true}, none},
	} {
		w := yard(depotWith(t, `{"v": {"type": "invariant", "full": `+c.expr+`}}`))
		w.SetObserver(&c.a)
		if got := evaluated(w, c.expr, t); got != c.want {
			t.Errorf("%s of a module that says %v: %s, want %s", c.expr, c.a.value, got, c.want)
		}
		if c.a.knows && (len(c.a.asked) == 0 || !strings.Contains(c.expr, `"b"`) && c.a.asked[0] != 1) {
			t.Errorf("%s: asked about %v", c.expr, c.a.asked)
		}
		asked := len(c.a.asked)
		w.Modelled(w.p.Condition(w.p.Document().Properties[0].Predicate).Code)
		if len(c.a.asked) != asked {
			t.Errorf("%s: the model alone asks the module", c.expr)
		}
	}
}

// One evaluation may take a million steps and no more.
func TestEndlessWork(t *testing.T) {
	for expr, least := range map[string]string{`["forall", "a", "Box", ["forall", "b", "Box", true]]`: "true", `["eq", ["sum", "a", "Box", ["sum", "b", "Box", 1]], 998001]`: "true"} {
		w := yard(depotWith(t, `{"v": {"type": "invariant", "full": `+expr+`}}`))
		for w.Instances() < 999 {
			w.Create(w.p.Entity("Box"))
		}
		if got := evaluated(w, expr, t); got != least {
			t.Errorf("%s of 999: %s", expr, got)
		}
		w.Create(w.p.Entity("Box"))
		if got := evaluated(w, expr, t); got != "an expression takes more than 1000000 steps" {
			t.Errorf("%s of 1000: %s", expr, got)
		}
	}
}

// Sets are carried out in their order, and a condition is asked once, before the first
// that hangs on it.
func TestEffectsInOrder(t *testing.T) {
	p := depotWith(t, `{"v": {"type": "invariant", "predicate": true}}`)
	w := &world{p.New(1), p, 0}
	qty := p.Domain("qty")
	if w.Input(qty) != model.Number(0) {
		t.Errorf("an input begins as %v", w.Input(qty))
	}
	for i, c := range []struct{ action, n, note, open string }{
		{"make", "0", "new", "false"}, {"fork", "1", "zero", "false"}, {"fork", "0", "shut", "false"}, {"judge", "1", "shut", "true"},
		{"fork", "0", "open", "true"}, {"put", "3", "open", "true"}, {"twofold", "8", "open", "true"}, {"pack", "7", "open", "true"}, {"judge", "1", "open", "false"},
	} {
		w.SetInput(qty, model.Number(3))
		w.step(t, c.action)
		b := w.Var(p.Slot("box"))
		var got []string
		for _, f := range []string{"n", "note", "open"} {
			got = append(got, w.Text(w.Get(b, w.field("Box", f))))
		}
		if got := strings.Join(got, " "); got != c.n+" "+c.note+" "+c.open {
			t.Errorf("%d %s: %s", i, c.action, got)
		}
	}
	for _, action := range []string{"twofold", "fork", "put", "spawn", "make"} {
		w.step(t, action)
		if got := w.Settled(p.Action(action)); got != (action != "twofold" && action != "fork") {
			t.Errorf("%s is settled: %t", action, got)
		}
	}
	w.step(t, "judge")
	if w.Settled(p.Action("judge")) {
		t.Error("an effect that a function decides on is settled while it is not")
	}
}

// An action's choices are made one after the other, each from all instances.
func TestChoices(t *testing.T) {
	p := depotWith(t, `{"v": {"type": "invariant", "predicate": true}}`)
	w := yard(p)
	move, free := p.Action("move"), p.Action("any")
	a := &p.Actions()[move]
	if a.Picks() != 2 || a.PickSlot(0) != p.Slot("x") || a.PickSlot(1) != p.Slot("y") || !slices.Equal(w.Choices(move, 1), []int32{0, 1, 2}) {
		t.Errorf("%d choices, %v", a.Picks(), w.Choices(move, 1))
	}
	if got := w.Fits(move, 0, nil); !slices.Equal(got, []float64{0, 1, 0}) || w.Var(p.Slot("x")) != 0 {
		t.Errorf("x: %v", got)
	}
	w.Bind(p.Slot("x"), 1)
	if got := w.Fits(move, 1, []float64{9}); !slices.Equal(got, []float64{9, 1, 0, 1}) {
		t.Errorf("y: %v", got)
	}
	if got := w.Fits(free, 0, nil); !slices.Equal(got, []float64{1, 1, 1}) || w.Chosen(free) {
		t.Errorf("z: %v", got)
	}
	w.Bind(p.Slot("z"), 0)
	for _, c := range []struct {
		x, y int32
		want bool
	}{{1, 0, true}, {1, 1, false}, {0, 1, false}, {model.None, 1, false}, {1, model.None, false}, {2, 1, false}} {
		w.Bind(p.Slot("x"), c.x)
		w.Bind(p.Slot("y"), c.y)
		if got := w.Chosen(move); got != c.want || !w.Chosen(free) {
			t.Errorf("x %d, y %d: %t", c.x, c.y, got)
		}
	}
	w.Bind(p.Slot("x"), 1)
	w.Bind(p.Slot("y"), 0)
	w.step(t, "move")
	if n := w.field("Box", "n"); w.Get(0, n) != model.Number(-1) || w.Get(1, n) != model.Number(0) {
		t.Errorf("moved: %v %v", w.Get(0, n), w.Get(1, n))
	}
}

// What actions and conditions look at, and what they change.
func TestFootprints(t *testing.T) {
	p := depotWith(t, `{"v": {"type": "invariant", "predicate": true}}`)
	names := func(slots []int) string {
		var list []string
		for _, s := range slots {
			if name := p.Vars()[s]; !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		return strings.Join(list, " ")
	}
	for action, want := range map[string]string{
		"make": "box, box, false", "pack": "box crate, box crate, false", "spawn": "box crate, crate box, false", "copy": "box x, box, false", "judge": "box, box, false",
		"move": "x y, y x, false", "any": "z, , false", "put": "box, box, false", "look": "box, , true", "fork": "box, box, false",
	} {
		slots, written, all := p.Touched(p.Action(action))
		if got := fmt.Sprintf("%s, %s, %t", names(slots), names(written), all); got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
	for fn, want := range map[string]bool{"empty": false, "alone": true, "first": false, "through": true} {
		if got := p.Sees(p.Document().Function(fn)); got != want {
			t.Errorf("%s looks beyond: %t", fn, got)
		}
	}
	for expr, want := range map[string]string{
		`["field", "box", "open"]`: "box z, false", `["is", "x", "Bigger", {"than": "y"}]`: "x y z, false", `["derived", "alone", "x"]`: "x z, true",
		`["forall", "b", "Box", ["eq", ["field", "b", "n"], ["field", "x", "n"]]]`: "x z, true", `["observer", "seen", "box"]`: "z, true", `["field", "z", "open"]`: "z, false",
		`["eq", ["count", "c", "Crate", true], 1]`: "z, true",
	} {
		q := depotWith(t, `{"v": {"type": "invariant", "full": `+expr+`}}`)
		slots, all := q.Touches(q.Document().Properties[0].Predicate, []int{q.Slot("z")})
		if got := fmt.Sprintf("%s, %t", names(slots), all); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
}

// A breach is about the instance that the action is about: what it makes, else what it
// changes first, else what it is handed.
func TestSubjects(t *testing.T) {
	p := depotWith(t, `{"r": {"type": "temporal", "rule": ["never", {"writes": "Box"}]}}`)
	w := &world{p.New(1), p, 0}
	for _, c := range [][2]string{{"make", "Box#1"}, {"pack", "Crate#1"}, {"spawn", "Box#2"}, {"judge", ""}, {"fork", ""}, {"make", "Box#3"}, {"fork", "Box#3"}} {
		if c[1] == "" {
			if f := w.Apply(p.Action(c[0])); f.Cause != model.UnsetField {
				t.Errorf("%s of a box that was never filled: %v", c[0], f)
			}
			continue
		}
		if got := w.step(t, c[0]); !slices.Equal(got, []string{"r " + c[1]}) {
			t.Errorf("%s: %v, want %s", c[0], got, c[1])
		}
	}
	if w.Name(-1) != "nothing" || w.Name(int32(w.Instances())) != "nothing" {
		t.Error("what is not there has a name")
	}
}

// What a property says of the state before the action, and of instances that the action made.
func TestOld(t *testing.T) {
	const now, was = `["sum", "b", "Box", ["field", "b", "n"]]`, `["old", ["sum", "b", "Box", ["field", "b", "n"]]]`
	for _, c := range []struct{ expr, actions, want string }{
		{`["eq", ` + now + `, ` + was + `]`, "make put twofold", "put twofold"},
		{`["lte", ["old", ["count", "b", "Box", true]], 1]`, "make make make", "make"},
		{`["eq", ["count", "b", "Box", true], ["add", ["old", ["count", "b", "Box", true]], 1]]`, "make make put", "put"},
		{`["gte", ["field", "box", "n"], ["old", ["field", "box", "n"]]]`, "make put fork", "fork"},
	} {
		p := depotWith(t, `{"v": {"type": "invariant", "full": `+c.expr+`}}`)
		w := &world{p.New(1), p, 0}
		w.SetInput(0, model.Number(2))
		var broken []string
		if b := w.Check(nil); len(b) != 0 {
			t.Errorf("%s is looked at before there is a state before: %v", c.expr, b)
		}
		for _, a := range strings.Fields(c.actions) {
			if len(w.step(t, a)) > 0 {
				broken = append(broken, a)
			}
		}
		if got := strings.Join(broken, " "); got != c.want {
			t.Errorf("%s: broken by %s, want %s", c.expr, got, c.want)
		}
	}
}

// A state that was packed or saved comes back as it was, whatever its values are.
func TestStatesComeBack(t *testing.T) {
	p := depotWith(t, `{"r": {"type": "temporal", "rule": ["after", "make", ["never", "fork", {"same": "entity"}]]}, "s": {"type": "temporal", "rule": ["after", "put", ["gt", ["field", "box", "n"], 0]]}}`)
	w := &world{p.New(2), p, 0}
	w.SetInput(0, model.Number(3))
	w.step(t, "make")
	w.step(t, "pack")
	w.step(t, "put")
	for _, n := range []int64{0, 1, -1, 1<<59 - 1, 1 << 59, -1 << 59, -1<<59 - 1, 1 << 60, 1<<63 - 1, -1 << 63} {
		w.Set(0, w.field("Box", "n"), model.Number(n))
		w.SetInput(0, model.Number(n))
		packed := append(w.Pack(nil), 42)
		saved := w.Save()
		for how, back := range map[string]func(m *model.Machine){
			"packed": func(m *model.Machine) {
				if rest := m.Unpack(packed); !slices.Equal(rest, []byte{42}) {
					t.Errorf("%d: %v is left", n, rest)
				}
			},
			"saved": func(m *model.Machine) { m.Load(saved) },
		} {
			x := &world{p.New(1), p, 0}
			x.Create(p.Entity("Crate"))
			back(x.Machine)
			if dump(x) != dump(w) || x.Input(0) != w.Input(0) || string(x.Key(nil)) != string(w.Key(nil)) || string(x.Canonical(nil)) != string(w.Canonical(nil)) || string(x.Pack(nil)) != string(w.Pack(nil)) {
				t.Errorf("%d, %s: %s, want %s", n, how, dump(x), dump(w))
			}
			if got := strings.Join(x.step(t, "fork"), ","); !strings.HasPrefix(got, "r Box#1") || (len(got) > len("r Box#1")) != (n != 0) {
				t.Errorf("%d, %s: what rules remember: %s", n, how, got)
			}
		}
	}
}

// States that differ only in which instance is which are one; any other difference tells them apart.
func TestCanonicalStates(t *testing.T) {
	p := depotWith(t, `{"v": {"type": "invariant", "full": ["forall", "b", "Box", ["implies", ["eq", ["field", "b", "id"], ["field", "box", "id"]], true]]}}`)
	of := func(box, z int32, sizes ...int64) *world {
		w := &world{p.New(1), p, 0}
		for _, n := range sizes {
			w.Set(w.Create(p.Entity("Box")), w.field("Box", "n"), model.Number(n))
		}
		w.Bind(p.Slot("box"), box)
		w.Bind(p.Slot("z"), z)
		return w
	}
	base := of(0, 1, 1, 2)
	for name, c := range map[string]struct {
		w    *world
		same bool
	}{
		"changed places": {of(1, 0, 2, 1), true}, "another number": {of(0, 1, 1, 3), false}, "another box": {of(1, 1, 1, 2), false},
		"nothing in the box": {of(model.None, 1, 1, 2), false}, "a choice of before": {of(0, 0, 1, 2), true}, "one more": {of(0, 1, 1, 2, 2), false},
	} {
		if got := string(c.w.Canonical(nil)) == string(base.Canonical(nil)); got != c.same {
			t.Errorf("%s: the same %t", name, got)
		}
		if string(c.w.Key(nil)) == string(base.Key(nil)) {
			t.Errorf("%s: the same key", name)
		}
	}
	for name, c := range map[string]struct {
		properties, slot string
		same             bool
	}{
		"chosen anew whenever it is read": {`{}`, "z", true}, "read by a set": {`{}`, "y", false}, "read by a value": {`{}`, "x", false},
		"that a rule compares":           {`{"r": {"type": "temporal", "rule": ["after", "make", ["never", "any", {"same": "z"}]]}}`, "z", false},
		"that a property reads":          {`{"v": {"type": "invariant", "predicate": ["is", "z", "Bigger", {"than": "z"}]}}`, "z", false},
		"that a property hides":          {`{"v": {"type": "invariant", "predicate": ["forall", "z", "Box", true]}}`, "z", true},
		"that a function is asked about": {`{"v": {"type": "invariant", "predicate": ["derived", "empty", "z"]}}`, "z", false},
	} {
		p = depotWith(t, c.properties)
		a, b := of(0, 1, 1, 2), of(0, 1, 1, 2)
		a.Bind(p.Slot(c.slot), 0)
		b.Bind(p.Slot(c.slot), 1)
		if got := string(a.Canonical(nil)) == string(b.Canonical(nil)); got != c.same {
			t.Errorf("a choice %s: the same %t", name, got)
		}
	}
	facts := func(w *world) []uint64 { return slices.Compact(slices.Sorted(slices.Values(w.Facts(nil)))) }
	if !slices.Equal(facts(of(0, 1, 1, 2)), facts(of(1, 1, 2, 1))) || slices.Equal(facts(of(0, 1, 1, 2)), facts(of(0, 1, 1, 1))) ||
		!slices.Equal(facts(of(0, 1, 1, 1, 1)), facts(of(0, 1, 1, 1, 1, 1))) || slices.Equal(facts(of(0, 1, 1, 1)), facts(of(0, 1, 1, 1, 1))) {
		t.Error("facts do not tell values, or how many there are up to 3")
	}
}

// A property asks observers if any part of it does, and a predicate is about the one
// instance that it is handed.
func TestPredicates(t *testing.T) {
	p := depotWith(t, `{"v": {"type": "invariant", "predicate": ["field", "box", "open"]}, "seen": {"type": "invariant", "predicate": ["not", ["observer", "seen", "box"]]},
		"rule": {"type": "temporal", "rule": ["after", "make", ["observer", "seen", "box"]]}, "none": {"type": "temporal", "rule": ["never", "put"]}}`)
	if p.Properties() != 4 {
		t.Errorf("%d properties", p.Properties())
	}
	for i, want := range []bool{false, true, true, false} {
		if p.Observes(i) != want {
			t.Errorf("%s asks observers: %t", p.Property(i), !want)
		}
	}
	w := yard(p)
	size := p.Predicate(p.Document().Refinement("Bigger").Predicate.Args[0], p.Entity("Box"))
	for i, want := range []string{"-4", "3", "unset"} {
		if v, _ := w.Holds(size, int32(i)); w.Text(v) != want {
			t.Errorf("of %d: %s, want %s", i, w.Text(v), want)
		}
	}
}
