package shrink

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// siblings returns groups of spans that are directly below the same parent, the
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

// list reports whether a span begins with a flag that asks for it, as the
// elements of a list do.
func (s *tapes) list(x choice.Span) bool {
	return x.To > x.From && s.best.Marks[x.From].Kind == choice.Flag && s.best.Values[x.From] == 1
}

// zeroSpans makes whole spans as simple as possible.
func (s *tapes) zeroSpans() {
	for k := 0; k < len(s.best.Spans) && s.stats.Err == nil; k++ {
		x := s.best.Spans[k]
		if x.To-x.From < 2 || s.list(x) {
			continue // single numbers have their own pass
		}
		s.replace(k, make([]uint64, x.To-x.From))
	}
}

// dropSpans deletes sibling spans, the last first, since later spans more often
// depend on earlier ones than the other way round.
func (s *tapes) dropSpans() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		s.dropRuns(g, 1)
	}
}

// dropNeighbours deletes pairs of siblings that need each other.
func (s *tapes) dropNeighbours() {
	for g := 0; s.stats.Err == nil && g < len(s.siblings()); g++ {
		s.dropRuns(g, 2)
	}
}

// dropRuns deletes runs of at least least siblings of a group. It doubles the
// length of a run after a success, and halves it after a failure.
func (s *tapes) dropRuns(g, least int) {
	size := least
	for end := -1; s.stats.Err == nil; {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		list := groups[g]
		if end < 0 || end > len(list) {
			end = len(list)
		}
		if size = min(size, end); size < least {
			return
		}
		if s.dropRun(list, end-size, end) {
			end -= size
			size *= 2
		} else if size > least {
			size = max(least, size/2)
		} else {
			end--
		}
		if end <= 0 {
			return
		}
	}
}

// dropRun deletes some siblings, with what asks for them.
func (s *tapes) dropRun(list []choice.Span, from, to int) bool {
	lo, hi := list[from].From, list[to-1].To
	if from > 0 && list[from-1].To < lo && s.try(s.without(list[from-1].To, hi)) {
		return true
	}
	if from == 0 && to < len(list) && list[to].From > hi && s.try(s.without(lo, list[to].From)) {
		return true
	}
	return s.try(s.without(lo, hi)) || s.full(list) && s.try(slices.Insert(s.without(lo, hi), list[len(list)-1].To-(hi-lo), 0))
}

// full reports whether a group has as many siblings as possible, so that nothing
// marks its end.
func (s *tapes) full(list []choice.Span) bool {
	last := list[len(list)-1]
	if s.list(last) {
		return true
	}
	return s.best.Marks[last.From].Kind != choice.Flag && len(list) > 1 && list[len(list)-2].To < last.From &&
		(last.To == len(s.best.Values) || s.best.Marks[last.To].Kind != choice.Flag)
}

// fullEnd returns where the group of the sibling at from ends, if it has as many
// siblings as possible; otherwise -1.
func (s *tapes) fullEnd(from int) int {
	for _, list := range s.siblings() {
		if slices.ContainsFunc(list, func(x choice.Span) bool { return x.From == from }) && s.full(list) {
			return list[len(list)-1].To
		}
	}
	return -1
}

// dropNamed deletes a span and lowers numbers that may count it or refer to it.
// Only small tapes are worth so many tests.
func (s *tapes) dropNamed() {
	const few = 96
	for g := 0; len(s.best.Values) <= few && s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := len(groups[g]) - 1; k >= 0; k-- {
			if groups = s.siblings(); g < len(groups) && k < len(groups[g]) {
				s.dropAt(groups[g], k)
			}
		}
	}
}

// dropAt deletes sibling k and lowers one of the two numbers before all siblings,
// which may be their number or the pick that asked for k, and the quantities
// among them that may refer to a later sibling.
func (s *tapes) dropAt(list []choice.Span, k int) {
	x, first := list[k], list[0].From
	named := s.without(x.From, x.To)
	names := false
	for i := first; i < len(named); i++ {
		from := i
		if i >= x.From {
			from += x.To - x.From
		}
		if v := named[i]; s.quantity(from) && v > uint64(k) && v <= uint64(len(list)) {
			named[i]--
			names = true
		}
	}
	for i, tries := first-1, 2; i >= 0 && tries > 0; i-- {
		less := s.best.Values[i]
		if less == 0 || s.best.Marks[i].Kind == choice.Flag {
			continue
		}
		if less--; s.best.Marks[i].Kind == choice.Pick {
			less = 0
		}
		tries--
		c := s.without(x.From, x.To)
		if c[i] = less; s.tryShorter(c) {
			return
		}
		if names {
			c = slices.Clone(named)
			if c[i] = less; s.tryShorter(c) {
				return
			}
		}
	}
	if names {
		s.tryShorter(named)
	}
}

// dropAndLower deletes a run of outermost siblings and subtracts one from a
// quantity elsewhere: a smaller initial value often does the same as a run of
// calls. It is for tapes that are nearly minimal.
func (s *tapes) dropAndLower() {
	const few, quantities = 10, 4
	for again := true; again && s.stats.Err == nil; {
		groups := s.siblings()
		var large []int
		for i, v := range s.best.Values {
			if v > 0 && s.quantity(i) {
				large = append(large, i)
			}
		}
		if len(groups) == 0 || len(groups[0]) < 3 || len(groups[0]) > few || len(large) > quantities {
			return
		}
		again = slices.ContainsFunc(large, func(i int) bool { return s.dropBeside(groups[0], i) })
	}
}

// dropBeside deletes a run of at least two siblings without number i, which
// becomes lower by one; the longest runs first.
func (s *tapes) dropBeside(list []choice.Span, i int) bool {
	for size := len(list) - 1; size > 1; size-- {
		for k := 0; k+size <= len(list); k++ {
			lo, hi := list[k].From, list[k+size-1].To
			if lo <= i && i < hi {
				continue
			}
			c := s.with(i, s.best.Values[i]-1)
			if s.tryShorter(slices.Delete(c, lo, hi)) {
				return true
			}
		}
	}
	return false
}

// join deletes the end of a list, alone and with the beginning of the next, so
// that the list continues with what follows.
func (s *tapes) join() {
	for i := len(s.best.Values) - 2; i >= 0 && s.stats.Err == nil; i-- {
		if i+1 < len(s.best.Values) && s.best.Marks[i].Kind == choice.Flag && s.best.Values[i] == 0 {
			if !s.try(s.without(i, i+2)) {
				s.try(s.without(i, i+1))
			}
		}
	}
}
