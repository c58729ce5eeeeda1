package shrink

import (
	"bytes"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/seq"
)

// span is a unit of the best input: bytes that belong together. Two units may
// have a separator between them, which goes with the unit before it or, if that
// was the last to stay, with the deleted ones.
type span struct{ lo, hi int }

// reduce deletes runs of units, from long runs to single units, until no tried
// run of length to can be deleted. If to is 1, no single unit can be deleted.
func (s *search) reduce(units []span, from, to int) {
	for size := min(from, len(units)); size >= to; size /= 2 {
		for changed := true; changed && !s.stopped(); {
			units, changed = s.sweep(units, size)
			changed = changed && size == to
		}
	}
}

// sweep tries to delete every run of size units, the last first: later parts of
// an input more often depend on earlier ones than the other way round.
func (s *search) sweep(units []span, size int) (left []span, changed bool) {
	var same span // the text at the front of this range was just refused
	step, row := size, 0
	for j := len(units); j > 0 && !s.stopped(); {
		i := max(0, j-step)
		if s.repeats(units, i, j, same) {
			same, j = span{units[i].lo, units[j].lo}, i
			continue
		}
		gone := between(units, i, j)
		if s.cut(gone.lo, gone.hi) {
			for k := j; k < len(units); k++ {
				units[k].lo -= gone.hi - gone.lo
				units[k].hi -= gone.hi - gone.lo
			}
			units = append(units[:i], units[j:]...)
			changed, same, j = true, span{}, i
			if row++; row > 1 {
				step *= 2
			}
			continue
		}
		row = 0
		if step > size {
			step = size
			continue
		}
		same, j = gone, i
	}
	return units, changed
}

// repeats reports whether deleting units i to j gives the candidate that was
// refused last: of two equal neighbouring runs it does not matter which is
// deleted.
func (s *search) repeats(units []span, i, j int, last span) bool {
	if j == len(units) || units[j].lo != last.lo || last.lo == last.hi {
		return false
	}
	return bytes.Equal(s.best[units[i].lo:units[j].lo], s.best[last.lo:last.hi])
}

// between returns the range to cut to delete units i to j with their separators.
func between(units []span, i, j int) span {
	switch {
	case j < len(units):
		return span{units[i].lo, units[j].lo}
	case i > 0:
		return span{units[i-1].hi, units[j-1].hi}
	default:
		return span{units[0].lo, units[j-1].hi}
	}
}

// lines deletes lines.
func (s *search) lines() {
	if !maybeText(s.best) {
		return
	}
	var units []span
	for lo := 0; lo < len(s.best); {
		hi := len(s.best)
		if n := bytes.IndexByte(s.best[lo:], '\n'); n >= 0 {
			hi = lo + n + 1
		}
		units = append(units, span{lo, hi})
		lo = hi
	}
	if len(units) > 1 {
		s.reduce(units, len(units)/2, 1)
	}
}

// maybeText reports whether an input may be text, even with invalid UTF-8.
func maybeText(b []byte) bool {
	odd := 0
	for _, c := range b {
		if c == 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			odd++
		}
	}
	return odd*10 <= len(b)
}

// blanks deletes all white space between tokens at once, or all but a byte of it.
func (s *search) blanks() {
	if !maybeText(s.best) {
		return
	}
	var all, more []edit
	for _, t := range lex(s.best) {
		if t.kind == space {
			all = append(all, edit{t.lo, t.hi, nil})
			more = append(more, edit{t.lo + 1, t.hi, nil})
		}
	}
	if !s.edit(all...) {
		s.edit(more...)
	}
}

// tokens deletes words, numbers, strings and marks.
func (s *search) tokens() {
	if !maybeText(s.best) {
		return
	}
	tokens := lex(s.best)
	if len(tokens)*2 > len(s.best) {
		return // the bytes pass does the same
	}
	units := seq.Map(tokens, func(t token) span { return t.span })
	s.reduce(units, len(units)/2, 1)
}

// runes deletes whole characters, for targets that want valid UTF-8, and makes
// the others plain.
func (s *search) runes() {
	if !utf8.Valid(s.best) || utf8.RuneCount(s.best) == len(s.best) {
		return
	}
	var units []span
	for lo := 0; lo < len(s.best); {
		_, n := utf8.DecodeRune(s.best[lo:])
		units = append(units, span{lo, lo + n})
		lo += n
	}
	s.reduce(units, len(units)/2, 1)
	for lo := 0; lo < len(s.best) && !s.stopped(); {
		_, n := utf8.DecodeRune(s.best[lo:])
		if n > 1 && s.edit(edit{lo, lo + n, []byte{'a'}}) {
			n = 1
		}
		lo += n
	}
}

// bytes deletes bytes. In a large input that must mostly stay, each single byte
// costs a test, so the content is flattened first: equal neighbours need only one
// test.
func (s *search) bytes() {
	const small, part = 64, 32
	n := len(s.best)
	units := blocks(n)
	fine := max(8, len(units)/part)
	s.reduce(units, len(units)/2, fine)
	if len(s.best) > small && len(s.best) > n/4 {
		s.flatten()
	}
	s.lengths(fits)
	s.reduce(blocks(len(s.best)), fine-1, 1)
}

// blocks returns the units of an input of n bytes: single bytes, or larger ones
// if single bytes would take too much memory and too many tests.
func blocks(n int) []span {
	const most = 1 << 20
	grain := max(1, (n+most-1)/most)
	units := make([]span, 0, (n+grain-1)/grain)
	for lo := 0; lo < n; lo += grain {
		units = append(units, span{lo, min(lo+grain, n)})
	}
	return units
}

// flatten tries the plainest byte in the whole input and in parts of it.
func (s *search) flatten() {
	for parts := 1; parts <= 8; parts *= 2 {
		size := (len(s.best) + parts - 1) / parts
		for lo := 0; lo < len(s.best) && !s.stopped(); lo += size {
			hi := min(lo+size, len(s.best))
			if s.plainer(lo, hi, plainest[0]) {
				s.fill(lo, hi, plainest[0])
			}
		}
	}
}

// windows deletes two to four neighbouring bytes at any place, for causes that
// depend on pairs or alignment. Only small inputs are worth so many tests.
func (s *search) windows() {
	const small = 128
	for size := 2; size <= 4; size++ {
		for lo := len(s.best) - size; lo >= 0 && len(s.best) <= small && !s.stopped(); lo-- {
			if lo+size <= len(s.best) {
				s.cut(lo, lo+size)
			}
		}
	}
}
