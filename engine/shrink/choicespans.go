package shrink

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// shorten cuts the tape's end off: what is beyond it reads as zeros.
func (s *tapes) shorten() {
	for lo, hi := 0, len(s.best.Values); lo < hi && s.stats.Err == nil; {
		mid := (lo + hi) / 2
		if s.try(s.best.Values[:mid]) {
			hi = min(mid, len(s.best.Values))
		} else {
			lo = mid + 1
		}
	}
}

// siblings are the spans directly below each other's parent, group by group,
// outermost groups first.
func (s *tapes) siblings() [][]choice.Span {
	type open struct {
		span  choice.Span
		group int
	}
	var groups [][]choice.Span
	var stack []open
	top := -1
	for _, x := range s.best.Spans {
		for len(stack) > 0 && x.From >= stack[len(stack)-1].span.To {
			stack = stack[:len(stack)-1]
		}
		at := &top
		if len(stack) > 0 {
			at = &stack[len(stack)-1].group
		}
		if *at < 0 {
			*at = len(groups)
			groups = append(groups, nil)
		}
		groups[*at] = append(groups[*at], x)
		stack = append(stack, open{x, -1})
	}
	return groups
}

// dropSpans deletes runs of sibling spans: half of them, then fewer, down to
// single ones, the last first, since what comes late more often hangs on what
// came before than the other way round.
func (s *tapes) dropSpans() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for size := len(groups[g]) / 2; ; size /= 2 {
			size = max(size, 1)
			s.dropRuns(g, size, size)
			if size == 1 {
				s.dropRuns(g, 2, 1) // neighbours that need each other
				break
			}
		}
	}
}

func (s *tapes) dropRuns(g, size, step int) {
	for end := -1; s.stats.Err == nil; {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		list := groups[g]
		if end < 0 || end > len(list) {
			end = len(list)
		}
		if end < size {
			return
		}
		lo, hi := list[end-size].From, list[end-1].To
		gone := false
		if end > size && list[end-size-1].To < lo {
			gone = s.try(s.without(list[end-size-1].To, hi)) // with what asked for it
		}
		if gone || s.try(s.without(lo, hi)) {
			end -= size
		} else {
			end -= step
		}
		if end <= 0 {
			return
		}
	}
}

// zeroSpans makes whole spans as simple as can be.
func (s *tapes) zeroSpans() {
	for k := 0; k < len(s.best.Spans) && s.stats.Err == nil; k++ {
		x := s.best.Spans[k]
		if x.To-x.From < 2 {
			continue // single numbers have a pass of their own
		}
		c := slices.Clone(s.best.Values)
		clear(c[x.From:x.To])
		s.try(c)
	}
}

// hoist puts a span in the place of one around it.
func (s *tapes) hoist() {
	for i := 0; i < len(s.best.Spans) && s.stats.Err == nil; i++ {
		outer := s.best.Spans[i]
		for j := i + 1; j < len(s.best.Spans) && s.best.Spans[j].From < outer.To; j++ {
			inner := s.best.Spans[j]
			if inner.To-inner.From == outer.To-outer.From {
				continue
			}
			b := s.best.Values
			if s.try(slices.Concat(b[:outer.From], b[inner.From:inner.To], b[outer.To:])) || s.hoistTurned(outer, j) {
				j = i
				if i >= len(s.best.Spans) {
					return
				}
				outer = s.best.Spans[i]
			}
		}
	}
}

// hoistTurned is hoist with two neighbours within the inner span exchanged.
func (s *tapes) hoistTurned(outer choice.Span, j int) bool {
	b, inner := s.best.Values, s.best.Spans[j]
	for k := j + 1; k < len(s.best.Spans) && s.best.Spans[k].To <= inner.To; k++ {
		x := s.best.Spans[k]
		for _, y := range s.best.Spans[k+1:] {
			if y.From == x.To && y.To <= inner.To {
				return s.try(slices.Concat(b[:outer.From], b[inner.From:x.From], b[y.From:y.To], b[x.From:x.To], b[y.To:inner.To], b[outer.To:]))
			}
		}
	}
	return false
}

// dropAndLower deletes a span and lowers what may count it: the number
// right before it, or one of the two before all its siblings; or all numbers, since some may name what
// comes after it.
func (s *tapes) dropAndLower() {
	const few = 48
	for g := 0; len(s.best.Values) <= few && s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := len(groups[g]) - 1; k >= 0; k-- {
			if groups = s.siblings(); g < len(groups) && k < len(groups[g]) {
				s.dropCounted(groups[g][k], groups[g][0].From)
			}
		}
	}
}

func (s *tapes) dropCounted(x choice.Span, first int) {
	if i := x.From - 1; i >= first && s.best.Values[i] > 0 {
		c := s.without(x.From, x.To)
		c[i]--
		if s.try(c) {
			return
		}
	}
	for i, tries := first-1, 2; i >= 0 && tries > 0; i-- {
		if s.best.Values[i] == 0 {
			continue
		}
		tries--
		c := s.without(x.From, x.To)
		c[i]--
		if s.try(c) {
			return
		}
	}
	c := s.without(x.From, x.To)
	for i := range c {
		if c[i] > 0 {
			c[i]--
		}
	}
	s.try(c)
}

// windows deletes one or two neighbouring numbers anywhere, whatever span they
// are of: the end of one list and the beginning of the next, for one list of both.
func (s *tapes) windows() {
	const few = 40
	for size := 2; size >= 1; size-- {
		for lo := len(s.best.Values) - size; lo >= 0 && len(s.best.Values) <= few && s.stats.Err == nil; lo-- {
			if lo+size <= len(s.best.Values) {
				s.try(s.without(lo, lo+size))
			}
		}
	}
}

// sort puts sibling spans into order, the simplest first.
func (s *tapes) sort() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := 1; k < len(groups[g]); k++ {
			for n := k; n > 0 && n < len(groups[g]) && s.swap(groups[g][n-1], groups[g][n]); n-- {
				if groups = s.siblings(); g >= len(groups) {
					return
				}
			}
		}
	}
}

// swap exchanges two neighbouring spans if that is simpler.
func (s *tapes) swap(a, b choice.Span) bool {
	v := s.best.Values
	if b.To > len(v) || a.To > b.From {
		return false
	}
	return s.try(slices.Concat(v[:a.From], v[b.From:b.To], v[a.To:b.From], v[a.From:a.To], v[b.To:]))
}
