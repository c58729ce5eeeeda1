package ir

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// maxNesting is the maximum nesting depth of JSON, which is that of existing readers.
const maxNesting = 128

// Decode reads a document. The diagnostics are in the order of the text. If some are errors, the
// document contains what could be read, so that [Check] can report the rest. It is nil if the text
// is not JSON or a section is missing.
func Decode(file string, text []byte) (*Document, *Source, diag.List) {
	src := &Source{file: file}
	tree, err := doctree.ParseJSON(text, jsontree.Options{MaxDepth: maxNesting})
	if err != nil {
		e := new(doctree.Error)
		errors.As(err, &e) // there is no other kind
		return nil, src, diag.List{{Code: "fresnelfir.syntax", Pos: e.Pos.In(file), Message: e.Message(), Source: e.Source}}
	}
	return (*Reader)(nil).Decode(file, tree, tree.Line, nil)
}

// Decode reads a tree that may come from another text: line returns that text's lines and stands,
// unless it is nil, maps places of the tree to places in the text. The results are those of the
// function [Decode].
func (r *Reader) Decode(file string, tree *doctree.Document, line func(int) string, stands func(doctree.Pos) doctree.Pos) (*Document, *Source, diag.List) {
	return r.decode(r.last(), &Source{file: file, tree: tree, line: line, stands: stands})
}

func (r *Reader) decode(before *kept, src *Source) (*Document, *Source, diag.List) {
	tree := src.tree
	d := newDecoder(src, before, nil)
	if r != nil {
		d.now = new(kept)
	}
	doc := &Document{}
	d.document(doc)
	if doc.assigns("input") && before != nothing { // then input expressions are variables
		return r.decode(nothing, src)
	}
	d.duplicates(tree)
	src.keep = func() {
		if r != nil {
			r.kept.Store(d.now)
		}
	}
	d.List.Sort()
	src.wrong = d.wrong
	if len(d.wrong) >= diag.MostKept { // Check could not skip the places that are no longer recorded
		return nil, src, d.List
	}
	for _, key := range Sections() {
		if n := tree.Root.Get(key); n == nil || n.Kind != doctree.Map {
			return nil, src, d.List // checks would only report what is missing
		}
	}
	return doc, src, d.List
}

// Source turns places into diagnostics.
type Source struct {
	file   string
	tree   *doctree.Document
	line   func(int) string
	stands func(doctree.Pos) doctree.Pos
	wrong  map[doctree.Pos]bool // places that could not be read
	keep   func()               // stores the parts for the next document; called when they no longer change
}

// Pos returns the position of a place in the text.
func (s *Source) Pos(at doctree.Pos) diag.Pos {
	if s.stands != nil {
		at = s.stands(at)
	}
	return at.In(s.file)
}

// where returns the position at which a place is shown.
func (s *Source) where(at Place) diag.Pos {
	if at.Pos.Line == 0 {
		return s.Pos(s.tree.Root.Pos)
	}
	return s.Pos(at.Pos)
}

// Report returns a diagnostic for a place.
func (s *Source) Report(level diag.Level, at Place, code, message, hint string) diag.Diagnostic {
	pos := s.where(at)
	return diag.Diagnostic{
		Code: "fresnelfir." + code, Level: level, Pos: pos, Path: at.Path(), Message: message, Hint: hint, Source: s.line(pos.Line),
	}
}

// Places returns the positions of all values, by their paths.
func (s *Source) Places() map[string]diag.Pos {
	all := map[string]diag.Pos{}
	var visit func(n *doctree.Node, path string)
	visit = func(n *doctree.Node, path string) {
		all[path] = s.Pos(n.Pos)
		for i := range n.Items() {
			visit(&n.Items()[i], doctree.ItemPath(path, i))
		}
		for i := range n.Members() {
			visit(&n.Members()[i].Value, doctree.KeyPath(path, n.Members()[i].Key.Text))
		}
	}
	visit(&s.tree.Root, "$")
	return all
}

type decoder struct {
	doctree.Decoder
	src         *Source
	root        *doctree.Node
	maps        map[*doctree.Node]bool // mappings whose keys are names
	wrong       map[doctree.Pos]bool   // places of errors
	fresh       []Expr                 // allocated but unused
	freshArgs   []*Expr                // likewise
	before, now *kept
}

func newDecoder(src *Source, before, now *kept) *decoder {
	d := &decoder{src: src, before: before, now: now, root: &src.tree.Root, maps: map[*doctree.Node]bool{}, wrong: map[doctree.Pos]bool{}}
	d.Decoder = doctree.Decoder{Format: "fresnelfir", File: src.file, JSON: true, Line: src.line, Stands: src.stands, Unknown: diag.Warning, Said: func(f doctree.Fault) {
		if f.Level == diag.Error && f.Code != "missing-key" { // the rest of the object can be read
			d.refused(f.Pos)
		}
		d.List.Add(f.Level, f.Given)
	}}
	return d
}

// many is how many parts justify a second thread.
const many = 64

// beside reads parts that nothing else in the document depends on, concurrently if there are many.
// join adds the diagnostics; call it where sequential reading would report them.
func (d *decoder) beside(parts int, read func(d *decoder)) (join func()) {
	if parts < many {
		return func() { read(d) }
	}
	own, done := newDecoder(d.src, d.before, d.now), make(chan struct{})
	go func() {
		defer close(done)
		read(own)
	}()
	return func() {
		<-done
		if len(d.List)+len(own.List) >= diag.MostKept || len(d.wrong)+len(own.wrong) >= diag.MostKept {
			read(d) // with very many faults, only the first are listed, so read in order
			return
		}
		d.List = append(d.List, own.List...)
		maps.Copy(d.wrong, own.wrong)
		maps.Copy(d.maps, own.maps)
	}
}

// newExpr returns an empty expression. It allocates them in blocks, because a long document has
// tens of thousands.
func (d *decoder) newExpr() *Expr {
	if len(d.fresh) == 0 {
		d.fresh = make([]Expr, 32)
	}
	e := &d.fresh[0]
	d.fresh = d.fresh[1:]
	return e
}

// newArgs returns the list for the arguments of an expression, from a block as well.
func (d *decoder) newArgs(n int) []*Expr {
	if len(d.freshArgs) < n {
		d.freshArgs = make([]*Expr, max(n, 64))
	}
	list := d.freshArgs[:n:n]
	d.freshArgs = d.freshArgs[n:]
	return list
}

// refused records the place of an error, up to the number of errors that are reported.
func (d *decoder) refused(at doctree.Pos) {
	if len(d.wrong) < diag.MostKept {
		d.wrong[at] = true
	}
}

func (d *decoder) fail(at Place, code, format string, args ...any) {
	d.failHint(at, code, "", format, args...)
}

func (d *decoder) failHint(at Place, code, hint, format string, args ...any) {
	d.refused(at.Pos)
	d.Report(diag.Error, at.Pos, code, at.Path(), hint, format, args...)
}

// named visits the members of a mapping whose keys are names, ordered by name.
func (d *decoder) named(n *doctree.Node, path string, visit func(name string, at Place, v *doctree.Node)) {
	if n == nil {
		return
	}
	entries := doctree.Named(doctree.Any())
	if !d.Is(n, path, &entries) {
		return
	}
	d.maps[n] = true
	list := d.Entries(n, path)
	slices.SortFunc(list, func(a, b doctree.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range list {
		at := Place{Pos: e.Key.Pos, path: e.Path, node: e.Node}
		if e.Name == "" {
			d.fail(at, "empty", "a name must not be empty")
		}
		visit(e.Name, at, e.Node)
	}
}

// eachNamed visits the named entries of a key.
func (d *decoder) eachNamed(s *doctree.Section, key string, visit func(name string, at Place, v *doctree.Node)) {
	n, path := d.valueAt(s, key)
	d.named(n, path, visit)
}

// u64 returns an unsigned 64-bit integer.
func (d *decoder) u64(s *doctree.Section, key string) uint64 {
	v := s.Big(key)
	if v == nil {
		return 0
	}
	if !v.IsUint64() {
		d.fail(valueOf(s, key), "range", "must be from 0 to 18446744073709551615, got %s", d.Describe(s.Node(key)))
	}
	return v.Uint64()
}

// i64 returns a signed 64-bit integer; nil if there is none.
func (d *decoder) i64(s *doctree.Section, key string) *int64 {
	v := s.Big(key)
	if v == nil {
		return nil
	}
	if !v.IsInt64() {
		d.fail(valueOf(s, key), "range", "must be a 64-bit integer, got %s", d.Describe(s.Node(key)))
		return nil
	}
	i := v.Int64()
	return &i
}

// duplicates reports repeated keys. They are errors in objects of a fixed shape. Among named
// entries the last one counts, as in existing readers, with a warning.
func (d *decoder) duplicates(tree *doctree.Document) {
	named := map[doctree.Pos]bool{}
	for n := range d.maps {
		for i := range n.Members() {
			named[n.Members()[i].Key.Pos] = true
		}
	}
	d.Repeats(tree, "$", func(r doctree.Duplicate) diag.Level {
		if named[r.First] {
			return diag.Warning
		}
		return diag.Error
	})
}

// Capsule is an extension of the document: one finding with everything that reproduces it. A
// document with a capsule runs as that single case. The keys ir_hash to input_vector are those of
// the format's first implementation.
type Capsule struct {
	Place
	IRHash      string // SHA-256 of the document without the capsule, in hex
	WASMHash    string // of the module; "": the model was explored alone
	Seed        uint64
	Kind        string // "crash"
	Description string // the finding's title
	Trigger     string // the action of the last step
	Step        uint64 // index in the trace
	Tape        []byte // the decisions of the traversal; never nil
	Module      []byte // the module; nil: the model was explored alone
}

// capsule reads a [Capsule].
func (d *decoder) capsule(s *doctree.Section) *Capsule {
	c := &Capsule{
		Place: placeOf(s), IRHash: s.Text("ir_hash"), WASMHash: s.Text("wasm_hash"), Seed: d.u64(s, "seed"), Kind: s.Text("finding_kind"),
		Description: s.Text("finding_description"), Trigger: s.Text("trigger_action"), Step: d.u64(s, "trace_step"),
	}
	d.u64(s, "model_generation")
	d.eachNamed(s, "input_vector", func(string, Place, *doctree.Node) {}) // informative only
	read := func(key, what string, decode func(string) ([]byte, error)) []byte {
		b, err := decode(s.Text(key))
		if err != nil {
			d.fail(valueOf(s, key), "type", "must be %s, got %s", what, d.Describe(s.Node(key)))
		}
		return b
	}
	c.Tape = append([]byte{}, read("tape", "bytes in hex", hex.DecodeString)...)
	c.Module = read("module", "bytes in base64", base64.StdEncoding.DecodeString)
	return c
}
