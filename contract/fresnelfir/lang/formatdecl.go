package lang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// kindText writes a type.
func kindText(n *node) (string, bool) {
	word, _ := n.Get("type").Str()
	var args []string
	switch word {
	case "ref":
		args = append(args, reading(n.Get("entity")))
	case "int":
		low, high := n.Get("min"), n.Get("max")
		switch {
		case low != nil && high != nil:
			args = append(args, value(low), value(high))
		case low != nil:
			args = append(args, value(low))
		case high != nil:
			args = append(args, "max = "+value(high))
		}
	case "enum", "string":
		for _, v := range itemsOf(n.Get("values")) {
			args = append(args, value(&v))
		}
	case "bool":
	default:
		return "", false
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		switch m.Key.Text {
		case "type", "min", "max", "values", "entity":
		default:
			if !isIdentifier(m.Key.Text) {
				return "", false
			}
			args = append(args, m.Key.Text+" = "+value(&m.Value))
		}
	}
	if len(args) == 0 && word != "enum" {
		return word, true
	}
	return word + "(" + strings.Join(args, ", ") + ")", true
}

func (p *printer) entity(m doctree.Member) {
	fields := m.Value.Get("fields")
	if !isIdentifier(m.Key.Text) || fields == nil {
		return
	}
	var args []string
	bare := leftOut(p.root)
	for i := range fields.Members() {
		f := &fields.Members()[i]
		k := f.Value
		if slices.Contains(bare, &f.Value) {
			k = k.WithMembers(append(slices.Clone(k.Members()), doctree.Member{Key: text(k.Pos, "default"), Value: node{Kind: doctree.Null}}))
		}
		kind, ok := kindText(&k)
		if !ok || !isIdentifier(f.Key.Text) {
			return
		}
		args = append(args, f.Key.Text+" = "+kind)
	}
	p.line("\n%s = %s", m.Key.Text, p.call("entity", args, 0))
}

func (p *printer) inputs() {
	p.line("")
	for _, m := range p.members("inputs", "domains") {
		if kind, ok := kindText(&m.Value); ok && isIdentifier(m.Key.Text) {
			p.line("%s = input(%s)", m.Key.Text, kind)
		}
	}
	p.rules = true
	for _, c := range itemsOf(p.root.Get("inputs").Get("constraints")) {
		if rule := c.Get("rule"); rule != nil && c.Get("name") != nil {
			p.line("%s", p.call("constraint", []string{value(c.Get("name")), p.expr(rule)}, 0))
		}
	}
	p.rules = false
}

func (p *printer) function(m doctree.Member, section string) {
	if !p.functional(m.Key.Text, &m.Value, section) {
		return
	}
	var params []string
	if section == "refinements" {
		if p.root.Get("functions").Get(m.Key.Text) != nil {
			return // tests of such a refinement would be read as calls
		}
		params = append(params, "self = "+m.Value.Get("base").Text)
		p.local = append(p.local, "self")
	}
	defer func() { p.local = p.local[:0] }()
	for _, x := range itemsOf(m.Value.Get("params")) {
		params = append(params, x.Get("name").Text+" = "+x.Get("type").Text)
		p.local = append(p.local, x.Get("name").Text)
	}
	returns := m.Value.Get("returns")
	if class, _ := m.Value.Get("classification").Str(); class == "observer" {
		var args []string
		if b := m.Value.Get("binding"); b != nil && b.Text != m.Key.Text {
			args = append(args, value(b))
		}
		args = append(args, params...)
		if path := m.Value.Get("part"); path != nil {
			args = append(args, "part = "+value(path))
		}
		if models := m.Value.Get("models"); models != nil {
			args = append(args, "models = "+reading(models))
		}
		if guess := m.Value.Get("guess"); guess != nil {
			args = append(args, "guess = "+value(guess))
		}
		p.line("\n%s = %s", m.Key.Text, p.call("observer", append(args, "returns = "+reading(returns)), 0))
		return
	}
	if p.isExplicit("functions", m.Key.Text, "returns") {
		params = append(params, "returns = "+reading(returns))
	}
	e := fullExpr(&m.Value, map[string]string{"refinements": "predicate", "functions": "body"}[section])
	if e != nil {
		p.line("\ndef %s(%s):\n    return %s", m.Key.Text, strings.Join(params, ", "), p.expr(e))
	}
}

// actable reports whether an action can be written as a function.
func (p *printer) actable(action string) bool {
	e := p.root.Get("effects").Get(action)
	if e == nil || !isIdentifier(action) || p.root.Get("bindings").Get("actions").Get(action) == nil {
		return false
	}
	if c := e.Get("creates"); c != nil && !(isIdentifier(textOf(c, "assign")) && isIdentifier(textOf(c, "entity"))) {
		return false
	}
	for _, x := range itemsOf(e.Get("picks")) {
		if !isIdentifier(textOf(&x, "var")) || !isIdentifier(textOf(&x, "entity")) {
			return false
		}
	}
	ok := true
	var visit func(list []node)
	visit = func(list []node) {
		for i := range list {
			x := &list[i]
			if x.Get("if") != nil {
				visit(itemsOf(x.Get("then")))
				visit(itemsOf(x.Get("else")))
			} else if t := itemsOf(x.Get("target")); len(t) != 2 || !isIdentifier(t[0].Text) {
				ok = false
			}
		}
	}
	visit(itemsOf(e.Get("sets")))
	visit(itemsOf(e.Get("steps")))
	return ok
}

func textOf(n *node, key string) string {
	s, _ := n.Get(key).Str()
	return s
}

func (p *printer) action(m doctree.Member) {
	name := m.Key.Text
	p.line("\ndef %s():", name)
	start := p.b.Len()
	say := func(s string) { p.line("    %s", s) }
	picks := itemsOf(m.Value.Get("picks"))
	branch := p.branches[name]
	require := func(all []node, chosen bool) { // the last condition says that the next choice has instances
		if chosen && len(all) > 0 {
			all = all[:len(all)-1]
		}
		for _, e := range all {
			say("require(" + p.expr(&e) + ")")
		}
	}
	if branch != nil {
		require(conjuncts(fullExpr(branch, "guard")), len(picks) > 0)
	}
	for i := range picks {
		say(textOf(&picks[i], "var") + " = any(" + textOf(&picks[i], "entity") + ")")
		require(conjuncts(picks[i].Get("where")), i < len(picks)-1)
	}
	if branch != nil {
		if w := branch.Get("weight"); w != nil && w.Text != "1" {
			say("weight(" + value(w) + ")")
		}
	}
	sets := itemsOf(m.Value.Get("sets"))
	if steps := m.Value.Get("steps"); steps != nil {
		sets = steps.Items()
	}
	if c := m.Value.Get("creates"); c != nil {
		v, args := textOf(c, "assign"), []string{textOf(c, "entity")}
		for len(sets) > 0 {
			t := itemsOf(sets[0].Get("target"))
			if len(t) != 2 || t[0].Text != v || !isIdentifier(t[1].Text) || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, t[1].Text+" = ") }) {
				break
			}
			args = append(args, t[1].Text+" = "+p.expr(sets[0].Get("value")))
			sets = sets[1:]
		}
		say(v + " = " + p.call("new", args, 1))
	}
	p.sets(sets, "    ")
	p.binding(name)
	if p.b.Len() == start {
		say("pass")
	}
}

// conjuncts returns the conditions that must all hold.
func conjuncts(n *node) []node {
	if n == nil || n.Kind == doctree.Null || n.Kind == doctree.Bool && n.Bool {
		return nil
	}
	if n.Kind == doctree.Seq && len(n.Items()) > 2 && n.Items()[0].Text == "and" {
		return n.Items()[1:]
	}
	return []node{*n}
}

func (p *printer) sets(list []node, indent string) {
	if len(list) == 0 && indent != "    " {
		p.line("%spass", indent)
	}
	for i := range list {
		x := &list[i]
		if cond := x.Get("if"); cond != nil {
			p.line("%sif %s:", indent, p.expr(cond))
			p.sets(itemsOf(x.Get("then")), indent+"    ")
			if other := itemsOf(x.Get("else")); len(other) > 0 {
				p.line("%selse:", indent)
				p.sets(other, indent+"    ")
			}
			continue
		}
		t := x.Get("target").Items()
		target, _ := p.fieldOf(t[0].Text, t[1].Text)
		if t[0].Text == "input" || !strings.Contains(target, t[0].Text) {
			target = t[0].Text + "[" + quote(t[1].Text) + "]"
		}
		v := x.Get("value")
		if w := itemsOf(v); len(w) == 3 && (w[0].Text == "add" || w[0].Text == "sub") && len(w[1].Items()) == 3 && w[1].Items()[1].Text == t[0].Text &&
			w[1].Items()[0].Text == "field" && w[1].Items()[2].Text == t[1].Text {
			p.line("%s%s %s= %s", indent, target, infix[w[0].Text].sign, p.expr(&w[2]))
			continue
		}
		p.line("%s%s = %s", indent, target, p.expr(v))
	}
}

// binding writes the call of the export, unless it is the default.
func (p *printer) binding(name string) {
	b := p.root.Get("bindings").Get("actions").Get(name)
	path := []string{"bindings", "actions", name}
	said := func(key string) bool { return p.isExplicit(append(slices.Clip(path), key)...) }
	var args []string
	any := said("args")
	for _, key := range options {
		any = any || said(key)
	}
	if !any {
		return
	}
	args = append(args, value(b.Get("function")))
	values := b.Get("values")
	for i, x := range itemsOf(b.Get("args")) {
		var v *node
		if values != nil {
			v = values.Get(x.Text)
		}
		given, plain := "None", isIdentifier(x.Text) && !slices.Contains(options, x.Text)
		switch {
		case v == nil && (plain || strings.Contains(x.Text, ".")):
			args = append(args, reading(&x))
			continue
		case v == nil:
		case v.Get("is") != nil:
			given = reading(v.Get("is"))
		case x.Text == "arg"+strconv.Itoa(i+1):
			args = append(args, p.expr(v))
			continue
		default:
			given = p.expr(v)
		}
		if plain {
			args = append(args, x.Text+" = "+given)
		} else {
			args = append(args, "**{"+quote(x.Text)+": "+given+"}")
		}
	}
	for _, key := range options[1:] {
		v := b.Get(key)
		if v == nil || !said(key) {
			continue
		}
		switch key {
		case "answer":
			args = append(args, "answer = "+p.expr(v))
			continue
		case "guess", "part":
			args = append(args, key+" = "+value(v))
			continue
		case "returns":
			if t := v.Get("type"); t != nil {
				v = t
			}
		case "rejects":
			if r := v.Get("return"); r != nil && len(v.Members()) == 1 {
				v = r
			}
			args = append(args, "rejects = "+value(v))
			continue
		}
		args = append(args, key+" = "+reading(v))
	}
	p.line("    %s", p.call("call", args, 1))
}
