package fresnelfir

import (
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/port/dut"
)

// What a module's code reveals about inputs is fed back. Domains too large to enumerate are tried
// with values that the module compares something with: its constants from the start, and later
// those that would have changed the result of a comparison which always came out the same way.

// maxHints is how many of the latest values are kept per domain.
const maxHints = 256

// maxHintsOfCase is how many values one case may suggest.
const maxHintsOfCase = 32

// constantsOf adds, as hints for large domains, the numbers that a module compares with, and their
// neighbours.
func (s *space) constantsOf(constants []int64) {
	for i := range s.domains {
		d := &s.domains[i]
		if d.whole {
			continue
		}
		for _, c := range constants {
			for _, v := range [...]int64{c - 1, c, c + 1} {
				if at, ok := d.place(v); ok {
					d.hints = append(d.hints, at)
				}
			}
		}
		slices.Sort(d.hints)
		d.hints = slices.Compact(d.hints)
	}
}

// place returns the index of a number in an integer domain.
func (d *domain) place(v int64) (uint64, bool) {
	if d.source.Type != ir.Int || v < d.source.Min || v > d.source.Max {
		return 0, false
	}
	return d.source.Number(v), true
}

// wide reports whether some domain is too large to enumerate.
func (s *space) wide() bool {
	return slices.ContainsFunc(s.domains, func(d domain) bool { return !d.whole && d.source.Type == ir.Int })
}

// hint returns a value to try for a large domain.
func (t *traversal) hint(d int) (uint64, bool) {
	t.row = choice.Key(t.row)
	fixed := t.p.space.domains[d].hints
	var learned []uint64
	if t.state != nil && d < len(t.state.hints) {
		learned = t.state.hints[d]
	}
	n := uint64(len(fixed) + 2*len(learned))
	if n == 0 || t.row%3 == 0 {
		return 0, false
	}
	at := t.row >> 2 % n
	if at < uint64(len(fixed)) {
		return fixed[at], true
	}
	return learned[(at-uint64(len(fixed)))/2], true
}

// traceModule notes what happened inside the module: points of its code that are new to the
// campaign, and inputs that might change a comparison.
func (t *traversal) traceModule(s *state) {
	x := t.dev.inst.Take()
	for at := range s.fresh(x) {
		t.seen.countEvent(event{kind: eventEdge, child: at})
	}
	left := maxHintsOfCase
	for _, c := range x.Compares {
		if left == 0 {
			return
		}
		if c.True == c.False || t.dev.sites[c.Site].Type == dut.F64 {
			continue
		}
		for d := range t.p.space.domains {
			if left > 0 && !t.p.space.domains[d].whole {
				left -= t.suggest(d, c)
			}
		}
	}
}

// fresh yields the points of the module's code in a trace that are new.
func (s *state) fresh(x *dut.Trace) iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range x.Edges {
			if w < len(s.edges) {
				word &^= s.edges[w]
			}
			for ; word != 0; word &= word - 1 {
				if !yield(w*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// suggest notes inputs that differ from the current one by the distance between a comparison's
// operands, and the operands themselves. If the input was compared directly or with a constant
// added, one of these changes the result.
func (t *traversal) suggest(d int, c dut.Compare) int {
	n := 0
	v, gap := t.m.Input(d).N, c.B-c.A
	for _, x := range [...]int64{v + gap, v - gap, c.A, c.B} {
		if at, ok := t.p.space.domains[d].place(x); ok && x != v && (x >= math.MinInt64/2 && x <= math.MaxInt64/2) {
			t.seen.countEvent(event{kind: eventHint, node: d, state: at})
			n++
		}
	}
	return min(n, maxHintsOfCase)
}

// learn keeps a suggested value.
func (s *state) learn(d int, at uint64) {
	for len(s.hints) <= d {
		s.hints = append(s.hints, nil)
	}
	if slices.Contains(s.hints[d], at) {
		return
	}
	if len(s.hints[d]) == maxHints {
		s.hints[d] = append(s.hints[d][:0], s.hints[d][1:]...)
	}
	s.hints[d] = append(s.hints[d], at)
}

// reach notes a point of the module's code, and reports whether it is new.
func (s *state) reach(edge int) bool {
	for len(s.edges) <= edge/64 {
		s.edges = append(s.edges, 0)
	}
	bit := uint64(1) << (edge % 64)
	if s.edges[edge/64]&bit != 0 {
		return false
	}
	s.edges[edge/64] |= bit
	return true
}

// edgesReached counts the points of the module's code that were reached.
func (s *state) edgesReached() int {
	n := 0
	for _, w := range s.edges {
		n += bits.OnesCount64(w)
	}
	return n
}
