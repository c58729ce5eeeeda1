package bytemut

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
)

// keepAtLeast is the length that truncate_tail leaves.
const keepAtLeast = 256

// Strategies returns the operations of [Reference] in their usual order.
func Strategies() []string {
	return []string{string(FlipBit), string(FlipByte), string(TruncateTail), string(AppendBytes)}
}

// Params say how [Reference] mutates.
type Params struct {
	// MaxBytes is the largest size of a case; 0 or less: no limit.
	MaxBytes int64
	// MaxOps is the number of operations of a case. A case has fewer only if none
	// is possible.
	MaxOps int
	// Strategies are the operations to choose from. A name that occurs twice is
	// chosen twice as often, and the order matters. nil: all, in the usual order.
	Strategies []string
}

// Reference makes the cases that FuzzSpec v1 has always made. It never changes.
type Reference struct {
	seed     []byte
	visible  int // bytes of the seed that a case can show
	maxBytes int64
	maxOps   int
	// choices are the operations to choose from, indexed by what is possible.
	choices [8][]Kind

	base    *big.Int // the campaign's random seed
	small   int64    // base, if isSmall
	isSmall bool
}

// Bits of the index into Reference.choices.
const (
	canFlip = 1 << iota
	canTruncate
	canAppend
)

// NewReference returns the mutator for a seed input, which must not change
// afterwards. rngSeed is the campaign's random seed; nil means 0.
func NewReference(seed []byte, p Params, rngSeed *big.Int) (*Reference, error) {
	names := p.Strategies
	if names == nil {
		names = Strategies()
	}
	if p.MaxOps < 0 {
		return nil, fmt.Errorf("number of operations: %d is negative", p.MaxOps)
	}
	m := &Reference{seed: seed, visible: len(seed), maxBytes: p.MaxBytes, maxOps: p.MaxOps, base: new(big.Int)}
	if m.maxBytes <= 0 {
		m.maxBytes = math.MaxInt64
	}
	m.visible = int(min(int64(len(seed)), m.maxBytes))
	for _, name := range names {
		k := Kind(name)
		var needs int
		switch k {
		case FlipBit, FlipByte:
			needs = canFlip
		case TruncateTail:
			needs = canTruncate
		case AppendBytes:
			needs = canAppend
		default:
			err := fmt.Errorf("mutation strategy %q does not exist", name)
			if hint := diag.DidYouMean(name, Strategies()); hint != "" {
				err = fmt.Errorf("%w: %s", err, hint)
			}
			return nil, err
		}
		for can := range m.choices {
			if can&needs != 0 {
				m.choices[can] = append(m.choices[can], k)
			}
		}
	}
	if rngSeed != nil {
		m.base.Set(rngSeed)
	}
	if m.base.IsInt64() {
		m.small, m.isSmall = m.base.Int64(), true
	}
	return m, nil
}

// magnitude returns the absolute value of the random seed of a case, since the
// generator ignores the sign; false if it needs more than 64 bits.
func (m *Reference) magnitude(index int64) (uint64, bool) {
	if !m.isSmall {
		return 0, false
	}
	sum := m.small + index
	if (m.small < 0) == (index < 0) && (sum < 0) != (index < 0) {
		// The true sum differs from the wrapped one by 2**64, and is on the other
		// side of zero; its magnitude still fits.
		if sum < 0 {
			return uint64(sum), true
		}
		return -uint64(sum), sum != 0
	}
	if sum < 0 {
		return -uint64(sum), true
	}
	return uint64(sum), true
}

// Case implements [Mutator]. It is fastest for ascending indexes at a constant
// distance; any other order gives the same bytes.
func (m *Reference) Case(index int64, buf *Buffer) []byte {
	buf.reset()
	m.restore(&buf.ref)
	c := referenceCase{m: m, buf: buf, length: len(m.seed)}
	if m.maxOps > 0 {
		c.source = m.source(index, &buf.ref)
		c.run()
	}
	return buf.ref.data[:min(int64(c.length), m.maxBytes)]
}

// restore restores the seed in the buffer by undoing what the last case did, so
// that a large seed is copied only once.
func (m *Reference) restore(b *referenceBuffer) {
	if b.owner != m {
		b.owner = m
		b.data = append(b.data[:0], m.seed[:m.visible]...)
	} else {
		for _, at := range b.flipped {
			if at < m.visible {
				b.data[at] = m.seed[at]
			}
		}
		if to := min(b.to, m.visible); b.from < to {
			copy(b.data[b.from:to], m.seed[b.from:to])
		}
	}
	b.data = b.data[:m.visible]
	b.flipped = b.flipped[:0]
	b.from, b.to = math.MaxInt, 0
}

// source returns the generator of a case. It seeds several cases at once if they
// are made at a constant distance.
func (m *Reference) source(index int64, b *referenceBuffer) source {
	if b.batchOf == m {
		if lane, rest := (index-b.first)/b.stride, (index-b.first)%b.stride; index >= b.first && rest == 0 &&
			lane < pyrand.Lanes && b.used&(1<<lane) == 0 {
			b.used |= 1 << lane
			b.last, b.gap = index, b.stride
			return source{batch: &b.batch, lane: int(lane), rand: &b.rand}
		}
	}
	gap := index - b.last
	steady := gap > 0 && (gap == b.gap || b.gap == 0)
	b.last, b.gap = index, gap
	if steady && gap <= math.MaxInt64/pyrand.Lanes && index <= math.MaxInt64-pyrand.Lanes*gap {
		var seeds [pyrand.Lanes]uint64
		fits := true
		for i := range seeds {
			var ok bool
			seeds[i], ok = m.magnitude(index + int64(i)*gap)
			fits = fits && ok
		}
		if fits {
			b.batch.Seed(&seeds)
			b.batchOf, b.first, b.stride, b.used = m, index, gap, 1
			return source{batch: &b.batch, rand: &b.rand}
		}
	}
	if n, ok := m.magnitude(index); ok {
		b.rand.SeedUint64(n)
	} else {
		n := big.NewInt(index)
		b.rand.SeedBig(n.Add(n, m.base))
	}
	return source{rand: &b.rand}
}

// source is the generator of one case: a lane of a batch, or a Rand.
type source struct {
	batch *pyrand.Batch // nil: rand
	lane  int
	rand  *pyrand.Rand
}

func (s *source) below(n uint64) uint64 {
	if s.batch != nil {
		return s.batch.Below(s.lane, n)
	}
	return s.rand.Below(n)
}

// fill draws len(p) bytes as a Python loop over randrange(256) does.
func (s *source) fill(p []byte) {
	const worthMoving = 64
	if s.batch != nil && len(p) < worthMoving {
		for i := range p {
			p[i] = byte(s.batch.Below(s.lane, 256))
		}
		return
	}
	if s.batch != nil {
		s.batch.Move(s.lane, s.rand)
		s.batch = nil
	}
	s.rand.FillBelow256(p)
}

// referenceCase is a case that is being made.
type referenceCase struct {
	m      *Reference
	buf    *Buffer
	source source
	// length is that of the result without the limit. Bytes beyond the limit are
	// never shown, drawn for or changed, so the buffer does not hold them.
	length int
}

func (c *referenceCase) run() {
	for i := range c.m.maxOps {
		shown := min(int64(c.length), c.m.maxBytes)
		can := 0
		if shown > 0 {
			can |= canFlip
		}
		if c.length > keepAtLeast {
			can |= canTruncate
		}
		if int64(c.length) < c.m.maxBytes {
			can |= canAppend
		}
		choices := c.m.choices[can]
		if len(choices) == 0 {
			return
		}
		op := Op{I: i, Kind: choices[c.source.below(uint64(len(choices)))]}
		switch op.Kind {
		case FlipBit:
			op.Offset = int64(c.source.below(uint64(shown) * 8))
			c.flip(int(op.Offset/8), 1<<(op.Offset%8))
		case FlipByte:
			op.Offset = int64(c.source.below(uint64(shown)))
			c.flip(int(op.Offset), 0xff)
		case TruncateTail:
			op.Length = 1
			if room := c.length - keepAtLeast; room > 1 {
				op.Length = 1 + int64(c.source.below(uint64(room)))
			}
			c.length -= int(op.Length)
		case AppendBytes:
			op.Length = 1
			if c.m.maxBytes != math.MaxInt64 {
				op.Length = 1 + int64(c.source.below(uint64(c.m.maxBytes-int64(c.length))))
			}
			op.Value = c.append(int(op.Length))
		}
		c.buf.ops = append(c.buf.ops, op)
	}
}

func (c *referenceCase) flip(at int, mask byte) {
	b := &c.buf.ref
	b.data[at] ^= mask
	b.flipped = append(b.flipped, at)
}

// append adds n random bytes and returns them for the log, which needs a copy,
// since later operations may change them.
func (c *referenceCase) append(n int) []byte {
	b := &c.buf.ref
	end := c.length + n
	if end > len(b.data) {
		b.data = slices.Grow(b.data, end-len(b.data))[:end]
	}
	fresh := b.data[c.length:end]
	c.source.fill(fresh)
	b.from, b.to = min(b.from, c.length), max(b.to, end)
	c.length = end
	return c.buf.keep(fresh)
}
