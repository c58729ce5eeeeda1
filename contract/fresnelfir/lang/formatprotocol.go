package lang

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// node writes a node of a protocol.
func (p *printer) node(n *node, level int) string {
	kind := textOf(n, "type")
	var args []string
	switch kind {
	case "call":
		if a := textOf(n, "action"); p.actable(a) && !p.guarded(a) {
			return a
		}
		return "call(" + value(n.Get("action")) + ")"
	case "ref":
		return "ref(" + value(n.Get("protocol")) + ")"
	case "seq":
		for _, x := range itemsOf(n.Get("children")) {
			args = append(args, p.node(&x, level+1))
		}
	case "repeat":
		args = []string{value(n.Get("min")), value(n.Get("max")), p.node(n.Get("body"), level+1)}
		if one := "repeat(" + args[0] + ", " + args[1] + ", "; strings.Contains(args[2], "\n") {
			return one + p.node(n.Get("body"), level) + ")"
		}
	case "alt":
		for i := range itemsOf(n.Get("branches")) {
			args = append(args, p.branch(&n.Get("branches").Items()[i], level+1))
		}
	}
	return p.call(kind, args, level)
}

// guarded reports whether the function of an action has requirements.
func (p *printer) guarded(action string) bool {
	return p.branches[action] != nil && fullExpr(p.branches[action], "guard") != nil || len(itemsOf(p.root.Get("effects").Get(action).Get("picks"))) > 0
}

func (p *printer) branch(n *node, level int) string {
	id := textOf(n, "id")
	if p.branches[id] == n || p.branches[id] != nil && textOf(n.Get("body"), "action") == id {
		return id
	}
	args := []string{p.node(n.Get("body"), level+1), "id = " + quote(id), "weight = " + value(n.Get("weight"))}
	if g := fullExpr(n, "guard"); g != nil {
		args = append(args, "when = "+p.expr(g))
	}
	return p.call("branch", args, level)
}

func (p *printer) property(m doctree.Member) {
	if !isIdentifier(m.Key.Text) {
		return
	}
	fn, arg := "always", ""
	if textOf(&m.Value, "type") == "temporal" {
		if rule := m.Value.Get("rule"); rule != nil {
			fn, arg = "temporal", p.rule(rule)
		}
	} else if e := fullExpr(&m.Value, "predicate"); e != nil {
		arg = p.expr(e)
	}
	if arg == "" {
		return
	}
	args := []string{arg}
	if d := m.Value.Get("description"); d != nil {
		args = append(args, value(d))
	}
	p.line("\n%s = %s", m.Key.Text, p.call(fn, args, 0))
}

func (p *printer) rule(n *node) string {
	word := n.Items()[0].Text
	trigger := reading(&n.Items()[1])
	if n.Items()[1].Kind == doctree.Map && len(n.Items()[1].Members()) == 1 {
		m := &n.Items()[1].Members()[0]
		trigger = m.Key.Text + "(" + reading(&m.Value) + ")"
	}
	args := []string{trigger}
	if len(n.Items()) == 3 {
		x := &n.Items()[2]
		switch {
		case word == "never":
			if same := x.Get("same"); same != nil {
				args = append(args, "same = "+value(same))
			}
		case x.Kind == doctree.Seq && len(x.Items()) > 0 && x.Items()[0].Text == "never":
			args = append(args, p.rule(x))
		default:
			args = append(args, p.expr(x))
		}
	}
	return word + "(" + strings.Join(args, ", ") + ")"
}

func (p *printer) generator(m doctree.Member) {
	if !isIdentifier(m.Key.Text) {
		return
	}
	var args []string
	for _, s := range itemsOf(m.Value.Get("sequence")) {
		a := s.Get("action")
		if a == nil {
			return
		}
		with := s.Get("with")
		if with == nil || len(with.Members()) == 0 {
			args = append(args, reading(a))
			continue
		}
		parts := []string{reading(a)}
		for i := range with.Members() {
			if !isIdentifier(with.Members()[i].Key.Text) {
				return
			}
			parts = append(parts, with.Members()[i].Key.Text+" = "+p.given(&with.Members()[i].Value))
		}
		args = append(args, "step("+strings.Join(parts, ", ")+")")
	}
	if then := m.Value.Get("postcondition"); then != nil {
		args = append(args, "then = "+p.expr(then))
	}
	if d := m.Value.Get("description"); d != nil {
		args = append(args, "description = "+value(d))
	}
	p.line("\n%s = %s", m.Key.Text, p.call("generator", args, 0))
}

func (p *printer) given(n *node) string {
	if n.Kind != doctree.Map {
		return value(n)
	}
	fn, args := "bind", []string{}
	if g := n.Get("generate"); g != nil {
		fn, args = "make", append(args, reading(g))
		if b := n.Get("bind"); b != nil {
			args = append(args, "bind = "+value(b))
		}
	} else {
		args = append(args, value(n.Get("bind")))
	}
	if w := n.Get("where"); w != nil {
		args = append(args, "where = "+p.expr(w))
	}
	return fn + "(" + strings.Join(args, ", ") + ")"
}

// settings writes what differs from the defaults.
func (p *printer) settings() {
	p.line("")
	x := p.root.Get("exploration")
	var args []string
	add := func(name string, keys ...string) {
		n := x
		for _, k := range keys {
			n = n.Get(k)
		}
		if p.isExplicit(append([]string{"exploration"}, keys...)...) {
			args = append(args, name+" = "+reading(n))
		}
	}
	add("actor", "actor")
	add("budget", "budget")
	if x.Get("vary") == nil {
		args = append(args, "vary = False")
	}
	add("threads", "concurrency", "threads")
	add("mode", "concurrency", "mode")
	add("faults", "concurrency", "faults")
	add("epoch", "epoch_size")
	add("floor", "coverage_floor_threshold")
	add("weights", "weights")
	add("strategy", "strategy")
	for name, keys := range map[string][2]string{"directives": {"directives_allowed", "type"}, "signals": {"adaptation_signals", "signal"}} {
		if !p.isExplicit("exploration", keys[0]) {
			continue
		}
		words := seq.Map(itemsOf(x.Get(keys[0])), func(i node) string { return quote(textOf(&i, keys[1])) })
		args = append(args, name+" = ["+strings.Join(words, ", ")+"]")
	}
	if len(args) > 0 {
		slices.Sort(args)
		p.line("%s", p.call("explore", args, 0))
	}
	p.cover()
	args = nil
	for _, key := range []string{"mode", "observe", "capture"} {
		if p.isExplicit("bindings", "event_hooks", key) {
			args = append(args, key+" = "+value(p.root.Get("bindings").Get("event_hooks").Get(key)))
		}
	}
	if len(args) > 0 {
		p.line("%s", p.call("hooks", args, 0))
	}
}

func (p *printer) cover() {
	c := p.root.Get("inputs").Get("coverage")
	var args []string
	said := p.isExplicit("inputs", "coverage", "targets")
	for _, key := range []string{"seed", "reproducible"} {
		said = said || p.isExplicit("inputs", "coverage", key)
	}
	if !said {
		return
	}
	for _, t := range itemsOf(c.Get("targets")) {
		var parts []string
		for _, key := range []string{"machine", "domain", "strength"} {
			if v := t.Get(key); v != nil {
				parts = append(parts, reading(v))
			}
		}
		for _, i := range itemsOf(t.Get("over")) {
			parts = append(parts, reading(&i))
		}
		for _, i := range itemsOf(t.Get("values")) {
			parts = append(parts, value(&i))
		}
		args = append(args, textOf(&t, "type")+"("+strings.Join(parts, ", ")+")")
	}
	for _, key := range []string{"seed", "reproducible"} {
		if p.isExplicit("inputs", "coverage", key) {
			args = append(args, key+" = "+value(c.Get(key)))
		}
	}
	p.line("%s", p.call("cover", args, 0))
}
