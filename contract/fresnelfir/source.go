package fresnelfir

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// written reports whether a model is written in the language, by its file name.
func written(path string) bool { return strings.HasSuffix(path, lang.Suffix) }

// sources decodes documents in either form.
type sources struct {
	compiler lang.Compiler
	reader   ir.Reader
}

// decode reads a document in either form. data returns it as JSON, which a check does not need.
func decode(by *sources, path string, text []byte) (d *ir.Document, src *ir.Source, data func() []byte, list diag.List) {
	if !written(path) {
		d, src, list = ir.Decode(path, text)
		return d, src, func() []byte { return text }, list
	}
	m, list := by.compiler.Compile(path, text)
	if m == nil {
		return nil, nil, nil, list
	}
	d, src, found := by.reader.Decode(path, m.Tree, m.Line, m.Stands)
	if list.HasErrors() {
		lines, statements := maps.Clone(m.Vague), map[int]bool{}
		for _, e := range list {
			lines[e.Pos.Line], statements[m.Statement(e.Pos.Line)] = true, true
		}
		if d != nil {
			found = append(found, ir.Errors(d, src, lines)...)
		}
		list = append(list, independentErrors(m, lines, statements, found)...)
		list.Sort()
		return nil, nil, nil, list
	}
	return d, src, sync.OnceValue(func() []byte { return compiled(m) }), append(list, found...)
}

// asJSON returns a document in either form as JSON; nil if its form has errors.
func asJSON(path string, text []byte) ([]byte, diag.List) {
	_, _, data, list := decode(new(sources), path, text)
	if data == nil {
		return nil, list
	}
	return data(), list
}

// consequences lists the codes of what is missing if something could not be translated.
var consequences = []string{"missing-key", "empty-alt", "nothing-to-explore"}

// independentErrors returns the errors of a document that do not follow from those of its source:
// errors in other lines that involve no name with a broken declaration.
func independentErrors(m *lang.Model, lines, statements map[int]bool, found diag.List) (list diag.List) {
	for _, e := range found {
		follows := e.Level != diag.Error || lines[e.Pos.Line] ||
			statements[m.Statement(e.Pos.Line)] && slices.Contains(consequences, strings.TrimPrefix(e.Code, "fresnelfir."))
		for name := range m.Broken {
			follows = follows || strings.Contains(e.Message, strconv.Quote(name)) ||
				e.Code == "fresnelfir.models" && strings.Contains(m.Line(e.Pos.Line), name) // of an unknown type
		}
		if !follows {
			list = append(list, e)
		}
	}
	return list
}

// compiled returns the document that a model compiles to.
func compiled(m *lang.Model) []byte {
	tree := m.Tree.Root.JSON()
	return append(jsontree.Pretty.Append(nil, &tree), '\n')
}

// load decodes and checks a document in either form. If there are errors, the document is nil.
func load(path string, text []byte) (*ir.Document, diag.List) {
	d, src, _, list := decode(new(sources), path, text)
	if d != nil {
		list = append(list, ir.Check(d, src)...)
		list.Sort()
	}
	list = sourced(path, list)
	if list.HasErrors() {
		return nil, list
	}
	return d, list
}

// unaddressed removes paths from diagnostics about a model in the language: they are paths in the
// compiled JSON, which nobody wrote.
func unaddressed(path string, list diag.List) {
	if written(path) {
		for i := range list {
			if list[i].Pos.File == path { // not a diagnostic about a system
				list[i].Path = ""
			}
		}
	}
}

// sourced returns the diagnostics of a document. For a model in the language it removes paths, and
// duplicates for lines that are compiled to several places.
func sourced(path string, list diag.List) diag.List {
	if !written(path) {
		return list
	}
	unaddressed(path, list)
	effects := map[diag.Pos]bool{} // a missing action lacks both effect and binding
	for _, d := range list {
		effects[d.Pos] = effects[d.Pos] || d.Code == "fresnelfir.missing-effect"
	}
	list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.missing-binding" && effects[d.Pos] })
	type said struct {
		line    int
		message string
	}
	last, unknown := map[said]int{}, map[string]bool{} // the last column with the error, and the unknown name
	for _, d := range list {
		if d.Code == "fresnelfir.dangling-entity-ref" {
			at := said{d.Pos.Line, d.Message}
			last[at], unknown[d.Message[strings.LastIndexByte(d.Message, ' ')+1:]] = max(last[at], d.Pos.Col), true
		}
	}
	list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { // a choice names its entity twice, and its action writes it
		return d.Code == "fresnelfir.dangling-entity-ref" && d.Pos.Col < last[said{d.Pos.Line, d.Message}] ||
			d.Code == "fresnelfir.unknown-entity" && unknown[strings.Fields(d.Message)[0]]
	})
	return slices.CompactFunc(list, func(a, b diag.Diagnostic) bool { return a.Pos == b.Pos && a.Message == b.Message })
}
