package starbox

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
)

// Parser parses sources that are read and never executed. It keeps the statements of the
// source that it parsed last: an editor has one parsed with every letter typed, and nearly
// all of it is as it was. It is safe for concurrent use.
type Parser struct {
	mu   sync.Mutex
	kept map[string][]piece // by their texts
	made int
}

// piece is what stands from one line that begins a statement to the next.
type piece struct {
	text string
	file *syntax.File // places count from the first line of the piece; its path is a name for it alone
}

// Source is a source that was parsed. It must not be changed.
type Source struct {
	Stmts []syntax.Stmt
	above map[string]int // by name of a piece: how many lines stand above it
}

// Line is the line of a place in the source.
func (s *Source) Line(p syntax.Position) int { return int(p.Line) + s.above[p.Filename()] }

// Parse parses a source. Codes begin with "starlark.".
func (p *Parser) Parse(path string, src []byte) (*Source, diag.List) {
	if list := sound(path, src); len(list) > 0 {
		return nil, list
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	texts := pieces(string(src))
	s, kept, line, at := &Source{above: make(map[string]int, len(texts))}, make(map[string][]piece, len(texts)), 0, 0
	for _, text := range texts {
		x, ok := p.piece(text, len(kept[text]))
		if !ok { // the statement goes on, or has an error, which is said of the whole
			rest := append(bytes.Repeat([]byte("\n"), line), src[at:]...)
			f, err := (&syntax.FileOptions{}).Parse(path, rest, 0)
			if err != nil {
				return nil, faults(path, src, err)
			}
			s.Stmts = append(s.Stmts, f.Stmts...)
			break
		}
		s.above[x.file.Path] = line
		s.Stmts, kept[x.text] = append(s.Stmts, x.file.Stmts...), append(kept[x.text], x)
		line, at = line+strings.Count(text, "\n"), at+len(text)
	}
	p.kept = kept
	return s, nil
}

// piece parses a piece, if it was not there before. Those with equal texts are told apart by
// how many come before.
func (p *Parser) piece(text string, before int) (piece, bool) {
	if list := p.kept[text]; before < len(list) {
		return list[before], true
	}
	p.made++
	f, err := (&syntax.FileOptions{}).Parse("\x00"+strconv.Itoa(p.made), text, 0) // no path has this name
	if err != nil {
		return piece{}, false
	}
	return piece{strings.Clone(text), f}, true // the long text is not kept for it
}

// pieces cuts a source in front of lines that begin a statement at its top level. Each piece
// that can be parsed alone is a number of whole statements, and so the rest of the source can
// be parsed alone too: it may be cut at too few places, and in the midst of a statement, but
// never in front of what goes on after a statement that could have ended.
func pieces(src string) (list []string) {
	if strings.IndexByte(src, 0) >= 0 || strings.Count(src, "\r") != strings.Count(src, "\r\n") { // which end the source, and a line
		return []string{src}
	}
	from, depth, quote := 0, 0, ""
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\':
			i++
			if strings.HasPrefix(src[i:], "\r\n") {
				i++
			}
		case quote != "":
			if strings.HasPrefix(src[i:], quote) || c == '\n' && len(quote) == 1 {
				i, quote = i+len(quote)-1, ""
			}
		case c == '"' || c == '\'':
			if quote = src[i : i+1]; strings.HasPrefix(src[i+1:], quote+quote) {
				quote = src[i : i+3]
				i += 2
			}
		case c == '#':
			end := strings.IndexByte(src[i:], '\n')
			if end < 0 {
				return append(list, src[from:])
			}
			i += end - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '\n' && depth <= 0 && begins(src[i+1:]):
			list, from, depth = append(list, src[from:i+1]), i+1, 0
		}
	}
	return append(list, src[from:])
}

// begins reports whether a line of the top level may begin a statement.
func begins(line string) bool {
	return line != "" && (line[0] == '_' || 'a' <= line[0]|0x20 && line[0]|0x20 <= 'z') && !strings.HasPrefix(line, "el") // elif and else go on
}
