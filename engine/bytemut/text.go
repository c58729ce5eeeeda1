package bytemut

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/engine/outline"
)

// Operations on tokens, numbers, strings, line ends and character encodings.

// numberEdges are numbers on which programs that read text often fail.
var numberEdges = []string{
	"0", "-0", "1", "-1", "00", "127", "128", "255", "256", "32767", "32768", "65535", "65536",
	"2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
	"9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"-9223372036854775809", "18446744073709551615", "18446744073709551616",
	"340282366920938463463374607431768211456", "99999999999999999999999999999999999999999999",
	"0.1", "-0.0", "1e308", "1e309", "-1e309", "5e-324", "1e-400", "1e1000000", "1e-1000000",
	"NaN", "Infinity", "-Infinity", "0x7fffffff", "0xffffffffffffffff", "1.", ".5", "1e", "--1", "1_000", "１",
}

// stringEdges are contents on which programs that read strings often fail.
var stringEdges = []string{
	"", " ", "\x00", `\u0000`, `\ud800`, `\udc00\ud800`, `\x`, `\u12`, `\`, `"`, `'`, "%s%s%n", "%x%999999d",
	"../../../../", "$(id)", "${a}", "{{7*7}}", "<!--", "]]>", "&#0;", "&lt;", "\r\n\r\n", "0", "null", "__proto__",
	"\u202e", "\ufeff", "\u0130", "\u00df", "e\u0301\u0301\u0301\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\xff\xfe",
}

// brokenText has byte sequences that are not UTF-8, or that are seldom
// expected.
var brokenText = []string{
	"\xc0\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xc1\xbf", // longer than needed
	"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xa0\x80\xed\xb0\x80", // surrogates
	"\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", // beyond the last character
	"\xc3", "\xe2\x82", "\xf0\x9f\x98", "\x80", "\xbf\xbf", // cut short
	"\xff", "\xfe", "\xef\xbb\xbf", "\xfe\xff", "\xff\xfe", "\xff\xfe\x00\x00", // byte order marks
	"\u202e", "\u200f", "\u200b", "\u2060", "\u2028", "\ufffe", "\uffff", "\u0000", "\u0085", "\u00a0", "\ufdfa", "\U000e0041",
}

// token returns a token of the outline for which ok holds, searching from a
// random one on.
func (c *deepCase) token(o *outline.Outline, ok func(outline.Kind) bool) (outline.Token, bool) {
	const look = 64
	if len(o.Tokens) == 0 {
		return outline.Token{}, false
	}
	at := c.rng.below(len(o.Tokens))
	for range min(look, len(o.Tokens)) {
		if t := o.Tokens[at]; ok(t.Kind) {
			return t, true
		}
		if at++; at == len(o.Tokens) {
			at = 0
		}
	}
	return outline.Token{}, false
}

func notSpace(k outline.Kind) bool { return k != outline.Space }
func isValue(k outline.Kind) bool {
	return k == outline.Word || k == outline.Number || k == outline.String
}

// number replaces a number by an edge, or by one near it.
func number(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	t, ok := c.token(o, func(k outline.Kind) bool { return k == outline.Number })
	if !ok {
		return false
	}
	text := c.data[base+t.From : base+t.To]
	tmp := c.buf.deep.tmp[:0]
	if v, err := strconv.ParseInt(string(text[:min(len(text), 20)]), 10, 64); err == nil && len(text) < 20 && c.rng.oneIn(3) {
		switch c.rng.below(6) {
		case 0:
			v++
		case 1:
			v--
		case 2:
			v = -v
		case 3:
			v *= 2
		case 4:
			v ^= 1 << c.rng.below(63)
		default:
			v += int64(c.rng.below(201)) - 100
		}
		tmp = strconv.AppendInt(tmp, v, 10)
	} else {
		tmp = append(tmp, pick(&c.rng, numberEdges)...)
	}
	c.buf.deep.tmp = tmp
	return c.edit(kind, base+t.From, t.To-t.From, tmp)
}

// stringContent replaces the content of quotes by an edge or by something long,
// or appends that to it.
func stringContent(c *deepCase, kind Kind) bool {
	const longest = 1 << 13
	o, base := c.outline()
	t, ok := c.token(o, func(k outline.Kind) bool { return k == outline.String })
	if !ok {
		return false
	}
	from, to := base+t.From+1, base+t.To-1
	tmp := c.buf.deep.tmp[:0]
	if c.rng.oneIn(4) {
		n := min(1<<c.rng.below(14), longest, c.headroom()+to-from)
		for range n {
			tmp = append(tmp, 'A')
		}
	} else {
		tmp = append(tmp, pick(&c.rng, stringEdges)...)
	}
	c.buf.deep.tmp = tmp
	if c.rng.oneIn(3) {
		from += c.rng.below(to - from + 1)
		to = from
	}
	return c.edit(kind, from, to-from, tmp)
}

// tokenReplace replaces a token by one of its kind, one of the dictionary, or
// any.
func tokenReplace(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	t, ok := c.token(o, notSpace)
	if !ok {
		return false
	}
	var with []byte
	if isValue(t.Kind) && c.rng.oneIn(3) {
		with = c.word()
	}
	if with == nil {
		same := func(k outline.Kind) bool { return k == t.Kind }
		if c.rng.oneIn(4) {
			same = notSpace
		}
		u, ok := c.token(o, same)
		if !ok {
			return false
		}
		with = c.data[base+u.From : base+u.To]
	}
	return c.edit(kind, base+t.From, t.To-t.From, with)
}

func tokenDelete(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	t, ok := c.token(o, notSpace)
	return ok && c.edit(kind, base+t.From, t.To-t.From, nil)
}

func tokenDuplicate(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	t, ok := c.token(o, notSpace)
	return ok && c.edit(kind, base+t.To, 0, c.data[base+t.From:base+t.To])
}

func tokenSwap(c *deepCase, kind Kind) bool {
	o, base := c.outline()
	t, ok1 := c.token(o, notSpace)
	u, ok2 := c.token(o, notSpace)
	if !ok1 || !ok2 || t.From == u.From {
		return false
	}
	if u.From < t.From {
		t, u = u, t
	}
	return c.swap(kind, base+t.From, base+t.To, base+u.From, base+u.To)
}

func encoding(c *deepCase, kind Kind) bool {
	tmp := append(c.buf.deep.tmp[:0], pick(&c.rng, brokenText)...)
	c.buf.deep.tmp = tmp
	if c.rng.oneIn(8) {
		return c.edit(kind, 0, 0, tmp) // byte order marks belong at the beginning
	}
	return c.put(kind, tmp, c.rng.oneIn(2))
}

// newline changes a line end, or adds one.
func newline(c *deepCase, kind Kind) bool {
	at := c.place()
	from := bytes.IndexByte(c.data[at:], '\n')
	if from < 0 {
		if from = bytes.IndexByte(c.data, '\n'); from < 0 {
			from = 0
			at = 0
		}
	}
	from += at
	if from >= len(c.data) || c.data[from] != '\n' {
		from = c.place()
		return c.edit(kind, from, 0, c.lineEnd(0))
	}
	length := 1
	if from > 0 && c.data[from-1] == '\r' {
		from, length = from-1, 2
	}
	return c.edit(kind, from, length, c.lineEnd(length))
}

// lineEnd returns a line end; of the usual two, not the one with the given
// length.
func (c *deepCase) lineEnd(not int) []byte {
	ends := []string{"\r\n", "\n", "\r", "\n\n", "\n\r", "\x00\n", "\u2028", ""}
	end := pick(&c.rng, ends)
	if c.rng.oneIn(2) {
		end = ends[0]
		if not == 2 {
			end = ends[1]
		}
	}
	c.buf.deep.tmp = append(c.buf.deep.tmp[:0], end...)
	return c.buf.deep.tmp
}

// nest wraps a token, item or group in brackets or tags, once or many times.
func nest(c *deepCase, kind Kind) bool {
	const deepest = 12 // exponent
	o, base := c.outline()
	from, to := 0, 0
	switch {
	case len(o.Items) > 0 && c.rng.oneIn(2):
		it := pick(&c.rng, o.Items)
		from, to = it.Value, it.To
	case len(o.Groups) > 0 && c.rng.oneIn(2):
		g := pick(&c.rng, o.Groups)
		from, to = g.Open, g.Close+1
	default:
		t, ok := c.token(o, notSpace)
		if !ok {
			return false
		}
		from, to = t.From, t.To
	}
	from, to = base+from, base+to
	pair := pick(&c.rng, [][2]string{{"[", "]"}, {"[", "]"}, {`{"a":`, "}"}, {"(", ")"}, {"<a>", "</a>"}, {"{", "}"}, {`"`, `"`}, {"/*", "*/"}})
	times := 1
	if c.rng.oneIn(3) {
		times = 1 << c.rng.below(deepest+1)
	}
	times = min(times, c.headroom()/(len(pair[0])+len(pair[1])))
	if times < 1 {
		return false
	}
	b := slices.Grow(c.buf.deep.tmp[:0], to-from+times*(len(pair[0])+len(pair[1])))
	for range times {
		b = append(b, pair[0]...)
	}
	b = append(b, c.data[from:to]...)
	if !c.rng.oneIn(8) { // sometimes left open
		for range times {
			b = append(b, pair[1]...)
		}
	}
	c.buf.deep.tmp = b
	return c.edit(kind, from, to-from, b)
}
