package lang

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// A liveness property is about behaviours that never end. They include those in which nothing more
// happens, unless a fair action is allowed in the last state: fair actions are not postponed
// forever. So if an instance is waiting in a state in which no fair action is allowed, there is a
// behaviour that stays in this state, and in it the instance waits forever. The property therefore
// becomes an invariant over a field that says whether an instance is waiting. Each action that
// writes the instance updates the field:
//
//	NAME.wait  -1: it is not waiting; otherwise how many actions have written it since it began to wait

// awaited is a liveness property.
type awaited struct {
	d      *decl
	word   string // "eventually", "until", "leads_to"
	entity string
	first  *syntax.LambdaExpr // for until: what holds until then; for leads_to: what begins the wait
	then   *syntax.LambdaExpr
	fair   []argument // the fair actions, by name
	within int        // -1: unbounded
	why    *node
}

func (w *awaited) field() string { return w.d.name + ".wait" }

var liveness = []string{"eventually", "leads_to", "until"}

// await reads eventually(ENTITY, lambda o: ..., fair = [ACTION]).
func (c *compiler) await(d *decl) {
	pos, named := c.arguments(d.call)
	w := &awaited{d: d, word: d.fn, within: -1}
	if n := len(pos); n > 0 && c.literalOrNone(pos[n-1]).Kind == doctree.String {
		v := c.literal(pos[n-1])
		w.why, pos = &v, pos[:n-1]
	}
	var conds []*syntax.LambdaExpr
	for _, e := range pos[min(1, len(pos)):] {
		if f, ok := e.(*syntax.LambdaExpr); ok && len(f.Params) == 1 {
			conds = append(conds, f)
		}
	}
	want := map[bool]int{true: 1, false: 2}[w.word == "eventually"]
	if len(conds) != want || len(pos) != want+1 {
		c.fail(d.call, "arity", "", "must be %s(ENTITY, %sfair = [ACTION])", w.word, strings.Repeat("lambda x: CONDITION, ", want))
		return
	}
	w.entity, w.then = c.reading(pos[0]).Text, conds[want-1]
	if c.decls[declEntity][w.entity] == nil {
		c.fail(pos[0], "unknown-entity", diag.DidYouMean(w.entity, c.names(declEntity)), "must be an entity: the property is about each of its instances")
		return
	}
	if want == 2 {
		w.first = conds[0]
	}
	for _, a := range named {
		switch a.name {
		case "within":
			n, err := strconv.Atoi(c.literal(a.value).Text)
			if err != nil || n < 0 || n > 1000 {
				c.fail(a.value, "type", "", "must be a number of actions, from 0 to 1000")
				return
			}
			w.within = n
		case "fair":
			items, ok := elements(a.value)
			if !ok {
				items = []syntax.Expr{a.value}
			}
			for _, e := range items {
				name := c.reading(e).Text
				if c.acts[name] == nil {
					c.fail(e, "unknown-action", diag.DidYouMean(name, slices.Sorted(maps.Keys(c.acts))), "%q is not an action", name)
					return
				}
				w.fair = append(w.fair, argument{name: name, at: e})
			}
		}
	}
	if len(w.fair) == 0 && w.within < 0 {
		c.fail(d.call, "missing-key", "", "must have fair = [ACTION, ...], actions that are not postponed forever, or within = N actions that write the instance: without either, waiting forever is allowed")
		return
	}
	c.awaits = append(c.awaits, w)
}

// of translates a condition on an instance that a variable stands for.
func (w *awaited) of(c *compiler, f *syntax.LambdaExpr, name string) node {
	param, _ := parameter(f.Params[0])
	s := scope{vars: map[string]string{param: w.entity}, rename: map[string]string{param: name}}
	v, _ := c.condition(f.Body, s)
	var visit func(n *node) bool
	visit = func(n *node) bool {
		if n.Kind == doctree.Seq && len(n.Items()) > 1 {
			switch word := n.Items()[0].Text; {
			case slices.Contains([]string{"forall", "exists", "sum", "count", "derived", "observer", "is", "old"}, word), word == "field" && n.Items()[1].Text != name:
				return false
			}
		}
		for i := range n.Items() {
			if !visit(&n.Items()[i]) {
				return false
			}
		}
		return true
	}
	if !visit(&v) {
		c.fail(f.Body, "expression", "keep other values in a field of the instance", "a temporal condition reads only fields of its instance")
	}
	return v
}

// addWaits adds the updates of wait fields to an action, for the instances that it writes.
func (b *body) addWaits() {
	c := b.c
	for _, w := range c.awaits {
		for _, v := range slices.Sorted(maps.Keys(b.wrote)) {
			if e, _ := b.s.variable(v); e != w.entity {
				continue
			}
			at, name := b.at, b.s.name(v)
			wait, none := op(at, "field", text(at, name), text(at, w.field())), number(at, "-1")
			done, more := w.of(c, w.then, name), integer(at, 0)
			if w.within >= 0 {
				more = op(at, "min", op(at, "add", wait, integer(at, 1)), integer(at, w.within+1))
			}
			made := b.made != nil && b.made.Get("assign").Text == name
			var value node
			switch {
			case w.word == "leads_to" && made:
				value = op(at, "if", op(at, "and", w.of(c, w.first, name), op(at, "not", done)), integer(at, 0), none)
			case w.word == "leads_to":
				value = op(at, "if", done, none, op(at, "if", op(at, "or", op(at, "gte", wait, integer(at, 0)), w.of(c, w.first, name)), more, none))
			case made:
				value = op(at, "if", done, none, integer(at, 0))
			default:
				value = op(at, "if", op(at, "or", op(at, "eq", wait, none), done), none, more)
			}
			n := object(at)
			set(n, at, "target", texts(at, name, w.field()))
			set(n, at, "value", value)
			b.sets = append(b.sets, *n)
		}
	}
}

// waiting adds the wait fields of an entity.
func (c *compiler) waiting(entity string, fields *node) {
	for _, w := range c.awaits {
		if w.entity == entity {
			at, first := c.position(w.d.stmt), "0"
			if w.word == "leads_to" {
				first = "-1"
			}
			k := object(at)
			set(k, at, "type", text(at, "int"))
			set(k, at, "min", number(at, "-1"))
			set(k, at, "max", integer(at, w.within+1))
			set(k, at, "default", number(at, first))
			set(fields, at, w.field(), *k)
		}
	}
}

// awaitedProperty adds the invariant: whenever an instance is waiting, a fair action is allowed,
// the wait has not exceeded its bound and, for until, the first condition holds.
func (c *compiler) awaitedProperty(w *awaited) {
	at := c.position(w.d.stmt)
	each := func(cond node) node {
		return op(at, "forall", text(at, "x"), text(at, w.entity), cond)
	}
	wait := op(at, "field", text(at, "x"), text(at, w.field()))
	idle := op(at, "eq", wait, number(at, "-1"))
	var all []node
	var said []string
	if len(w.fair) > 0 {
		allowed := op(at, "or")
		for _, a := range w.fair {
			if v := c.allowed(a); v != nil {
				allowed.Add(*v)
			}
			said = append(said, a.name)
		}
		allowed.Add(each(idle))
		all = append(all, allowed)
	}
	if w.word == "until" {
		all = append(all, each(op(at, "or", idle, w.of(c, w.first, "x"))))
	}
	why := w.word
	if len(said) > 0 {
		why += ", where " + strings.Join(said, ", ") + " is not postponed forever"
	}
	if w.within >= 0 {
		all = append(all, each(op(at, "lte", wait, integer(at, w.within))))
		why += fmt.Sprintf(", within %s on the %s", diag.Plural(w.within, "action"), w.entity)
	}
	n := object(c.position(w.d.call))
	set(n, at, "type", text(at, "invariant"))
	set(n, at, "predicate", truth(at, true))
	set(n, at, "full", *conjunction(all))
	c.noteExtension(at, func() (key, what string) {
		return "$.properties." + w.d.name + ".full", w.word + ", with the field " + w.entity + "." + w.field() + " that actions keep"
	})
	if w.why == nil {
		v := text(at, why)
		w.why = &v
	}
	set(n, w.why.Pos, "description", *w.why)
	set(c.section("properties"), at, w.d.name, *n)
}

// mostAllowed limits the inputs with which a fair action is tried.
const mostAllowed = 64

// allowed returns the condition under which an action is allowed with some input; nil if that is
// unknown.
func (c *compiler) allowed(a argument) *node {
	act := c.acts[a.name]
	if act.guard == nil {
		c.fail(a.at, "expression", "restrict it: any(...) or require(...)", "%s is allowed in every state, so nothing could ever be found waiting", a.name)
		return nil
	}
	ways := []node{*act.guard}
	for i := 0; i < len(ways); {
		name := inputOf(&ways[i])
		if name == "" {
			i++
			continue
		}
		values := c.valuesOf(name)
		if len(values) == 0 || len(ways)-1+len(values) > mostAllowed {
			c.fail(a.at, "expression", "give the input fewer values", "whether %s is allowed depends on more than %d values of %s", a.name, mostAllowed, name)
			return nil
		}
		next := seq.Map(values, func(v node) node { return withInput(ways[i], name, v) })
		ways = slices.Replace(ways, i, i+1, next...)
	}
	if len(ways) == 1 {
		return &ways[0]
	}
	n := op(ways[0].Pos, "or", ways...)
	return &n
}

func isInput(n *node) bool {
	return n.Kind == doctree.Seq && len(n.Items()) == 3 && n.Items()[0].Text == "field" && n.Items()[1].Text == "input"
}

// inputOf returns an input that an expression reads; "": none.
func inputOf(n *node) string {
	if isInput(n) {
		return n.Items()[2].Text
	}
	for i := range n.Items() {
		if name := inputOf(&n.Items()[i]); name != "" {
			return name
		}
	}
	return ""
}

// withInput returns an expression with a value in place of an input.
func withInput(n node, name string, v node) node {
	if isInput(&n) && n.Items()[2].Text == name {
		return v
	}
	if n.Kind != doctree.Seq { // a mapping has members instead of items
		return n
	}
	n = n.WithItems(slices.Clone(n.Items()))
	for i := range n.Items() {
		n.Items()[i] = withInput(n.Items()[i], name, v)
	}
	return n
}

// valuesOf returns the values of an input; none if there are too many.
func (c *compiler) valuesOf(input string) []node {
	d := c.section("inputs", "domains").Get(input)
	if d == nil {
		return nil
	}
	if values := d.Get("values"); values != nil {
		return values.Items()
	}
	switch textOf(d, "type") {
	case "bool":
		return []node{truth(d.Pos, false), truth(d.Pos, true)}
	case "int":
		low, high := d.Get("min"), d.Get("max")
		if low == nil || high == nil {
			return nil
		}
		from, _ := strconv.Atoi(low.Text)
		to, _ := strconv.Atoi(high.Text)
		var list []node
		for i := from; i <= to && i-from <= mostAllowed; i++ {
			list = append(list, integer(d.Pos, i))
		}
		return list
	}
	return nil
}
