package spectest

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/yamltree"
)

// document is a text with its cases, not understood yet.
type document struct {
	path   string // as the user named it
	name   string // in reports and digests
	text   []byte // without a byte order mark; offsets and lines are those of the file but for the mark
	format string // "md", "yaml" or "json"
	lines  places
	found  []block
	quoted []block // those in quotations, which are not run
}

// entry is one case as it is written: a mapping, or the reason why there is none.
type entry struct {
	from, to int // first and last line of its block
	node     *yamltree.Node
	twice    []yamltree.Duplicate // keys that stand twice within it
	fault    *diag.Diagnostic
}

// formatOf is the format that a file's name stands for.
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
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		text = slices.Clone(text)
		for ; i < len(text); i++ {
			if text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
				text[i] = '\n'
			}
		}
	}
	d := &document{path: path, name: campaignName(path), text: text, format: formatOf(path)}
	d.lines = findLines(text)
	if d.format == "md" {
		d.found, d.quoted = partition(blocks(text))
	}
	return d
}

// lineOf is the 1-based line of an offset.
func (d *document) lineOf(offset int) int { return d.lines.of(d.text, offset) }

// source is the text of a 1-based line.
func (d *document) source(n int) string {
	if n < 1 || n > d.lines.count {
		return ""
	}
	return string(line(d.text, d.lines.start(d.text, n)))
}

// problem is a diagnostic about a place in the document.
func (d *document) problem(at yamltree.Pos, code, where, message, hint string) diag.Diagnostic {
	if at.Line == 0 {
		at = yamltree.Pos{Line: 1, Col: 1}
	}
	return diag.Diagnostic{
		Code: "spectest." + code, Pos: at.In(d.path), Path: where, Message: message, Hint: hint, Source: d.source(at.Line),
	}
}

// read reads one text of cases: a mapping, or a list of mappings. It yields one
// entry a case; a text that cannot be read is one entry with its fault.
func (d *document) read(start, end, from, to int) []entry {
	root, twice, fault := d.tree(start, end)
	if fault != nil {
		return []entry{{from: from, to: to, fault: fault}}
	}
	if !root.Truthy() && d.format != "json" {
		root = &yamltree.Node{Kind: yamltree.Map, Pos: root.Pos} // as the reference reads nothing
		if root.Pos.Line == 0 {
			root.Pos = yamltree.Pos{Line: from, Col: 1}
		}
	}
	var nodes []*yamltree.Node
	switch root.Kind {
	case yamltree.Map:
		nodes = []*yamltree.Node{root}
	case yamltree.Seq:
		for i := range root.Items {
			nodes = append(nodes, &root.Items[i])
		}
	default:
		nodes = []*yamltree.Node{root}
	}
	list := make([]entry, len(nodes))
	for i, n := range nodes {
		list[i] = entry{from: from, to: to, node: n}
		if n.Kind != yamltree.Map {
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

// nodesSpare is how many values and keys a text may have beyond one a byte:
// none that is written out needs more, one that multiplies aliases does.
const nodesSpare = 10_000

func (d *document) tree(start, end int) (*yamltree.Node, []yamltree.Duplicate, *diag.Diagnostic) {
	body := d.text[start:end]
	if d.format == "json" {
		doc, err := jsontree.Parse(body, jsontree.Options{})
		if err != nil {
			p := d.problem(yamltree.Pos{Line: 1, Col: 1}, "json", "", err.Error(), "")
			var je *jsontree.Error
			if errors.As(err, &je) {
				p = d.problem(yamltree.Pos{Line: je.Position.Line, Col: je.Position.Col}, "json", "", je.Message(), "")
			}
			return nil, nil, &p
		}
		root := fromJSON(&doc.Root, doc)
		var twice []yamltree.Duplicate
		for _, t := range doc.Duplicates {
			first, again := doc.Position(t.First), doc.Position(t.Repeat)
			twice = append(twice, yamltree.Duplicate{Key: t.Key, First: yamltree.Pos(first), Repeat: yamltree.Pos(again)})
		}
		return &root, twice, nil
	}
	if len(body) == 0 {
		return &yamltree.Node{}, nil, nil
	}
	doc, err := yamltree.Parse(body, yamltree.Options{LineOffset: d.lineOf(start) - 1, MaxNodes: nodesSpare + len(body)})
	if err != nil {
		p := d.problem(yamltree.Pos{Line: d.lineOf(start), Col: 1}, "yaml", "", err.Error(), "")
		var ye *yamltree.Error
		if errors.As(err, &ye) {
			hint := ye.Expected
			if ye.Class == yamltree.Size {
				hint = "aliases may not multiply what is written"
			}
			p = d.problem(ye.Pos, "yaml", "", ye.Problem, hint)
		}
		return nil, nil, &p
	}
	return &doc.Root, doc.Duplicates, nil
}

// campaignName is the document's name in reports and digests: its path from the
// working directory. Of one that lies elsewhere it is the last two elements, so
// that a run is the same wherever the documents lie.
func campaignName(p string) string {
	if filepath.IsAbs(p) {
		short := path.Join(filepath.Base(filepath.Dir(p)), filepath.Base(p))
		cwd, err := os.Getwd()
		if err != nil {
			return short
		}
		if p, err = filepath.Rel(cwd, p); err != nil || !filepath.IsLocal(p) {
			return short
		}
	}
	return path.Clean(filepath.ToSlash(p))
}
