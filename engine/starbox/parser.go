package starbox

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
)

// Parser parses sources that are read and never executed. It keeps the statements of the last
// source: an editor has a source parsed after every keystroke, and nearly all of it is
// unchanged. It is safe for concurrent use.
type Parser struct {
	mu   sync.Mutex
	kept map[string][]*piece // by text
	made int
	next int32 // next line that no piece has had
}

// piece is the text from one line that begins a statement to the next.
type piece struct {
	text  string
	stmts []syntax.Stmt
	fails bool  // alone
	line  int32 // of the first statement, in lines that no other piece has had
}

// firstOwn is above every line of a source.
const firstOwn = maxSource + 1

// Source is a parsed source. It must not be changed. Its statements have lines of their own,
// which stay the same when other lines move them, so that everything derived from a statement
// stays valid too.
type Source struct {
	Stmts []syntax.Stmt
	moved []stretch // in the order of their own lines
}

// stretch is a range of own lines, and where its first line is in the source.
type stretch struct{ own, line int }

// Line returns where an own line of the statements is in the source.
func (s *Source) Line(own int) int {
	i, found := slices.BinarySearchFunc(s.moved, own, func(x stretch, own int) int { return cmp.Compare(x.own, own) })
	if !found {
		i--
	}
	if i < 0 { // it is a line of the source
		return own
	}
	return own - s.moved[i].own + s.moved[i].line
}

// Parse parses a source. Codes begin with "starlark.".
func (p *Parser) Parse(path string, src []byte) (*Source, diag.List) {
	if list := sound(path, src); len(list) > 0 {
		return nil, list
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next < firstOwn || p.next > math.MaxInt32-maxSource {
		p.kept, p.next = nil, firstOwn
	}
	parsed, kept := p.parsed(src)
	s, line, at := &Source{moved: make([]stretch, 0, len(parsed))}, 1, 0
	for _, x := range parsed {
		if x.fails { // the statement continues, or has an error, which is reported for the whole source
			f, err := parseFrom(path, int32(line), src[at:])
			if err != nil {
				return nil, faults(path, src, err)
			}
			s.Stmts = append(s.Stmts, f.Stmts...)
			break
		}
		s.moved, s.Stmts = append(s.moved, stretch{int(x.line), line}), append(s.Stmts, x.stmts...)
		line, at = line+strings.Count(x.text, "\n"), at+len(x.text)
	}
	slices.SortFunc(s.moved, func(a, b stretch) int { return cmp.Compare(a.own, b.own) })
	p.kept = kept
	return s, nil
}

// manyPieces is how many new pieces justify several threads.
const manyPieces = 64

// parsed returns the pieces of a source, also by text. It parses those that were not there before.
// Pieces with equal texts are distinguished by how many come before.
func (p *Parser) parsed(src []byte) ([]piece, map[string][]*piece) {
	texts := pieces(string(src))
	all, kept := make([]piece, len(texts)), make(map[string][]*piece, len(texts))
	var fresh []*piece
	for i, text := range texts {
		x, same := &all[i], kept[text]
		if before := p.kept[text]; len(same) < len(before) {
			*x = *before[len(same)]
		} else {
			*x = piece{text: strings.Clone(text), line: p.next} // does not keep the whole text in memory
			p.next += int32(strings.Count(text, "\n")) + 1
			fresh = append(fresh, x)
		}
		kept[x.text] = append(same, x)
	}
	p.made += len(fresh)
	threads := 1
	if len(fresh) >= manyPieces {
		threads = runtime.GOMAXPROCS(0)
	}
	var work sync.WaitGroup
	for part := range slices.Chunk(fresh, (len(fresh)+threads-1)/threads+1) {
		work.Go(func() {
			for _, x := range part {
				f, err := parseFrom("", x.line, []byte(x.text))
				if x.fails = err != nil; !x.fails {
					x.stmts = f.Stmts
				}
			}
		})
	}
	work.Wait()
	return all, kept
}

// parseFrom parses what begins at a line.
func parseFrom(path string, line int32, src []byte) (*syntax.File, error) {
	return (&syntax.FileOptions{}).Parse(path, syntax.FilePortion{Content: src, FirstLine: line, FirstCol: 1}, 0)
}

// pieces cuts a source before lines that begin a statement at its top level. Each piece that can
// be parsed alone is a number of whole statements, so the rest of the source can be parsed alone
// too: there may be too few cuts, and cuts within a statement, but never a cut before the
// continuation of a statement that could have ended.
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
