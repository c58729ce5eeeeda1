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

// written reports whether a model of that name is written in the language.
func written(path string) bool { return strings.HasSuffix(path, lang.Suffix) }

// sources makes documents of sources.
type sources struct {
	compiler lang.Compiler
	reader   ir.Reader
}

// decode reads a document of either form. data makes it JSON, which a check does not need.
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

// asJSON is a document of either form as JSON; with errors in its form it is nil.
func asJSON(path string, text []byte) ([]byte, diag.List) {
	_, _, data, list := decode(new(sources), path, text)
	if data == nil {
		return nil, list
	}
	return data(), list
}

// consequences are the codes of what is missing where something could not be translated.
var consequences = []string{"missing-key", "empty-alt", "nothing-to-explore"}

// independentErrors are the errors of a document that do not follow from those of its source: they
// are about other lines, and about no name whose declaration could not be read.
func independentErrors(m *lang.Model, lines, statements map[int]bool, found diag.List) (list diag.List) {
	for _, e := range found {
		follows := e.Level != diag.Error || lines[e.Pos.Line] ||
			statements[m.Statement(e.Pos.Line)] && slices.Contains(consequences, strings.TrimPrefix(e.Code, "fresnelfir."))
		for name := range m.Broken {
			follows = follows || strings.Contains(e.Message, strconv.Quote(name))
		}
		if !follows {
			list = append(list, e)
		}
	}
	return list
}

// compiled is the document that a model is compiled to.
func compiled(m *lang.Model) []byte {
	tree := m.Tree.Root.JSON()
	return append(jsontree.Pretty.Append(nil, &tree), '\n')
}

// load decodes and checks a document of either form. With errors it is nil.
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

// unaddressed removes from what is said about a model in the language the paths of the
// JSON that it is compiled to: nobody has written that.
func unaddressed(path string, list diag.List) {
	if written(path) {
		for i := range list {
			if list[i].Pos.File == path { // not that of a system
				list[i].Path = ""
			}
		}
	}
}

// sourced are the diagnostics of a document, of a model in the language without paths, and
// what a line is compiled to twice said once.
func sourced(path string, list diag.List) diag.List {
	if !written(path) {
		return list
	}
	unaddressed(path, list)
	effects := map[diag.Pos]bool{} // an action that is missing has neither an effect nor a binding
	for _, d := range list {
		effects[d.Pos] = effects[d.Pos] || d.Code == "fresnelfir.missing-effect"
	}
	list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Code == "fresnelfir.missing-binding" && effects[d.Pos] })
	type said struct {
		line    int
		message string
	}
	last, unknown := map[said]int{}, map[string]bool{} // the last column that names it, and the name
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
