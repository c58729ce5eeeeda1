package shrink

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// picks replaces picked alternatives by earlier ones.
func (s *tapes) picks() {
	for i := 0; i < len(s.best.Values) && s.stats.Err == nil; i++ {
		if s.best.Marks[i].Kind != choice.Pick {
			continue
		}
		for to := range min(s.best.Values[i], maxPicks) {
			if s.pick(i, to) {
				break
			}
		}
	}
}

// maxPicks is how many of the alternatives before a pick are tried.
const maxPicks = 8

// pick tries another alternative for a pick: with the rest of its span as it is,
// and as simple as possible, since it was meant for something else.
func (s *tapes) pick(i int, to uint64) bool {
	span := -1
	for k, x := range s.best.Spans {
		if x.From <= i && i < x.To {
			span = k // the innermost begins last
		}
	}
	if span < 0 {
		return s.try(s.with(i, to))
	}
	x := s.best.Spans[span]
	by := slices.Clone(s.best.Values[x.From:x.To])
	by[i-x.From] = to
	rest := by[i-x.From+1:]
	if slices.ContainsFunc(rest, func(v uint64) bool { return v > 0 }) {
		if s.try(s.with(i, to)) {
			return true
		}
		clear(rest)
	}
	return s.replace(span, by)
}

// hoist puts a span in the place of one around it, the outermost first.
func (s *tapes) hoist() {
	for i := 0; i < len(s.best.Spans) && s.stats.Err == nil; i++ {
		for s.hoistInto(i) && i < len(s.best.Spans) {
		}
	}
}

// hoistInto looks for a span to put in the place of span i, level by level.
func (s *tapes) hoistInto(i int) bool {
	outer := s.best.Spans[i]
	if s.best.Marks[outer.From].Kind == choice.Flag {
		return false // replacing a list by a list is for other passes
	}
	for level := 1; level <= 2 || outer.From == 0; level++ {
		found := false
		var ends []int // ends of the spans around the current one
		for j := i + 1; j < len(s.best.Spans) && s.best.Spans[j].From < outer.To; j++ {
			inner := s.best.Spans[j]
			for len(ends) > 0 && inner.From >= ends[len(ends)-1] {
				ends = ends[:len(ends)-1]
			}
			ends = append(ends, inner.To)
			if len(ends) != level {
				continue
			}
			found = true
			if inner.To-inner.From == outer.To-outer.From || s.best.Marks[inner.From].Kind != s.best.Marks[outer.From].Kind {
				continue
			}
			b := s.best.Values
			if s.try(slices.Concat(b[:outer.From], b[inner.From:inner.To], b[outer.To:])) || s.hoistTurned(outer, j) {
				return true
			}
		}
		if !found {
			break
		}
	}
	return false
}

// hoistTurned is hoist with two neighbours within the inner span swapped.
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
