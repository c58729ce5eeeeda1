package spectest

import (
	"bytes"
	"slices"
)

// places knows where the lines of a text begin. It remembers one in so many:
// a long document has more lines than it has cases, many times over.
type places struct {
	count int
	marks []int // offsets of lines 1, 1+stride, 1+2*stride, ...
}

const stride = 64

func findLines(text []byte, release func()) places {
	var p places
	at := 0
	for from, piece := range pieces(text, release) {
		for ; at < from+len(piece); at = lineEnd(text, at) {
			if p.count%stride == 0 {
				p.marks = append(p.marks, at)
			}
			p.count++
		}
	}
	return p
}

// start is the offset of a 1-based line that the text has.
func (p *places) start(text []byte, n int) int {
	at := p.marks[(n-1)/stride]
	for range (n - 1) % stride {
		at = lineEnd(text, at)
	}
	return at
}

// of is the 1-based line that holds an offset, the last one for what is beyond.
func (p *places) of(text []byte, offset int) int {
	i, exact := slices.BinarySearch(p.marks, offset)
	if !exact {
		i--
	}
	if i < 0 {
		return 1
	}
	n := i*stride + 1 + bytes.Count(text[p.marks[i]:min(offset, len(text))], []byte("\n"))
	return min(n, p.count)
}
