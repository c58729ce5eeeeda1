package spectest

import (
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/match"
)

// vacuous warns of the leaves of a case that say the same of every target: a
// check that cannot fail proves nothing. Assertion health tells of some of them.
func (c *Campaign) vacuous(cs *Case) (list diag.List) {
	told := c.set.checking || c.set.health != healthIgnore
	var walk func(n *node)
	walk = func(n *node) {
		for _, child := range n.children {
			walk(child)
		}
		if n.kind != leaf || n.prog == nil || len(n.prog.Problems()) > 0 {
			return
		}
		what := ""
		switch {
		case n.op == "contain" && n.plain && n.value == "" && !told:
			what = "every text contains the empty text"
		case n.op == "regex" && n.plain && !(told && match.AlwaysTrue(n.value)) && matchesAll(n.value):
			what = quoteClipped(n.value) + " matches every text, also the empty one"
		case n.op == "evaluate" && !n.prog.Asks():
			what = "the expression does not look at its subject"
		default:
			return
		}
		p := c.doc.problem(n.at, "vacuous", n.path, what+": no target changes the verdict", "write what must occur, or remove it")
		p.Level = diag.Warning
		list = append(list, p)
	}
	if cs.tree != nil {
		walk(cs.tree)
	}
	return list
}

// matchesAll reports whether a pattern is sure to match whatever it is searched
// in.
func matchesAll(pattern string) bool {
	p, err := match.Compile(pattern, match.Options{})
	return err == nil && p.Vacuous()
}
