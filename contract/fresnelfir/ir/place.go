package ir

import (
	"strconv"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// Place is where something stands in the document.
type Place struct {
	Pos  doctree.Pos // of the value, or of its name
	path string      // "$.entities.User"; "": that of an item of up
	node *doctree.Node
	up   *Place
	item int
}

// At returns the place with that path, of which nothing else is known.
func At(path string) Place { return Place{path: path} }

// Path returns where the place is in the tree: "$.entities.User".
func (at *Place) Path() string {
	if at.path == "" && at.up != nil {
		return doctree.ItemPath(at.up.Path(), at.item)
	}
	return at.path
}

// below is the place of an item of the list that is there. There are very many of them, and
// hardly any is reported: the path is made when it is.
func (at *Place) below(i int) Place {
	n := &at.node.Items()[i]
	return Place{Pos: n.Pos, node: n, up: at, item: i}
}

// Within returns the place of a value below another: keys lead to it, numbers to
// elements of arrays. Of a key that is missing it is that of what lacks it.
func (at Place) Within(keys ...string) Place {
	for _, k := range keys {
		if items := at.node.Items(); len(items) > 0 {
			if i, err := strconv.Atoi(k); err == nil && i < len(items) {
				up := at
				at = up.below(i)
				continue
			}
		}
		next, path := at.node.Get(k), doctree.KeyPath(at.Path(), k)
		if at.path = path; next == nil {
			at.node = nil
			return at
		}
		at.node, at.Pos = next, next.Pos
	}
	return at
}

// missing reports whether the place is that of a key which is not there.
func (at Place) missing() bool { return at.node == nil && at.Pos.Line > 0 }

// untyped reports whether a type, or the mapping that holds it, is not there.
func (at Place) untyped() bool {
	return at.missing() || at.node != nil && at.node.Kind == doctree.Map && at.Within("type").missing()
}

func place(n *doctree.Node, path string) Place { return Place{Pos: n.Pos, path: path, node: n} }

// placeOf is the place of a section.
func placeOf(s *doctree.Section) Place { return Place{Pos: s.Pos(), path: s.Path, node: s.Raw()} }

// valueOf is the place of the value of a key.
func valueOf(s *doctree.Section, key string) Place {
	return Place{Pos: s.PosOf(key), path: s.At(key), node: s.Node(key)}
}
