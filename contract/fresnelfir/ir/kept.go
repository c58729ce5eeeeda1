package ir

import (
	"slices"
	"sync/atomic"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// Reader decodes documents. What a document has of the very nodes that the one before had, it
// shares with that one: an editor has a model decoded with every letter typed, and nearly all
// of it is as it was. It is safe for concurrent use; nil keeps nothing.
type Reader struct {
	kept atomic.Pointer[kept]
}

// kept are parts of a document in which there was nothing wrong, by their paths.
type kept struct {
	effects  map[string]part[Effect]
	bindings map[string]part[ActionBinding]
	branches map[string]part[Branch]
}

// part is something as it was read, before a document changes it, and what it was read from.
type part[T any] struct {
	node doctree.Node // a tree is never changed: of equal nodes all is equal
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

// The parts that are kept.
func effects(k *kept) *map[string]part[Effect]         { return &k.effects }
func bindings(k *kept) *map[string]part[ActionBinding] { return &k.bindings }
func branches(k *kept) *map[string]part[Branch]        { return &k.branches }

// sharing is a part of which each document has its own, though what it holds is shared: it is
// changed in copies.
type sharing[T any] interface {
	*T
	put(at Place)
}

func (at *Place) put(x Place) { *at = x }

// share reads a part of what goes by the name of, or takes that of the document before.
func share[T any, P sharing[T]](d *decoder, parts func(*kept) *map[string]part[T], n *doctree.Node, at Place, of string, read func() *T) *T {
	var is *T
	if was, ok := (*parts(d.before))[at.path]; ok && was.node == *n && was.of == of {
		x := was.is
		is = &x
		P(is).put(at)
	} else {
		is = read()
	}
	if d.now != nil && len(d.List) == 0 { // nothing was said of it, nor does anything hide what is to be said
		now := parts(d.now)
		if *now == nil {
			*now = make(map[string]part[T], len(*parts(d.before)))
		}
		x := part[T]{*n, of, *is}
		P(&x.is).put(Place{}) // which holds what is around it
		(*now)[at.path] = x
	}
	return is
}

// assigns reports whether an effect gives a variable an instance.
func (d *Document) assigns(name string) bool {
	return slices.ContainsFunc(d.Effects, func(e *Effect) bool {
		return e.Creates != nil && e.Creates.Assign == name || slices.ContainsFunc(e.Picks, func(x Pick) bool { return x.Var == name })
	})
}
