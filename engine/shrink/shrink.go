package shrink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ErrInput is the Stats.Err of an input that does not hold to begin with.
var ErrInput = errors.New("the input to shrink does not hold")

// Stats says what shrinking cost and how it ended.
type Stats struct {
	Tests int   // calls of the test, the input's own included
	Err   error // why it ended early; nil: no pass finds anything simpler
}

// Bytes returns the simplest input that it finds for which test holds. The result is
// input itself or a candidate for which test returned true; it never shares memory
// with input. It is never longer than input, and if Stats.Err is nil and it has at
// most one mebibyte, no single byte of it can be deleted.
//
// The first call of test is with input: if that does not hold, Bytes returns input
// with ErrInput. Work ends early at the first error of test, or when ctx is done,
// with the best input so far. No candidate is tested twice. A candidate is valid
// only during the call, and test must not change it. Equal answers lead to equal
// results by equal calls.
func Bytes(ctx context.Context, input []byte, test func([]byte) (bool, error)) ([]byte, Stats) {
	s := &search{
		ctx:     ctx,
		test:    test,
		best:    bytes.Clone(input),
		refused: map[digest]struct{}{},
	}
	if held := s.ask(s.best); !held {
		if s.stats.Err == nil {
			s.stats.Err = ErrInput
		}
		return s.best, s.stats
	}
	s.edit(edit{0, len(s.best), nil})
	s.run(plan(s.best))
	return s.best, s.stats
}

// pass is one way to look for something simpler in the whole input.
type pass struct {
	make func(*search)
	dear bool // costs tests for every byte that must stay
	done bool // has run
	seen int  // the version that it last started with
}

// plan orders the passes. Text that is one bracketed or tagged whole, such as JSON,
// breaks if arbitrary lines are deleted, so its structure goes first.
func plan(input []byte) []pass {
	first, second := (*search).lines, (*search).structure
	if parse(input).whole() {
		first, second = second, first
	}
	return []pass{
		{make: (*search).counted},
		{make: first}, {make: second},
		{make: (*search).blanks}, {make: (*search).tokens},
		{make: small((*search).names)}, {make: small((*search).values)}, {make: (*search).runes},
		{make: (*search).bytes, dear: true},
		{make: (*search).names, dear: true},
		{make: (*search).values, dear: true},
		{make: (*search).numbers, dear: true},
		{make: (*search).windows, dear: true},
		{make: (*search).brackets, dear: true},
		{make: (*search).plain, dear: true},
		{make: (*search).reorderPairs, dear: true},
	}
}

// small delays a pass that works word by word while the input is so large that
// deletion achieves more.
func small(pass func(*search)) func(*search) {
	const most = 1 << 10
	return func(s *search) {
		if len(s.best) <= most {
			pass(s)
		}
	}
}

type digest [16]byte

// search is the state of one call of Bytes.
type search struct {
	ctx     context.Context
	test    func([]byte) (bool, error)
	best    []byte // the simplest input so far that holds
	next    []byte // the candidate being made; its memory is reused
	refused map[digest]struct{}
	version int // counts changes of best
	stats   Stats
}

// run runs passes until none of them can improve on the others. The expensive ones
// wait until the cheap ones are done, and again after every change.
func (s *search) run(passes []pass) {
	for i := 0; i < len(passes) && !s.stopped(); i++ {
		p := &passes[i]
		if p.dear && slices.ContainsFunc(passes[:i], s.open) {
			i = -1
			continue
		}
		if s.open(*p) {
			p.done, p.seen = true, s.version
			p.make(s)
			if p.dear && s.open(*p) {
				i = -1
			}
		}
	}
}

// open reports whether a pass may still find something: it has not run since the
// best changed, or changed it itself.
func (s *search) open(p pass) bool { return !p.done || p.seen != s.version }

// stopped reports whether the work has ended early.
func (s *search) stopped() bool { return s.stats.Err != nil }

// edit replaces a range of the best input.
type edit struct {
	lo, hi int
	with   []byte
}

// edit tries the best input with edits, which are in order and do not overlap.
func (s *search) edit(edits ...edit) bool {
	if s.stopped() || s.addsNothing(edits) {
		return false
	}
	s.next = s.next[:0]
	from := 0
	for _, e := range edits {
		s.next = append(s.next, s.best[from:e.lo]...)
		s.next = append(s.next, e.with...)
		from = e.hi
	}
	s.next = append(s.next, s.best[from:]...)
	return s.try()
}

// addsNothing reports whether edits cannot make anything simpler, without the cost
// of applying them.
func (s *search) addsNothing(edits []edit) bool {
	growth, aligned := 0, true
	for _, e := range edits {
		more := len(e.with) - (e.hi - e.lo)
		growth += more
		aligned = aligned && more == 0
	}
	if growth != 0 || !aligned {
		return growth > 0
	}
	for _, e := range edits {
		if old := s.best[e.lo:e.hi]; !bytes.Equal(e.with, old) {
			return !simpler(e.with, old)
		}
	}
	return true
}

// cut tries the best input without a range of it.
func (s *search) cut(lo, hi int) bool { return s.edit(edit{lo, hi, nil}) }

// try makes s.next the best if it is simpler and holds.
func (s *search) try() bool {
	if s.stopped() || !simpler(s.next, s.best) {
		return false
	}
	sum := sha256.Sum256(s.next)
	key := digest(sum[:len(digest{})])
	if _, known := s.refused[key]; known {
		return false
	}
	if !s.ask(s.next) {
		s.refused[key] = struct{}{}
		return false
	}
	s.best, s.next = s.next, s.best
	s.version++
	return true
}

// ask tests a candidate.
func (s *search) ask(candidate []byte) bool {
	if err := s.ctx.Err(); err != nil {
		s.stats.Err = fmt.Errorf("shrinking: %w", context.Cause(s.ctx))
		return false
	}
	s.stats.Tests++
	held, err := s.test(candidate[:len(candidate):len(candidate)])
	if err != nil {
		s.stats.Err = fmt.Errorf("testing a candidate of %d bytes: %w", len(candidate), err)
		return false
	}
	return held
}
