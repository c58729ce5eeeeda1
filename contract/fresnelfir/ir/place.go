package ir

import (
	"strconv"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// Place is a place in the document.
type Place struct {
	Pos  doctree.Pos // of the value, or of its name
	path string      // "$.entities.User"; "": the place is an item of up
	node *doctree.Node
	up   *Place
	item int
}

// At returns the place with a path, without a position or a node.
func At(path string) Place { return Place{path: path} }

// Path returns the path of the place: "$.entities.User".
func (at *Place) Path() string {
	if at.path == "" && at.up != nil {
		return doctree.ItemPath(at.up.Path(), at.item)
	}
	return at.path
}

// below returns the place of an item of the list at this place. It computes the path only on
// demand, because there are very many such places and hardly any is reported.
func (at *Place) below(i int) Place {
	n := &at.node.Items()[i]
	return Place{Pos: n.Pos, node: n, up: at, item: i}
}

// Within returns the place of a nested value: keys lead to members, numbers to array elements. For
// a missing key it returns the place of the object that lacks it.
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

// missing reports whether the place is that of a missing key.
func (at Place) missing() bool { return at.node == nil && at.Pos.Line > 0 }

// untyped reports whether a type, or the mapping that contains it, is missing.
func (at Place) untyped() bool {
	return at.missing() || at.node != nil && at.node.Kind == doctree.Map && at.Within("type").missing()
}

func place(n *doctree.Node, path string) Place { return Place{Pos: n.Pos, path: path, node: n} }

// placeOf returns the place of a section.
func placeOf(s *doctree.Section) Place { return Place{Pos: s.Pos(), path: s.Path, node: s.Raw()} }

// valueOf returns the place of a key's value.
func valueOf(s *doctree.Section, key string) Place {
	return Place{Pos: s.PosOf(key), path: s.At(key), node: s.Node(key)}
}
