// Package choice records every random decision of a generator as a number on a
// tape. A generator that takes its decisions from a [Source] can run again from the
// tape alone, and can be minimized by changing the tape: shorter tapes and lower
// numbers mean simpler results, whatever is generated. Package shrink does that.
//
// The idea is that of internal shrinking (MacIver and Donaldson, 2020); the
// encoding is our own. Decisions are distinguished by spans, which say which
// numbers belong together, such as those of one step.
//
// The package is pure: it imports the standard library and splitmix alone, and
// keeps no clock and no global state. Equal keys give equal tapes, on every
// machine.
package choice

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/thresh-dev/thresh/engine/splitmix"
)

// Span is a half-open range of a tape whose numbers were drawn for one thing. Spans
// nest, and are listed in the order in which they begin.
type Span struct{ From, To int }

// Kind is what a decision was about.
type Kind uint8

// The kinds of decisions.
const (
	Number Kind = iota // an amount: Draw, Skewed and Prefer
	Pick               // one of several: Weighted
	Flag               // continue a repetition or not: More
)

// Mark says what a number of a tape decided, and that it was below Limit; a limit
// of 0 means 2^64.
type Mark struct {
	Kind  Kind
	Limit uint64
}

// Tape has the decisions of one generation.
type Tape struct {
	Values []uint64
	Marks  []Mark // as many as there are values
	Spans  []Span
}

// Source makes decisions and records them.
type Source struct {
	state  uint64   // of the generator, if there is no tape to follow
	follow []uint64 // the tape to follow; beyond its end every decision is 0, unless
	tries  []uint64 // memory of Try
	replay bool     // it is only the beginning (extend)
	extend bool
	least  bool // beyond its end decisions are the least, but for preferences (least)
	ask    func(limit uint64) uint64
	tape   Tape
	open   []int // spans that have not ended

	// Topic is what the next decision is about, for users of [Source.Ask].
	Topic uint64
}

// Reset makes s a source that decides by a key, reusing its memory.
func (s *Source) Reset(key uint64) {
	s.state, s.follow, s.ask, s.replay, s.extend, s.least = key, nil, nil, false, false, false
	s.clear()
}

// Follow makes s repeat the decisions of a tape.
func (s *Source) Follow(values []uint64) {
	s.follow, s.ask, s.replay, s.extend, s.least = values, nil, true, false, false
	s.clear()
}

// Ask makes s ask for each decision: by gets its limit, and finds its topic in
// s.Topic. An answer means the same as that number on a tape.
func (s *Source) Ask(by func(limit uint64) uint64) {
	s.Follow(nil)
	s.ask = by
}

// Extend makes s repeat the decisions of a tape, and decide by a key after its end.
func (s *Source) Extend(values []uint64, key uint64) {
	s.Follow(values)
	s.state, s.extend = key, true
}

// Resume puts s into the state of [Source.Extend] at the end of the tape: its
// decisions count as made, although nobody asked for them, and what each was about
// is unknown.
func (s *Source) Resume(values []uint64, key uint64) {
	s.Extend(values, key)
	s.tape.Values = append(s.tape.Values, values...)
	for range values {
		s.tape.Marks = append(s.tape.Marks, Mark{})
	}
}

// Try makes s continue after its current decisions with some others; further
// decisions are the smallest possible, except preferences. Trying one list after
// another enumerates all decisions.
func (s *Source) Try(values []uint64) {
	s.tries = append(append(s.tries[:0], s.tape.Values...), values...)
	s.follow = s.tries
	s.ask, s.replay, s.extend, s.least = nil, true, false, true
}

// onTape reports whether a tape decides next.
func (s *Source) onTape() bool {
	return s.replay && (!s.extend || len(s.tape.Values) < len(s.follow))
}

func (s *Source) clear() {
	s.tape.Values, s.tape.Marks, s.tape.Spans, s.open = s.tape.Values[:0], s.tape.Marks[:0], s.tape.Spans[:0], s.open[:0]
}

func (s *Source) note(v uint64, kind Kind, limit uint64) {
	s.tape.Values = append(s.tape.Values, v)
	s.tape.Marks = append(s.tape.Marks, Mark{kind, limit})
}

func (s *Source) next() uint64 { return splitmix.Next(&s.state) }

// Draw decides on a number below n; an n of 0 means 2^64. A number on a tape that
// is too large becomes the largest allowed one.
func (s *Source) Draw(n uint64) uint64 {
	v := uint64(0)
	switch {
	case s.onTape():
		v = s.take(n)
	case n == 0:
		v = s.next()
	default:
		v, _ = bits.Mul64(s.next(), n)
	}
	s.note(v, Number, n)
	return v
}

// Skewed decides on a number below n, small ones as often as large ones: every
// length in bits is equally likely. An n of 0 means 2^64.
func (s *Source) Skewed(n uint64) uint64 {
	v := uint64(0)
	if s.onTape() {
		v = s.take(n)
	} else {
		length, _ := bits.Mul64(s.next(), uint64(bits.Len64(n-1))+1)
		v = s.next() >> (64 - length) // a shift by 64 gives 0
		for n != 0 && v >= n {
			v >>= 1
		}
	}
	s.note(v, Number, n)
	return v
}

// Prefer decides on v, which is below n, unless a tape decides differently.
func (s *Source) Prefer(v, n uint64) uint64 {
	if s.onTape() && !(s.least && len(s.tape.Values) >= len(s.follow)) {
		v = s.take(n)
	}
	s.note(v, Number, n)
	return v
}

// take reads the next number of the tape.
func (s *Source) take(n uint64) uint64 {
	at, v := len(s.tape.Values), uint64(0)
	switch {
	case s.ask != nil:
		v = s.ask(n)
	case at < len(s.follow):
		v = s.follow[at]
	}
	if n != 0 && v >= n {
		v = n - 1
	}
	return v
}

// Weighted decides on an index with probability proportional to its weight. Indexes
// of weight 0 are never chosen; a tape that names one gives the next higher index
// that may be chosen, or else the first. Weights must not be negative, and at least
// one must be above 0.
func (s *Source) Weighted(weights []float64) int {
	i := 0
	if s.onTape() {
		i = int(s.take(uint64(len(weights))))
	} else {
		i = s.roll(weights)
	}
	for range weights {
		if weights[i] > 0 {
			break
		}
		i = (i + 1) % len(weights)
	}
	s.note(uint64(i), Pick, uint64(len(weights)))
	return i
}

func (s *Source) roll(weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := float64(s.next()>>11) / (1 << 53) * total
	for i, w := range weights {
		if at < w {
			return i
		}
		at -= w
	}
	return len(weights) - 1
}

// More decides whether to continue a repetition, such that every count from the
// current one to most is equally likely. 0 on the tape ends it.
func (s *Source) More(count, most int) bool { return s.more(count, most, 1) }

// Longer is More for repetitions that end early a tenth as often.
func (s *Source) Longer(count, most int) bool { return s.more(count, most, 0.1) }

func (s *Source) more(count, most int, ends float64) bool {
	if count >= most {
		return false
	}
	v := uint64(0)
	if s.onTape() {
		v = s.take(2)
	} else if float64(s.next()>>11)/(1<<53) >= ends/float64(most-count+1) {
		v = 1
	}
	s.note(v, Flag, 2)
	return v == 1
}

// Begin starts a span.
func (s *Source) Begin() {
	s.open = append(s.open, len(s.tape.Spans))
	s.tape.Spans = append(s.tape.Spans, Span{len(s.tape.Values), len(s.tape.Values)})
}

// End ends the span that was started last. Empty spans are dropped.
func (s *Source) End() {
	i := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.tape.Spans[i].To = len(s.tape.Values)
	if i == len(s.tape.Spans)-1 && s.tape.Spans[i].From == len(s.tape.Values) {
		s.tape.Spans = s.tape.Spans[:i]
	}
}

// Len returns how many decisions were made so far.
func (s *Source) Len() int { return len(s.tape.Values) }

// Tape returns what was decided so far. It is valid until the source is used again.
func (s *Source) Tape() Tape {
	for _, i := range s.open {
		s.tape.Spans[i].To = len(s.tape.Values)
	}
	return s.tape
}

// Encode writes the numbers of a tape as bytes: each as an unsigned varint.
// Trailing zeros are omitted, since a tape continues with zeros beyond its end.
func Encode(values []uint64) []byte {
	values = Trim(values)
	b := make([]byte, 0, len(values)+8)
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// Trim returns a tape without the zeros at its end, which mean nothing.
func Trim(values []uint64) []uint64 {
	for len(values) > 0 && values[len(values)-1] == 0 {
		values = values[:len(values)-1]
	}
	return values
}

// errTape is the error for bytes that are not a tape.
var errTape = errors.New("not a tape of choices")

// Decode reads what [Encode] wrote.
func Decode(b []byte) ([]uint64, error) {
	values := make([]uint64, 0, len(b))
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errTape
		}
		values = append(values, v)
		b = b[n:]
	}
	return values, nil
}

// Key mixes numbers into a key: each affects all bits.
func Key(parts ...uint64) uint64 {
	s := Source{state: math.MaxUint32}
	for _, p := range parts {
		s.state ^= p
		s.state = s.next()
	}
	return s.next()
}
