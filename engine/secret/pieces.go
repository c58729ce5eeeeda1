package secret

import (
	"bytes"
	"slices"
	"strings"
)

const (
	// window is how far after a piece of a value the next one is searched for: what a
	// streaming protocol puts between two.
	window = 1 << 10
	// attempts bounds the search for one value.
	attempts = 20_000
)

// edge reports whether a piece may begin after, or end before, a byte.
func edge(c byte) bool { return strings.IndexByte("\"'\\\r\n\t ,:;[]{}()<>|", c) >= 0 }

// filler returns the replacement for n bytes of a secret, the first of its pieces or
// another one.
type filler func(n int, first bool) []byte

// replacePieces replaces a value that comes in pieces: each ends where something else
// begins, and the next follows that. The first becomes the mark.
func replacePieces(b, value []byte, put filler) []byte {
	for from := 0; from < len(b); {
		i := bytes.IndexByte(b[from:], value[0])
		if i < 0 {
			break
		}
		at := from + i
		n := common(b[at:], value)
		if n < len(value) && at+n < len(b) && edge(b[at+n]) {
			s := pieces{b: b, value: value, dead: make(map[[2]int]bool)}
			if s.follow(at+n, n) {
				out := append(append([]byte(nil), b[:at]...), put(n, true)...)
				from = len(out)
				end := at + n
				for j := len(s.found) - 1; j >= 0; j-- { // found from the last to the first
					p := s.found[j]
					out = append(append(out, b[end:p[0]]...), put(p[1]-p[0], false)...)
					end = p[1]
				}
				b = append(out, b[end:]...)
				continue
			}
		}
		from = at + 1
	}
	return b
}

func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

type pieces struct {
	b, value []byte
	dead     map[[2]int]bool // positions, with how much was read, from which no way leads on
	found    [][2]int
	tried    int
}

// follow looks for the rest of the value, of which read bytes were read up to at.
func (s *pieces) follow(at, read int) bool {
	key := [2]int{at, read}
	if s.dead[key] || s.tried > attempts {
		return false
	}
	for q := at + 1; q < len(s.b) && q <= at+window; q++ {
		if s.b[q] != s.value[read] || !edge(s.b[q-1]) {
			continue
		}
		s.tried++
		n := common(s.b[q:], s.value[read:])
		end := q + n
		if read+n < len(s.value) && (end >= len(s.b) || !edge(s.b[end])) {
			continue
		}
		if read+n == len(s.value) || s.follow(end, read+n) {
			s.found = append(s.found, [2]int{q, end})
			return true
		}
	}
	s.dead[key] = true
	return false
}

// ellipsis ends a text that was cut.
var ellipsis = []byte("…")

// replaceCut replaces the beginning of a value, in any encoding, where the text was
// cut within it: before an ellipsis or, if it is most of the value, at the end of the
// text.
func (k *known) replaceCut(b []byte, put filler) []byte {
	cut := func(b []byte, least func(form []byte) int) []byte {
		for _, form := range slices.Concat(k.plain, k.pieced) {
			for n := min(len(form)-1, len(b)); n >= least(form); n-- {
				if bytes.HasSuffix(b, form[:n]) {
					return slices.Concat(b[:len(b)-n], put(n, true))
				}
			}
		}
		return b
	}
	var out []byte
	for rest := b; ; {
		part, after, found := bytes.Cut(rest, ellipsis)
		if !found {
			if part = cut(part, func(form []byte) int { return max(Shortest, 2*len(form)/3) }); out == nil {
				return part
			}
			return append(out, part...)
		}
		out = append(append(out, cut(part, func([]byte) int { return Shortest })...), ellipsis...)
		rest = after
	}
}
