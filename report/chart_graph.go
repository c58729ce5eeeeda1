package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// graphView is a graph as a page draws it, with its edges as a table.
type graphView struct {
	Title, Desc string
	W, H        int
	Nodes       []nodeView
	Edges       []edgeView
	Table       *tableView
	Note        string
}

type nodeView struct {
	Class            string // "never" for a node that was never reached
	X, Y, W, H       string
	TextX            string
	LabelY, HitsY    string
	Label, Hits, All string
}

type edgeView struct {
	Class          string
	Path, Head     string // line and arrow head
	Width          string
	Label, All     string
	LabelX, LabelY string
	Turned         bool // drawn upwards: the label is on the left
}

const (
	nodeH    = 40.0
	layerGap = 62.0
	margin   = 14.0
)

func graphOf(title string, g *campaign.Graph) *graphView {
	shown, note := drawable(g)
	widths := make([]float64, len(shown.Nodes))
	for i, n := range shown.Nodes {
		widths[i] = max(70, 24+7.8*float64(textWidth(clip(brief(n.Label), 26))))
	}
	d := graphDrawing{graph: shown, layout: layOut(shown, widths), left: margin, most: 1}
	for _, e := range shown.Edges {
		d.most = max(d.most, e.Hits)
	}
	out := &graphView{Title: title, Note: note, H: int(2*margin + nodeH + float64(len(d.layout.layers)-1)*(nodeH+layerGap))}
	d.spread()
	for _, s := range d.layout.spots {
		d.right = max(d.right, d.left+s.x+s.width/2)
	}
	for _, w := range d.layout.ways {
		out.Edges = append(out.Edges, d.edge(w))
	}
	out.W = int(d.right + margin)
	never := 0
	for _, s := range d.layout.spots {
		if s.node < 0 {
			continue
		}
		v := d.node(s)
		if v.Class != "" {
			never++
		}
		out.Nodes = append(out.Nodes, v)
	}
	out.Table = &tableView{Table: *edgeTable(g)}
	out.Desc = fmt.Sprintf("%s and %s; %s never reached. The table below lists the edges.",
		plural(len(shown.Nodes), "node"), plural(len(shown.Edges), "edge"), plural(never, "node"))
	return out
}

// drawable returns the part of a graph that can be drawn: the most visited nodes and the edges
// between them.
func drawable(g *campaign.Graph) (*campaign.Graph, string) {
	if len(g.Nodes) <= graphCap && len(g.Edges) <= graphEdges {
		return g, ""
	}
	order := make([]int, len(g.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Nodes[b].Hits, g.Nodes[a].Hits) })
	order = order[:min(len(order), graphCap)]
	slices.Sort(order)
	out, in := &campaign.Graph{}, map[string]bool{}
	for _, i := range order {
		out.Nodes = append(out.Nodes, g.Nodes[i])
		in[g.Nodes[i].ID] = true
	}
	for _, e := range g.Edges {
		if in[e.From] && in[e.To] && len(out.Edges) < graphEdges {
			out.Edges = append(out.Edges, e)
		}
	}
	return out, fmt.Sprintf("cut: %s of %s and %s of %s are drawn, the most visited nodes",
		count(len(out.Nodes)), plural(len(g.Nodes), "node"), count(len(out.Edges)), plural(len(g.Edges), "edge"))
}

// graphDrawing is a laid-out graph on its way to the page.
type graphDrawing struct {
	graph  *campaign.Graph
	layout layout
	left   float64 // where the layout begins
	right  float64 // where the drawing ends
	most   int64   // hits of the most used edge
}

const (
	labelChars = 22
	labelChar  = 6.6 // width of a label's character
	aside      = 7.0 // ways down and ways up are drawn twice this far apart
	tip        = 8.0 // length of an arrowhead
)

// spread makes room on the left for the labels of ways that lead up.
func (d *graphDrawing) spread() {
	need := 0.0
	for _, w := range d.layout.ways {
		if w.turned {
			x, _ := d.labelled(w, d.stops(w))
			need = max(need, d.label(w)-x+d.left+12)
		}
	}
	d.left = max(d.left, need)
}

func (d *graphDrawing) top(layer int) float64 { return margin + float64(layer)*(nodeH+layerGap) }

func (d *graphDrawing) node(s spot) nodeView {
	n, y, x := d.graph.Nodes[s.node], d.top(s.layer), d.left+s.x
	v := nodeView{
		X: px(x - s.width/2), Y: px(y), W: px(s.width), H: px(nodeH), TextX: px(x), LabelY: px(y + 17), HitsY: px(y + 32),
		Label: clip(brief(n.Label), 26), Hits: hits(n.Hits), All: brief(n.Label) + ", " + hits(n.Hits),
	}
	if n.Hits == 0 {
		v.Class = "never"
	}
	return v
}

// names returns the labels of a way's edges.
func (d *graphDrawing) names(w way) string {
	var labels []string
	for _, i := range w.edges {
		if t := brief(d.graph.Edges[i].Label); t != "" {
			labels = append(labels, t)
		}
	}
	return strings.Join(labels, ", ")
}

// label returns the width of a way's label.
func (d *graphDrawing) label(w way) float64 {
	return labelChar * float64(textWidth(clip(d.names(w), labelChars)))
}

type stop struct{ x, y float64 }

// stops returns where a way leaves its upper node, passes the layers in between, and reaches its
// lower node.
func (d *graphDrawing) stops(w way) []stop {
	shift := aside
	if w.turned {
		shift = -aside
	}
	var out []stop
	for i, at := range w.via {
		p := d.layout.spots[at]
		x, y := d.left+p.x+shift, d.top(p.layer)
		switch {
		case i == 0:
			y += nodeH
		case i < len(w.via)-1:
			out = append(out, stop{x, y})
			y += nodeH
		}
		out = append(out, stop{x, y})
	}
	return out
}

// labelled returns where to put a way's label: on the curve and, for a way down, near the lower
// node, because ways from one node are apart there.
func (d *graphDrawing) labelled(w way, stops []stop) (x, y float64) {
	if len(stops) < 2 {
		return 0, 0
	}
	if w.turned {
		m := len(stops) / 2
		return (stops[m-1].x + stops[m].x) / 2, (stops[m-1].y + stops[m].y) / 2
	}
	// Three quarters along the last curve; see [curve].
	a, c := stops[len(stops)-2], stops[len(stops)-1]
	return a.x + 0.84*(c.x-a.x), a.y + 0.7*(c.y-a.y)
}

func (d *graphDrawing) edge(w way) edgeView {
	var n int64
	for _, i := range w.edges {
		n += d.graph.Edges[i].Hits
	}
	nodes := d.graph.Nodes
	v := edgeView{
		Label: clip(d.names(w), labelChars),
		All:   fmt.Sprintf("%s to %s: %s %s", brief(nodes[w.from].Label), brief(nodes[w.to].Label), d.names(w), hits(n)),
		Width: px(1.2 + 2.8*math.Log1p(float64(n))/math.Log1p(float64(d.most))),
	}
	if n == 0 {
		v.Class, v.Width = "never", "1.2"
	}
	if w.via == nil {
		return d.loop(v, w)
	}
	stops := d.stops(w)
	last := len(stops) - 1
	if w.turned {
		stops[0].y += tip
	} else {
		stops[last].y -= tip
	}
	v.Path = curve(stops)
	x, y := d.labelled(w, stops)
	v.LabelX, v.LabelY = px(x+6), px(y+4)
	end, dir := stops[last], 1.0
	if w.turned {
		end, dir, v.Turned, v.LabelX = stops[0], -1, true, px(x-6)
	} else {
		d.right = max(d.right, x+6+d.label(w))
	}
	v.Head = fmt.Sprintf("%s,%s %s,%s %s,%s", px(end.x-5), px(end.y), px(end.x+5), px(end.y), px(end.x), px(end.y+dir*tip))
	return v
}

// curve returns a path through stops that leaves and reaches each of them vertically.
func curve(stops []stop) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %s", px(stops[0].x), px(stops[0].y))
	for i := 1; i < len(stops); i++ {
		a, c := stops[i-1], stops[i]
		if a.x == c.x {
			fmt.Fprintf(&b, "V%s", px(c.y))
			continue
		}
		mid := (a.y + c.y) / 2
		fmt.Fprintf(&b, "C%s %s %s %s %s %s", px(a.x), px(mid), px(c.x), px(mid), px(c.x), px(c.y))
	}
	return b.String()
}

// loop draws a way from a node to itself on the node's right side.
func (d *graphDrawing) loop(v edgeView, w way) edgeView {
	p := d.layout.spots[w.from]
	x, y := d.left+p.x+p.width/2, d.top(p.layer)
	v.Path = fmt.Sprintf("M%s %sC%s %s %s %s %s %s", px(x), px(y+10), px(x+30), px(y+2), px(x+30), px(y+nodeH-2), px(x+tip), px(y+nodeH-10))
	v.Head = fmt.Sprintf("%s,%s %s,%s %s,%s", px(x+tip), px(y+nodeH-15), px(x+tip), px(y+nodeH-5), px(x), px(y+nodeH-10))
	v.LabelX, v.LabelY = px(x+27), px(y+nodeH/2+4)
	d.right = max(d.right, x+27+d.label(w))
	return v
}

func edgeTable(g *campaign.Graph) *campaign.Table {
	label := make(map[string]string, len(g.Nodes))
	for _, n := range g.Nodes {
		label[n.ID] = n.Label
	}
	name := func(id string) string {
		if l, ok := label[id]; ok {
			return l
		}
		return id
	}
	t := &campaign.Table{Columns: []string{"from", "edge", "to", "taken"}, Numeric: []bool{false, false, false, true}}
	for _, e := range g.Edges {
		t.Rows = append(t.Rows, []string{name(e.From), e.Label, name(e.To), hits(e.Hits)})
	}
	return t
}
