package fresnelfir

import (
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/lang"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// written reports whether a model of that name is written in the language.
func written(path string) bool { return strings.HasSuffix(path, lang.Suffix) }

// decode reads a document of either form. data is the document as JSON.
func decode(path string, text []byte) (d *ir.Document, src *ir.Source, data []byte, list diag.List) {
	if !written(path) {
		d, src, list = ir.Decode(path, text)
		return d, src, text, list
	}
	m, list := lang.Compile(path, text)
	if list.HasErrors() {
		return nil, nil, nil, list
	}
	d, src, found := ir.DecodeTree(path, m.Tree, m.Line)
	return d, src, compiled(m), append(list, found...)
}

// compiled is the document that a model is compiled to.
func compiled(m *lang.Model) []byte {
	tree := m.Tree.Root.JSON()
	return []byte(jsontree.Pretty.Format(&tree) + "\n")
}

// load decodes and checks a document of either form. With errors it is nil.
func load(path string, text []byte) (*ir.Document, *ir.Source, diag.List) {
	d, src, _, list := decode(path, text)
	if d != nil {
		list = append(list, ir.Check(d, src)...)
		list.Sort()
	}
	sourced(path, list)
	if list.HasErrors() {
		return nil, nil, list
	}
	return d, src, list
}

// sourced leaves out of what is said about a model in the language the paths of the JSON
// that it is compiled to: nobody has written that.
func sourced(path string, list diag.List) {
	if written(path) {
		for i := range list {
			list[i].Path = ""
		}
	}
}
