package bytemut

import (
	"encoding/binary"
	"slices"
)

// Operations on bytes and blocks of them, for any input.

// Values at which integers of each width change their meaning.
var interesting = [4][]uint64{
	{0x80, 0xff, 0, 1, 16, 32, 64, 100, 0x7f},
	{0x8000, 0xff7f, 0x80, 0xff, 0x100, 0x200, 1000, 0x400, 0x1000, 0x7fff, 0xffff, 0},
	{0x80000000, 0xffff7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0xffffffff, 100663045, 0xfa0000fa, 0, 1},
	{1 << 63, 1<<63 - 1, 1<<64 - 1, 1 << 32, 1<<32 - 1, 1 << 31, 1 << 53, 0x7ff0000000000000, 0x7ff8000000000001, 0, 1},
}

// integerPlace returns a random place for an integer of a random width, 1 to 8 bytes,
// that fits the data; width 0: the data is empty.
func (c *deepCase) integerPlace() (at, exponent, width int) {
	exponent = c.rng.below(4)
	for ; exponent >= 0; exponent-- {
		if width = 1 << exponent; width <= len(c.data) {
			return c.rng.below(len(c.data) - width + 1), exponent, width
		}
	}
	return 0, 0, 0
}

// store replaces the width bytes at a place by an integer.
func (c *deepCase) store(kind Kind, at, width int, v uint64, bigEndian bool) bool {
	b := binary.LittleEndian.AppendUint64(c.buf.deep.tmp[:0], v)[:width]
	if bigEndian {
		slices.Reverse(b)
	}
	c.buf.deep.tmp = b
	return c.edit(kind, at, width, b)
}

func bitFlip(c *deepCase, kind Kind) bool {
	if len(c.data) == 0 {
		return false
	}
	at := c.rng.below(len(c.data))
	return c.store(kind, at, 1, uint64(c.data[at]^1<<c.rng.below(8)), false)
}

// byteSet sets a byte to any other value; inverting is one of the ways.
func byteSet(c *deepCase, kind Kind) bool {
	if len(c.data) == 0 {
		return false
	}
	at := c.rng.below(len(c.data))
	by := 0xff
	if !c.rng.oneIn(4) {
		by = 1 + c.rng.below(255)
	}
	return c.store(kind, at, 1, uint64(c.data[at]^byte(by)), false)
}

func interestingInteger(c *deepCase, kind Kind) bool {
	at, exponent, width := c.integerPlace()
	if width == 0 {
		return false
	}
	return c.store(kind, at, width, pick(&c.rng, interesting[exponent]), c.rng.oneIn(2))
}

// arithmetic adds or subtracts up to 35.
func arithmetic(c *deepCase, kind Kind) bool {
	at, _, width := c.integerPlace()
	if width == 0 {
		return false
	}
	bigEndian := c.rng.oneIn(2)
	var b [8]byte
	copy(b[:], c.data[at:at+width])
	if bigEndian {
		slices.Reverse(b[:width])
	}
	by := uint64(1 + c.rng.below(35))
	if c.rng.oneIn(2) {
		by = -by
	}
	return c.store(kind, at, width, binary.LittleEndian.Uint64(b[:])+by, bigEndian)
}

func blockDelete(c *deepCase, kind Kind) bool {
	if len(c.data) == 0 {
		return false
	}
	from, to := c.block()
	return c.edit(kind, from, to-from, nil)
}

// blockInsert inserts random bytes, or one byte many times.
func blockInsert(c *deepCase, kind Kind) bool {
	const most = 256
	room := min(c.headroom(), most)
	if room <= 0 {
		return false
	}
	return c.edit(kind, c.place(), 0, c.filler(c.blockLen(room)))
}

// filler returns n bytes, either all random or all the same.
func (c *deepCase) filler(n int) []byte {
	b := slices.Grow(c.buf.deep.tmp[:0], n)[:n]
	same := c.rng.oneIn(2)
	v := c.rng.next()
	if same && len(c.data) > 0 && c.rng.oneIn(2) {
		v = uint64(c.data[c.rng.below(len(c.data))])
	}
	for i := range b {
		if !same && i%8 == 0 {
			v = c.rng.next()
		}
		b[i] = byte(v)
		if !same {
			v >>= 8
		}
	}
	c.buf.deep.tmp = b
	return b
}

func blockDuplicate(c *deepCase, kind Kind) bool {
	if len(c.data) == 0 {
		return false
	}
	from, to := c.block()
	at := to
	if c.rng.oneIn(2) {
		at = c.place()
	}
	return c.edit(kind, at, 0, c.data[from:to])
}

// blockOverwrite copies a block over another, or filler over one.
func blockOverwrite(c *deepCase, kind Kind) bool {
	if len(c.data) < 2 {
		return false
	}
	from, to := c.block()
	n := to - from
	if c.rng.oneIn(4) {
		return c.edit(kind, from, n, c.filler(n))
	}
	return c.edit(kind, c.rng.below(len(c.data)-n+1), n, c.data[from:to])
}

func blockSwap(c *deepCase, kind Kind) bool {
	if len(c.data) < 2 {
		return false
	}
	middle := 1 + c.rng.below(len(c.data)-1)
	n1, n2 := c.blockLen(middle), c.blockLen(len(c.data)-middle)
	from1 := c.rng.below(middle - n1 + 1)
	from2 := middle + c.rng.below(len(c.data)-middle-n2+1)
	return c.swap(kind, from1, from1+n1, from2, from2+n2)
}

// blockRepeat writes a short block many times, to exceed buffers and limits of
// recursion.
func blockRepeat(c *deepCase, kind Kind) bool {
	const longest = 1 << 15
	if len(c.data) == 0 {
		return false
	}
	n := c.blockLen(min(len(c.data), 64))
	from := c.rng.below(len(c.data) - n + 1)
	times := 1 << (1 + c.rng.below(12))
	times = min(times, longest/n, c.headroom()/n)
	if times < 1 {
		return false
	}
	b := slices.Grow(c.buf.deep.tmp[:0], n*times)
	for range times {
		b = append(b, c.data[from:from+n]...)
	}
	c.buf.deep.tmp = b
	return c.edit(kind, from+n, 0, b)
}

func truncate(c *deepCase, kind Kind) bool {
	if len(c.data) == 0 {
		return false
	}
	at := c.rng.below(len(c.data))
	if c.rng.oneIn(8) {
		return c.edit(kind, 0, at+1, nil) // delete the beginning
	}
	return c.edit(kind, at, len(c.data)-at, nil)
}

// splice continues as another input does from some place on, usually the same place.
func splice(c *deepCase, kind Kind) bool {
	other := c.otherInput()
	if len(other) == 0 {
		return false
	}
	at := c.place()
	from := min(at, len(other))
	if c.rng.oneIn(2) {
		from = c.rng.below(len(other) + 1)
	}
	tail := other[from:]
	return c.edit(kind, at, len(c.data)-at, tail[:min(len(tail), c.limit-at)])
}

// spliceBlock inserts a block of another input, or overwrites with it.
func spliceBlock(c *deepCase, kind Kind) bool {
	other := c.otherInput()
	if len(other) == 0 {
		return false
	}
	n := c.blockLen(len(other))
	from := c.rng.below(len(other) - n + 1)
	return c.put(kind, other[from:from+n], c.rng.oneIn(2))
}

func dictionaryInsert(c *deepCase, kind Kind) bool    { return c.put(kind, c.word(), false) }
func dictionaryOverwrite(c *deepCase, kind Kind) bool { return c.put(kind, c.word(), true) }

// put writes text at a random place, over the existing bytes or before them.
func (c *deepCase) put(kind Kind, text []byte, over bool) bool {
	if len(text) == 0 {
		return false
	}
	at, length := c.place(), 0
	if over {
		length = min(len(text), len(c.data)-at)
	}
	return c.edit(kind, at, length, text)
}
