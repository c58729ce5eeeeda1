package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// Layered layout of a directed graph, top to bottom: ways that close a cycle are turned, nodes get
// layers by the longest way to them, ways across several layers get a bend in each, and layers are
// ordered by where their neighbours are. It depends only on the order of nodes and edges.

// layout is the positions in a drawn graph. Spots are nodes and bends.
type layout struct {
	spots  []spot
	layers [][]int // spots, left to right
	ways   []way
}

type spot struct {
	node  int // -1: a bend
	layer int
	width float64
	x     float64 // centre
}

// way stands for all edges from one node to another.
type way struct {
	from, to int // nodes
	edges    []int
	turned   bool  // drawn upwards
	via      []int // spots from the upper end to the lower one; nil for a loop
}

const (
	bendWidth = 16
	nodeGap   = 28
)

func layOut(g *campaign.Graph, widths []float64) layout {
	var l layout
	l.gather(g)
	layer := l.assign(len(g.Nodes))
	for i := range g.Nodes {
		l.spots = append(l.spots, spot{node: i, layer: layer[i], width: widths[i]})
	}
	for i := range l.ways {
		l.routeEdge(&l.ways[i])
	}
	depth := 0
	for _, s := range l.spots {
		depth = max(depth, s.layer)
	}
	l.layers = make([][]int, depth+1)
	for i, s := range l.spots {
		l.layers[s.layer] = append(l.layers[s.layer], i)
	}
	up, down := l.neighbours()
	for range 6 {
		for k := 1; k < len(l.layers); k++ {
			l.order(k, up)
		}
		for k := len(l.layers) - 2; k >= 0; k-- {
			l.order(k, down)
		}
	}
	l.place(up, down)
	return l
}

// gather combines all edges from one node to another into one way.
func (l *layout) gather(g *campaign.Graph) {
	index := make(map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if _, ok := index[n.ID]; !ok {
			index[n.ID] = i
		}
	}
	seen := map[[2]int]int{}
	for i, e := range g.Edges {
		from, ok1 := index[e.From]
		to, ok2 := index[e.To]
		if !ok1 || !ok2 {
			continue
		}
		at, ok := seen[[2]int{from, to}]
		if !ok {
			at = len(l.ways)
			seen[[2]int{from, to}] = at
			l.ways = append(l.ways, way{from: from, to: to})
		}
		l.ways[at].edges = append(l.ways[at].edges, i)
	}
}

// assign turns the ways that close a cycle and gives each node its layer.
func (l *layout) assign(n int) []int {
	leaving := make([][]int, n)
	entered := make([]int, n)
	for i, w := range l.ways {
		if w.from != w.to {
			leaving[w.from] = append(leaving[w.from], i)
			entered[w.to]++
		}
	}
	const fresh, open, done = 0, 1, 2
	state := make([]int, n)
	var order []int // each node after all nodes below it
	var visit func(int)
	visit = func(v int) {
		state[v] = open
		for _, i := range leaving[v] {
			switch to := l.ways[i].to; state[to] {
			case open:
				l.ways[i].turned = true
			case fresh:
				visit(to)
			}
		}
		state[v] = done
		order = append(order, v)
	}
	for v := range n { // begin at nodes that no edge enters
		if entered[v] == 0 && state[v] == fresh {
			visit(v)
		}
	}
	for v := range n {
		if state[v] == fresh {
			visit(v)
		}
	}
	layer := make([]int, n)
	slices.Reverse(order)
	below := make([][]int, n)
	for _, w := range l.ways {
		if w.from == w.to {
			continue
		}
		if w.turned {
			below[w.to] = append(below[w.to], w.from)
		} else {
			below[w.from] = append(below[w.from], w.to)
		}
	}
	for _, v := range order {
		for _, u := range below[v] {
			layer[u] = max(layer[u], layer[v]+1)
		}
	}
	return layer
}

// routeEdge leads a way through the layers between its ends.
func (l *layout) routeEdge(w *way) {
	if w.from == w.to {
		return
	}
	upper, lower := w.from, w.to
	if w.turned {
		upper, lower = lower, upper
	}
	w.via = append(w.via, upper)
	for k := l.spots[upper].layer + 1; k < l.spots[lower].layer; k++ {
		w.via = append(w.via, len(l.spots))
		l.spots = append(l.spots, spot{node: -1, layer: k, width: bendWidth})
	}
	w.via = append(w.via, lower)
}

func (l *layout) neighbours() (up, down [][]int) {
	up, down = make([][]int, len(l.spots)), make([][]int, len(l.spots))
	for _, w := range l.ways {
		for i := 1; i < len(w.via); i++ {
			a, b := w.via[i-1], w.via[i]
			down[a], up[b] = append(down[a], b), append(up[b], a)
		}
	}
	return up, down
}

// order sorts a layer by the mean position of the spots' neighbours.
func (l *layout) order(k int, near [][]int) {
	place := map[int]float64{}
	for _, other := range l.layers {
		for i, s := range other {
			place[s] = float64(i) / float64(len(other))
		}
	}
	key := map[int]float64{}
	for _, s := range l.layers[k] {
		key[s] = place[s]
		if len(near[s]) > 0 {
			sum := 0.0
			for _, o := range near[s] {
				sum += place[o]
			}
			key[s] = sum / float64(len(near[s]))
		}
	}
	slices.SortStableFunc(l.layers[k], func(a, b int) int { return cmp.Compare(key[a], key[b]) })
}

// place sets the spots' centres: side by side at first, then moved towards their neighbours as far
// as the order allows.
func (l *layout) place(up, down [][]int) {
	for _, row := range l.layers {
		x := 0.0
		for _, s := range row {
			l.spots[s].x = x + l.spots[s].width/2
			x += l.spots[s].width + nodeGap
		}
		for _, s := range row {
			l.spots[s].x -= (x - nodeGap) / 2
		}
	}
	for i := range 8 {
		for k := range l.layers {
			if i%2 == 0 {
				l.draw(l.layers[k], up)
			} else {
				l.draw(l.layers[len(l.layers)-1-k], down)
			}
		}
	}
	lo := 0.0
	for i, s := range l.spots {
		if i == 0 || s.x-s.width/2 < lo {
			lo = s.x - s.width/2
		}
	}
	for i := range l.spots {
		l.spots[i].x -= lo
	}
}

// draw moves the spots of a layer to the mean of their neighbours. It resolves overlaps once from
// left to right and once from right to left, and takes the middle of both.
func (l *layout) draw(row []int, near [][]int) {
	want := make([]float64, len(row))
	for i, s := range row {
		want[i] = l.spots[s].x
		if len(near[s]) > 0 {
			want[i] = 0
			for _, o := range near[s] {
				want[i] += l.spots[o].x / float64(len(near[s]))
			}
		}
	}
	gap := func(i int) float64 { return (l.spots[row[i-1]].width+l.spots[row[i]].width)/2 + nodeGap }
	right, left := slices.Clone(want), slices.Clone(want)
	for i := 1; i < len(row); i++ {
		right[i] = max(right[i], right[i-1]+gap(i))
	}
	for i := len(row) - 1; i > 0; i-- {
		left[i-1] = min(left[i-1], left[i]-gap(i))
	}
	for i, s := range row {
		l.spots[s].x = (right[i] + left[i]) / 2
	}
}

// graphStyle is the part of the pages' style sheet that a standalone drawing needs.
const graphStyle = `<style>text{font:13px sans-serif;fill:#1f2328;text-anchor:middle}.edge-label{text-anchor:start;font-size:11px;stroke:#fff;stroke-width:4px;paint-order:stroke}.end{text-anchor:end}polygon{fill:#57606a}rect{fill:#f6f8fa;stroke:#57606a}.never rect{stroke-dasharray:4 3;fill:#fff}path{fill:none;stroke:#57606a}</style>`

// GraphSVG draws a graph exhibit as a standalone drawing.
func GraphSVG(w io.Writer, e *campaign.Exhibit) error {
	parts, err := Parts()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := parts.ExecuteTemplate(&b, "graph", DrawExhibit(e).Graph); err != nil {
		return fmt.Errorf("drawing %s: %w", e.Title, err)
	}
	from, to := bytes.Index(b.Bytes(), []byte("<svg")), bytes.Index(b.Bytes(), []byte("</svg>"))
	if from < 0 || to < from {
		return fmt.Errorf("drawing %s: the graph is too large to draw", e.Title)
	}
	drawing := b.Bytes()[from : to+len("</svg>")]
	open := bytes.IndexByte(drawing, '>') + 1
	_, err = fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\"%s%s%s\n", drawing[len("<svg"):open], graphStyle, drawing[open:])
	return err
}
