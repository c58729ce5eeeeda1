package lang

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/engine/doctree"
)

type node = doctree.Node

// pos returns the place of a statement, with the column in bytes, as in diagnostics.
func (c *compiler) pos(p syntax.Position) doctree.Pos {
	col := int(p.Col)
	if !c.ascii {
		n := 1
		for i := range c.model.Line(c.source.Line(int(p.Line))) {
			if n == int(p.Col) {
				col = i + 1
				break
			}
			n++
		}
	}
	return doctree.Pos{Line: int(p.Line), Col: col}
}

func (c *compiler) position(n syntax.Node) doctree.Pos { return c.pos(start(n)) }

// start is [syntax.Start] without the work for the end, which is most of it.
func start(n syntax.Node) syntax.Position {
	switch x := n.(type) {
	case *syntax.Ident:
		return x.NamePos
	case *syntax.Literal:
		return x.TokenPos
	case *syntax.DotExpr:
		return start(x.X)
	case *syntax.CallExpr:
		return start(x.Fn)
	case *syntax.BinaryExpr:
		return start(x.X)
	case *syntax.AssignStmt:
		return start(x.LHS)
	case *syntax.ExprStmt:
		return start(x.X)
	case *syntax.DefStmt:
		return x.Def
	}
	return syntax.Start(n)
}

func text(at doctree.Pos, s string) node {
	return node{Kind: doctree.String, Style: doctree.Quoted | doctree.Flow, Pos: at}.As(s, s)
}

func truth(at doctree.Pos, b bool) node {
	raw := "false"
	if b {
		raw = "true"
	}
	return node{Kind: doctree.Bool, Bool: b, Style: doctree.Flow, Pos: at}.As(raw, raw)
}

func number(at doctree.Pos, digits string) node {
	return node{Kind: doctree.Int, Style: doctree.Flow, Pos: at}.As(digits, digits)
}

func integer(at doctree.Pos, n int) node { return number(at, strconv.Itoa(n)) }

func list(at doctree.Pos, items ...node) node {
	return node{Kind: doctree.Seq, Style: doctree.Flow, Pos: at}.WithItems(slices.Clone(items))
}

func texts(at doctree.Pos, words ...string) node {
	items := make([]node, len(words))
	for i, w := range words {
		items[i] = text(at, w)
	}
	return list(at).WithItems(items)
}

// op returns an expression: an operator and its operands.
func op(at doctree.Pos, word string, args ...node) node {
	items := make([]node, 1+len(args))
	items[0] = text(at, word)
	copy(items[1:], args)
	return list(at).WithItems(items)
}

// object returns a mapping with the given members. It may get more.
func object(at doctree.Pos, members ...doctree.Member) *node {
	n := node{Kind: doctree.Map, Style: doctree.Flow, Pos: at}.WithMembers(members)
	return &n
}

func member(at doctree.Pos, key string, v node) doctree.Member {
	return doctree.Member{Key: text(at, key), Value: v}
}

// add adds a key that a mapping lacks.
func add(n *node, at doctree.Pos, key string, v node) {
	n.AddMember(member(at, key, v))
}

// set sets a key of a mapping, and replaces an existing one.
func set(n *node, at doctree.Pos, key string, v node) {
	if m := n.Member(key); m != nil {
		m.Value = v
		return
	}
	add(n, at, key, v)
}

// literal translates a Starlark value without names into a JSON value.
func (c *compiler) literal(e syntax.Expr) node {
	at := c.position(e)
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return c.literal(x.X)
	case *syntax.Literal:
		switch v := x.Value.(type) {
		case string:
			return text(at, v)
		case int64:
			return number(at, strconv.FormatInt(v, 10))
		case *big.Int:
			return number(at, v.String())
		case float64:
			raw := strconv.FormatFloat(v, 'g', -1, 64)
			return node{Kind: doctree.Float, Style: doctree.Flow, Pos: at}.As(raw, raw)
		}
	case *syntax.UnaryExpr:
		if v := c.literalOrNone(x.X); x.Op == syntax.MINUS && (v.Kind == doctree.Int || v.Kind == doctree.Float) {
			v.Pos = at
			return v.As("-"+v.Text, "-"+v.Raw())
		}
	case *syntax.Ident:
		switch x.Name {
		case "True", "False":
			return truth(at, x.Name == "True")
		case "None":
			return node{Style: doctree.Flow, Pos: at}.As("", "null")
		}
	case *syntax.ListExpr:
		n := list(at)
		for _, i := range x.List {
			n.Add(c.literal(i))
		}
		return n
	case *syntax.DictExpr:
		n := object(at)
		for _, i := range x.List {
			entry := i.(*syntax.DictEntry)
			key := c.literal(entry.Key)
			if key.Kind != doctree.String {
				c.fail(entry.Key, "type", "", "a key must be a text")
			}
			set(n, key.Pos, key.Text, c.literal(entry.Value))
		}
		return *n
	}
	c.failUnlessVague(e, "type", "", "must be a value: a text, a number, True, False, None, a list or a mapping of these")
	return node{Kind: doctree.Null, Pos: at}
}

func (c *compiler) literalOrNone(e syntax.Expr) node {
	if x, ok := e.(*syntax.Literal); ok {
		return c.literal(x)
	}
	return node{}
}

// ordered sorts the members of a mapping by key.
func ordered(n *node) {
	slices.SortStableFunc(n.Members(), func(a, b doctree.Member) int { return strings.Compare(a.Key.Text, b.Key.Text) })
}
