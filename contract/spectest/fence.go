package spectest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// block is one fenced spec-test block.
type block struct {
	open   int // offset of the opening fence's line
	start  int // of the first byte of the body
	end    int // just past the body: offset of the closing fence's line, if there is one
	quoted bool
	closed bool
	near   bool // not a block of ours, but perhaps meant to be
	other  bool // of the dialect that came after this format
}

// markdown reads the structure of blocks alone: what stands inside a paragraph
// does not matter here.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	))
})

// blocks finds the spec-test blocks of a document, in order: the fenced code
// blocks of CommonMark whose info string says so. A block that stands as an
// example inside a longer fence is text. Existing documents hide blocks in HTML
// comments or indent them far; those count as well, as they always did.
func blocks(src []byte, release func()) []block {
	if !specTest.Match(src) {
		return nil
	}
	var list []block
	for at := 0; at < len(src); {
		if b, n := longFence(src[at:]); n > 0 {
			if _, _, info, _ := fenceOf(line(src, at)); isSpecTest(info) || looksLikeSpecTest(info) {
				list = append(list, block{open: at, start: b.start + at, end: b.end + at, closed: b.closed, near: !isSpecTest(info), other: isLater(info)})
			}
			at += n
			release()
			continue
		}
		n := portion(src[at:])
		for _, b := range portionBlocks(src[at : at+n]) {
			b.open, b.start, b.end = b.open+at, b.start+at, b.end+at
			list = append(list, b)
		}
		if at += n; n < len(src) {
			release()
		}
	}
	return list
}

// specTest is the word that is in every block's first line.
var specTest = regexp.MustCompile("(?i)spec-test|contract-spec")

// portionBlocks finds the blocks of a whole document or of a portion of one.
func portionBlocks(src []byte) []block {
	var list []block
	var open unclosed
	root := markdown().Parse(text.NewReader(shallow(src)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // no callback fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if b, ok := fenced(src, n); ok {
				list = append(list, b)
			}
		case *ast.HTMLBlock, *ast.CodeBlock, *ast.Paragraph:
			list = append(list, loose(src, n, &open)...)
		}
		return ast.WalkContinue, nil
	})
	// A loose block may reach beyond the piece of HTML that it began in.
	slices.SortStableFunc(list, func(a, b block) int { return a.open - b.open })
	end := 0
	return slices.DeleteFunc(list, func(b block) bool {
		if b.open < end {
			return true
		}
		end = b.end
		return false
	})
}

// deepest is how many blanks a line may have before the mark of a list item or
// a quotation. Lists that are nested a thousand deep take the parser minutes.
const deepest = 200

// shallow is a text of the same length in which marks that stand deeper are
// letters.
func shallow(src []byte) []byte {
	copied := false
	for at := 0; at < len(src); at = lineEnd(src, at) {
		blanks := 0
		for at+blanks < len(src) && (src[at+blanks] == ' ' || src[at+blanks] == '\t') {
			blanks++
		}
		if first := at + blanks; blanks > deepest && first < len(src) && bytes.IndexByte([]byte("-+*>0123456789"), src[first]) >= 0 {
			if !copied {
				src, copied = bytes.Clone(src), true
			}
			src[first] = 'x'
		}
	}
	return src
}

// portionSize is about how much of a document is parsed at once, so that the
// tree of a very long one is never in memory as a whole.
const portionSize = 1 << 18

// portion is the length of the first part of a long document that can be parsed
// by itself: it ends before a heading or a paragraph that no fence, list or
// piece of HTML holds.
func portion(src []byte) int {
	if len(src) < 2*portionSize {
		return len(src)
	}
	var char byte
	length, blank := 0, false
	html, comment := false, false
	for at := 0; at < len(src); at = lineEnd(src, at) {
		l := line(src, at)
		empty := len(bytes.TrimSpace(l)) == 0
		switch {
		case length > 0:
			if closes(l, char, length) {
				length = 0
			}
		case comment:
			if c, n, _, ok := fenceOf(l); ok {
				char, length = c, n
			}
			comment = !bytes.Contains(l, []byte("-->"))
		case bytes.HasPrefix(bytes.TrimLeft(l, " "), []byte("<!--")):
			comment = !bytes.Contains(l, []byte("-->"))
		case longHTML(l):
			return len(src) // it may go on over blank lines
		case blank && !empty && at >= portionSize && beginsAnew(l[0]):
			return at
		case blank && !html && startsLongFence(src[at:]):
			return at
		default:
			html = !empty && (html || bytes.HasPrefix(bytes.TrimLeft(l, " "), []byte("<")))
			if c, n, _, ok := fenceOf(l); ok {
				if html {
					return len(src) // where it ends depends on blank lines
				}
				char, length = c, n
			}
		}
		blank = empty && length == 0 && !comment
	}
	return len(src)
}

func startsLongFence(src []byte) bool {
	_, n := longFence(src)
	return n > 0
}

// longFence is the fenced block that a text begins with, and the length of all
// of it, if it is a long one: nobody needs a tree to know where it ends. A length
// of 0 means that there is none for sure.
func longFence(src []byte) (b block, length int) {
	char, n, _, ok := fenceOf(line(src, 0))
	if !ok || src[0] != char {
		return b, 0
	}
	b.start = lineEnd(src, 0)
	for at := b.start; ; at = lineEnd(src, at) {
		l := line(src, at)
		switch {
		case at == len(src):
		case !closes(l, char, n):
			continue
		case len(l) >= 4 && len(bytes.TrimLeft(l[:4], " \t")) == 0:
			return b, 0 // too far in to close it for some
		}
		if b.end = at; at < portionSize {
			return b, 0
		}
		b.closed = at < len(src)
		return b, lineEnd(src, at)
	}
}

// beginsAnew reports whether a line with that first character, behind a blank
// line, ends every list and quotation.
func beginsAnew(c byte) bool {
	return c == '#' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// longHTML reports whether a line may begin a piece of HTML that does not end
// at a blank line, other than a comment.
func longHTML(l []byte) bool {
	l = bytes.ToLower(bytes.TrimLeft(l, " "))
	for _, start := range []string{"<!", "<?", "<script", "<pre", "<style", "<textarea"} {
		if bytes.HasPrefix(l, []byte(start)) {
			return true
		}
	}
	return false
}

// fenced is the block of a fenced code block, if it is one of ours.
func fenced(src []byte, n *ast.FencedCodeBlock) (block, bool) {
	if n.Info == nil {
		return block{}, false
	}
	info := string(n.Info.Segment.Value(src))
	b := block{open: lineStart(src, n.Info.Segment.Start), near: !isSpecTest(info), other: isLater(info)}
	if b.near && !looksLikeSpecTest(info) {
		return block{}, false
	}
	for p := n.Parent(); p != nil; p = p.Parent() {
		b.quoted = b.quoted || p.Kind() == ast.KindBlockquote
	}
	b.start = lineEnd(src, n.Info.Segment.Start)
	b.end = b.start
	if k := n.Lines().Len(); k > 0 {
		b.end = lineEnd(src, max(n.Lines().At(k-1).Stop-1, n.Lines().At(k-1).Start))
	}
	char, length := fenceBefore(src, n.Info.Segment.Start)
	b.closed = b.quoted || closes(line(src, b.end), char, length)
	return b, true
}

// fenceBefore is the fence in front of an info string. What stands before it on
// its line may be the mark of a list item.
func fenceBefore(src []byte, info int) (char byte, length int) {
	fence := bytes.TrimRight(src[:info], " \t")
	char = fence[len(fence)-1]
	return char, len(fence) - len(bytes.TrimRight(fence, string(char)))
}

// unclosed is how long fences of backticks and of tildes are, at least, that are
// known to be closed nowhere: nobody looks for their ends again.
type unclosed [2]int

func (u *unclosed) of(char byte) *int {
	if char == '`' {
		return &u[0]
	}
	return &u[1]
}

// loose finds blocks by their lines alone in a piece of HTML, indented code or
// a paragraph, of which lines are a part that are indented far.
func loose(src []byte, n ast.Node, open *unclosed) []block {
	lines := n.Lines()
	if lines.Len() == 0 {
		return nil
	}
	var list []block
	limit := lineEnd(src, max(lines.At(lines.Len()-1).Stop-1, 0))
	for at := lineStart(src, lines.At(0).Start); at < limit; at = lineEnd(src, at) {
		char, length, info, ok := fenceOf(line(src, at))
		if !ok {
			continue
		}
		known, ours := open.of(char), isSpecTest(info)
		if !ours && *known > 0 && length >= *known {
			continue // no fence at all, but text that looks like one
		}
		b := block{open: at, start: lineEnd(src, at)}
		for b.end = b.start; b.end < len(src) && !b.closed; {
			if b.closed = closes(line(src, b.end), char, length); !b.closed {
				b.end = lineEnd(src, b.end)
			}
		}
		if ours {
			list = append(list, b)
		} else if !b.closed {
			*known = length
			continue
		}
		at = b.end
	}
	return list
}

// begins reports whether the first line of a document that looks like a fence
// opens a spec-test block: then there is one, whatever the rest is. Blanks
// before it could make it part of a paragraph.
func begins(src []byte) bool {
	for at := 0; at < len(src); at = lineEnd(src, at) {
		if l := line(src, at); bytes.HasPrefix(bytes.TrimLeft(l, " \t>"), []byte("```")) || bytes.HasPrefix(bytes.TrimLeft(l, " \t>"), []byte("~~~")) {
			_, _, info, ok := fenceOf(l)
			return ok && (l[0] == '`' || l[0] == '~') && isSpecTest(info)
		}
	}
	return false
}

// isSpecTest reports whether an info string asks for the block to be run: the
// words spec-test and yaml or yml, in any order, in any case, among any others.
func isSpecTest(info string) bool {
	words := strings.Fields(strings.ToLower(info))
	return slices.Contains(words, "spec-test") && (slices.Contains(words, "yaml") || slices.Contains(words, "yml"))
}

// laterDialect is the word of blocks in the form that data-contracts has had
// since: other keys, other expressions.
const laterDialect = "contract-spec"

// looksLikeSpecTest reports whether an info string has a word of ours, in
// whatever way it is written.
func looksLikeSpecTest(info string) bool {
	words := strings.FieldsFunc(strings.ToLower(info), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;{}.", r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"spec-test", "spec-tests", "spec_test", "spectest", laterDialect}, w)
	})
}

// isLater reports whether an info string is of the later dialect.
func isLater(info string) bool {
	return !isSpecTest(info) && strings.Contains(strings.ToLower(info), laterDialect)
}

// fenceOf takes a line apart that opens a fence.
func fenceOf(l []byte) (char byte, length int, info string, ok bool) {
	l = bytes.TrimLeft(l, " \t")
	if len(l) == 0 || l[0] != '`' && l[0] != '~' {
		return 0, 0, "", false
	}
	char = l[0]
	for length < len(l) && l[length] == char {
		length++
	}
	info = string(l[length:])
	if length < 3 || char == '`' && strings.Contains(info, "`") {
		return 0, 0, "", false
	}
	return char, length, info, true
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

// lineEnd is the offset just past the line that holds an offset.
func lineEnd(src []byte, at int) int {
	if at >= len(src) {
		return len(src)
	}
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}
