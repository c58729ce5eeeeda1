package lang

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// argument is a named argument.
type argument struct {
	name  string
	at    syntax.Expr
	value syntax.Expr
	odd   bool // written as **{"NAME": VALUE}, because NAME is reserved in the language
}

// keys lists the named arguments of the language's words. A word that is missing here takes names
// that the writer defines: fields, or arguments of an export.
var keys = map[string][]string{
	"always": {}, "constraint": {}, "input": {}, "ir": {}, "module": {}, "protocol": {}, "system": {}, "temporal": {},
	"eventually": {"fair", "within"}, "leads_to": {"fair", "within"}, "until": {"fair", "within"}, "generator": {"description", "then"},
	"cover": {"reproducible", "seed"}, "hooks": {"capture", "mode", "observe"},
	"explore": {"actor", "budget", "directives", "epoch", "faults", "floor", "mode", "signals", "strategy", "threads", "vary", "weights"},
	"list":    {}, "map": {}, "set": {},
	"require": {}, "weight": {},
	"alt": {}, "branch": {"id", "weight", "when"}, "ref": {}, "repeat": {}, "seq": {},
	"action": {}, "after": {}, "before": {}, "never": {"same"}, "reads": {}, "tag": {}, "writes": {},
	"all_pairs": {}, "boundary": {}, "each_transition": {}, "t_way": {}, "bind": {"generate", "where"}, "make": {"bind", "where"},
	"count": {}, "exists": {}, "forall": {}, "implies": {}, "len": {}, "max": {}, "min": {}, "old": {}, "sum": {},
}

// arguments returns the positional and the named arguments of a call. Unknown and repeated names
// are errors and are left out.
func (c *compiler) arguments(x *syntax.CallExpr) (pos []syntax.Expr, named []argument) {
	word := ""
	if fn, ok := x.Fn.(*syntax.Ident); ok && c.decls[declRefinement][fn.Name] == nil {
		word = fn.Name
	}
	known, closed := keys[word]
	for _, a := range x.Args {
		switch y := a.(type) {
		case *syntax.BinaryExpr:
			if id, ok := y.X.(*syntax.Ident); ok && y.Op == syntax.EQ {
				switch {
				case slices.ContainsFunc(named, func(a argument) bool { return a.name == id.Name && !a.odd }):
					c.fail(id, "duplicate-key", "", "%q is already given", id.Name)
				case closed && !slices.Contains(known, id.Name):
					c.unknown(id, id.Name, word, known)
				default:
					named = append(named, argument{name: id.Name, at: id, value: y.Y})
				}
				continue
			}
		case *syntax.UnaryExpr:
			if d, ok := y.X.(*syntax.DictExpr); ok && y.Op == syntax.STARSTAR && word == "call" {
				named = append(named, c.oddlyNamed(d)...)
				continue
			}
			if y.Op == syntax.STAR || y.Op == syntax.STARSTAR {
				c.fail(a, "expression", "", "arguments are given one by one")
				continue
			}
		}
		pos = append(pos, a)
	}
	return pos, named
}

// oddlyNamed returns the arguments of **{"from": a}.
func (c *compiler) oddlyNamed(d *syntax.DictExpr) (list []argument) {
	for _, e := range d.List {
		entry := e.(*syntax.DictEntry)
		name := c.literal(entry.Key)
		if name.Kind != doctree.String {
			c.fail(entry.Key, "type", "", "must be the name of an argument, as a text")
			continue
		}
		list = append(list, argument{name: name.Text, at: entry.Key, value: entry.Value, odd: true})
	}
	return list
}

// unknown reports an argument that a word does not have.
func (c *compiler) unknown(at syntax.Expr, name, word string, known []string) {
	hint := diag.DidYouMean(name, known)
	if hint == "" && len(known) > 0 {
		hint = "known names: " + strings.Join(known, ", ")
	}
	c.fail(at, "unknown-key", hint, "%s has no argument called %q", word, name)
}
