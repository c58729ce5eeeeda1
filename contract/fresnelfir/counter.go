package fresnelfir

import (
	"iter"
	"slices"
)

// counter counts events. It is what a map would be, but every case adds a score
// of events to it, and to hash one as a map does takes longer than all the rest.
// The zero counter is empty.
type counter struct {
	slots []counted // as many as a power of two; those that count nothing are free
	used  int
}

type counted struct {
	event event
	n     int64
}

// place is where an event is, or is to be: there must be a free slot.
func (c *counter) place(e event) *counted {
	mask := uint64(len(c.slots) - 1)
	for h := e.hash() >> 32; ; h++ {
		if x := &c.slots[h&mask]; x.n == 0 || x.event.is(&e) {
			return x
		}
	}
}

// of is how often an event was counted.
func (c *counter) of(e event) int64 {
	if c.used == 0 {
		return 0
	}
	return c.place(e).n
}

// add counts an event n times more, and tells how often it was counted before.
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

// clone is a counter of the same counts that shares nothing with c.
func (c *counter) clone() counter { return counter{slices.Clone(c.slots), c.used} }

// all are the events and their counts, in no order that means anything.
func (c *counter) all() iter.Seq2[event, int64] {
	return func(yield func(event, int64) bool) {
		for _, x := range c.slots {
			if x.n > 0 && !yield(x.event, x.n) {
				return
			}
		}
	}
}
