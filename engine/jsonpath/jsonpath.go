// Package jsonpath finds values in JSON by RFC 9535 paths: names, indexes, slices, *, ..
// and filters, without functions. The package must not import a contract. Start at
// [Compile].
package jsonpath

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Expr is a path. It is safe for concurrent use.
type Expr struct {
	text string
	segs []segment
}

// Compile parses a path.
func Compile(text string) (*Expr, error) {
	e, n, err := Prefix(text)
	if err == nil && n < len(text) {
		err = fmt.Errorf("%q is not a JSON path: unknown syntax at %q", text, text[n:])
	}
	return e, err
}

// Prefix parses the path at the beginning of a text, and returns its length.
func Prefix(text string) (e *Expr, n int, err error) {
	p := &parser{text: text}
	defer func() {
		if r := recover(); r != nil {
			f, ours := r.(fault)
			if !ours {
				panic(r)
			}
			e, err = nil, fmt.Errorf("%q is not a JSON path: %s", text, string(f))
		}
	}()
	p.want("$")
	segs := p.segments()
	return &Expr{text[:p.pos], segs}, p.pos, nil
}

// String returns the path as it was written.
func (e *Expr) String() string { return e.text }

// Single reports whether the path finds at most one value.
func (e *Expr) Single() bool {
	for _, s := range e.segs {
		if s.deep || len(s.list) != 1 || s.list[0].kind != byName && s.list[0].kind != byIndex {
			return false
		}
	}
	return true
}

// maxFound is the largest number of values to find.
const maxFound = 1 << 20

// In returns what the path finds, in the order of the document.
func (e *Expr) In(root *jsontree.Node) ([]*jsontree.Node, error) {
	return find(e.segs, root, root)
}

func find(segs []segment, root, from *jsontree.Node) ([]*jsontree.Node, error) {
	list := []*jsontree.Node{from}
	for i := range segs {
		var next []*jsontree.Node
		for _, n := range list {
			var err error
			if next, err = segs[i].in(root, n, next); err != nil {
				return nil, err
			}
		}
		list = next
	}
	return list, nil
}

// segment is one step of a path: selectors, applied to a value or, if it is deep, to all
// values in it too.
type segment struct {
	deep bool
	list []selector
}

type kind uint8

const (
	byName kind = iota
	byIndex
	bySlice
	byAll
	byFilter
)

type selector struct {
	kind           kind
	name           string
	index          int
	from, to, step *int
	test           test
}

// test is a filter, which holds for a value or not.
type test func(root, at *jsontree.Node) (bool, error)

var errTooMany = errors.New("the path matches too many values")

func (s *segment) in(root, n *jsontree.Node, found []*jsontree.Node) ([]*jsontree.Node, error) {
	for i := range s.list {
		var err error
		if found, err = s.list[i].in(root, n, found); err != nil {
			return nil, err
		}
	}
	if len(found) > maxFound {
		return nil, errTooMany
	}
	if !s.deep {
		return found, nil
	}
	for _, child := range children(n) {
		var err error
		if found, err = s.in(root, child, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func children(n *jsontree.Node) (list []*jsontree.Node) {
	for i := range n.Items {
		list = append(list, &n.Items[i])
	}
	for i := range n.Members {
		list = append(list, &n.Members[i].Value)
	}
	return list
}

func (s *selector) in(root, n *jsontree.Node, found []*jsontree.Node) ([]*jsontree.Node, error) {
	switch s.kind {
	case byName:
		if n.Kind == jsontree.Object {
			if v := n.Get(s.name); v != nil {
				found = append(found, v)
			}
		}
	case byIndex:
		if i := s.index; n.Kind == jsontree.Array {
			if i < 0 {
				i += len(n.Items)
			}
			if i >= 0 && i < len(n.Items) {
				found = append(found, &n.Items[i])
			}
		}
	case bySlice:
		if n.Kind == jsontree.Array {
			for _, i := range s.indexes(len(n.Items)) {
				found = append(found, &n.Items[i])
			}
		}
	case byAll:
		return append(found, children(n)...), nil
	case byFilter:
		for _, v := range children(n) {
			ok, err := s.test(root, v)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, v)
			}
		}
	}
	return found, nil
}

// indexes returns the indexes of a slice in a list of n items.
func (s *selector) indexes(n int) (list []int) {
	step := 1
	if s.step != nil {
		step = *s.step
	}
	bound := func(p *int, otherwise, least, most int) int {
		if p == nil {
			return otherwise
		}
		i := *p
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	switch {
	case step > 0:
		for i := bound(s.from, 0, 0, n); i < bound(s.to, n, 0, n); i += step {
			list = append(list, i)
		}
	case step < 0:
		for i := bound(s.from, n-1, -1, n-1); i > bound(s.to, -1, -1, n-1); i += step {
			list = append(list, i)
		}
	}
	return list
}

// compared compares two values; nil means that there is none.
func compared(sign string, a, b *jsontree.Node) bool {
	equal := a == nil && b == nil || a != nil && b != nil && a.Equal(b)
	order, ordered := 0, false
	if a != nil && b != nil {
		s, isText := a.Str()
		t, otherIsText := b.Str()
		if isText && otherIsText {
			order, ordered = strings.Compare(s, t), true
		} else if order, ordered = numbers(a, b); ordered {
			equal = order == 0
		}
	}
	switch sign {
	case "==":
		return equal
	case "!=":
		return !equal
	case "<":
		return ordered && order < 0
	case "<=":
		return equal || ordered && order < 0
	case ">":
		return ordered && order > 0
	}
	return equal || ordered && order > 0
}

// numbers orders two numbers exactly, even if one float is nearest to several integers.
func numbers(a, b *jsontree.Node) (order int, ordered bool) {
	x, isNumber := a.Float()
	y, otherIsNumber := b.Float()
	if !isNumber || !otherIsNumber || math.IsNaN(x) || math.IsNaN(y) {
		return 0, false
	}
	if x == y {
		if i, j := exactly(a, x), exactly(b, y); i != nil && j != nil {
			return i.Cmp(j), true
		}
	}
	return cmp.Compare(x, y), true
}

// exactly returns the exact value of a number; nil if it is infinite.
func exactly(n *jsontree.Node, f float64) *big.Rat {
	if i := n.Int(); i != nil {
		return new(big.Rat).SetInt(i)
	}
	return new(big.Rat).SetFloat64(f)
}
