// Package xpath finds values in XML and in HTML. Expressions are those of XPath 1.0.
// The package must not import a contract. Start at [Compile].
package xpath

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/antchfx/xpath"

	"github.com/thresh-dev/thresh/engine/speclang"
)

// Expr is an expression that can be evaluated. It is safe for concurrent use.
type Expr struct{ text string }

// Compile parses an expression.
func Compile(text string) (e *Expr, err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on some malformed expressions
			err = fmt.Errorf("%q is not an XPath: %v", text, r)
		}
	}()
	if _, err := xpath.Compile(text); err != nil {
		return nil, fmt.Errorf("%q is not an XPath: %w", text, err)
	}
	return &Expr{text}, nil
}

// maxNodes is how many elements, attributes and texts of a document are read.
const maxNodes = 1 << 20

// String returns the expression as it was written.
func (e *Expr) String() string { return e.text }

// In evaluates the expression in a document. The result is a number, a truth value or a
// text; for nodes it is the text, a list of texts if there are several, or null.
func (e *Expr) In(document []byte) (v speclang.Value, err error) {
	root, err := parse(document)
	if err != nil {
		return v, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the expression cannot be evaluated: %v", r)
		}
	}()
	expr, err := xpath.Compile(e.text) // a compiled expression holds the state of its evaluation
	if err != nil {
		return v, err
	}
	switch x := expr.Evaluate(&cursor{n: root, attr: -1}).(type) {
	case bool:
		return speclang.BoolValue(x), nil
	case string:
		return speclang.StringValue(x), nil
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return speclang.IntValue(int64(x)), nil
		}
		return speclang.FloatValue(x), nil
	case *xpath.NodeIterator:
		var list []speclang.Value
		for x.MoveNext() {
			list = append(list, speclang.StringValue(x.Current().Value()))
		}
		switch len(list) {
		case 0:
			return speclang.Value{}, nil
		case 1:
			return list[0], nil
		}
		return speclang.ListValue(list), nil
	}
	return v, errors.New("the expression has no value")
}

// node is a part of a document.
type node struct {
	kind         xpath.NodeType
	prefix, name string
	text         string
	attrs        []xml.Attr
	parent       *node
	children     []*node
	place        int // among the parent's children
}

func (n *node) add(c *node) {
	c.parent, c.place = n, len(n.children)
	n.children = append(n.children, c)
}

func (n *node) write(b *strings.Builder) {
	if n.kind == xpath.TextNode {
		b.WriteString(n.text)
	}
	for _, c := range n.children {
		c.write(b)
	}
}

// cursor is a position in a document; attr is the index of an attribute, or -1.
type cursor struct {
	n    *node
	attr int
}

func (c *cursor) NodeType() xpath.NodeType {
	if c.attr >= 0 {
		return xpath.AttributeNode
	}
	return c.n.kind
}

func (c *cursor) LocalName() string {
	if c.attr >= 0 {
		return c.n.attrs[c.attr].Name.Local
	}
	return c.n.name
}

func (c *cursor) Prefix() string {
	if c.attr >= 0 {
		return c.n.attrs[c.attr].Name.Space
	}
	return c.n.prefix
}

func (c *cursor) Value() string {
	switch {
	case c.attr >= 0:
		return c.n.attrs[c.attr].Value
	case c.n.kind == xpath.CommentNode:
		return c.n.text
	}
	var b strings.Builder
	c.n.write(&b)
	return b.String()
}

func (c *cursor) Copy() xpath.NodeNavigator { d := *c; return &d }

func (c *cursor) MoveToRoot() {
	for c.attr = -1; c.n.parent != nil; {
		c.n = c.n.parent
	}
}

func (c *cursor) MoveToParent() bool {
	if c.attr >= 0 {
		c.attr = -1
		return true
	}
	if c.n.parent == nil {
		return false
	}
	c.n = c.n.parent
	return true
}

func (c *cursor) MoveToNextAttribute() bool {
	if c.attr+1 >= len(c.n.attrs) {
		return false
	}
	c.attr++
	return true
}

func (c *cursor) MoveToChild() bool {
	if c.attr >= 0 || len(c.n.children) == 0 {
		return false
	}
	c.n = c.n.children[0]
	return true
}

func (c *cursor) MoveToFirst() bool { return c.sibling(0) }
func (c *cursor) MoveToNext() bool  { return c.sibling(c.n.place + 1) }

func (c *cursor) MoveToPrevious() bool { return c.n.place > 0 && c.sibling(c.n.place-1) }

func (c *cursor) sibling(place int) bool {
	if c.attr >= 0 || c.n.parent == nil || place >= len(c.n.parent.children) {
		return false
	}
	c.n = c.n.parent.children[place]
	return true
}

func (c *cursor) MoveTo(to xpath.NodeNavigator) bool {
	other, ok := to.(*cursor)
	if ok {
		*c = *other
	}
	return ok
}
