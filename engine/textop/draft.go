package textop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/pyrand"
)

// draft is one application of a built-in operator.
type draft struct {
	text     string
	points   int // code points of text
	strength int // clamped
	ctx      *Context
	rng      *pyrand.Rand

	params  Params
	reason  string // why the operator skips
	problem string // why the result is INVALID

	buf   []byte // memory for the child, kept between applications
	raw   []byte // memory for the text as bytes, likewise
	spots []int  // memory for positions, likewise
}

// skip gives up for a reason, which the trace shows.
func (d *draft) skip(reason string) string {
	d.reason = reason
	return ""
}

// note adds a fact to the trace.
func (d *draft) note(key string, value any) { d.params = append(d.params, Param{key, value}) }

// out returns an empty buffer for the child.
func (d *draft) out() []byte { return d.buf[:0] }

// keepSpace is the size above which a buffer is not kept for the next child.
const keepSpace = 1 << 20

// done turns the buffer into the child.
func (d *draft) done(b []byte) string {
	if cap(b) <= keepSpace {
		d.buf = b
	}
	return string(b)
}

// index returns an index into a list of n: that of the option or a random one.
// The trace records it.
func (d *draft) index(name string, n int) int {
	v, given := d.ctx.Options[name]
	if !given {
		i := d.rng.Index(n)
		d.note(name, i)
		return i
	}
	i, ok := whole(v)
	if !ok || i < 0 || i >= n {
		d.problem = fmt.Sprintf("option %s is %s: expected a number from 0 to %d", name, describe(v), n-1)
		return 0
	}
	d.note(name, i)
	return i
}

// variant returns one of several equivalent texts.
func (d *draft) variant(list []string) string { return list[d.index("variant", len(list))] }

// choice returns one of several named values: that of the option or a random
// one. The trace records it.
func (d *draft) choice(name string, list []string) string {
	if v, ok := d.ctx.Options[name]; ok {
		s, _ := v.(string)
		at := slices.IndexFunc(list, func(c string) bool { return strings.EqualFold(c, s) })
		if at < 0 {
			d.problem = fmt.Sprintf("option %s is %s: expected one of %s", name, describe(v), strings.Join(list, ", "))
			return list[0]
		}
		d.note(name, list[at])
		return list[at]
	}
	s := list[d.rng.Index(len(list))]
	d.note(name, s)
	return s
}

// oneOf draws a text that the trace need not record.
func (d *draft) oneOf(list []string) string { return list[d.rng.Index(len(list))] }

// edits returns the number of single edits for the strength: 1, 2, 4, 8 or 16.
func (d *draft) edits() int { return 1 << (d.strength - 1) }

// sites draws up to n different positions where a character, as readers see it,
// begins, in order of the text. A larger n gives the same positions and more.
func (d *draft) sites(n int) []int {
	s := d.spots[:0]
	for range n {
		s = append(s, clusterStart(d.text, d.rng.Index(len(d.text))))
	}
	slices.Sort(s)
	d.spots = slices.Compact(s)
	return d.spots
}

// sitesOf is sites for ASCII characters of a class that stand alone; it
// searches from the drawn position on, and wraps around. It returns none if
// there is none.
func (d *draft) sitesOf(n int, class func(byte) bool) []int {
	s := d.spots[:0]
	for range n {
		from := d.rng.Index(len(d.text))
		at := d.next(from, len(d.text), class)
		if at < 0 {
			if at = d.next(0, from, class); at < 0 {
				break
			}
		}
		s = append(s, at)
	}
	slices.Sort(s)
	d.spots = slices.Compact(s)
	return d.spots
}

func (d *draft) next(from, to int, class func(byte) bool) int {
	for i := from; i < to; i++ {
		if class(d.text[i]) && boundary(d.text, i) && boundary(d.text, i+1) {
			return i
		}
	}
	return -1
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isBlank(b byte) bool  { return b == ' ' || b == '\t' || b == '\n' }

// chance makes many small decisions with few words of the generator: each takes
// eight bits.
type chance struct {
	rng   *pyrand.Rand
	bits  uint32
	left  int
	limit uint32 // of 256
}

// coin returns a coin that is true with a probability in percent.
func (d *draft) coin(percent int) chance {
	return chance{rng: d.rng, limit: uint32(percent*256+50) / 100}
}

func (c *chance) flip() bool { return c.bit() != 0 }

// bit is flip as a number, 1 or 0, for loops in which a branch would often be
// mispredicted.
func (c *chance) bit() byte {
	if c.left == 0 {
		c.bits, c.left = c.rng.Uint32(), 4
	}
	b := c.bits & 0xff
	c.bits >>= 8
	c.left--
	return byte((b - c.limit) >> 31)
}

// share is the percentage of characters that a strength touches.
func (d *draft) share() int {
	p := [...]int{5, 15, 35, 65, 100}[d.strength-1]
	d.note("percent", p)
	return p
}

// words calls f for every run of text without blanks, with the blanks before
// it; the last call may have an empty word.
func words(text string, f func(blanks, word string)) {
	for len(text) > 0 {
		i := 0
		for i < len(text) && isBlank(text[i]) {
			i++
		}
		j := i
		for j < len(text) && !isBlank(text[j]) {
			j++
		}
		f(text[:i], text[i:j])
		text = text[j:]
	}
}

// sentences splits a text after every full stop, question mark and exclamation
// mark (of Latin, CJK and Arabic script) before blanks or the end, and after
// every newline; the CJK marks need no blank. The parts add up to the text.
func sentences(text string) []string {
	parts := make([]string, 0, 8)
	start := 0
	for i, r := range text {
		switch r {
		case '.', '?', '!', '؟', '۔', '।':
			if end := i + len(string(r)); end < len(text) && !isBlank(text[end]) {
				continue
			}
		case '。', '？', '！', '\n':
		default:
			continue
		}
		end := i + len(string(r))
		for end < len(text) && isBlank(text[end]) {
			end++
		}
		if end > start && boundary(text, end) {
			parts = append(parts, text[start:end])
			start = end
		}
	}
	if start < len(text) {
		parts = append(parts, text[start:])
	}
	return parts
}
