package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// library is a model in the manner of the format's published example: documents
// that are created, published, archived, restored and deleted.
const library = `{
"entities": {
  "User": {"fields": {"id": {"type": "string"}, "role": {"type": "enum", "values": ["admin", "member", "guest"]}, "authenticated": {"type": "bool"}}},
  "Document": {"fields": {"id": {"type": "string"}, "owner_id": {"type": "ref", "entity": "User"},
    "visibility": {"type": "enum", "values": ["private", "shared", "public"]}, "deleted": {"type": "bool", "default": false},
    "size": {"type": "int", "min": 0, "max": 9}}}},
"refinements": {
  "Reachable": {"base": "Document", "params": [{"name": "by", "type": "User"}], "predicate": ["or",
    ["eq", ["field", "self", "visibility"], "public"],
    ["eq", ["field", "self", "owner_id"], ["field", "by", "id"]],
    ["and", ["eq", ["field", "self", "visibility"], "shared"], ["neq", ["field", "by", "role"], "guest"]]]}},
"functions": {
  "reaches": {"classification": "derived", "params": [{"name": "d", "type": "Document"}, {"name": "u", "type": "User"}], "body": ["is", "d", "Reachable", {"by": "u"}], "returns": "bool"},
  "asks": {"classification": "observer", "params": [{"name": "d", "type": "Document"}, {"name": "u", "type": "User"}], "binding": "check", "returns": "bool"},
  "count": {"classification": "observer", "params": [{"name": "d", "type": "Document"}], "binding": "count", "returns": "int"}},
"protocols": {"p": {"root": {"type": "seq", "children": [
  {"type": "call", "action": "create"}, {"type": "call", "action": "publish"}, {"type": "call", "action": "archive"},
  {"type": "call", "action": "restore"}, {"type": "call", "action": "delete"}, {"type": "call", "action": "read"}, {"type": "call", "action": "grow"}]}}},
"effects": {
  "create": {"creates": {"entity": "Document", "assign": "doc"}, "sets": [
    {"target": ["doc", "owner_id"], "value": ["field", "actor", "id"]}, {"target": ["doc", "visibility"], "value": "private"}, {"target": ["doc", "size"], "value": 0}]},
  "publish": {"sets": [{"target": ["doc", "visibility"], "value": "public"}]},
  "archive": {"sets": [{"target": ["doc", "visibility"], "value": "private"}]},
  "restore": {"sets": [{"target": ["doc", "visibility"], "value": "shared"}]},
  "delete": {"sets": [{"target": ["doc", "deleted"], "value": true}]},
  "grow": {"sets": [{"target": ["doc", "visibility"], "value": "shared"}, {"target": ["doc", "size"], "value": ["add", ["mul", ["field", "doc", "size"], 2], 3]}]},
  "read": {}},
"properties": %s,
"generators": {},
"exploration": {"weights": {"scope": "per_alt_branch", "initial": "from_protocol", "decay": "none"}, "directives_allowed": [], "adaptation_signals": [],
  "strategy": {"initial": "pseudo_random_traversal", "fallback": "targeted_on_violation"}, "epoch_size": 100, "coverage_floor_threshold": 0.05,
  "concurrency": {"mode": "deterministic_interleaving", "threads": 1}},
"inputs": {"domains": {}, "constraints": [], "coverage": {"targets": [], "seed": 1, "reproducible": true}},
"bindings": {"runtime": "wasm", "entry": "m.wasm", "actions": {%s}, "event_hooks": {"mode": "function_intercept", "observe": [], "capture": []}}
}`

func compile(t testing.TB, properties string) *model.Program {
	t.Helper()
	return compiled(t, libraryText(properties))
}

func libraryText(properties string) string {
	var bindings []string
	for _, a := range []string{"create", "publish", "archive", "restore", "delete", "read", "grow"} {
		args := `"actor_id", "doc_id"`
		if a == "create" {
			args = `"actor_id"`
		}
		bindings = append(bindings, fmt.Sprintf(`%q: {"function": %q, "args": [%s], "returns": {"type": "void"}, "mutates": %t, "idempotent": false, "reads": [], "writes": ["Document"]}`, a, a, args, a != "read"))
	}
	return fmt.Sprintf(library, properties, strings.Join(bindings, ","))
}

func compiled(t testing.TB, text string) *model.Program {
	t.Helper()
	doc, src, list := ir.Decode("library.json", []byte(text))
	if doc == nil {
		t.Fatal(list)
	}
	if list = append(list, ir.Check(doc, src)...); list.HasErrors() {
		t.Fatal(list)
	}
	return model.Compile(doc)
}

// world is a machine with one user.
type world struct {
	*model.Machine
	p    *model.Program
	user int32
}

func newWorld(p *model.Program, role string, authenticated bool) *world {
	w := &world{p.New(1), p, 0}
	w.user = w.add(role, authenticated)
	w.Bind(p.Slot("actor"), w.user)
	return w
}

func (w *world) add(role string, authenticated bool) int32 {
	u := w.Create(w.p.Entity("User"))
	r, _ := w.p.Symbol(role)
	w.Set(u, w.field("User", "role"), r)
	v := model.False
	if authenticated {
		v = model.True
	}
	w.Set(u, w.field("User", "authenticated"), v)
	return u
}

func (w *world) field(entity, name string) int {
	for i, f := range w.p.Document().Entity(entity).Fields {
		if f.Name == name {
			return i
		}
	}
	panic("no field " + name)
}

// step takes an action the way a traversal does, and returns what it broke.
func (w *world) step(t testing.TB, action string) []string {
	t.Helper()
	a := w.p.Action(action)
	b := w.Before(a, nil)
	if f := w.Apply(a); f.Cause != model.NoFault {
		t.Fatalf("%s: %s", action, f)
	}
	b = w.After(a, b)
	var broken []string
	for _, x := range w.Check(b) {
		broken = append(broken, w.p.Property(x.Property)+" "+w.Name(x.Instance))
	}
	return broken
}

func (w *world) doc(name string) string {
	d := w.Var(w.p.Slot("doc"))
	return w.Text(w.Get(d, w.field("Document", name)))
}

func TestEffects(t *testing.T) {
	p := compile(t, `{}`)
	w := newWorld(p, "member", true)
	w.step(t, "create")
	if got := w.doc("owner_id") + " " + w.doc("visibility") + " " + w.doc("deleted") + " " + w.doc("id"); got != "User#1 private false Document#1" {
		t.Errorf("created: %s", got)
	}
	for _, c := range [][3]string{{"publish", "visibility", "public"}, {"archive", "visibility", "private"}, {"restore", "visibility", "shared"}, {"delete", "deleted", "true"}, {"read", "visibility", "shared"}, {"grow", "size", "3"}} {
		w.step(t, c[0])
		if got := w.doc(c[1]); got != c[2] {
			t.Errorf("%s: %s is %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// An effect that fails half-way leaves nothing behind.
func TestEffectsAreWhole(t *testing.T) {
	p := compile(t, `{}`)
	w := newWorld(p, "member", true)
	if f := w.Apply(p.Action("publish")); f.Cause != model.Unbound {
		t.Errorf("without a document: %v", f)
	}
	w.step(t, "create")
	w.step(t, "grow")
	w.step(t, "publish")
	w.step(t, "grow") // 9
	w.step(t, "publish")
	if w.doc("visibility") != "public" || w.doc("size") != "9" {
		t.Errorf("half an effect stayed: %s %s", w.doc("visibility"), w.doc("size"))
	}
}

// An effect that gives a field what its declaration excludes is carried out, and says so.
func TestExcesses(t *testing.T) {
	p := compile(t, `{}`)
	w := newWorld(p, "member", true)
	for i, action := range []string{"create", "grow", "grow", "grow"} { // 3, 9, 21
		w.step(t, action)
		if x := w.Excesses(); len(x) != i/3 || len(x) == 1 && x[0].Entity+"."+x[0].Set.Field+" "+x[0].Why != "Document.size above its max of 9" {
			t.Errorf("step %d: %+v", i, x)
		}
	}
	if w.doc("size") != "21" || !w.Settled(p.Action("read")) || len(w.Excesses()) != 1 {
		t.Errorf("size %s, then %v", w.doc("size"), w.Excesses())
	}
	if w.step(t, "publish"); len(w.Excesses()) != 0 {
		t.Errorf("publish: %v", w.Excesses())
	}
}

// Whether an effect can exceed a field's bounds is known without running it, if the
// value stands in the document.
func TestExceeds(t *testing.T) {
	for value, want := range map[string]bool{"0": false, "9": false, "10": true, "-1": true, `["add", 10, 10]`: false} {
		text := strings.Replace(library, `{"target": ["doc", "size"], "value": 0}`, `{"target": ["doc", "size"], "value": `+value+`}`, 1)
		actions := `"create": {"function": "create", "args": ["actor_id"], "returns": {"type": "void"}, "mutates": true, "idempotent": false, "reads": [], "writes": ["Document"]}`
		for _, a := range []string{"publish", "archive", "restore", "delete", "read", "grow"} {
			actions += fmt.Sprintf(`, %q: {"function": %q, "args": ["actor_id", "doc_id"], "returns": {"type": "void"}, "mutates": %t, "idempotent": false, "reads": [], "writes": ["Document"]}`, a, a, a != "read")
		}
		if got := compiled(t, fmt.Sprintf(text, "{}", actions)).Exceeds(); got != want {
			t.Errorf("a size of %s: %t", value, got)
		}
	}
}

// A field beside a number, in each of the orders, is compared as anything else is.
func TestFieldsBesideNumbers(t *testing.T) {
	for op, want := range map[string]string{"eq": "false true false", "neq": "true false true", "lt": "true false false", "lte": "true true false", "gt": "false false true", "gte": "false true true"} {
		p := compile(t, `{"v": {"type": "invariant", "predicate": ["`+op+`", ["field", "doc", "size"], 3]}}`)
		w := newWorld(p, "member", true)
		code := p.Condition(p.Document().Properties[0].Predicate).Code
		if _, f := w.Eval(code); f.Cause != model.Unbound {
			t.Errorf("%s without a document: %v", op, f)
		}
		w.step(t, "create")
		var got []string
		for size := range int64(3) {
			w.Set(w.Var(p.Slot("doc")), w.field("Document", "size"), model.Number(size+2))
			v, f := w.Eval(code)
			if f.Cause != model.NoFault {
				t.Errorf("%s: %v", op, f)
			}
			got = append(got, w.Text(v))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("2, 3 and 4 %s 3: %s, want %s", op, got, want)
		}
	}
}

// Each fault has its own sentence.
func TestFaultsInWords(t *testing.T) {
	field := &ir.Expr{Op: ir.FieldOf, Var: "doc", Text: "size"}
	for want, f := range map[string]model.Fault{
		"no fault": {}, "the variable doc stands for nothing yet": {Cause: model.Unbound, Detail: "doc"},
		"only a module can say what asks is":          {Cause: model.Unobservable, Detail: "asks"},
		"doc.size is read before it has a value":      {Cause: model.UnsetField, Expr: field},
		"x is read before it has a value":             {Cause: model.UnsetField, Detail: "x"},
		"a condition is neither true nor false":       {Cause: model.NotACondition},
		"an operand is not an integer":                {Cause: model.NotAnInteger},
		"arithmetic exceeds 64 bits or divides by 0":  {Cause: model.Overflow},
		"an expression takes more than 1000000 steps": {Cause: model.Endless},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEval(t *testing.T) {
	const deep = 63
	for _, c := range []struct{ expr, want string }{
		{`true`, "true"}, {`["not", true]`, "false"}, {`["and", true, true, false]`, "false"}, {`["and", true]`, "true"}, {`["or", false, false, true]`, "true"}, {`["or", false]`, "false"},
		{`["implies", false, false]`, "true"}, {`["implies", true, false]`, "false"}, {`["implies", false, ["field", "doc", "deleted"]]`, "true"},
		{`["neq", 1, 2]`, "true"}, {`["lt", 1, 2]`, "true"}, {`["lte", 2, 2]`, "true"}, {`["gt", 1, 2]`, "false"}, {`["gte", 2, 2]`, "true"},
		{`["eq", "a", "a"]`, "true"}, {`["eq", ["field", "actor", "role"], "member"]`, "true"}, {`["eq", ["field", "actor", "role"], ["field", "actor", "role"]]`, "true"},
		{`["exists", "u", "User", ["eq", ["field", "u", "role"], "admin"]]`, "false"}, {`["forall", "u", "User", ["field", "u", "authenticated"]]`, "true"},
		{`["forall", "a", "Document", false]`, "true"}, {`["exists", "a", "Document", true]`, "false"},
		{`["forall", "u", "User", ["exists", "v", "User", ["eq", ["field", "u", "id"], ["field", "v", "id"]]]]`, "true"},
		{strings.Repeat(`["not", `, deep+1) + `true` + strings.Repeat(`]`, deep+1), "true"},
	} {
		p := compile(t, `{"v": {"type": "invariant", "predicate": `+c.expr+`}}`)
		w := newWorld(p, "member", true)
		v, f := w.Eval(p.Condition(p.Document().Properties[0].Predicate).Code)
		if f.Cause != model.NoFault || w.Text(v) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.expr, w.Text(v), f, c.want)
		}
	}
}

func TestRefinementsAndFunctions(t *testing.T) {
	p := compile(t, `{"v": {"type": "invariant", "predicate": ["derived", "reaches", "doc", "actor"]}, "w": {"type": "invariant", "predicate": ["observer", "asks", "doc", "actor"]},
		"x": {"type": "invariant", "predicate": ["gt", ["observer", "count", "doc"], 0]}}`)
	eval := func(w *world, i int) (string, model.Fault) {
		v, f := w.Eval(p.Condition(p.Document().Properties[i].Predicate).Code)
		return w.Text(v), f
	}
	for _, c := range []struct {
		role, action string
		other        bool // somebody else's document
		want         string
	}{
		{"guest", "publish", true, "true"}, {"guest", "archive", true, "false"}, {"guest", "archive", false, "true"},
		{"member", "restore", true, "true"}, {"guest", "restore", true, "false"},
	} {
		w := newWorld(p, c.role, true)
		if c.other {
			w.Bind(p.Slot("actor"), w.add("admin", true))
		}
		w.Apply(p.Action("create"))
		w.Bind(p.Slot("actor"), w.user)
		w.Apply(p.Action(c.action))
		for i := range 2 { // without a module an observer is what its pair says
			if got, f := eval(w, i); got != c.want {
				t.Errorf("%+v: property %d: %s, %v", c, i, got, f)
			}
		}
		if _, f := eval(w, 2); f.Cause != model.Unobservable || f.Spec() {
			t.Errorf("an observer without a pair: %v", f)
		}
	}
}

func TestFaults(t *testing.T) {
	p := compile(t, `{"v": {"type": "invariant", "predicate": ["forall", "d", "Document", ["eq", ["field", "d", "visibility"], "private"]]}, "w": {"type": "invariant", "predicate": ["field", "doc", "deleted"]}}`)
	w := newWorld(p, "member", true)
	if b := w.Check(nil); len(b) != 0 {
		t.Errorf("what is about nothing is not broken: %v", b)
	}
	w.Create(p.Entity("Document"))
	b := w.Check(nil)
	if len(b) != 1 || b[0].Fault.Cause != model.UnsetField || b[0].Fault.String() != "d.visibility is read before it has a value" {
		t.Errorf("%+v", b)
	}
}

func TestTemporal(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		auth       bool
		actions    string
		want       string // by action, what it broke
	}{
		{"authenticated", `["before", {"tag": "mutating"}, ["field", "actor", "authenticated"]]`, true, "create publish", ""},
		{"not authenticated", `["before", {"tag": "mutating"}, ["field", "actor", "authenticated"]]`, false, "create read publish", "create: r nothing, publish: r Document#1"},
		{"by name", `["before", {"action": "read"}, ["field", "actor", "authenticated"]]`, false, "create read", "read: r Document#1"},
		{"by what it writes", `["before", {"writes": "Document"}, ["field", "actor", "authenticated"]]`, false, "create", "create: r nothing"},
		{"read only", `["never", {"tag": "readonly"}]`, true, "create read", "read: r Document#1"},
		{"other order", `["after", "delete", ["never", "restore", {"same": "entity"}]]`, true, "create restore delete read", ""},
		{"same entity", `["after", "delete", ["never", "restore", {"same": "entity"}]]`, true, "create delete restore", "restore: r Document#1"},
		{"other entity", `["after", "delete", ["never", "restore", {"same": "entity"}]]`, true, "create delete create restore", ""},
		{"any entity", `["after", "delete", ["never", "restore"]]`, true, "create delete create restore", "restore: r Document#2"},
		{"same actor", `["after", "delete", ["never", "restore", {"same": "actor"}]]`, true, "create delete create restore", "restore: r Document#2"},
		{"same variable", `["after", "delete", ["never", "restore", {"same": "doc"}]]`, true, "create delete create restore", ""},
		{"once is allowed", `["after", "delete", ["never", "delete", {"same": "entity"}]]`, true, "create delete", ""},
		{"twice is not", `["after", "delete", ["never", "delete", {"same": "entity"}]]`, true, "create delete delete", "delete: r Document#1"},
		{"a condition from then on", `["after", "publish", ["eq", ["field", "doc", "visibility"], "public"]]`, true, "create publish read archive publish", "archive: r Document#1"},
		{"of what it was then", `["after", "publish", ["eq", ["field", "doc", "visibility"], "public"]]`, true, "create publish create archive", ""},
		{"nothing", `["never", "delete"]`, true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, `{"r": {"type": "temporal", "rule": `+c.rule+`}}`)
			w := newWorld(p, "member", c.auth)
			var got []string
			for _, a := range strings.Fields(c.actions) {
				for _, b := range w.step(t, a) {
					got = append(got, a+": "+b)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

func TestInvariants(t *testing.T) {
	p := compile(t, `{"all": {"type": "invariant", "predicate": ["forall", "u", "User", ["field", "u", "authenticated"]]},
		"owned": {"type": "invariant", "predicate": ["forall", "d", "Document", ["exists", "u", "User", ["eq", ["field", "d", "owner_id"], ["field", "u", "id"]]]]}}`)
	w := newWorld(p, "admin", true)
	if b := w.Check(nil); len(b) != 0 {
		t.Errorf("broken from the start: %v", b)
	}
	w.step(t, "create")
	w.add("guest", false)
	b := w.Check(nil)
	if len(b) != 1 || p.Property(b[0].Property) != "all" {
		t.Errorf("%v", b)
	}
	if b := w.Check(nil); len(b) != 0 {
		t.Errorf("nothing has changed, but %v is looked at again", b)
	}
}

// dump is all that a machine knows of instances and variables.
func dump(w *world) string {
	var list []any
	for i := range int32(w.Instances()) {
		for k := range w.p.Document().Entities[w.EntityOf(i)].Fields {
			list = append(list, w.Name(i), w.Text(w.Get(i, k)))
		}
	}
	for s := range w.p.Vars() {
		list = append(list, w.Var(s))
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Whatever was done since a mark, undoing it gives the state of the mark back,
// and what follows is as if nothing had happened.
func TestUndo(t *testing.T) {
	p := compile(t, `{"r": {"type": "temporal", "rule": ["after", "delete", ["never", "restore", {"same": "entity"}]]},
		"s": {"type": "temporal", "rule": ["after", "publish", ["eq", ["field", "doc", "visibility"], "public"]]}}`)
	rapid.Check(t, func(t *rapid.T) {
		actions := rapid.SliceOf(rapid.SampledFrom([]string{"create", "publish", "archive", "restore", "delete", "read"}))
		prefix, detour, rest := actions.Draw(t, "prefix"), actions.Draw(t, "detour"), actions.Draw(t, "rest")
		run := func(w *world, list []string) []model.Breach {
			var b []model.Breach
			for _, a := range list {
				n := p.Action(a)
				b = w.Before(n, b)
				if w.Apply(n).Cause == model.NoFault {
					b = w.Check(w.After(n, b))
				}
			}
			return b
		}
		straight, turned := newWorld(p, "member", true), newWorld(p, "member", true)
		run(straight, prefix)
		run(turned, prefix)
		mark := turned.Mark()
		run(turned, detour)
		turned.Undo(mark)
		if dump(straight) != dump(turned) {
			t.Fatalf("undone: %s, want %s", dump(turned), dump(straight))
		}
		a, b := run(straight, rest), run(turned, rest)
		if len(a) != len(b) || dump(straight) != dump(turned) {
			t.Fatalf("what follows differs: %v, %v", a, b)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	p := compile(b, `{"v": {"type": "invariant", "predicate": ["forall", "d", "Document", ["implies", ["eq", ["field", "d", "deleted"], false], ["exists", "u", "User", ["is", "d", "Reachable", {"by": "u"}]]]]}}`)
	w := newWorld(p, "member", true)
	w.Apply(p.Action("create"))
	c := p.Condition(p.Document().Properties[0].Predicate).Code
	b.ReportAllocs()
	for b.Loop() {
		if v, _ := w.Eval(c); v != model.True {
			b.Fatal("does not hold")
		}
	}
}

func TestEvalAllocatesNothing(t *testing.T) {
	p := compile(t, `{"v": {"type": "invariant", "predicate": ["forall", "d", "Document", ["exists", "u", "User", ["and", ["is", "d", "Reachable", {"by": "u"}], ["derived", "reaches", "d", "u"]]]]}}`)
	w := newWorld(p, "member", true)
	w.Apply(p.Action("create"))
	c := p.Condition(p.Document().Properties[0].Predicate).Code
	if n := testing.AllocsPerRun(100, func() { w.Eval(c) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// One step of the model: what must hold before it, its effect, rules and
// invariants after it, all taken back.
func TestStepAllocatesNothing(t *testing.T) {
	p := compile(t, `{"v": {"type": "invariant", "predicate": ["forall", "d", "Document", ["lte", ["field", "d", "size"], 9]]},
  "b": {"type": "temporal", "rule": ["before", {"tag": "mutating"}, ["eq", ["field", "actor", "authenticated"], true]]},
  "n": {"type": "temporal", "rule": ["after", "delete", ["never", "grow", {"same": "entity"}]]}}`)
	w := newWorld(p, "member", true)
	w.Apply(p.Action("create"))
	grow := p.Action("grow")
	var breaches []model.Breach
	if n := testing.AllocsPerRun(100, func() {
		at := w.Mark()
		breaches = w.Before(grow, breaches[:0])
		fault := w.Apply(grow)
		breaches = w.Check(w.After(grow, breaches))
		if w.Undo(at); len(breaches) > 0 || fault.Cause != model.NoFault {
			t.Fatal(breaches, fault)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
