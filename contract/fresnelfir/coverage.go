package fresnelfir

import (
	"encoding/binary"
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// eventKind is what a traversal met.
type eventKind uint8

const (
	eventNode    eventKind = iota // a call was reached
	eventBranch                   // a branch was taken, in an abstract state
	eventClosed                   // a branch's guard did not hold there
	eventStuck                    // no branch was open
	eventInput                    // an input was used; child is its place in rows
	eventTried                    // a property was put to the test
	eventModel                    // a state of the model: what its instances are like
	eventTape                     // the tape of a case that reached something new
	eventLast                     // the branch that was taken last before a failure
	eventCut                      // a walk was cut: references too deep, or a loop without actions
	eventEdge                     // a point of the module's code, that the campaign had not reached
	eventHint                     // a value of a domain to try; node is the domain, state the place
	eventAttempt                  // an action was tried that the model did not allow
)

// event is one thing that a traversal met. The abstract state of an alternative
// is the set of branches whose guards hold: what the model's state means there,
// and few enough that what is learned of one applies again.
type event struct {
	kind  eventKind
	node  int
	state uint64
	child int
}

func compare(a, b event) int {
	for _, d := range [...]int{int(a.kind) - int(b.kind), a.node - b.node} {
		if d != 0 {
			return d
		}
	}
	if a.state != b.state {
		if a.state < b.state {
			return -1
		}
		return 1
	}
	return a.child - b.child
}

// coverage is what one traversal met.
type coverage struct {
	events []event
	rows   [][]int // inputs, by their values' places
	tape   []byte  // of a case that reached something new
	last   event   // the branch that was taken last
	cut    int
}

func (c *coverage) reset() {
	c.events, c.rows, c.cut, c.last = c.events[:0], c.rows[:0], 0, event{}
	c.tape = nil
}

func (c *coverage) node(at int) { c.events = append(c.events, event{kind: eventNode, node: at}) }

func (c *coverage) taken(at int, state uint64, child int) {
	c.last = event{eventBranch, at, state, child}
	c.events = append(c.events, c.last)
}

func (c *coverage) closed(at int, state uint64, child int) {
	c.events = append(c.events, event{eventClosed, at, state, child})
}

func (c *coverage) stuck(at int, state uint64) {
	c.events = append(c.events, event{kind: eventStuck, node: at, state: state})
}

func (c *coverage) model(state uint64) {
	c.events = append(c.events, event{kind: eventModel, state: state})
}

func (c *coverage) edge(at int) {
	c.events = append(c.events, event{kind: eventEdge, child: at})
}

func (c *coverage) hint(d int, at uint64) {
	c.events = append(c.events, event{kind: eventHint, node: d, state: at})
}

func (c *coverage) attempt(action int) {
	c.events = append(c.events, event{kind: eventAttempt, node: action})
}

func (c *coverage) input(row []int) {
	for _, r := range c.rows {
		if slices.Equal(r, row) {
			return
		}
	}
	c.rows = append(c.rows, slices.Clone(row))
}

// tally is what one case adds to the campaign: events with their counts.
type tally struct {
	actions int
	events  []event
	counts  []int
	rows    [][]int
	tape    []byte
}

// encode writes what a case adds. tried is, by property, how often it was put
// to the test; failed says that the case is a finding.
func (c *coverage) encode(actions int, tried []int64, failed bool) []byte {
	if last := c.last; failed && last.kind == eventBranch {
		last.kind = eventLast
		c.events = append(c.events, last)
	}
	slices.SortFunc(c.events, compare)
	b := binary.AppendUvarint(nil, uint64(actions))
	put := func(e event, n int) {
		b = append(b, byte(e.kind))
		for _, v := range [...]uint64{uint64(e.node), e.state, uint64(e.child), uint64(n)} {
			b = binary.AppendUvarint(b, v)
		}
	}
	for i := 0; i < len(c.events); {
		j := i
		for j < len(c.events) && c.events[j] == c.events[i] {
			j++
		}
		put(c.events[i], j-i)
		i = j
	}
	if c.cut > 0 {
		put(event{kind: eventCut}, c.cut)
	}
	for p, n := range tried {
		if n > 0 {
			put(event{kind: eventTried, node: p}, int(n))
		}
	}
	if c.tape != nil {
		put(event{kind: eventTape}, len(c.tape))
		b = append(b, c.tape...)
	}
	for _, r := range c.rows {
		put(event{kind: eventInput}, len(r))
		for _, v := range r {
			b = binary.AppendUvarint(b, uint64(v-solve.Open))
		}
	}
	return b
}

// decodeTally reads what encode wrote; what is not that is cut off.
func decodeTally(b []byte) tally {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return 0
		}
		b = b[n:]
		return v
	}
	t := tally{actions: int(next())}
	for len(b) > 0 {
		e := event{kind: eventKind(b[0])}
		b = b[1:]
		e.node, e.state, e.child = int(next()), next(), int(next())
		n := int(next())
		if e.kind == eventTape {
			n = min(n, len(b))
			t.tape, b = b[:n], b[n:]
			continue
		}
		if e.kind == eventInput {
			row := make([]int, 0, min(n, len(b)))
			for range min(n, len(b)) {
				row = append(row, int(next())+solve.Open)
			}
			t.rows = append(t.rows, row)
			continue
		}
		t.events, t.counts = append(t.events, e), append(t.counts, n)
	}
	return t
}
