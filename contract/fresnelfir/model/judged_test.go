package model_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// A property is put to the test where something could have broken it: what there is
// no instance of, and what no action has triggered, is not.
func TestPutToTheTest(t *testing.T) {
	invariant := func(e string) string { return `{"p": {"type": "invariant", "predicate": ` + e + `}}` }
	temporal := func(rule string) string { return `{"p": {"type": "temporal", "rule": ` + rule + `}}` }
	for _, c := range []struct {
		properties, actions string
		tried, broken       int
	}{
		{invariant(`["forall", "d", "Document", ["not", ["field", "d", "deleted"]]]`), "", 0, 0},
		{invariant(`["forall", "d", "Document", ["not", ["field", "d", "deleted"]]]`), "create", 1, 0},
		{invariant(`["forall", "d", "Document", ["not", ["field", "d", "deleted"]]]`), "create delete", 2, 1},
		{invariant(`["exists", "d", "Document", true]`), "read", 1, 1},
		{invariant(`["eq", ["field", "actor", "role"], "member"]`), "", 1, 0},
		{temporal(`["never", "delete"]`), "create read", 0, 0},
		{temporal(`["never", "delete"]`), "create delete delete", 2, 2},
		{temporal(`["before", "read", ["field", "actor", "authenticated"]]`), "create", 0, 0},
		{temporal(`["before", "read", ["field", "actor", "authenticated"]]`), "create read read", 2, 0},
		{temporal(`["after", "delete", ["never", "restore", {"same": "entity"}]]`), "create restore", 0, 0},
		{temporal(`["after", "delete", ["never", "restore", {"same": "entity"}]]`), "create delete", 1, 0},
	} {
		p := compile(t, c.properties)
		w := newWorld(p, "member", true)
		broken := len(w.Check(nil))
		for _, a := range strings.Fields(c.actions) {
			broken += len(w.step(t, a))
		}
		if w.Tried[0] != int64(c.tried) || broken != c.broken {
			t.Errorf("%s after %q: tried %d times, broken %d times; want %d and %d", c.properties, c.actions, w.Tried[0], broken, c.tried, c.broken)
		}
	}
}

// Rules that one action triggers are each remembered, and one that is about nothing
// takes no breach of another away.
func TestRulesBesideEachOther(t *testing.T) {
	p := compile(t, `{"a": {"type": "temporal", "rule": ["after", "publish", ["not", ["field", "doc", "deleted"]]]},
		"b": {"type": "temporal", "rule": ["after", "publish", ["eq", ["field", "doc", "visibility"], "public"]]}}`)
	w := newWorld(p, "member", true)
	w.step(t, "create")
	w.step(t, "publish")
	if got := w.step(t, "archive"); !slices.Equal(got, []string{"b Document#1"}) {
		t.Errorf("the second rule: %v", got)
	}
	if got := w.step(t, "delete"); !slices.Equal(got, []string{"a Document#1", "b Document#1"}) {
		t.Errorf("both rules: %v", got)
	}

	p = compile(t, `{"a": {"type": "temporal", "rule": ["never", "read"]}, "b": {"type": "temporal", "rule": ["never", "read", {"same": "actor"}]}}`)
	w = newWorld(p, "member", true)
	w.step(t, "create")
	if got := w.step(t, "read"); !slices.Equal(got, []string{"a Document#1", "b Document#1"}) {
		t.Errorf("by somebody: %v", got)
	}
	w.Bind(p.Slot("actor"), model.None)
	if got := w.step(t, "read"); !slices.Equal(got, []string{"a Document#1"}) {
		t.Errorf("by nobody: %v", got)
	}
}

// An invariant is looked at again if anything changed that it reads, however far down.
func TestReadsThroughCalls(t *testing.T) {
	text := strings.NewReplacer(`["gt", ["field", "self", "n"], ["field", "than", "n"]]`, `["not", ["derived", "empty", "self"]]`).Replace(depot)
	for _, e := range []string{`["is", "x", "Bigger", {"than": "y"}]`, `["derived", "first", "y", "x"]`, `["not", ["derived", "empty", "x"]]`} {
		p := compiled(t, depotText(text, `{"v": {"type": "invariant", "predicate": `+e+`}}`))
		w := yard(p)
		if b := w.Check(nil); len(b) != 0 {
			t.Errorf("%s: %v", e, b)
		}
		w.Set(0, w.field("Box", "open"), model.True)
		tried := w.Tried[0]
		if b := w.Check(nil); len(b) != 0 || w.Tried[0] != tried {
			t.Errorf("%s: %v, looked at %d times though nothing changed that it reads", e, b, w.Tried[0]-tried)
		}
		w.Set(0, w.field("Box", "n"), model.Number(0))
		if b := w.Check(nil); len(b) != 1 {
			t.Errorf("%s: a change within is not seen: %v", e, b)
		}
	}
}

// Applied again, an effect settles if its fields end as they began, whatever they
// were in between.
func TestSettledInSteps(t *testing.T) {
	p := depotWith(t, `{}`)
	for _, c := range []struct {
		action string
		n      int64
		want   bool
	}{
		{"twofold", -2, true}, {"twofold", 0, false}, {"judge", 0, false}, {"judge", 1, true}, {"fork", 0, false}, {"copy", 3, true}, {"put", 3, true},
	} {
		w := yard(p)
		n := w.field("Box", "n")
		w.Set(1, n, model.Number(c.n))
		w.step(t, c.action)
		if got := w.Settled(p.Action(c.action)); got != c.want {
			t.Errorf("%s from %d: settled %t", c.action, c.n, got)
		}
	}
}

// What a value exceeds is said in numbers as people write them.
func TestExcessesInWords(t *testing.T) {
	for bound, want := range map[string]string{`"min": 0, "max": 19`: "above its max of 19", `"min": 87, "max": 99`: "below its min of 87"} {
		w := newWorld(compiled(t, strings.Replace(libraryText(`{}`), `"min": 0, "max": 9`, bound, 1)), "member", true)
		said := map[string]bool{}
		for _, a := range strings.Fields("create grow grow grow") {
			w.step(t, a)
			for _, x := range w.Excesses() {
				said[x.Why] = true
			}
		}
		if got := slices.Collect(maps.Keys(said)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", bound, got, want)
		}
	}
}

// Names that steps of generators bind are variables of the entity that a step says.
func TestNamesOfGenerators(t *testing.T) {
	p := compiled(t, strings.Replace(libraryText(`{}`), `"generators": {}`, `"generators": {"g": {"sequence": [
		{"action": "create", "with": {"actor": {"bind": "chief", "generate": "User"}}}, {"action": "read", "with": {"actor": {"bind": "chief"}, "other": {"bind": "chief"}, "times": 3}}]}}`, 1))
	for name, want := range map[string]int{"chief": p.Entity("User"), "other": p.Entity("User"), "doc": p.Entity("Document"), "nobody": -1} {
		if got := p.VarEntity(name); got != want {
			t.Errorf("%s is a %d, want %d", name, got, want)
		}
		if (p.Slot(name) >= 0) != (want >= 0) {
			t.Errorf("%s: slot %d", name, p.Slot(name))
		}
	}
	if p.Slot("times") >= 0 {
		t.Error("a literal is a variable")
	}
}

// A model is bounded where an effect computes what a field's declaration may exclude.
func TestBounded(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"", "", true},
		{`, "min": 0, "max": 9`, ``, false},
		{`, "min": 0, "max": 9`, `, "min": 0`, true},
		{`, "min": 0, "max": 9`, `, "max": 9`, true},
		{`["add", ["mul", ["field", "doc", "size"], 2], 3]`, `3`, false},
	} {
		if got := compiled(t, strings.Replace(libraryText(`{}`), c.from, c.to, 1)).Bounded(); got != c.want {
			t.Errorf("%s in place of %s: %t", c.to, c.from, got)
		}
	}
}

// A variable that nothing binds stands for the newest instance, and for nothing as
// long as there is none.
func TestNewest(t *testing.T) {
	p := compile(t, `{"p": {"type": "invariant", "predicate": ["eq", ["field", "document", "visibility"], "private"]}}`)
	w := newWorld(p, "member", true)
	if b := w.Check(nil); len(b) != 0 || w.Tried[0] != 0 {
		t.Errorf("of no document: %v, tried %d times", b, w.Tried[0])
	}
	for _, c := range []struct {
		action string
		broken int
	}{{"create", 0}, {"publish", 1}, {"create", 0}, {"read", 0}, {"archive", 0}, {"restore", 1}} {
		if got := w.step(t, c.action); len(got) != c.broken {
			t.Errorf("%s: %v", c.action, got)
		}
	}
}

// Where the order of instances means something, states in which they have changed
// places are two.
func TestCanonicalStatesOfTheNewest(t *testing.T) {
	p := compile(t, `{"p": {"type": "invariant", "predicate": ["eq", ["field", "document", "visibility"], "private"]}}`)
	of := func(sizes ...int64) string {
		w := newWorld(p, "member", true)
		for _, n := range sizes {
			w.Set(w.Create(p.Entity("Document")), w.field("Document", "size"), model.Number(n))
		}
		return string(w.Canonical(nil))
	}
	if one, two := of(1, 2), of(2, 1); one == two || one != of(1, 2) {
		t.Error("the newest document is another one")
	}
}

// Whatever reads a variable that is chosen anew elsewhere keeps states apart in which it
// stands for another instance: a proof must not take one for the other.
func TestVariablesThatStatesKeep(t *testing.T) {
	for name, c := range map[string]struct {
		from, to, property string
		same               bool
	}{
		"nothing":              {"", "", `true`, true},
		"a parameter":          {"", "", `["is", "x", "Bigger", {"than": "z"}]`, false},
		"a guard within":       {`["eq", ["field", "box", "n"], 0]`, `["eq", ["field", "z", "n"], 0]`, `true`, false},
		"an answer":            {`["sum", "c", "Crate", ["field", "c", "n"]]`, `["field", "z", "n"]`, `true`, false},
		"a postcondition":      {`"generators": {}`, `"generators": {"g": {"sequence": [{"action": "make"}], "postcondition": ["field", "z", "open"]}}`, `true`, false},
		"a step of generators": {`"generators": {}`, `"generators": {"g": {"sequence": [{"action": "make", "with": {"z": {"generate": "Box"}}}]}}`, `true`, false},
		"a set":                {`{"target": ["y", "open"], "value": false}`, `{"target": ["z", "open"], "value": false}`, `true`, false},
	} {
		p := compiled(t, strings.Replace(depotText(depot, `{"v": {"type": "invariant", "predicate": `+c.property+`}}`), c.from, c.to, 1))
		of := func(z int32) string {
			w := yard(p)
			w.Bind(p.Slot("z"), z)
			return string(w.Canonical(nil))
		}
		if got := of(0) == of(1); got != c.same {
			t.Errorf("%s: the same %t", name, got)
		}
	}
	p := depotWith(t, `{"r": {"type": "temporal", "rule": ["after", "make", ["field", "z", "open"]]}}`)
	a, b := yard(p), yard(p)
	b.Bind(p.Slot("z"), 0)
	if string(a.Canonical(nil)) == string(b.Canonical(nil)) {
		t.Error("a rule's condition: the same")
	}
}

// A function is asked about the instances that it is handed, each in its place.
func TestValueWith(t *testing.T) {
	p := depotWith(t, `{}`)
	w := yard(p)
	code := p.Call("first") // is the second bigger than the first?
	for _, c := range []struct {
		args []int32
		want model.Value
	}{{[]int32{0, 1}, model.True}, {[]int32{1, 0}, model.False}, {[]int32{1, 1}, model.False}} {
		if v, ok := w.ValueWith(code, c.args); !ok || v != c.want {
			t.Errorf("%v: %v %t", c.args, v, ok)
		}
	}
}

// What only a module can tell, and what is about nothing yet, is not a fault of the document.
func TestWhoseFault(t *testing.T) {
	for cause, want := range map[model.Cause]bool{
		model.NoFault: false, model.Unbound: false, model.Unobservable: false, model.UnsetField: true, model.NotACondition: true,
		model.NotAnInteger: true, model.Overflow: true, model.Endless: true, model.Unanswered: false,
	} {
		if got := (model.Fault{Cause: cause}).Spec(); got != want {
			t.Errorf("%v: the document's %t", cause, got)
		}
	}
}

// Values of inputs come in their order, and names have the numbers that they are asked by.
func TestNumbersOfNames(t *testing.T) {
	p := compiled(t, strings.Replace(depotText(depot, `{}`), `"domains": {`,
		`"domains": {"flag": {"type": "bool"}, "word": {"type": "enum", "values": ["b", "a"]}, "said": {"type": "string", "values": ["one", "two"]}, `, 1))
	w := yard(p)
	for name, want := range map[string]string{"flag": "false true", "word": "b a", "said": "one two", "qty": "0 1 -1 2 3"} {
		var got []string
		for i := range strings.Fields(want) {
			got = append(got, w.Text(p.DomainValue(p.Domain(name), uint64(i))))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
	if p.Domain("nobody") != -1 || p.Function("nobody") != -1 || p.Document().Functions[p.Function("seen")].Name != "seen" {
		t.Error("names have other numbers")
	}
	if got := p.Vars()[p.Actions()[p.Action("pack")].Assigns()]; got != "crate" {
		t.Errorf("pack assigns %s", got)
	}
	if w.Program() != p || !slices.Equal(w.Live(p.Entity("Box")), []int32{0, 1, 2}) || len(w.Live(p.Entity("Crate"))) != 0 {
		t.Errorf("live: %v", w.Live(p.Entity("Box")))
	}
	small := w.Save().Size()
	for range 100 {
		w.Create(p.Entity("Box"))
	}
	if large := w.Save().Size(); small < 100 || large < small+100*8 {
		t.Errorf("snapshots of %d and %d bytes", small, large)
	}
}
