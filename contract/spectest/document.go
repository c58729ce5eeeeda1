package spectest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// document is a text split into cases that are not decoded yet.
type document struct {
	path   string // as the user named it
	name   string // in reports and digests
	text   []byte // without a byte order mark; offsets do not count the mark
	format string // "md", "yaml" or "json"
	lines  places
	found  spans
	parts  []part  // of found, if they are split; see split
	passed []block // blocks that do not run
	// transcripts are the cases made of console blocks. As units they follow the others.
	transcripts []*Case
	fixture     *Case      // the setup and teardown blocks; nil: none
	release     func()     // see [campaign.Spec]
	readers     *sync.Pool // of *doctree.Reader
	systems     plans
	shown       atomic.Pointer[sourceLine] // the last line requested
}

// entry is one case as it is written: a mapping, or the fault that prevents one.
type entry struct {
	from, to int // first and last line: of its block, or of its item in the block's list
	node     *doctree.Node
	twice    []doctree.Duplicate // duplicate keys within it
	fault    *diag.Diagnostic
}

// formatOf returns the format that a file name implies.
func formatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return "yaml"
	case ".json":
		return "json"
	}
	return "md"
}

func newDocument(path string, data []byte) *document {
	return readDocument(campaign.Spec{Path: path, Data: data}, new(sync.Pool))
}

func readDocument(spec campaign.Spec, readers *sync.Pool) *document {
	d := &document{path: spec.Path, name: cmp.Or(spec.Name, diag.DocumentName(spec.Path)), format: formatOf(spec.Path), release: spec.Release, readers: readers}
	if d.release == nil {
		d.release = func() {}
	}
	d.text = lineFeeds(bytes.TrimPrefix(spec.Data, []byte("\ufeff")), d.release)
	d.lines = findLines(d.text, d.release)
	if d.format == "md" {
		found, passed := partition(blocks(d.text, d.release))
		d.found, d.passed = spansOf(found), passed
	}
	return d
}

// pieceSize is how much of a text is scanned before its memory is released.
const pieceSize = 1 << 20

// pieces iterates over a text; it calls release after each piece of a long one.
func pieces(text []byte, release func()) iter.Seq2[int, []byte] {
	return func(yield func(from int, piece []byte) bool) {
		for from := 0; from < len(text); from += pieceSize {
			if !yield(from, text[from:min(from+pieceSize, len(text))]) {
				return
			}
			if len(text) > pieceSize {
				release()
			}
		}
	}
}

// mentions reports whether the text contains one of some short words.
func (d *document) mentions(words ...string) bool {
	for from := range pieces(d.text, d.release) {
		part := d.text[from:min(from+pieceSize+len("capture"), len(d.text))]
		if slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(part, []byte(w)) }) {
			return true
		}
	}
	return false
}

// lineFeeds turns carriage returns that end a line alone into line feeds.
func lineFeeds(text []byte, release func()) []byte {
	alone := func(i int) bool { return text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') }
	for from, piece := range pieces(text, release) {
		for i := range piece {
			if piece[i] != '\r' || !alone(from+i) {
				continue
			}
			text = slices.Clone(text)
			for i := from + i; i < len(text); i++ {
				if alone(i) {
					text[i] = '\n'
				}
			}
			return text
		}
	}
	return text
}

// lineOf returns the line of an offset, from 1.
func (d *document) lineOf(offset int) int { return d.lines.of(d.text, offset) }

// source returns the text of a line, numbered from 1.
func (d *document) source(n int) string {
	if n < 1 || n > d.lines.count {
		return ""
	}
	if x := d.shown.Load(); x != nil && x.number == n {
		return x.text
	}
	x := &sourceLine{n, string(line(d.text, d.lines.start(d.text, n)))}
	d.shown.Store(x)
	return x.text
}

// sourceLine is a line that diagnostics show. All diagnostics of a line share it, so that a long
// line is kept once.
type sourceLine struct {
	number int
	text   string
}

// problem is a diagnostic about a place in the document.
func (d *document) problem(at doctree.Pos, code, where, message, hint string) diag.Diagnostic {
	if at.Line == 0 {
		at = doctree.Pos{Line: 1, Col: 1}
	}
	return diag.Diagnostic{
		Code: "spectest." + code, Pos: at.In(d.path), Path: where, Message: message, Hint: hint, Source: d.source(at.Line),
	}
}

// read reads one text of cases: a mapping, or a list of mappings. It returns one entry per case; a
// text that cannot be parsed is one entry with its fault.
func (d *document) read(start, end, from, to int) []entry {
	root, twice, fault := d.tree(start, end)
	if fault != nil {
		if n := d.opensWithin(start, end); n > 0 {
			fault.Hint = fmt.Sprintf("another block opens within this one, on line %d: is the one of line %d closed?", n, from)
		}
		return []entry{{from: from, to: to, fault: fault}}
	}
	if !root.Truthy() && d.format != "json" {
		root = &doctree.Node{Kind: doctree.Map, Pos: root.Pos} // as the reference treats empty input
		if root.Pos.Line == 0 {
			root.Pos = doctree.Pos{Line: from, Col: 1}
		}
	}
	var nodes []*doctree.Node
	switch root.Kind {
	case doctree.Map:
		nodes = []*doctree.Node{root}
	case doctree.Seq:
		for i := range root.Items() {
			nodes = append(nodes, &root.Items()[i])
		}
	default:
		nodes = []*doctree.Node{root}
	}
	list := make([]entry, len(nodes))
	for i, n := range nodes {
		list[i] = entry{from: from, to: to, node: n}
		if most := caseNodesSpare + end - start; !n.Within(most) {
			p := d.problem(n.Pos, "syntax", "", fmt.Sprintf("a case has more than %d values (an alias counts as everything it refers to)", most), multiplied)
			list[i].node, list[i].fault = nil, &p
			continue
		}
		if root.Kind == doctree.Seq {
			list[i].from, list[i].to = itemLines(nodes, i, from, to)
		}
		if n.Kind != doctree.Map {
			p := d.problem(n.Pos, "case-shape", "", "a case must be a mapping, not "+n.Kind.String(), "a block holds one mapping or a list of mappings")
			list[i].node, list[i].fault = nil, &p
		}
	}
	for _, t := range twice {
		owner := 0
		for i, n := range nodes {
			if n.Pos.Line < t.Repeat.Line || n.Pos.Line == t.Repeat.Line && n.Pos.Col <= t.Repeat.Col {
				owner = i
			}
		}
		list[owner].twice = append(list[owner].twice, t)
	}
	return list
}

// opensWithin is the first line of a block's body that seems to open another block, or 0.
func (d *document) opensWithin(start, end int) int {
	for at := start; d.format == "md" && at < end; at = lineEnd(d.text, at) {
		if _, _, info, ok := fenceOf(line(d.text, at)); ok && isSpecTest(info) {
			return d.lineOf(at)
		}
	}
	return 0
}

// itemLines returns the lines of one case of a list that spans lines from to to: up to the next
// case. A case that is an alias gets the whole list.
func itemLines(nodes []*doctree.Node, i, from, to int) (first, last int) {
	first, last = nodes[i].Pos.Line, to
	if i+1 < len(nodes) {
		last = max(nodes[i+1].Pos.Line-1, first)
	}
	if first < from || last > to || i > 0 && first < nodes[i-1].Pos.Line || i+1 < len(nodes) && nodes[i+1].Pos.Line < first {
		return from, to
	}
	return first, last
}

// Limits on the values and keys in a text of cases, and in one case, beyond one per byte; each
// alias counts as everything it stands for. Text without aliases never exceeds one per byte. Ten
// thousand cases that share their parts stay far below; aliases that multiply aliases do not.
const (
	nodesSpare     = 1_500_000
	caseNodesSpare = 50_000
)

const multiplied = "aliases must not multiply values"

func (d *document) tree(start, end int) (*doctree.Node, []doctree.Duplicate, *diag.Diagnostic) {
	body := d.text[start:end]
	if d.format == "json" {
		return d.jsonTree(body, start)
	}
	if len(body) == 0 {
		return &doctree.Node{}, nil, nil
	}
	r, ok := d.readers.Get().(*doctree.Reader)
	if !ok {
		r = new(doctree.Reader)
	}
	defer d.readers.Put(r)
	doc, err := r.Parse(body, doctree.Options{LineOffset: d.lineOf(start) - 1, MaxNodes: min(nodesSpare+len(body), doctree.MostNodes)})
	if err != nil {
		p := d.problem(doctree.Pos{Line: d.lineOf(start), Col: 1}, "syntax", "", err.Error(), "")
		if ye, ok := errors.AsType[*doctree.Error](err); ok {
			hint := ye.Expected
			if ye.Class == doctree.Size && nodesSpare+len(body) < doctree.MostNodes {
				hint = multiplied
			}
			p = d.problem(ye.Pos, "syntax", "", ye.Problem, hint)
		}
		return nil, nil, &p
	}
	return &doc.Root, doc.Duplicates, nil
}

// jsonTree parses JSON text that begins at an offset.
func (d *document) jsonTree(body []byte, start int) (*doctree.Node, []doctree.Duplicate, *diag.Diagnostic) {
	line, col := d.lineOf(start)-1, 0
	if d.parts != nil { // a comma or a bracket follows
		body = bytes.TrimRight(body, " \t\r\n,]")
		col = start - lineStart(d.text, start)
	}
	doc, err := doctree.ParseJSONPart(body, jsontree.Options{}, func(p doctree.Pos) doctree.Pos {
		if p.Line == 1 {
			p.Col += col
		}
		p.Line += line
		return p
	})
	if err != nil {
		p := d.problem(doctree.Pos{Line: 1, Col: 1}, "syntax", "", err.Error(), "")
		if je, ok := errors.AsType[*doctree.Error](err); ok {
			p = d.problem(je.Pos, "syntax", "", je.Message(), "")
		}
		return nil, nil, &p
	}
	return &doc.Root, doc.Duplicates, nil
}
