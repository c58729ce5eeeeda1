package lang

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
)

// argument is an argument that is given by name.
type argument struct {
	name  string
	at    syntax.Expr
	value syntax.Expr
}

// keys are the arguments that words of the language have by name. A word that is
// missing here has names of the writer's own: fields, arguments of an export.
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

// arguments are those of a call, by place and by name. What has no such name is an
// error, as is a name that is given twice; the rest is returned.
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
				case slices.ContainsFunc(named, func(a argument) bool { return a.name == id.Name }):
					c.fail(id, "duplicate-key", "", "%q is given already", id.Name)
				case closed && !slices.Contains(known, id.Name):
					c.unknown(id, id.Name, word, known)
				default:
					named = append(named, argument{id.Name, id, y.Y})
				}
				continue
			}
		case *syntax.UnaryExpr:
			if y.Op == syntax.STAR || y.Op == syntax.STARSTAR {
				c.fail(a, "expression", "", "arguments are given one by one")
				continue
			}
		}
		pos = append(pos, a)
	}
	return pos, named
}

// unknown reports an argument that a word does not have.
func (c *compiler) unknown(at syntax.Expr, name, word string, known []string) {
	hint := diag.DidYouMean(name, known)
	if hint == "" && len(known) > 0 {
		hint = "known names: " + strings.Join(known, ", ")
	}
	c.fail(at, "unknown-key", hint, "%s has no argument called %q", word, name)
}
