package lang

import (
	"slices"
	"strconv"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// The published format has only flat fields. A collection becomes one field for each of its places,
// so that readers of the IR, proofs and shrinking need no changes:
//
//	addr = record(city = enum("a", "b"))   addr.city
//	tags = set("red", "blue")              tags.red, tags.blue: is it in the set?
//	stock = map(enum("x", "y"), int(0, 9)) stock.x, stock.y
//	items = list(int(1, 9), 3)             items.0, items.1, items.2, items.length

// mostPlaces is the maximum number of fields that one field of the source becomes.
const mostPlaces = 64

// shape is a type as it is mapped to fields.
type shape struct {
	word  string // "record", "set", "map", "list", or "" for a plain field
	plain node   // the plain field's type
	keys  []node // keys of a map, elements of a set
	parts []part // fields of a record, places of a map or a list
}

type part struct {
	name string
	*shape
}

var collections = []string{"list", "map", "record", "set"}

// shapeOf returns the shape of a field's type, or of a record or an entity given by name.
func (c *compiler) shapeOf(e syntax.Expr, inner bool) *shape {
	call, ok := e.(*syntax.CallExpr)
	word := ""
	if ok {
		if fn, is := call.Fn.(*syntax.Ident); is {
			word = fn.Name
		}
	} else if id, is := e.(*syntax.Ident); is {
		if d := c.decls[declRecord][id.Name]; d != nil && !d.open {
			d.open = true
			defer func() { d.open = false }()
			return c.shapeOf(d.call, inner)
		}
	}
	if !slices.Contains(collections, word) {
		x := &shape{plain: c.kind(e, true)}
		if zero := zeroOf(&x.plain); inner && x.plain.Get("default") == nil && zero != nil {
			set(&x.plain, x.plain.Pos, "default", *zero)
		}
		return x
	}
	x := &shape{word: word}
	pos, named := c.arguments(call)
	switch word {
	case "record":
		for _, a := range pos {
			c.fail(a, "arity", "", "fields are given by name: record(city = string)")
		}
		for _, a := range named {
			x.parts = append(x.parts, part{a.name, c.shapeOf(a.value, inner)})
		}
		return x
	case "set":
		x.keys = c.keysOf(call, pos)
		for _, k := range x.keys {
			member := object(k.Pos)
			set(member, k.Pos, "type", text(k.Pos, "bool"))
			set(member, k.Pos, "default", truth(k.Pos, false))
			x.parts = append(x.parts, part{k.Text, &shape{plain: *member}})
		}
	case "map":
		if len(pos) != 2 {
			c.fail(e, "arity", "", "must be map(KEYS, TYPE), such as map(enum(\"a\", \"b\"), int(0, 9))")
			return x
		}
		x.keys = c.keysOf(pos[0], pos[:1])
		for _, k := range x.keys {
			x.parts = append(x.parts, part{k.Text, c.shapeOf(pos[1], true)})
		}
	case "list":
		most := 0
		if len(pos) == 2 {
			most, _ = strconv.Atoi(c.literal(pos[1]).Text)
		}
		if most < 1 || most > mostPlaces {
			c.fail(e, "arity", "", "must be list(TYPE, MOST), with MOST from 1 to %d, such as list(int(1, 9), 3)", mostPlaces)
			return x
		}
		at := c.position(e)
		for i := range most {
			x.parts = append(x.parts, part{strconv.Itoa(i), c.shapeOf(pos[0], true)})
			x.keys = append(x.keys, integer(at, i))
		}
		length := object(at)
		set(length, at, "type", text(at, "int"))
		set(length, at, "min", integer(at, 0))
		set(length, at, "max", integer(at, most))
		set(length, at, "default", integer(at, 0))
		x.parts = append(x.parts, part{"length", &shape{plain: *length}})
	}
	return x
}

// keysOf returns the keys of a map or the elements of a set: texts, enum("a", "b") or int(MIN,
// MAX).
func (c *compiler) keysOf(at syntax.Expr, pos []syntax.Expr) []node {
	var keys []node
	for _, e := range pos {
		if v := c.literalOrNone(e); v.Kind == doctree.String {
			keys = append(keys, v)
			continue
		}
		if !isCall(e, "enum") && !isCall(e, "int") {
			keys = nil
			break
		}
		k := c.kind(e, false)
		if values := k.Get("values"); values != nil {
			keys = append(keys, values.Items()...)
		} else if low, high := k.Get("min"), k.Get("max"); low != nil && high != nil {
			from, _ := strconv.Atoi(low.Text)
			to, _ := strconv.Atoi(high.Text)
			for i := from; i <= to && i-from <= mostPlaces; i++ {
				keys = append(keys, integer(c.position(e), i))
			}
		}
	}
	if len(keys) == 0 || len(keys) > mostPlaces {
		c.fail(at, "type", "", "must have 1 to %d elements or keys: texts, enum(\"a\", \"b\") or int(MIN, MAX)", mostPlaces)
		return nil
	}
	return keys
}

// zeroOf returns the initial value of a place in a collection; nil: none, as for a ref.
func zeroOf(kind *node) *node {
	var zero node
	switch at := kind.Pos; textOf(kind, "type") {
	case "bool":
		zero = truth(at, false)
	case "string":
		zero = text(at, "")
	case "int":
		zero = integer(at, 0)
		for _, x := range []struct {
			bound string
			sign  int
		}{{"min", 1}, {"max", -1}} {
			if b := kind.Get(x.bound); b != nil {
				if n, err := strconv.Atoi(b.Text); err == nil && n*x.sign > 0 {
					zero = *b
				}
			}
		}
	case "enum":
		values := kind.Get("values")
		if values == nil || len(values.Items()) == 0 {
			return nil
		}
		zero = values.Items()[0]
	default:
		return nil
	}
	return &zero
}

// eachField visits the plain fields that a field consists of.
func (x *shape) eachField(name string, visit func(name string, kind node)) {
	if x.word == "" {
		visit(name, x.plain)
	}
	for _, p := range x.parts {
		p.eachField(name+"."+p.name, visit)
	}
}

// part returns a part by its name.
func (x *shape) part(name string) *shape {
	for _, p := range x.parts {
		if p.name == name {
			return p.shape
		}
	}
	return nil
}

// shapes returns the shapes of an entity's fields, in order.
func (c *compiler) shapes(d *decl) []part {
	if d.shapes == nil {
		_, named := c.arguments(d.call)
		for _, a := range named {
			x := c.shapeOf(a.value, false)
			d.shapes = append(d.shapes, part{a.name, x})
			n := 0
			if x.eachField(a.name, func(string, node) { n++ }); n > mostPlaces {
				c.fail(a.value, "type", "", "has %d fields; a collection has at most %d", n, mostPlaces)
			}
		}
	}
	return d.shapes
}
