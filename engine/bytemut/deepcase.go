package bytemut

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/thresh-dev/thresh/engine/outline"
)

// clamp is the kind of the log entry for a parent that is longer than a case may
// be.
const clamp Kind = "clamp"

// deepCase is a case of [Deep] that is being made.
type deepCase struct {
	*Deep
	buf    *Buffer
	rng    prng
	data   []byte
	parent []byte
	corpus [][]byte
	slot   int
	op     int // number of the operation being made
	edits  int // changes so far

	// nearOf is the number of changes at which the neighbourhood in the buffer
	// was outlined, and nearFrom is where it begins.
	nearOf, nearFrom int
}

// operation changes the input in one or two places, by calls of edit, or returns
// false without changing it if it finds nothing to do.
type operation struct {
	kind Kind
	make func(*deepCase, Kind) bool
	// The weights of the operation for text and for other input.
	text, binary int
}

// operations is every operation of [Deep]. Their order is part of DeepVersion.
var operations = []operation{
	{"bit_flip", bitFlip, 3, 6},
	{"byte_set", byteSet, 3, 6},
	{"integer", interestingInteger, 3, 6},
	{"arithmetic", arithmetic, 3, 6},
	{"block_delete", blockDelete, 4, 6},
	{"block_insert", blockInsert, 2, 3},
	{"block_duplicate", blockDuplicate, 3, 4},
	{"block_overwrite", blockOverwrite, 2, 4},
	{"block_swap", blockSwap, 2, 3},
	{"block_repeat", blockRepeat, 1, 1},
	{"truncate", truncate, 1, 1},
	{"splice", splice, 2, 3},
	{"borrow", spliceBlock, 3, 4},
	{"dictionary_insert", dictionaryInsert, 4, 4},
	{"dictionary_overwrite", dictionaryOverwrite, 3, 4},
	{"number", number, 6, 1},
	{"string", stringContent, 3, 0},
	{"token_replace", tokenReplace, 5, 0},
	{"token_delete", tokenDelete, 3, 0},
	{"token_duplicate", tokenDuplicate, 2, 0},
	{"token_swap", tokenSwap, 2, 0},
	{"encoding", encoding, 3, 1},
	{"newline", newline, 2, 1},
	{"nest", nest, 2, 0},
	{"bracket", bracket, 2, 0},
	{"item_delete", itemDelete, 3, 0},
	{"item_duplicate", itemDuplicate, 2, 0},
	{"item_swap", itemSwap, 2, 0},
	{"item_value", itemValue, 4, 0},
	{"element_delete", elementDelete, 2, 0},
	{"element_duplicate", elementDuplicate, 2, 0},
	{"element_swap", elementSwap, 2, 0},
	{"element_rename", elementRename, 2, 0},
}

// textOperations and binaryOperations contain each operation as often as its
// weight.
var textOperations, binaryOperations = func() (text, binary []*operation) {
	for i := range operations {
		op := &operations[i]
		for range op.text {
			text = append(text, op)
		}
		for range op.binary {
			binary = append(binary, op)
		}
	}
	return text, binary
}()

func (c *deepCase) run() {
	choices := binaryOperations
	if outline.Texty(c.parent) {
		choices = textOperations
	}
	// The number of trailing ones of a random number is geometric.
	count := min(1+bits.TrailingZeros64(^c.rng.next()), c.maxOps)
	for c.op = 0; c.op < count; c.op++ {
		c.step(choices)
	}
}

// step makes one operation. It skips operations that find nothing to do; an
// insertion or a set byte is possible for any input.
func (c *deepCase) step(choices []*operation) {
	const tries = 12
	if c.grammar != nil && c.rng.oneIn(2) && c.grammarStep() {
		return
	}
	for range tries {
		op := pick(&c.rng, choices)
		if op.make(c, op.kind) {
			return
		}
	}
	if !blockInsert(c, "block_insert") {
		byteSet(c, "byte_set")
	}
}

// headroom returns how many bytes the case may still grow.
func (c *deepCase) headroom() int { return c.limit - len(c.data) }

// edit replaces length bytes at offset by value and logs that. It does nothing
// and returns false if that would change nothing or exceed the limit. value may
// be part of the data.
func (c *deepCase) edit(kind Kind, offset, length int, value []byte) bool {
	if len(value)-length > c.headroom() && len(value) > length {
		return false
	}
	if bytes.Equal(c.data[offset:offset+length], value) {
		return false
	}
	value = c.buf.keep(value)
	if len(value) == length {
		copy(c.data[offset:], value)
	} else {
		c.data = slices.Replace(c.data, offset, offset+length, value...)
	}
	c.buf.ops = append(c.buf.ops, Op{I: c.op, Kind: kind, Offset: int64(offset), Length: int64(length), Value: value})
	c.edits++
	return true
}

// swap exchanges two ranges that do not overlap, the first before the second.
func (c *deepCase) swap(kind Kind, from1, to1, from2, to2 int) bool {
	first := append(c.buf.deep.tmp[:0], c.data[from1:to1]...)
	second := append(c.buf.deep.other[:0], c.data[from2:to2]...)
	c.buf.deep.tmp, c.buf.deep.other = first, second
	if bytes.Equal(first, second) {
		return false
	}
	// The longer one is shortened first, so that the limit is never exceeded.
	if len(first) > len(second) {
		shrink := len(first) - len(second)
		c.edit(kind, from1, to1-from1, second)
		return c.edit(kind, from2-shrink, to2-from2, first)
	}
	c.edit(kind, from2, to2-from2, first)
	return c.edit(kind, from1, to1-from1, second)
}

// outline returns the structure of the data, or of a part of it, and where that
// part begins: all of the parent as long as it is unchanged and not too large,
// otherwise the neighbourhood of a random place.
func (c *deepCase) outline() (*outline.Outline, int) {
	b := &c.buf.deep
	if c.edits == 0 && len(c.data) <= outlineMost {
		return b.outlineOf(c.data, c.slot), 0
	}
	if c.nearOf == c.edits {
		return &b.near, c.nearFrom
	}
	from, size := 0, outlineNear
	if c.edits == 0 {
		size = outlinePart
	}
	if len(c.data) > size {
		from = c.rng.below(len(c.data) - size + 1)
	}
	b.near.Scan(c.data[from:min(len(c.data), from+size)])
	c.nearOf, c.nearFrom = c.edits, from
	return &b.near, from
}

// block returns a random range of the data, which must not be empty. Short ranges
// are likelier than long ones.
func (c *deepCase) block() (from, to int) {
	n := c.blockLen(len(c.data))
	from = c.rng.below(len(c.data) - n + 1)
	return from, from + n
}

// blockLen returns a random length from 1 to most.
func (c *deepCase) blockLen(most int) int {
	scale := []int{4, 16, 64, 1024, most}[min(bits.TrailingZeros64(^c.rng.next()), 4)]
	return 1 + c.rng.below(min(scale, most))
}

// place returns a random place to insert at.
func (c *deepCase) place() int { return c.rng.below(len(c.data) + 1) }

// otherInput returns a random input of the corpus, or nil.
func (c *deepCase) otherInput() []byte {
	if len(c.corpus) == 0 {
		return nil
	}
	return pick(&c.rng, c.corpus)
}

// word returns an entry of the dictionary, or nil: the user's entries are twice
// as likely as those of the seeds and of the pool.
func (c *deepCase) word() []byte {
	words := c.buf.deep.words
	others := len(c.found) + len(words)
	own := len(c.given) > 0 && (others == 0 || !c.rng.oneIn(3))
	switch {
	case own:
		return pick(&c.rng, c.given)
	case len(words) == 0 && others > 0:
		return pick(&c.rng, c.found)
	case others > 0:
		if at := c.rng.below(others); at < len(words) {
			return words[at]
		} else {
			return c.found[at-len(words)]
		}
	}
	return nil
}
