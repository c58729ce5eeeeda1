package spectest

import (
	"index/suffixarray"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// maxScanned limits the bytes searched for what patterns and expressions find in a document, summed
// over all searches. A long document has thousands of searches; words are looked up in an index
// instead.
const maxScanned = 64 << 20

// selfMatches warns about a case that its own text decides: it has no path, and the text it looks
// for occurs in its own block and nowhere outside blocks of cases.
func (c *Campaign) selfMatches(cs *Case) (list diag.List) {
	if cs.text == nil || !cs.text.self || cs.tree == nil {
		return nil
	}
	text := c.doc.text
	from, to := c.doc.lines.start(text, cs.From), len(text)
	if cs.To < c.doc.lines.count {
		to = c.doc.lines.start(text, cs.To+1)
	}
	block := unixLines(string(text[from:to]))
	if c.prose == nil {
		c.prose = c.doc.prose()
	}
	warn := func(n *node, what string) {
		p := c.doc.problem(n.at, "own-text", n.path, what+": the block decides the case", "name a file by path, or search for something else")
		p.Level = diag.Warning
		list = append(list, p)
	}
	var walk func(n *node)
	walk = func(n *node) {
		for _, child := range n.children {
			walk(child)
		}
		if n.kind != leaf || n.target != "text" || n.prog == nil {
			return
		}
		switch {
		case n.op == "contain" && n.plain:
			if n.value != "" && strings.Contains(block, n.value) && len(c.prose.Lookup([]byte(n.value), 1)) == 0 {
				warn(n, quoteClipped(n.value)+" occurs in the case's own block and nowhere in the text around the blocks")
			}
		case c.scanned >= maxScanned:
		case n.op == "regex" && n.plain:
			if c.holds(n, block) && !c.holds(n, string(c.prose.Bytes())) {
				warn(n, quoteClipped(n.value)+" matches in the case's own block and nowhere in the text around the blocks")
			}
		case n.op == "evaluate" && !strings.Contains(n.value, "path_exists"):
			if c.holds(n, unixLines(string(text))) != c.holds(n, unixLines(string(text[:from])+string(text[to:]))) {
				warn(n, "the expression has another value without the case's own block")
			}
		}
	}
	walk(cs.tree)
	return list
}

// holds reports whether a predicate is true of a text.
func (c *Campaign) holds(n *node, text string) bool {
	c.scanned += len(text)
	r := n.prog.Eval(speclang.StringValue(text), speclang.DefaultLimits(), speclang.Host{})
	if r.Err != nil {
		c.scanned += maxScanned / 8 // the evaluation may have taken long
		return false
	}
	return r.Value.Truthy()
}

// prose is an index of the document without its blocks of cases: a long document has thousands of
// cases to look up.
func (d *document) prose() *suffixarray.Index {
	var b strings.Builder
	if d.format == "md" {
		at := 0
		for _, x := range d.found.all() {
			b.Write(d.text[at:x.open])
			b.WriteByte(0) // no match spans a block
			if at = x.end; x.closed {
				at = lineEnd(d.text, x.end)
			}
		}
		b.Write(d.text[at:])
	}
	return suffixarray.New([]byte(unixLines(b.String())))
}

// vacuous warns about leaves with the same result for every target: a check that cannot fail proves
// nothing. Assertion health reports some of them as well.
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
		case n.op == "regex" && n.plain && !(told && match.AlwaysTrue(n.value)) && n.prog.MatchesAll():
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
