package shrink

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/choice"
)

// sort puts sibling spans into order, the simplest first.
func (s *tapes) sort() {
	for g := 0; s.stats.Err == nil; g++ {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		for k := 1; k < len(groups[g]); k++ {
			s.insert(g, k)
			if groups = s.siblings(); g >= len(groups) {
				return
			}
		}
	}
}

// insert moves sibling k of a group to where it belongs among those before it,
// or, if that cannot be, as far as it can go step by step.
func (s *tapes) insert(g, k int) {
	list := s.siblings()[g]
	text := func(i int) []uint64 { return s.best.Values[list[i].From:list[i].To] }
	to := k
	for to > 0 && compareTapes(text(to-1), text(k)) > 0 {
		to--
	}
	if k-to > 1 {
		order := slices.Clone(s.best.Values[:list[to].From])
		order = append(order, text(k)...)
		order = append(order, s.best.Values[list[to].From:list[k].From]...)
		if s.try(append(order, s.best.Values[list[k].To:]...)) {
			return
		}
	}
	for ; k > 0 && k < len(list) && s.swap(list[k-1], list[k]); k-- {
		groups := s.siblings()
		if g >= len(groups) {
			return
		}
		list = groups[g]
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
