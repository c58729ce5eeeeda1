package bytemut

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
)

// What a program compares says what to put where: if one operand occurs in the input, the
// program may want the other in its place. Redqueen calls this input-to-state
// correspondence.

// Comparison is two operands that a program found different.
type Comparison struct {
	Kind     ComparisonKind
	Constant bool   // A is a constant of the program
	A, B     []byte // numbers are little-endian
}

// ComparisonKind says what the operands are.
type ComparisonKind uint8

// The kinds of operands.
const (
	Numbers ComparisonKind = iota + 1 // of 1 to 8 bytes
	Bytes
	Texts
	Areas // bytes of which an unknown number is compared
)

// Substitution is one change of an input.
type Substitution struct {
	At, Length int // the bytes that are replaced
	Value      []byte
}

// Staged is a substitution in an input of a pool.
type Staged struct {
	Parent int
	Substitution
}

// Limits for the changes that an input's comparisons suggest.
const (
	everywhere  = 8  // places of an operand in an input
	rareByte    = 2  // places of an operand of one byte
	farthest    = 32 // how far from an operand that is not in the input a near value may be
	leastWord   = 3  // least length of an operand that is worth a word
	longestWord = 32 // length of an operand from which it may have been cut
)

// Haystack is an input that is searched for operands. Most are not in it; an index of its
// pairs of bytes shows that without a search.
type Haystack struct {
	input []byte
	pairs [1 << 16 / 64]uint64
	three [1 << 18 / 64]uint64 // by a hash
}

// NewHaystack returns the haystack of an input, which must not change meanwhile.
func NewHaystack(input []byte) *Haystack {
	h := &Haystack{input: input}
	for i := range max(len(input), 1) - 1 {
		at := pair(input[i:])
		h.pairs[at/64] |= 1 << (at % 64)
		if i+2 < len(input) {
			at = three(input[i:])
			h.three[at/64] |= 1 << (at % 64)
		}
	}
	return h
}

func pair(b []byte) uint { return uint(b[0])<<8 | uint(b[1]) }

func three(b []byte) uint {
	return uint((uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])) * 0x9e3779b1 >> 14)
}

// index returns the first position of find from a position on; negative: there is none.
func (h *Haystack) index(find []byte, from int) int {
	if len(find) == 2 {
		if at := pair(find); h.pairs[at/64]>>(at%64)&1 == 0 {
			return -1
		}
	}
	for i := range max(len(find), 2) - 2 {
		if at := three(find[i:]); h.three[at/64]>>(at%64)&1 == 0 {
			return -1
		}
	}
	if at := bytes.Index(h.input[from:], find); at >= 0 {
		return from + at
	}
	return -1
}

// Teaches reports whether a comparison suggests a change or a word.
func (h *Haystack) Teaches(c Comparison) bool {
	list := []Comparison{c}
	return len(h.substitutions(list, true)) > 0 || len(h.Words(list)) > 0
}

// Substitutions returns the changes of the input that its comparisons suggest, the most
// certain first, each once, and at most most of them.
func (h *Haystack) Substitutions(list []Comparison, most int) []Substitution {
	out := h.substitutions(list, false)
	return out[:min(len(out), most)]
}

// substitutions returns all changes or, with anyone, at least one if there is any.
func (h *Haystack) substitutions(list []Comparison, anyone bool) []Substitution {
	input := h.input
	var ranks [4][]Substitution
	seen := map[string]bool{}
	for _, c := range list {
		try := func(rank int, find, put []byte, places int, fits func(at int) bool) (found bool) {
			if len(find) == 0 || bytes.Equal(find, put) || anyone && len(seen) > 0 {
				return false
			}
			for at, n := 0, 0; n < places; at++ {
				if at = h.index(find, at); at < 0 {
					return found
				}
				if fits != nil && !fits(at) {
					continue
				}
				n++
				found = true
				key := strconv.Itoa(at) + " " + strconv.Itoa(len(find)) + " " + string(put)
				if !seen[key] {
					seen[key] = true
					ranks[rank] = append(ranks[rank], Substitution{at, len(find), put})
				}
			}
			return found
		}
		way := func(from, to []byte) {
			if c.Kind == Numbers {
				numbers(input, from, to, try)
				return
			}
			if c.Kind == Areas {
				areas(from, to, try)
				return
			}
			try(0, from, to, everywhere, nil)
			if n := min(len(from), len(to)); n > 1 && len(from) != len(to) {
				try(0, from[:n], to[:n], everywhere, nil)
			}
		}
		way(c.B, c.A)
		if !c.Constant {
			way(c.A, c.B)
		}
	}
	return slices.Concat(ranks[:]...)
}

// numbers tries a number in every form in which an input may contain it: as wide as it was
// compared and narrower, in both byte orders, and as text.
func numbers(input, from, to []byte, try func(rank int, find, put []byte, places int, fits func(int) bool) bool) {
	a, b := number64(from), number64(to)
	digit := func(at int) bool { return at >= 0 && at < len(input) && input[at] >= '0' && input[at] <= '9' }
	text := func(rank int, a, b string) {
		try(rank, []byte(a), []byte(b), everywhere, func(at int) bool { return !digit(at-1) && !digit(at+len(a)) })
	}
	// wide tries a number and what it is to become in all widths but a byte's.
	wide := func(rank int, find, put uint64) (found bool) {
		for width := len(from); width > 1; width-- {
			if width&(width-1) != 0 || !holds(from, width) || !holds(to, width) {
				continue
			}
			var old, own [8]byte
			binary.LittleEndian.PutUint64(old[:], find)
			binary.LittleEndian.PutUint64(own[:], put)
			found = try(rank, old[:width], bytes.Clone(own[:width]), everywhere, nil) || found
			slices.Reverse(old[:width])
			slices.Reverse(own[:width])
			found = try(rank, old[:width], bytes.Clone(own[:width]), everywhere, nil) || found
		}
		return found
	}
	found := false
	// The comparison may have been for order, so the neighbours come last.
	for i, off := range []uint64{0, 1, ^uint64(0)} {
		rank := min(i, 1)
		found = wide(2*rank, a, b+off) || found
		if holds(from, 1) && holds(to, 1) {
			try(3, []byte{byte(a)}, []byte{byte(b + off)}, rareByte, nil)
		}
		text(1+rank, strconv.FormatUint(a, 10), strconv.FormatUint(b+off, 10))
		if sa, sb := signed(from), signed(to); sa < 0 || sb < 0 {
			text(1+rank, strconv.FormatInt(sa, 10), strconv.FormatInt(sb+int64(off), 10))
		}
	}
	// A length may be compared with a value that differs from the input's by the size of a
	// header.
	for off := uint64(1); !found && off <= farthest; off++ {
		wide(2, a-off, b-off)
		wide(2, a+off, b+off)
	}
}

// areas tries as many bytes as may have been compared: up to the zero byte of a text, and
// some powers of two.
func areas(from, to []byte, try func(rank int, find, put []byte, places int, fits func(int) bool) bool) {
	for i, n := range []int{textLength(to), 4, 8, 16, len(to)} {
		if n >= 2 && n <= min(len(from), len(to)) && len(bytes.Trim(from[:n], "\x00")) > 0 {
			try(min(i, 2), from[:n], to[:n], everywhere, nil)
		}
	}
}

// textLength returns how many bytes precede the first zero, or all.
func textLength(b []byte) int {
	if at := bytes.IndexByte(b, 0); at >= 0 {
		return at
	}
	return len(b)
}

// number64 returns a number without its sign.
func number64(b []byte) uint64 {
	var v [8]byte
	copy(v[:], b)
	return binary.LittleEndian.Uint64(v[:])
}

func signed(b []byte) int64 {
	shift := 64 - 8*uint(len(b))
	return int64(number64(b)<<shift) >> shift
}

// holds reports whether a number fits into width bytes, with its sign or without.
func holds(b []byte, width int) bool {
	rest := b[width:]
	if len(rest) == 0 {
		return true
	}
	fill := byte(0)
	if rest[0] == 0xff && b[width-1] >= 0x80 {
		fill = 0xff
	}
	return !slices.ContainsFunc(rest, func(c byte) bool { return c != fill })
}

// Words returns the operands that may be words of the input's language: those of calls that
// compare bytes or text and that do not occur in the input.
func (h *Haystack) Words(list []Comparison) [][]byte {
	var out [][]byte
	for _, c := range list {
		for _, w := range [][]byte{c.A, c.B} {
			if c.Kind == Areas {
				if w = w[:textLength(w)]; bytes.ContainsFunc(w, func(r rune) bool { return r < ' ' || r > '~' }) {
					continue
				}
			}
			if c.Kind != Numbers && len(w) >= leastWord && len(w) < longestWord && h.index(w, 0) < 0 {
				out = append(out, w)
			}
		}
	}
	return out
}

// substitute makes the case of a substitution.
func (d *Deep) substitute(parent []byte, s Substitution, buf *Buffer) []byte {
	buf.reset()
	b := &buf.deep
	b.data = append(b.data[:0], parent...)
	c := &b.current
	*c = deepCase{Deep: d, buf: buf, data: b.data, parent: parent, nearOf: -1}
	if len(c.data) > d.limit {
		c.edit(clamp, d.limit, len(c.data)-d.limit, nil)
	}
	if s.At+s.Length <= len(c.data) && d.maxOps > 0 {
		c.edit("comparison", s.At, s.Length, s.Value)
	}
	b.data = c.data
	*c = deepCase{}
	return b.data
}
