package fresnelfir

import (
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/walk"
)

// graph returns the protocols with their hit counts.
func (c *Campaign) graph(s *state) campaign.Exhibit {
	g := &campaign.Graph{}
	id := func(at int) string { return "n" + strconv.Itoa(at) }
	kinds := [...]string{walk.Seq: "in order", walk.Alt: "one of"}
	entered := c.entered(s)
	for at := range c.plan.nodes {
		n, x := &c.plan.nodes[at], &c.plan.grammar.Nodes[at]
		var label string
		switch {
		case n.kind == walk.Call:
			label = n.action
		case n.kind == walk.Repeat:
			label = fmt.Sprintf("repeat %d to %d", x.Min, x.Max)
		case n.kind == walk.Refer:
			label = "all of " + c.plan.doc.Protocols[x.Rule].Name
		case n.kind == walk.Seq && len(x.Children) == 0:
			label = "nothing"
		default:
			label = kinds[n.kind]
		}
		g.Nodes = append(g.Nodes, campaign.Node{ID: id(at), Label: label, Hits: entered[at]})
		for i, child := range x.Children {
			e := campaign.Edge{From: id(at), To: id(child), Hits: entered[child]}
			if n.kind == walk.Alt {
				e.Label, e.Hits = n.branches[i].id, s.branchHits(at, i)
			}
			g.Edges = append(g.Edges, e)
		}
		if n.kind == walk.Refer {
			g.Edges = append(g.Edges, campaign.Edge{From: id(at), To: id(c.plan.grammar.Rules[x.Rule]), Hits: entered[at]})
		}
	}
	return campaign.Exhibit{Kind: "graph", Title: "Protocols", Graph: g}
}

// entered returns how often each node was entered, as far as the counts of calls and branches tell:
// an alternative as often as all its branches together; a sequence as often as its most entered
// part that is not a loop; a loop as often as its repetitions; a reference, and whatever contains
// no call, as often as its parent.
func (c *Campaign) entered(s *state) []int64 {
	hits, blind := make([]int64, len(c.plan.nodes)), make([]bool, len(c.plan.nodes))
	for at := len(hits) - 1; at >= 0; at-- { // children come after their parents
		n, x := &c.plan.nodes[at], &c.plan.grammar.Nodes[at]
		var sum, most, loops int64
		blind[at] = n.kind != walk.Call && n.kind != walk.Alt
		for i, child := range x.Children {
			blind[at] = blind[at] && blind[child]
			if n.kind == walk.Alt {
				sum += s.branchHits(at, i)
			}
			if c.plan.nodes[child].kind == walk.Repeat {
				loops = max(loops, hits[child])
			} else {
				most = max(most, hits[child])
			}
		}
		switch {
		case n.kind == walk.Call:
			hits[at] = s.hits.of(event{kind: eventNode, node: at})
		case n.kind == walk.Alt:
			hits[at] = sum
		case most > 0:
			hits[at] = most
		default:
			hits[at] = loops
		}
	}
	for _, root := range c.plan.grammar.Rules { // a protocol that only refers to another one
		if blind[root] && c.plan.nodes[root].kind == walk.Refer {
			hits[root] = hits[c.plan.grammar.Rules[c.plan.grammar.Nodes[root].Rule]]
		}
	}
	for at := range hits {
		for i, child := range c.plan.grammar.Nodes[at].Children {
			switch {
			case c.plan.nodes[at].kind == walk.Alt:
				hits[child] = max(hits[child], s.branchHits(at, i))
			case blind[child]:
				hits[child] = hits[at]
			}
		}
	}
	return hits
}

// shownValues limits the rows of the matrix of pairs, and its columns.
const shownValues = 60

// pairs returns the matrix of pairs of input values: a row and a column for each value of a domain,
// a cell for each pair to cover. If there are too many values to show, the table has them all.
func (c *Campaign) pairs(s *state) (campaign.Exhibit, bool) {
	space := &c.plan.space
	type value struct{ domain, place int }
	rows, columns := make(map[value]int), make(map[value]int)
	m := &campaign.Matrix{}
	at := func(known map[value]int, names *[]string, v value) int {
		i, ok := known[v]
		if !ok {
			i = len(*names)
			known[v] = i
			*names = append(*names, space.domains[v.domain].source.Name+"="+space.text(v.domain, v.place))
		}
		return i
	}
	for i, t := range space.targets {
		if len(t.params) != 2 {
			continue
		}
		r := at(rows, &m.Rows, value{t.params[0], t.values[0]})
		k := at(columns, &m.Columns, value{t.params[1], t.values[1]})
		if len(m.Rows) > shownValues || len(m.Columns) > shownValues {
			return campaign.Exhibit{}, false
		}
		cell := campaign.MatrixCell{Total: 1}
		switch {
		case t.unreachable != "":
			cell = campaign.MatrixCell{Note: t.unreachable}
		case s.reached[i]:
			cell = campaign.MatrixCell{Hits: 1, Total: 1, Low: 1, High: 1}
		}
		for len(m.Cells) <= r {
			m.Cells = append(m.Cells, nil)
		}
		for len(m.Cells[r]) <= k {
			m.Cells[r] = append(m.Cells[r], campaign.MatrixCell{})
		}
		m.Cells[r][k] = cell
	}
	return campaign.Exhibit{Kind: "matrix", Title: "Pairs of inputs that were tried together", Matrix: m}, len(m.Rows) > 0
}
