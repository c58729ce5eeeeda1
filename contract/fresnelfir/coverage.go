package fresnelfir

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// eventKind is the kind of an event in a traversal.
type eventKind uint8

const (
	eventNode      eventKind = iota // a call was reached
	eventBranch                     // a branch was taken, in an abstract state
	eventClosed                     // a branch's guard did not hold there
	eventStuck                      // no branch was open
	eventInput                      // an input was used; child is its index in rows
	eventTried                      // a property was tested
	eventModel                      // a state of the model: the looks of its instances
	eventSituation                  // an alternative was reached in such a state, with some of its branches open
	eventTape                       // the tape of a case that reached something new; node is the number of positions that follow
	eventLast                       // the last branch taken before a failure
	eventCut                        // a walk was cut: references too deep, or a loop without actions
	eventEdge                       // a point of the module's code that was new to the campaign
	eventHint                       // a value of a domain to try; node is the domain, state the value's index
	eventAttempt                    // an action that the model did not allow was tried
	eventExcess                     // an effect assigned a value that the field's declaration excludes
)

// event is one event of a traversal. The abstract state of an alternative is the set of branches
// whose guards hold. That captures what matters about the model's state there, and there are few
// enough such states for what is learned in one to apply again.
type event struct {
	kind  eventKind
	node  int
	state uint64
	child int
}

// hash returns a hash of an event. Its highest bits distinguish most events.
func (e event) hash() uint64 {
	return (uint64(e.kind)<<56 ^ uint64(e.node)<<32 ^ uint64(e.child)<<16 ^ e.state) * 0x9e3779b97f4a7c15
}

// is reports whether two events are equal. It compares first what usually differs.
func (e *event) is(x *event) bool {
	return e.state == x.state && e.child == x.child && e.node == x.node && e.kind == x.kind
}

func compare(a, b event) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), a.node-b.node, cmp.Compare(a.state, b.state), a.child-b.child)
}

// coverage is what one traversal has reached.
type coverage struct {
	events []event // each once, in the order of first occurrence
	counts []int   // by event
	places [places]uint8
	rows   [][]int  // inputs, as indices of values
	sums   []uint64 // hashes of rows, to distinguish them
	last   event    // the last branch taken
	cut    int
	beyond bool // an effect assigned a value that the field's declaration excludes
}

// places is the size of the hash table of events. Once it is three quarters full, new events are
// listed at each occurrence.
const places = 128

func (c *coverage) reset() {
	c.events, c.counts, c.rows, c.sums, c.cut, c.last = c.events[:0], c.counts[:0], c.rows[:0], c.sums[:0], 0, event{}
	c.beyond = false
	c.places = [places]uint8{}
}

// countEvent counts an event.
func (c *coverage) countEvent(e event) {
	h := e.hash() >> 57
	for c.places[h] > 0 {
		if i := int(c.places[h]) - 1; c.events[i].is(&e) {
			c.counts[i]++
			return
		}
		h = (h + 1) % places
	}
	c.events, c.counts = append(c.events, e), append(c.counts, 1)
	if n := len(c.events); n <= places*3/4 {
		c.places[h] = uint8(n)
	}
}

func (c *coverage) countBranch(at int, state uint64, child int) {
	c.last = event{eventBranch, at, state, child}
	c.countEvent(c.last)
}

func (c *coverage) input(row []int) {
	sum := uint64(0)
	for _, v := range row {
		sum = (sum ^ uint64(v)) * 0x9e3779b97f4a7c15
	}
	for i, x := range c.sums {
		if x == sum && slices.Equal(c.rows[i], row) {
			return
		}
	}
	c.sums = append(c.sums, sum)
	n := len(c.rows)
	c.rows = slices.Grow(c.rows, 1)[:n+1]
	c.rows[n] = append(c.rows[n][:0], row...) // reuses the memory of an earlier case
}

// tally is what one case adds to the campaign: events with their counts.
type tally struct {
	actions int
	events  []event
	counts  []int
	rows    [][]int
	places  []int // of the values in rows
	tape    []byte
	cuts    []int // positions on the tape at which steps that reached something new end
}

// encode encodes what a case adds. tried is how often each property was tested; failed says that
// the case is a finding.
func (c *coverage) encode(actions int, tried []int64, failed bool) []byte {
	if last := c.last; failed && last.kind == eventBranch {
		last.kind = eventLast
		c.countEvent(last)
	}
	b := binary.AppendUvarint(make([]byte, 0, 8*len(c.events)+64), uint64(actions))
	put := func(e event, n int) {
		b = append(b, byte(e.kind))
		for _, v := range [...]uint64{uint64(e.node), e.state, uint64(e.child), uint64(n)} {
			b = binary.AppendUvarint(b, v)
		}
	}
	for i, e := range c.events {
		put(e, c.counts[i])
	}
	if c.cut > 0 {
		put(event{kind: eventCut}, c.cut)
	}
	if c.beyond {
		put(event{kind: eventExcess}, 1)
	}
	for p, n := range tried {
		if n > 0 {
			put(event{kind: eventTried, node: p}, int(n))
		}
	}
	for _, r := range c.rows {
		put(event{kind: eventInput}, len(r))
		for _, v := range r {
			b = binary.AppendUvarint(b, uint64(v-solve.Open))
		}
	}
	return b
}

// encodeTape appends the tape of a case and positions on it.
func encodeTape(b, tape []byte, cuts []int) []byte {
	b = append(b, byte(eventTape))
	for _, v := range [...]int{len(cuts), 0, 0, len(tape)} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = append(b, tape...)
	for _, at := range cuts {
		b = binary.AppendUvarint(b, uint64(at))
	}
	return b
}

// decode reads what encode wrote, reusing t's memory. It ignores an invalid rest.
func (t *tally) decode(b []byte) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return 0
		}
		b = b[n:]
		return v
	}
	*t = tally{events: t.events[:0], counts: t.counts[:0], rows: t.rows[:0], places: t.places[:0], cuts: t.cuts[:0]}
	t.actions = int(next())
	for len(b) > 0 {
		e := event{kind: eventKind(b[0])}
		b = b[1:]
		e.node, e.state, e.child = int(next()), next(), int(next())
		n := int(next())
		if e.kind == eventTape {
			n = min(n, len(b))
			t.tape, b = b[:n], b[n:]
			for range min(e.node, len(b)) {
				t.cuts = append(t.cuts, int(next()))
			}
			continue
		}
		if e.kind == eventInput {
			from := len(t.places)
			for range min(n, len(b)) {
				t.places = append(t.places, int(next())+solve.Open)
			}
			t.rows = append(t.rows, t.places[from:len(t.places):len(t.places)])
			continue
		}
		t.events, t.counts = append(t.events, e), append(t.counts, n)
	}
}

// counter counts events like a map. Every case adds a score of events to it, and a map's hashing
// would take longer than everything else. The zero counter is empty.
type counter struct {
	slots []counted // length is a power of two; slots with count 0 are free
	used  int
}

type counted struct {
	event event
	n     int64
}

// place returns the slot of an event, or a free slot for it. There must be a free slot.
func (c *counter) place(e event) *counted {
	mask := uint64(len(c.slots) - 1)
	for h := e.hash() >> 32; ; h++ {
		if x := &c.slots[h&mask]; x.n == 0 || x.event.is(&e) {
			return x
		}
	}
}

// of returns an event's count.
func (c *counter) of(e event) int64 {
	if c.used == 0 {
		return 0
	}
	return c.place(e).n
}

// add adds n to an event's count, and returns the count before.
func (c *counter) add(e event, n int64) (was int64) {
	if n <= 0 {
		return c.of(e)
	}
	if 4*(c.used+1) > 3*len(c.slots) {
		c.grow()
	}
	x := c.place(e)
	if was = x.n; was == 0 {
		x.event = e
		c.used++
	}
	x.n += n
	return was
}

func (c *counter) grow() {
	was := c.slots
	c.slots = make([]counted, max(16, 2*len(was)))
	for _, x := range was {
		if x.n > 0 {
			*c.place(x.event) = x
		}
	}
}

// clone returns an independent copy.
func (c *counter) clone() counter { return counter{slices.Clone(c.slots), c.used} }

// all yields the events and their counts, in no meaningful order.
func (c *counter) all() iter.Seq2[event, int64] {
	return func(yield func(event, int64) bool) {
		for _, x := range c.slots {
			if x.n > 0 && !yield(x.event, x.n) {
				return
			}
		}
	}
}
