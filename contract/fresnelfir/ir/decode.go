package ir

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// maxNesting is how deep JSON may be nested: what existing readers accept.
const maxNesting = 128

// Load decodes and checks a document. The diagnostics are all that is wrong
// with it, in the order of the text; the document is nil if any is an error.
func Load(file string, text []byte) (*Document, diag.List) {
	doc, src, list := Decode(file, text)
	if doc != nil {
		list = append(list, Check(doc, src)...)
		list.Sort()
	}
	if list.HasErrors() {
		return nil, list
	}
	return doc, list
}

// Decode reads a document. The diagnostics are in the order of the text. If
// some are errors, the document is what could be read of it, for [Check] to
// say the rest; it is nil if the text is no JSON or a section is missing.
func Decode(file string, text []byte) (*Document, *Source, diag.List) {
	src := &Source{file: file}
	tree, err := jsontree.Parse(text, jsontree.Options{MaxDepth: maxNesting})
	if err != nil {
		at := diag.Diagnostic{Code: "fresnelfir.syntax", Pos: diag.Pos{File: file, Line: 1, Col: 1}, Message: err.Error()}
		var e *jsontree.Error
		if errors.As(err, &e) {
			at.Pos.Line, at.Pos.Col = e.Position.Line, e.Position.Col
			at.Message, at.Source = e.Message(), e.Source
		}
		return nil, src, diag.List{at}
	}
	src.tree = tree
	d := &decoder{src: src, maps: map[int]bool{}, wrong: map[int]bool{}}
	doc := &Document{}
	d.document(doc)
	d.duplicates()
	d.list.Sort()
	src.wrong = d.wrong
	doc.Extensions = d.extensions
	for _, key := range Sections() {
		if n := tree.Root.Get(key); n == nil || n.Kind != jsontree.Object {
			return nil, src, d.list // the rest would be about what is not there
		}
	}
	return doc, src, d.list
}

// Source turns places into diagnostics.
type Source struct {
	file  string
	tree  *jsontree.Document
	wrong map[int]bool // offsets of what could not be read
}

// Report makes a diagnostic of a place.
func (s *Source) Report(level diag.Level, at Place, code, message, hint string) diag.Diagnostic {
	pos := s.tree.Position(at.Offset)
	return diag.Diagnostic{
		Code: "fresnelfir." + code, Level: level, Pos: diag.Pos{File: s.file, Line: pos.Line, Col: pos.Col},
		Path: at.Path, Message: message, Hint: hint, Source: s.tree.Line(pos.Line),
	}
}

// Within is the place of a value below another: keys lead to it, numbers to
// elements of arrays.
func (s *Source) Within(at Place, keys ...string) Place {
	n, _ := innermost(&s.tree.Root, "$", at.Offset)
	for i := range n.Members {
		if n.Members[i].KeyOffset == at.Offset {
			n = &n.Members[i].Value
			break
		}
	}
	for _, k := range keys {
		next := n.Get(k)
		at.Path = child(at.Path, k)
		if i, err := strconv.Atoi(k); err == nil && n.Kind == jsontree.Array && i < len(n.Items) {
			next = &n.Items[i]
			at.Path = strings.TrimSuffix(at.Path, "[\""+k+"\"]") + "[" + k + "]"
		}
		if next == nil {
			return at
		}
		n, at.Offset = next, next.Offset
	}
	return at
}

type decoder struct {
	src        *Source
	list       diag.List
	extensions []Extension
	maps       map[int]bool // offsets of objects whose keys are names
	wrong      map[int]bool // offsets of errors
}

func (d *decoder) fail(at Place, code, format string, args ...any) {
	d.failHint(at, code, "", format, args...)
}

func (d *decoder) failHint(at Place, code, hint, format string, args ...any) {
	if code != "missing-key" { // the rest of the object can be looked at
		d.wrong[at.Offset] = true
	}
	d.list = append(d.list, d.src.Report(diag.Error, at, code, fmt.Sprintf(format, args...), hint))
}

func (d *decoder) warn(at Place, code, hint, format string, args ...any) {
	d.list = append(d.list, d.src.Report(diag.Warning, at, code, fmt.Sprintf(format, args...), hint))
}

// object is a JSON object of a fixed shape.
type object struct {
	d *decoder
	n *jsontree.Node
	Place
}

func place(n *jsontree.Node, path string) Place { return Place{n.Offset, path} }

// child is the path of a member: names that are no plain words are quoted.
func child(path, key string) string {
	for i, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9' || i == 0) {
			return path + "[" + strconv.Quote(key) + "]"
		}
	}
	if key == "" {
		return path + `[""]`
	}
	return path + "." + key
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// object checks the shape of an object: keys lists what it may hold, those that
// end in "?" need not be there. Other keys are warnings and are kept.
func (d *decoder) object(n *jsontree.Node, path string, keys ...string) (object, bool) {
	o := object{d, n, place(n, path)}
	if n.Kind != jsontree.Object {
		d.fail(o.Place, "type", "must be an object, got %s", describe(n))
		return o, false
	}
	var known []string
	for _, k := range keys {
		name, optional := strings.CutSuffix(k, "?")
		known = append(known, name)
		if !optional && n.Get(name) == nil {
			d.fail(o.Place, "missing-key", "must have the key %q", name)
		}
	}
	for i := range n.Members {
		m := &n.Members[i]
		if slices.Contains(known, m.Key) {
			continue
		}
		at := Place{m.KeyOffset, child(path, m.Key)}
		d.extensions = append(d.extensions, Extension{at, m.Key, &m.Value})
		if strings.HasPrefix(m.Key, "x-") || strings.HasPrefix(m.Key, "x_") || strings.HasPrefix(m.Key, "$") {
			continue // marked as the writer's own
		}
		d.warn(at, "unknown-key", diag.DidYouMean(m.Key, known), "is no key of the format and has no effect")
	}
	return o, true
}

// named visits the members of an object whose keys are names, ordered by name.
func (d *decoder) named(n *jsontree.Node, path string, visit func(name string, at Place, v *jsontree.Node)) {
	if n.Kind != jsontree.Object {
		d.fail(place(n, path), "type", "must be an object of named entries, got %s", describe(n))
		return
	}
	d.maps[n.Offset] = true
	members := slices.Clone(n.Members)
	slices.SortFunc(members, func(a, b jsontree.Member) int { return strings.Compare(a.Key, b.Key) })
	for i := range members {
		m := &members[i]
		at := Place{m.KeyOffset, child(path, m.Key)}
		if m.Key == "" {
			d.fail(at, "empty-name", "a name must not be empty")
		}
		visit(m.Key, at, &m.Value)
	}
}

// items visits the elements of an array.
func (d *decoder) items(n *jsontree.Node, path string, visit func(path string, v *jsontree.Node)) {
	if n.Kind != jsontree.Array {
		d.fail(place(n, path), "type", "must be an array, got %s", describe(n))
		return
	}
	for i := range n.Items {
		visit(element(path, i), &n.Items[i])
	}
}

// get returns the value of a key; nil if it is absent.
func (o object) get(key string) (*jsontree.Node, string) {
	return o.n.Get(key), child(o.Path, key)
}

// some is get for a key whose null means the same as its absence.
func (o object) some(key string) (*jsontree.Node, string) {
	n, path := o.get(key)
	if n != nil && n.Kind == jsontree.Null {
		return nil, path
	}
	return n, path
}

func (o object) wrong(n *jsontree.Node, path, want string) {
	o.d.fail(place(n, path), "type", "must be %s, got %s", want, describe(n))
}

// text returns a string that has to be there.
func (o object) text(key string) string {
	n, path := o.get(key)
	if n == nil {
		return ""
	}
	s, ok := n.Str()
	if !ok {
		o.wrong(n, path, "a string")
	}
	return s
}

// optional returns a string that may be absent or null.
func (o object) optional(key string) string {
	if n, _ := o.some(key); n == nil {
		return ""
	}
	return o.text(key)
}

// texts returns a list of strings; absent is none.
func (o object) texts(key string) []string {
	n, path := o.get(key)
	if n == nil {
		return nil
	}
	var list []string
	o.d.items(n, path, func(path string, v *jsontree.Node) {
		s, ok := v.Str()
		if !ok {
			o.wrong(v, path, "a string")
		}
		list = append(list, s)
	})
	return list
}

func (o object) truth(key string) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	if n.Kind != jsontree.Bool {
		o.wrong(n, path, "true or false")
	}
	return n.Bool
}

// number returns an integer from low to high.
func (o object) number(key, want string, low, high *big.Int) (v *big.Int, ok bool) {
	n, path := o.get(key)
	if n == nil {
		return nil, false
	}
	i := n.Int()
	if i == nil || i.Cmp(low) < 0 || i.Cmp(high) > 0 {
		o.wrong(n, path, want)
		return nil, false
	}
	return i, true
}

func limit(bits uint) *big.Int {
	one := big.NewInt(1)
	return new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
}

// u32 is what a count must be.
const u32 = "an integer from 0 to 4294967295"

func (o object) u32(key string) uint32 {
	if v, ok := o.number(key, u32, new(big.Int), limit(32)); ok {
		return uint32(v.Uint64())
	}
	return 0
}

func (o object) u64(key string) uint64 {
	if v, ok := o.number(key, "an integer from 0 to 18446744073709551615", new(big.Int), limit(64)); ok {
		return v.Uint64()
	}
	return 0
}

// i64 returns a 64-bit integer, or nil if it is absent or null.
func (o object) i64(key string) *int64 {
	if n, _ := o.some(key); n == nil {
		return nil
	}
	low := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 63))
	if v, ok := o.number(key, "a 64-bit integer", low, limit(63)); ok {
		i := v.Int64()
		return &i
	}
	return nil
}

// describe is a value as messages show it.
func describe(n *jsontree.Node) string {
	switch n.Kind {
	case jsontree.String:
		if len(n.Text) > 40 {
			return "the string " + strconv.Quote(n.Text[:40]) + "..."
		}
		return "the string " + strconv.Quote(n.Text)
	case jsontree.Int, jsontree.Float:
		if len(n.Text) > 40 {
			return n.Text[:40] + "..."
		}
		return n.Text
	case jsontree.Bool:
		return strconv.FormatBool(n.Bool)
	case jsontree.Null:
		return "null"
	}
	return n.Kind.String()
}

// duplicates reports repeated keys: an error in objects of a fixed shape; among
// named entries the last one counts, as in existing readers, and is a warning.
func (d *decoder) duplicates() {
	for _, dup := range d.src.tree.Duplicates {
		owner, path := innermost(&d.src.tree.Root, "$", dup.Repeat)
		at := Place{dup.Repeat, child(path, dup.Key)}
		line := d.src.tree.Position(dup.First).Line
		if d.maps[owner.Offset] {
			d.warn(at, "duplicate-key", "", "is defined twice; the definition on line %d has no effect", line)
		} else {
			d.fail(at, "duplicate-key", "must be given once; it is given on line %d already", line)
		}
	}
}

// innermost is the smallest object around an offset.
func innermost(n *jsontree.Node, path string, offset int) (*jsontree.Node, string) {
	best, at := n, path
	visit := func(v *jsontree.Node, path string) {
		if v.Offset <= offset && offset < v.End {
			if in, p := innermost(v, path, offset); in.Kind == jsontree.Object {
				best, at = in, p
			}
		}
	}
	for i := range n.Items {
		visit(&n.Items[i], element(path, i))
	}
	for i := range n.Members {
		visit(&n.Members[i].Value, child(path, n.Members[i].Key))
	}
	return best, at
}
