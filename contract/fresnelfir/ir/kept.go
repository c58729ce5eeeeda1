package ir

import (
	"slices"
	"sync/atomic"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// Reader decodes documents. A document shares with the one decoded before all parts that come from
// identical nodes: an editor decodes a model at every keystroke, and nearly all of it is unchanged.
// A Reader is safe for concurrent use; nil keeps nothing.
type Reader struct {
	kept atomic.Pointer[kept]
}

// kept holds the faultless parts of a document, by path.
type kept struct {
	effects  map[string]part[Effect]
	bindings map[string]part[ActionBinding]
	branches map[string]part[Branch]
}

// part is a decoded part, before a document changes it, and the node it was decoded from.
type part[T any] struct {
	node doctree.Node // trees never change, so equal nodes mean equal content
	of   string
	is   T
}

var nothing = new(kept)

func (r *Reader) last() *kept {
	if r != nil {
		if k := r.kept.Load(); k != nil {
			return k
		}
	}
	return nothing
}

// Accessors for the kinds of parts that are kept.
func effects(k *kept) *map[string]part[Effect]         { return &k.effects }
func bindings(k *kept) *map[string]part[ActionBinding] { return &k.bindings }
func branches(k *kept) *map[string]part[Branch]        { return &k.branches }

// sharing is the type of a part that each document has its own copy of. What the part refers to is
// shared and changed only in copies.
type sharing[T any] interface {
	*T
	put(at Place)
}

func (at *Place) put(x Place) { *at = x }

// share returns the previous document's part if the node and the name it belongs to are the same,
// and otherwise reads it.
func share[T any, P sharing[T]](d *decoder, parts func(*kept) *map[string]part[T], n *doctree.Node, at Place, of string, read func() *T) *T {
	var is *T
	if was, ok := (*parts(d.before))[at.path]; ok && was.node == *n && was.of == of {
		x := was.is
		is = &x
		P(is).put(at)
	} else {
		is = read()
	}
	if d.now != nil && len(d.List) == 0 { // nothing was reported, and no fault hides another
		now := parts(d.now)
		if *now == nil {
			*now = make(map[string]part[T], len(*parts(d.before)))
		}
		x := part[T]{*n, of, *is}
		P(&x.is).put(Place{}) // the place refers to the surrounding document
		(*now)[at.path] = x
	}
	return is
}

// assigns reports whether an effect assigns an instance to a variable.
func (d *Document) assigns(name string) bool {
	return slices.ContainsFunc(d.Effects, func(e *Effect) bool {
		return e.Creates != nil && e.Creates.Assign == name || slices.ContainsFunc(e.Picks, func(x Pick) bool { return x.Var == name })
	})
}
