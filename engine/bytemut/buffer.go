package bytemut

import (
	"encoding/base64"
	"math/bits"
	"strconv"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/splitmix"
)

// Mutator makes the cases of a campaign by index.
type Mutator interface {
	// Case returns the bytes of a case, which are valid until the buffer's next
	// case and must not be written to. It is safe for concurrent use with
	// different buffers.
	Case(index int64, buf *Buffer) []byte
}

// Buffer holds what making a case needs: the bytes themselves, their log, and
// generators seeded ahead. The zero Buffer is ready to use. One goroutine at a
// time may use it, with several mutators in turn. It never decides what a case
// is, only how fast it is made.
type Buffer struct {
	ops   []Op
	arena []byte // the values of ops

	ref  referenceBuffer
	deep deepBuffer
}

// Ops returns the log of the last case. It is valid until the next one.
func (b *Buffer) Ops() []Op { return b.ops }

// keep copies a value to memory that lasts as long as the log.
func (b *Buffer) keep(value []byte) []byte {
	n := len(b.arena)
	b.arena = append(b.arena, value...)
	return b.arena[n:len(b.arena):len(b.arena)]
}

func (b *Buffer) reset() {
	clear(b.ops) // old values must not keep arenas alive
	b.ops = b.ops[:0]
	b.arena = b.arena[:0]
}

// referenceBuffer is the part of a Buffer that [Reference] uses.
type referenceBuffer struct {
	// data begins with the bytes of owner's seed that a case can show, except
	// for what the last case changed.
	owner   *Reference
	data    []byte
	flipped []int // offsets of bytes that were flipped
	from    int   // data[from:to] was written by appending
	to      int

	// batch holds generators for the cases first, first+stride, ...; used says
	// bit by bit which have been drawn from.
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

// prng is xoshiro256** (Blackman and Vigna, 2018), seeded by SplitMix64.
// [DeepVersion] fixes its output.
type prng struct{ s0, s1, s2, s3 uint64 }

func newPRNG(key uint64) prng {
	return prng{splitmix.Next(&key), splitmix.Next(&key), splitmix.Next(&key), splitmix.Next(&key)}
}

func (p *prng) next() uint64 {
	out := bits.RotateLeft64(p.s1*5, 7) * 9
	t := p.s1 << 17
	p.s2 ^= p.s0
	p.s3 ^= p.s1
	p.s1 ^= p.s2
	p.s0 ^= p.s3
	p.s2 ^= t
	p.s3 = bits.RotateLeft64(p.s3, 45)
	return out
}

// below returns a number from 0 to n-1; n must be positive. The bias of a plain
// multiplication, at most n in 2**64, does not matter here.
func (p *prng) below(n int) int {
	hi, _ := bits.Mul64(p.next(), uint64(n))
	return int(hi)
}

// oneIn is true once in n times.
func (p *prng) oneIn(n int) bool { return p.below(n) == 0 }

// pick returns an element of a list that is not empty.
func pick[T any](p *prng, list []T) T { return list[p.below(len(list))] }

// caseKey returns the key of a case, all bits of which depend on both numbers.
func caseKey(seed uint64, index int64) uint64 {
	state := uint64(index)
	state = seed ^ splitmix.Next(&state)
	return splitmix.Next(&state)
}

// Kind names an operation.
type Kind string

// The operations of [Reference], in the order in which it considers them.
const (
	FlipBit      Kind = "flip_bit"
	FlipByte     Kind = "flip_byte"
	TruncateTail Kind = "truncate_tail"
	AppendBytes  Kind = "append_bytes"
)

// Op is one entry in the log of a case.
//
// In a log of [Reference], flips have an Offset (counted in bits for flip_bit),
// truncate_tail has a Length, and append_bytes has a Length and a Value. In a
// log of [Deep] every entry says that Length bytes at Offset were replaced by
// Value, so that applying a log to the parent gives the case again; an
// operation that changes two places has two entries with the same I.
type Op struct {
	I      int // 0-based number of the operation in the case
	Kind   Kind
	Offset int64
	Length int64
	Value  []byte // valid until the buffer's next case
}

// AppendLog appends the log of a case as JSON lines: an object for each
// operation, with only the keys that apply, sorted and without spaces. A case
// without operations has one line that says so.
func AppendLog(dst []byte, ops []Op) []byte {
	if len(ops) == 0 {
		return append(dst, `{"i":0,"note":"fallback:empty_mutations","op":"identity"}`+"\n"...)
	}
	for _, op := range ops {
		dst = append(dst, `{"i":`...)
		dst = strconv.AppendInt(dst, int64(op.I), 10)
		if op.Kind != FlipBit && op.Kind != FlipByte {
			dst = append(dst, `,"length":`...)
			dst = strconv.AppendInt(dst, op.Length, 10)
		}
		if op.Kind != TruncateTail && op.Kind != AppendBytes {
			dst = append(dst, `,"offset":`...)
			dst = strconv.AppendInt(dst, op.Offset, 10)
		}
		dst = append(dst, `,"op":"`...)
		dst = append(dst, op.Kind...)
		dst = append(dst, '"')
		if op.Kind != FlipBit && op.Kind != FlipByte && op.Kind != TruncateTail {
			dst = append(dst, `,"value_b64":"`...)
			dst = base64.StdEncoding.AppendEncode(dst, op.Value)
			dst = append(dst, '"')
		}
		dst = append(dst, '}', '\n')
	}
	return dst
}
