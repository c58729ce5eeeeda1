package spectest

import "iter"

// spans are the blocks of a document that are run. There may be very many, so
// they take as little room as can be; documents are shorter than 2 GiB.
type spans []span

type span struct {
	open, start, end int32
	closed           bool
}

func spansOf(list []block) spans {
	s := make(spans, len(list))
	for i, b := range list {
		s[i] = span{int32(b.open), int32(b.start), int32(b.end), b.closed}
	}
	return s
}

func (s spans) blockAt(i int) block {
	x := s[i]
	return block{open: int(x.open), start: int(x.start), end: int(x.end), closed: x.closed}
}

func (s spans) all() iter.Seq2[int, block] {
	return func(yield func(int, block) bool) {
		for i := range s {
			if !yield(i, s.blockAt(i)) {
				return
			}
		}
	}
}
