package doctree

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Decoder reads a document by its declaration and collects everything that is wrong
// with it. How sections depend on each other is for the format to check, with
// Report.
type Decoder struct {
	Format  string // the first part of codes: "flakestorm"
	File    string
	Line    func(n int) string // of the document, for messages
	Stands  func(at Pos) Pos   // maps a position of the tree to one of the document; nil: they are equal
	JSON    bool               // the document is written in JSON
	Unknown diag.Level         // of a key that is unknown everywhere
	Written bool               // scalars of other types count as text, as written: yes, 1
	List    diag.List
	// Said receives every fault instead of the list; nil: the list receives them.
	Said func(f Fault)
}

// Fault is what a [Decoder] finds, in a form that a format can put into its own
// words.
type Fault struct {
	Code  string // without the format: "missing-key"
	Node  *Node  // the value, or the mapping that lacks or holds the key
	Path  string // of the value
	In    string // of a missing or an unknown key: the path of the mapping
	Key   string // of a missing or an unknown key
	Type  *Type  // the expected type of the value; nil for keys
	Level diag.Level
	Pos   Pos
	Given func() diag.Diagnostic // made only if it is kept, since there may be millions
}

// Report adds a diagnostic.
func (d *Decoder) Report(level diag.Level, at Pos, code, path, hint, format string, args ...any) {
	d.List.Add(level, func() diag.Diagnostic { return d.diagnostic(level, at, code, path, hint, format, args...) })
}

func (d *Decoder) diagnostic(level diag.Level, at Pos, code, path, hint, format string, args ...any) diag.Diagnostic {
	if d.Stands != nil {
		at = d.Stands(at)
	}
	x := diag.Diagnostic{
		Code: d.Format + "." + code, Level: level, Pos: at.In(d.File), Path: path, Message: fmt.Sprintf(format, args...), Hint: hint,
	}
	if d.Line != nil {
		x.Source = d.Line(at.Line)
	}
	return x
}

// Fail adds an error without a hint.
func (d *Decoder) Fail(at Pos, code, path, format string, args ...any) {
	d.Report(diag.Error, at, code, path, "", format, args...)
}

// Warn adds a warning.
func (d *Decoder) Warn(at Pos, code, path, hint, format string, args ...any) {
	d.Report(diag.Warning, at, code, path, hint, format, args...)
}

func (d *Decoder) fault(f Fault, level diag.Level, at Pos, hint, format string, args ...any) {
	d.faultLazily(f, level, at, func() diag.Diagnostic { return d.diagnostic(level, at, f.Code, f.Path, hint, format, args...) })
}

// faultLazily is fault for a diagnostic that is expensive to make.
func (d *Decoder) faultLazily(f Fault, level diag.Level, at Pos, given func() diag.Diagnostic) {
	if d.Said != nil {
		f.Level, f.Pos, f.Given = level, at, given
		d.Said(f)
		return
	}
	d.List.Add(level, given)
}

// Repeats reports the repeated keys of a document whose path is root. The last one
// counts, unless the repetition is an error.
func (d *Decoder) Repeats(doc *Document, root string, level func(Duplicate) diag.Level) {
	if len(doc.Duplicates) == 0 {
		return
	}
	paths := make(map[Pos]string, len(doc.Duplicates))
	for _, r := range doc.Duplicates {
		paths[r.First] = KeyPath(root, r.Key)
	}
	doc.Root.find(root, paths)
	for _, r := range doc.Duplicates {
		l, text := level(r), "is given twice; the last one counts"
		if l == diag.Error {
			text = "is given twice"
		}
		x := d.diagnostic(l, r.Repeat, "duplicate-key", paths[r.First], "", "%s", text)
		x.Related = []diag.Related{{Pos: r.First.In(d.File), Message: "given first here"}}
		d.List.Add(l, func() diag.Diagnostic { return x })
	}
}

// find maps the positions of keys to their paths.
func (n *Node) find(path string, of map[Pos]string) {
	for i := range n.Items() {
		n.Items()[i].find(ItemPath(path, i), of)
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		at := KeyPath(path, m.Key.Text)
		if _, wanted := of[m.Key.Pos]; wanted {
			of[m.Key.Pos] = at
		}
		m.Value.find(at, of)
	}
}

// At returns the node at a path, or the nearest existing one above it.
func (n *Node) At(path string) *Node {
	best := n
	var look func(n *Node, at string)
	look = func(n *Node, at string) {
		rest, below := strings.CutPrefix(path, at)
		if !below || rest != "" && at != "" && rest[0] != '.' && rest[0] != '[' {
			return
		}
		best = n
		for i := range n.Items() {
			look(&n.Items()[i], ItemPath(at, i))
		}
		for i := range n.Members() {
			look(&n.Members()[i].Value, KeyPath(at, n.Members()[i].Key.Text))
		}
	}
	look(n, "")
	return best
}

// KeyPath returns the path of a key below a path. A name that is not a plain word
// is quoted.
func KeyPath(path, key string) string {
	for i, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return path + "[" + strconv.Quote(key) + "]"
		}
	}
	switch {
	case key == "":
		return path + `[""]`
	case path == "":
		return key
	}
	return path + "." + key
}

// ItemPath returns the path of an item of a list.
func ItemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Section is a mapping that is read by its declaration. Opening it reports wrong
// keys, and asking for a value reports what is wrong with that value. A section
// that is missing, or is not a mapping, has no values.
type Section struct {
	*Decoder
	Shape *Shape
	Path  string
	Tag   string // the word of the tag; "": the shape has no tag, or the word is not one of its words
	n     *Node
	wrong []string // keys whose values have faults, which are reported once; key[]: its items have faults
}

// Section opens a mapping.
func (d *Decoder) Section(n *Node, path string, shape *Shape) *Section {
	return d.section(n, path, shape, "")
}

// section opens a mapping; outer is the word of the tag around it.
func (d *Decoder) section(n *Node, path string, shape *Shape, outer string) *Section {
	s := &Section{Decoder: d, Shape: shape, Path: path}
	if n == nil {
		return s
	}
	if n.Kind != Map {
		t := Object(shape)
		d.Is(n, path, &t)
		return s
	}
	s.n = n
	if shape.Outer {
		s.Tag = outer
	} else if shape.Tag != "" {
		s.Tag = shape.TagDefault
		if t := n.Get(shape.Tag); t != nil {
			s.Tag = ""
			if t.Kind == String { // what else is wrong depends on the intended word
				if s.Tag = diag.Nearest(t.Text, shape.words()); s.Tag != t.Text && !s.fits() {
					s.Tag = ""
				}
			}
		}
	}
	s.keys()
	return s
}

// Missing reports a required key that is missing.
func (s *Section) Missing(key, hint string) {
	if s.n != nil {
		s.fault(Fault{Code: "missing-key", Node: s.n, Path: KeyPath(s.Path, key), In: s.Path, Key: key}, diag.Error, s.n.Pos, hint, "must be given")
	}
}

// choice lists the words that a field may have.
func (f *Field) choice() string {
	if f.Type.Form != WordForm {
		return ""
	}
	return oneOf(f.Type.Words)
}

// likelyKey names an existing key that was probably meant to be a missing one.
func likelyKey(missing string, strange []*Node) string {
	names := seq.Map(strange, func(k *Node) string { return k.Text })
	if near := diag.Nearest(missing, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// There reports whether the section exists and is a mapping.
func (s *Section) There() bool { return s.n != nil }

// Raw returns the mapping; nil if there is none.
func (s *Section) Raw() *Node { return s.n }

// Pos returns the position of the section, or the beginning of the document.
func (s *Section) Pos() Pos {
	if s.n == nil {
		return Pos{Line: 1, Col: 1}
	}
	return s.n.Pos
}

// At returns the path of a key.
func (s *Section) At(key string) string { return KeyPath(s.Path, key) }

// PosOf returns the position of the value of a key, or of the section if the key
// has no value.
func (s *Section) PosOf(key string) Pos {
	if n := s.n.Get(key); n != nil {
		return n.Pos
	}
	return s.Pos()
}

func (s *Section) field(key string) *Field {
	f := s.Shape.Field(key)
	if f == nil {
		panic(fmt.Sprintf("doctree: shape %s declares no key %s", s.Shape.Name, key))
	}
	return f
}

// Node returns the value of a key as written; nil if there is none, or a null that
// means the same.
func (s *Section) Node(key string) *Node { return s.node(s.field(key), key) }

func (s *Section) node(f *Field, key string) *Node {
	n := s.n.Get(key)
	if n != nil && n.Kind == Null && f.Type.Null || n != nil && s.Tag != "" && !f.takes(s.Tag) {
		return nil
	}
	return n
}

// Given reports whether a key has a value.
func (s *Section) Given(key string) bool { return s.Node(key) != nil }

// valid returns the value of a key if it exists and is as declared.
func (s *Section) valid(key string) (n *Node, f *Field) {
	f = s.field(key)
	if n = s.node(f, key); n == nil || slices.Contains(s.wrong, key) {
		return nil, f
	}
	if _, code := s.amiss(n, &f.Type); code != "" {
		s.Is(n, s.At(key), &f.Type)
		s.wrong = append(s.wrong, key)
		return nil, f
	}
	return n, f
}

// Value returns the value of a key as written; nil if it is not as declared.
func (s *Section) Value(key string) *Node {
	n, _ := s.valid(key)
	return n
}

// Text returns a string, or the default.
func (s *Section) Text(key string) string {
	n, f := s.valid(key)
	if n == nil || !s.isText(n) {
		text := ""
		if f.Default != "" {
			_ = json.Unmarshal([]byte(f.Default), &text) // a default of another form is not a text
		}
		return text
	}
	return s.TextOf(n)
}

// Integer returns a whole number that fits an int, or the default.
func (s *Section) Integer(key string) int { return int(s.Float(key)) }

// Float returns a number, or the default.
func (s *Section) Float(key string) float64 {
	n, f := s.valid(key)
	if v, ok := n.Float(); ok {
		return v
	}
	if f.Default == "" {
		return 0
	}
	v, _ := strconv.ParseFloat(f.Default, 64)
	return v
}

// Big returns a whole number of any size, nil if there is none.
func (s *Section) Big(key string) *big.Int {
	n, _ := s.valid(key)
	return n.Int()
}

// True returns a boolean, or the default.
func (s *Section) True(key string) bool {
	n, f := s.valid(key)
	if n != nil && n.Kind == Bool {
		return n.Bool
	}
	return f.Default == "true"
}

// Each visits the items of a list.
func (s *Section) Each(key string, visit func(n *Node, path string)) {
	if n, _ := s.valid(key); n != nil {
		s.each(n, s.At(key), visit)
	}
}

func (s *Section) each(n *Node, path string, visit func(n *Node, path string)) {
	if n.Kind != Seq {
		return
	}
	for i := range n.Items() {
		visit(&n.Items()[i], ItemPath(path, i))
	}
}

// Entry is a named value.
type Entry struct {
	Name string
	Key  *Node
	Node *Node
	Path string
}

// Entries returns the named values of a mapping in order. A value without a name is
// an error.
func (s *Section) Entries(key string) []Entry {
	n, _ := s.valid(key)
	if n == nil {
		return nil
	}
	return s.Decoder.Entries(n, s.At(key))
}

// Entries returns the named values of a mapping.
func (d *Decoder) Entries(n *Node, path string) []Entry {
	var list []Entry
	for i := range n.Members() {
		m := &n.Members()[i]
		if !d.isText(&m.Key) {
			d.Fail(m.Key.Pos, "type", path, "a key must be a string, got %s", d.Describe(&m.Key))
			continue
		}
		name := d.TextOf(&m.Key)
		list = append(list, Entry{name, &m.Key, &m.Value, KeyPath(path, name)})
	}
	return list
}

// Sub opens the section below a key. If the key has no value, the section does not
// exist.
func (s *Section) Sub(key string) *Section {
	f := s.field(key)
	return s.section(s.Node(key), s.At(key), f.Type.Shape, s.Tag)
}

// Open opens a mapping that the section contains, such as one of its named values.
func (s *Section) Open(n *Node, path string, shape *Shape) *Section {
	return s.section(n, path, shape, s.Tag)
}
