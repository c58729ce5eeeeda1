package model_test

import (
	"math"
	"testing"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// How far a state is from making a condition true and from making it false: a
// member has a private document of size 3 of its own, a deleted one, and one
// without a size.
func TestDistances(t *testing.T) {
	near := func(gap float64) float64 { return (gap + 1) / (gap + 2) }
	size, gone := `["field", "doc", "size"]`, `["field", "doc", "deleted"]`
	for _, c := range []struct {
		expr    string
		yes, no float64 // from true, from false
	}{
		{expr: `true`, yes: 0, no: 1},
		{expr: gone, yes: 1, no: 0},
		{expr: `["not", ` + gone + `]`, yes: 0, no: 1},
		{expr: `["gt", ` + size + `, 5]`, yes: near(2), no: 0},
		{expr: `["lte", ` + size + `, 5]`, yes: 0, no: near(2)},
		{expr: `["eq", 1, ` + size + `]`, yes: near(2), no: 0},
		{expr: `["eq", ["field", "doc", "visibility"], "public"]`, yes: 1, no: 0},
		{expr: `["and", ` + gone + `, ["gt", ` + size + `, 5]]`, yes: 1 + near(2), no: 0},
		{expr: `["and", true, ["gt", ` + size + `, 2]]`, yes: 0, no: near(1)},
		{expr: `["or", ` + gone + `, ["gt", ` + size + `, 5]]`, yes: near(2), no: 0},
		{expr: `["or", true, ["gt", ` + size + `, 2]]`, yes: 0, no: 1 + near(1)},
		{expr: `["implies", ["gt", ` + size + `, 2], ` + gone + `]`, yes: near(1), no: 0},
		{expr: `["implies", ["gt", ` + size + `, 5], ` + gone + `]`, yes: 0, no: near(2)},
		{expr: `["forall", "d", "Document", ["field", "d", "deleted"]]`, yes: 2, no: 0},
		{expr: `["forall", "d", "Document", ["lt", ["field", "d", "size"], 5]]`, yes: 0, no: 2 * near(2) / (near(2) + 1)},
		{expr: `["exists", "d", "Document", ["field", "d", "deleted"]]`, yes: 1, no: 0},
		{expr: `["exists", "d", "Document", ["gt", ["field", "d", "size"], 4]]`, yes: 2 * near(1) / (near(1) + 1), no: 0},
		{expr: `["forall", "d", "Document", ["exists", "u", "User", ["eq", ["field", "u", "id"], ["field", "d", "owner_id"]]]]`, yes: 0, no: 1},
		{expr: `["is", "doc", "Reachable", {"by": "actor"}]`, yes: 0, no: 1},
		{expr: `["derived", "reaches", "doc", "actor"]`, yes: 0, no: 1},
		{expr: `["observer", "asks", "doc", "actor"]`, yes: 0, no: 1},
		// The variable of a quantifier ends with it.
		{expr: `["and", ["forall", "doc", "Document", true], ["gt", ` + size + `, 5]]`, yes: near(2), no: 0},
	} {
		p := compile(t, `{"v": {"type": "invariant", "predicate": `+c.expr+`}}`)
		w := newWorld(p, "member", true)
		w.step(t, "create")
		w.step(t, "create")
		w.step(t, "grow")
		w.step(t, "archive")
		e := p.Document().Properties[0].Predicate
		before := w.Mark()
		for want, far := range map[bool]float64{true: c.yes, false: c.no} {
			if got := p.Distance(e, want)(w.Machine); math.Abs(got-far) > 1e-12 {
				t.Errorf("%s is %v from %t, want %v", c.expr, got, want, far)
			}
		}
		if got := p.Breaking(0)(w.Machine); math.Abs(got-c.no) > 1e-12 {
			t.Errorf("%s is %v from a breach, want %v", c.expr, got, c.no)
		}
		// An expression is what it is no distance from being.
		if v, ok := w.Value(p.Condition(e).Code); !ok || (v == model.True) != (c.yes == 0) || w.Mark() != before {
			t.Errorf("%s: %v, %t", c.expr, v, ok)
		}
	}
}

// How far a state is from a breach of a rule over time.
func TestDistancesOfRules(t *testing.T) {
	const nothing = 2
	for _, c := range []struct {
		rule    string
		actions []string
		want    float64
	}{
		{`["before", {"action": "read"}, ["field", "actor", "authenticated"]]`, nil, 1},
		{`["before", {"action": "read"}, ["not", ["field", "actor", "authenticated"]]]`, nil, 0},
		{`["after", "publish", ["eq", ["field", "doc", "visibility"], "public"]]`, nil, nothing},
		{`["after", "publish", ["eq", ["field", "doc", "visibility"], "public"]]`, []string{"publish"}, 1},
		{`["after", "publish", ["lt", ["field", "doc", "size"], 5]]`, []string{"grow", "publish"}, 3. / 4},
		{`["after", "delete", ["never", "restore", {"same": "entity"}]]`, nil, nothing},
		{`["after", "delete", ["never", "restore", {"same": "entity"}]]`, []string{"delete"}, .5},
		{`["never", "delete"]`, nil, .5},
	} {
		p := compile(t, `{"other": {"type": "invariant", "predicate": true}, "r": {"type": "temporal", "rule": `+c.rule+`}}`)
		w := newWorld(p, "member", true)
		w.step(t, "create")
		for _, a := range c.actions {
			w.step(t, a)
		}
		if got := p.Breaking(1)(w.Machine); got != c.want {
			t.Errorf("%s after %v: %v from a breach, want %v", c.rule, c.actions, got, c.want)
		}
	}
}

// Taken again, an effect settles what it sets from what it does not change.
func TestSettled(t *testing.T) {
	p := compile(t, `{}`)
	w := newWorld(p, "member", true)
	for action, want := range map[string]bool{"create": true, "publish": true, "grow": false, "read": true} {
		w.step(t, "create")
		w.step(t, action)
		before := dump(w)
		if got := w.Settled(p.Action(action)); got != want || dump(w) != before {
			t.Errorf("%s: settled %t, want %t; %s, was %s", action, got, want, dump(w), before)
		}
	}
}

// Sketches tell truths, enum values and how many instances of an entity there
// are apart, and nothing else.
func TestSketches(t *testing.T) {
	p := compile(t, `{}`)
	user := p.Entity("User")
	of := func(role string, actions ...string) *world {
		w := newWorld(p, role, true)
		for _, a := range actions {
			w.step(t, a)
		}
		return w
	}
	base := of("member", "create")
	for name, c := range map[string]struct {
		w            *world
		same, silent bool // with users, and without
	}{
		"again":          {of("member", "create"), true, true},
		"another role":   {of("guest", "create"), false, true},
		"another value":  {of("member", "create", "publish"), false, false},
		"another number": {of("member", "create", "grow", "archive"), true, true},
		"another truth":  {of("member", "create", "delete"), false, false},
		"two":            {of("member", "create", "create"), false, false},
		"none":           {of("member"), false, false},
	} {
		if same := c.w.Sketch(-1) == base.Sketch(-1); same != c.same {
			t.Errorf("%s: equal %t", name, same)
		}
		if same := c.w.Sketch(user) == base.Sketch(user); same != c.silent {
			t.Errorf("%s, users apart: equal %t", name, same)
		}
	}
}

// A quantifier hides a variable of the same name, and gives it back.
func TestQuantifierEndsItsVariable(t *testing.T) {
	p := compile(t, `{"v": {"type": "invariant", "predicate": ["and", ["forall", "doc", "Document", ["lte", ["field", "doc", "size"], 3]], ["gt", ["field", "doc", "size"], 2]]}}`)
	w := newWorld(p, "member", true)
	w.step(t, "create")
	first := w.Var(p.Slot("doc"))
	w.step(t, "create")
	w.step(t, "grow")
	code := p.Condition(p.Document().Properties[0].Predicate).Code
	if v, f := w.Eval(code); v != model.True {
		t.Errorf("of the second: %v %v", v, f)
	}
	w.Bind(p.Slot("doc"), first)
	if v, f := w.Eval(code); v != model.False {
		t.Errorf("of the first: %v %v", v, f)
	}
}
