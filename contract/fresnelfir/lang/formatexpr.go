package lang

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Precedence of operators, from loosest to tightest.
const (
	bindCond = iota
	bindOr
	bindAnd
	bindNot
	bindCompare
	bindAdd
	bindMul
	bindPrimary
)

var infix = map[string]struct {
	sign string
	bind int
}{
	"eq": {"==", bindCompare}, "neq": {"!=", bindCompare}, "lt": {"<", bindCompare}, "lte": {"<=", bindCompare}, "gt": {">", bindCompare},
	"gte": {">=", bindCompare}, "add": {"+", bindAdd}, "sub": {"-", bindAdd}, "mul": {"*", bindMul}, "div": {"//", bindMul}, "mod": {"%", bindMul},
}

// expr writes an expression.
func (p *printer) expr(n *node) string { return p.bound(n, bindCond) }

// bound writes an expression, in parentheses if it binds more loosely than least.
func (p *printer) bound(n *node, least int) string {
	text, bind := p.written(n)
	if bind < least {
		return "(" + text + ")"
	}
	return text
}

func (p *printer) written(n *node) (text string, bind int) {
	switch n.Kind {
	case doctree.String:
		if p.rules && isIdentifier(n.Text) && p.root.Get("inputs").Get("domains").Get(n.Text) != nil {
			return n.Text, bindPrimary
		}
		return quote(n.Text), bindPrimary
	case doctree.Seq:
	default:
		return value(n), bindPrimary
	}
	words := make([]string, len(n.Items())) // "" for anything but text
	for i := range n.Items() {
		words[i], _ = n.Items()[i].Str()
	}
	args := n.Items()
	if len(args) > 0 {
		args = args[1:]
	}
	raw := func() (string, int) { return value(n), bindPrimary }
	if len(words) < 2 {
		return raw()
	}
	word := words[0]
	if x, ok := infix[word]; ok && len(args) == 2 {
		left := x.bind
		if x.bind == bindCompare {
			left++
		}
		return p.bound(&args[0], left) + " " + x.sign + " " + p.bound(&args[1], x.bind+1), x.bind
	}
	switch word {
	case "and", "or":
		bind := map[string]int{"and": bindAnd, "or": bindOr}[word]
		if len(args) < 2 {
			return raw()
		}
		var parts []string
		for i := range args {
			parts = append(parts, p.bound(&args[i], bind+1))
		}
		return strings.Join(parts, " "+word+" "), bind
	case "not":
		if len(args) == 1 {
			return "not " + p.bound(&args[0], bindNot), bindNot
		}
	case "if":
		if len(args) == 3 {
			return p.bound(&args[1], bindOr) + " if " + p.bound(&args[0], bindOr) + " else " + p.bound(&args[2], bindCond), bindCond
		}
	case "implies", "min", "max", "old":
		if len(args) == map[bool]int{true: 1, false: 2}[word == "old"] {
			var parts []string
			for i := range args {
				parts = append(parts, p.expr(&args[i]))
			}
			return word + "(" + strings.Join(parts, ", ") + ")", bindPrimary
		}
	case "field":
		if len(args) == 2 && !p.rules {
			return p.fieldOf(words[1], words[2])
		}
	case "forall", "exists", "sum", "count":
		if len(args) == 3 && isIdentifier(words[1]) && isIdentifier(words[2]) {
			if word == "count" && words[1] == "x" && args[2].Kind == doctree.Bool && args[2].Bool {
				return "count(" + words[2] + ")", bindPrimary
			}
			p.local = append(p.local, words[1])
			body := p.expr(&args[2])
			p.local = p.local[:len(p.local)-1]
			return word + "(" + words[2] + ", lambda " + words[1] + ": " + body + ")", bindPrimary
		}
	case "derived", "observer":
		if f := p.root.Get("functions").Get(words[1]); f != nil && p.functional(words[1], f, "functions") && !slices.Contains(words, "") {
			return words[1] + "(" + strings.Join(seq.Map(words[2:], name), ", ") + ")", bindPrimary
		}
	case "is":
		if r := p.root.Get("refinements").Get(words[2]); len(words) >= 3 && r != nil && p.functional(words[2], r, "refinements") && p.root.Get("functions").Get(words[2]) == nil {
			parts := []string{name(words[1])}
			if len(args) == 3 {
				if len(args[2].Members()) == 0 {
					return raw()
				}
				for i := range args[2].Members() {
					m := &args[2].Members()[i]
					if !isIdentifier(m.Key.Text) {
						return raw()
					}
					parts = append(parts, m.Key.Text+" = "+name(m.Value.Text))
				}
			}
			return words[2] + "(" + strings.Join(parts, ", ") + ")", bindPrimary
		}
	}
	return raw()
}

// name writes a variable as an argument.
func name(v string) string {
	if isIdentifier(v) {
		return v
	}
	return quote(v)
}

func (p *printer) fieldOf(v, field string) (text string, bind int) {
	switch {
	case v == "input" && isIdentifier(field) && p.root.Get("inputs").Get("domains").Get(field) != nil && !p.vars["input"] && !p.vars[field] && !slices.Contains(p.local, field):
		return field, bindPrimary
	case !isIdentifier(v):
		return "[\"field\", " + quote(v) + ", " + quote(field) + "]", bindPrimary
	case isIdentifier(field):
		return v + "." + field, bindPrimary
	}
	return v + "[" + quote(field) + "]", bindPrimary
}

// functional reports whether a function or refinement can be written as one.
func (p *printer) functional(name string, f *node, section string) bool {
	if !isIdentifier(name) || slices.Contains(builtins, name) {
		return false
	}
	params := f.Get("params")
	for i := range itemsOf(params) {
		v, _ := params.Items()[i].Get("name").Str()
		e, _ := params.Items()[i].Get("type").Str()
		if !isIdentifier(v) || !isIdentifier(e) || v == "returns" || v == "models" || v == "guess" || (section == "functions" && i == 0 && v == "self") {
			return false
		}
	}
	if base, _ := f.Get("base").Str(); section == "refinements" {
		return isIdentifier(base)
	}
	// Observers and derived functions may not share a name with a refinement, which is looked up
	// first.
	return true
}

func itemsOf(n *node) []node {
	if n == nil {
		return nil
	}
	return n.Items()
}

// fullExpr returns the expression of an object, from full if that is given.
func fullExpr(n *node, key string) *node {
	if full := n.Get("full"); full != nil && full.Kind != doctree.Null {
		return full
	}
	return n.Get(key)
}
