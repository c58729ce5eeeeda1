package config

import (
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// Checks reads invariants that stand in a document of their own, at paths of it.
func Checks(file string, doc *doctree.Document, nodes []*doctree.Node, paths []string) (list []Invariant, found diag.List) {
	d := &decoder{file: file, doc: doc}
	for i, n := range nodes {
		list = append(list, d.invariant(n, paths[i], false))
	}
	d.list.Sort()
	return list, d.list
}
