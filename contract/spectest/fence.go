package spectest

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/diag"
)

// block is a fenced code block.
type block struct {
	open   int // offset of the opening fence's line
	start  int // of the first byte of the body
	end    int // just past the body: offset of the closing fence's line, if there is one
	indent int // of the opening fence
	info   string
	quoted bool
	closed bool
}

// resemblesSpecTest reports whether a block is not a spec-test block but may be meant as one.
func (b block) resemblesSpecTest() bool { return !isSpecTest(b.info) }

// later reports whether a block is of the dialect that succeeded this format.
func (b block) later() bool {
	return b.resemblesSpecTest() && strings.Contains(strings.ToLower(b.info), laterDialect)
}

// fences finds the fenced blocks of a text line by line, wherever they are: also in lists, comments
// and indented text. A block within a longer fence is part of that fence's text. An unclosed fence
// is plain text, unless own reports it as the document's: then it extends to the end.
func fences(src []byte, own func(info string) bool, release func()) (list []block) {
	var known [2]int // minimum lengths from which fences of backticks and of tildes are known to be unclosed
	released := 0
	for at := 0; at < len(src); {
		if at-released > pieceSize {
			release()
			released = at
		}
		b, char, length := opening(line(src, at))
		b.open, b.start = at, lineEnd(src, at)
		at = b.start
		if length == 0 {
			continue
		}
		unclosed, ours := &known[char>>6&1], own(b.info)
		if !ours && *unclosed > 0 && length >= *unclosed {
			continue
		}
		b.seekEnd(src, char, length)
		if !b.closed && !ours {
			*unclosed = length
			continue
		}
		list = append(list, b)
		if at = b.end; b.closed {
			at = lineEnd(src, b.end)
		}
	}
	return list
}

// opening parses a line that opens a fence, possibly after the marks of quotations and list items.
// A length of 0 means that the line opens none.
func opening(l []byte) (b block, char byte, length int) {
	rest := l
	for {
		rest = bytes.TrimLeft(rest, " \t")
		if char, length, b.info, _ = fenceOf(rest); length > 0 {
			b.indent = len(l) - len(rest)
			return b, char, length
		}
		mark := bytes.TrimLeft(rest, "0123456789")
		switch digits := len(rest) - len(mark); {
		case len(mark) == 0:
			return b, 0, 0
		case digits == 0 && mark[0] == '>':
			b.quoted = true
		case len(mark) > 1 && (mark[1] == ' ' || mark[1] == '\t') &&
			(digits == 0 && bytes.IndexByte([]byte("-+*"), mark[0]) >= 0 || digits > 0 && (mark[0] == '.' || mark[0] == ')')):
		default:
			return b, 0, 0
		}
		rest = mark[1:]
	}
}

// seekEnd finds the end of a block: the closing fence, or the end of the quotation that contains
// the block. A fence that is indented much deeper is text.
func (b *block) seekEnd(src []byte, char byte, length int) {
	for b.end = b.start; b.end < len(src); b.end = lineEnd(src, b.end) {
		l := line(src, b.end)
		if b.quoted {
			if l = bytes.TrimLeft(l, " "); len(l) == 0 || l[0] != '>' {
				b.closed = true
				return
			}
			l = bytes.TrimLeft(l, "> \t")
		}
		if closes(l, char, length) && len(l)-len(bytes.TrimLeft(l, " \t")) < b.indent+4 {
			b.closed = true
			return
		}
	}
	b.closed = b.quoted
}

// blocks finds the spec-test blocks of a document, and blocks that resemble one.
func blocks(src []byte, release func()) []block {
	return slices.DeleteFunc(fences(src, isSpecTest, release), func(b block) bool { return b.resemblesSpecTest() && !looksLikeSpecTest(b.info) })
}

// isSpecTest reports whether an info string asks for the block to run: it has the words spec-test
// and yaml or yml, in any order, in any case, among any others.
func isSpecTest(info string) bool {
	words := strings.Fields(strings.ToLower(info))
	return slices.Contains(words, "spec-test") && (slices.Contains(words, "yaml") || slices.Contains(words, "yml"))
}

// laterDialect marks blocks of the dialect that data-contracts has used since: it has other keys
// and expressions.
const laterDialect = "contract-spec"

// looksLikeSpecTest reports whether an info string contains one of the format's words, however it
// is spelled.
func looksLikeSpecTest(info string) bool {
	words := looseWords(info)
	yaml := slices.Contains(words, "yaml") || slices.Contains(words, "yml")
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"spec-test", "spec-tests", "spec_test", "spectest", laterDialect}, w) ||
			yaml && len(w) > len("spec") && diag.DidYouMean(w, []string{"spec-test"}) != ""
	})
}

// looseWords splits an info string into words at blanks and punctuation, in lower case.
func looseWords(info string) []string {
	return strings.FieldsFunc(strings.ToLower(info), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;{}.", r) })
}

// fenceOf parses a line that opens a fence.
func fenceOf(l []byte) (char byte, length int, info string, ok bool) {
	l = bytes.TrimLeft(l, " \t")
	if len(l) == 0 || l[0] != '`' && l[0] != '~' {
		return 0, 0, "", false
	}
	char = l[0]
	for length < len(l) && l[length] == char {
		length++
	}
	if length < 3 || char == '`' && bytes.IndexByte(l[length:], '`') >= 0 {
		return 0, 0, "", false
	}
	return char, length, string(l[length:]), true
}

// closes reports whether a line closes a fence.
func closes(l []byte, char byte, length int) bool {
	l = bytes.TrimSpace(l)
	return len(l) >= length && len(bytes.Trim(l, string(char))) == 0
}

func line(src []byte, at int) []byte {
	return bytes.TrimRight(src[at:lineEnd(src, at)], "\r\n")
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// lineEnd is the offset just after the line that contains an offset.
func lineEnd(src []byte, at int) int {
	if at >= len(src) {
		return len(src)
	}
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// spans are the blocks of a document that run. There may be very many, so they are kept small;
// documents are shorter than 2 GiB.
type spans []span

type span struct {
	open, start, end int32
	closed           bool
}

func spansOf(list []block) spans {
	s := make(spans, len(list))
	for i, b := range list {
		s[i] = span{int32(b.open), int32(b.start), int32(b.end), b.closed}
	}
	return s
}

func (s spans) blockAt(i int) block {
	x := s[i]
	return block{open: int(x.open), start: int(x.start), end: int(x.end), closed: x.closed}
}

func (s spans) all() iter.Seq2[int, block] {
	return func(yield func(int, block) bool) {
		for i := range s {
			if !yield(i, s.blockAt(i)) {
				return
			}
		}
	}
}
