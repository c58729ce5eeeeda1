package bytemut

import (
	"github.com/thresh-dev/thresh/engine/pyrand"
)

// Mutator makes the cases of a campaign by index.
type Mutator interface {
	// Case returns the bytes of a case. They are valid until the buffer's next
	// case and must not be written to. It is safe for concurrent use with
	// different buffers.
	Case(index int64, buf *Buffer) []byte
}

// Buffer holds what making a case takes: the bytes themselves, their log, and
// generators seeded ahead. The zero Buffer is ready for use. It may be used
// with several mutators in turn, by one goroutine at a time, and never decides
// what a case is, only how fast it is made.
type Buffer struct {
	ops   []Op
	arena []byte // the values of ops

	ref  referenceBuffer
	deep deepBuffer
}

// Ops returns the log of the last case. It is valid until the next one.
func (b *Buffer) Ops() []Op { return b.ops }

// keep copies a value to where it lasts as long as the log.
func (b *Buffer) keep(value []byte) []byte {
	n := len(b.arena)
	b.arena = append(b.arena, value...)
	return b.arena[n:len(b.arena):len(b.arena)]
}

func (b *Buffer) reset() {
	clear(b.ops) // values must not keep old arenas alive
	b.ops = b.ops[:0]
	b.arena = b.arena[:0]
}

// referenceBuffer is the part of a Buffer that [Reference] uses.
type referenceBuffer struct {
	// data begins with the bytes of owner's seed that a case can show, but for
	// what the last case changed.
	owner   *Reference
	data    []byte
	flipped []int // offsets of bytes that were flipped
	from    int   // data[from:to] was written by appending
	to      int

	// batch holds generators for the cases first, first+stride, ...; used says
	// which have been drawn from, bit by bit.
	batch         pyrand.Batch
	batchOf       *Reference
	first, stride int64
	used          uint8
	last, gap     int64 // the last case made, and its distance from the one before
	rand          pyrand.Rand
}

var (
	_ Mutator = (*Reference)(nil)
	_ Mutator = (*Deep)(nil)
)
