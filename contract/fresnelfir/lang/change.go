package lang

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// store adds an assignment to a plain place. If a computed key chooses the place, the assignment is
// conditional.
func (b *body) store(p *place, at doctree.Pos, value func(name string) node, into *[]node) {
	b.chain(p, at, into, func(name string) []node {
		n := object(at)
		set(n, at, "target", texts(at, p.of, name))
		set(n, at, "value", value(name))
		return []node{*n}
	})
}

// chain adds statements for each alternative of a place.
func (b *body) chain(p *place, at doctree.Pos, into *[]node, do func(name string) []node) {
	b.wrote[p.from] = true
	b.s.wrote[p.base]++
	var rest []node
	for _, a := range slices.Backward(p.may) {
		if len(a.when) == 0 {
			rest = do(a.name)
			continue
		}
		b.steps = true
		rest = []node{*b.conditional(at, *conjunction(a.when), do(a.name), rest)}
	}
	*into = append(*into, rest...)
}

func (b *body) conditional(at doctree.Pos, cond node, then, otherwise []node) *node {
	n := object(at)
	set(n, at, "if", cond)
	if len(then) > 0 {
		set(n, at, "then", list(at, then...))
	}
	if len(otherwise) > 0 {
		set(n, at, "else", list(at, otherwise...))
	}
	ordered(n)
	return n
}

// replace translates PLACE = VALUE.
func (b *body) replace(p *place, e syntax.Expr, at doctree.Pos, into *[]node) {
	c := b.c
	if p.shape == nil {
		return
	}
	if p.word == "" {
		v, _ := c.condition(e, b.s)
		b.store(p, at, func(string) node { return v }, into)
		return
	}
	if b.refersTo(e, p.base) {
		c.fail(e, "expression", "keep what it reads in another field", "a whole %s cannot be computed from itself", p.word)
		return
	}
	before := len(c.list)
	if from := c.place(e, b.s); from != nil {
		var names, others []string
		p.eachField("", func(name string, _ node) { names = append(names, name) })
		from.eachField("", func(name string, _ node) { others = append(others, name) })
		if from.shape == nil || !slices.Equal(names, others) {
			c.fail(e, "type", "", "is a %s of another shape", orPlain(from.word))
			return
		}
		for _, name := range names {
			v := from.choose(at, func(base string) node { return from.field(at)(base + name) })
			b.store(p.memberPlace(name[1:], nil), at, func(string) node { return v }, into)
		}
		return
	} else if len(c.list) > before {
		return
	}
	switch p.word {
	case "set", "list":
		items, ok := elements(e)
		if !ok || p.word == "list" && len(items) > len(p.keys) {
			c.fail(e, "type", "", "must be a list of at most %s", diag.Plural(len(p.keys), "element"))
			return
		}
		if p.word == "set" {
			b.members(p, items, at, into)
			return
		}
		for i := range p.keys {
			place := p.memberPlace(p.parts[i].name, p.parts[i].shape)
			if i < len(items) {
				b.replace(place, items[i], at, into)
			} else {
				b.clear(place, at, into)
			}
		}
		b.store(p.memberPlace("length", p.part("length")), at, func(string) node { return integer(at, len(items)) }, into)
	case "map", "record":
		d, ok := e.(*syntax.DictExpr)
		if !ok {
			c.fail(e, "type", "", "must be a mapping: {\"%s\": VALUE}", p.parts[0].name)
			return
		}
		given := map[string]bool{}
		for _, i := range d.List {
			entry := i.(*syntax.DictEntry)
			key := c.literal(entry.Key)
			x := p.part(key.Text)
			if x == nil {
				var known []string
				for _, x := range p.parts {
					known = append(known, x.name)
				}
				c.fail(entry.Key, "unknown-field", diag.DidYouMean(key.Text, known), "the %s has no place %s", p.word, key.Text)
				continue
			}
			given[key.Text] = true
			b.replace(p.memberPlace(key.Text, x), entry.Value, at, into)
		}
		for _, x := range p.parts {
			if !given[x.name] {
				b.clear(p.memberPlace(x.name, x.shape), at, into)
			}
		}
	}
}

// members translates SET = [ELEMENT, ...].
func (b *body) members(p *place, items []syntax.Expr, at doctree.Pos, into *[]node) {
	c := b.c
	given := make([]bool, len(p.keys))
	var computed []node
	for _, e := range items {
		v := c.constant(e)
		if v == nil {
			x, _ := c.condition(e, b.s)
			computed = append(computed, x)
			continue
		}
		i := slices.IndexFunc(p.keys, func(k node) bool { return k.Kind == v.Kind && k.Text == v.Text })
		if i < 0 {
			c.fail(e, "unknown-field", diag.DidYouMean(v.Text, textsOf(p.keys)), "the set cannot hold %s", v.Text)
			continue
		}
		given[i] = true
	}
	for i, k := range p.keys {
		v := truth(at, given[i])
		if !given[i] && len(computed) > 0 {
			v = op(at, "or")
			for _, x := range computed {
				v.Add(op(at, "eq", x, k))
			}
		}
		b.store(p.memberPlace(k.Text, p.parts[i].shape), at, func(string) node { return v }, into)
	}
}

// clear sets every field of a place to the least value of its type.
func (b *body) clear(p *place, at doctree.Pos, into *[]node) {
	p.eachField("", func(name string, kind node) {
		if zero := zeroOf(&kind); zero != nil {
			x := p
			if name != "" {
				x = p.memberPlace(name[1:], nil)
			}
			b.store(x, at, func(string) node { return *zero }, into)
		}
	})
}

func (b *body) refersTo(e syntax.Expr, field string) bool {
	found := false
	syntax.Walk(e, func(n syntax.Node) bool {
		f, ok := n.(*syntax.DotExpr)
		found = found || ok && f.Name.Name == field
		return true
	})
	return found
}

// methods lists the methods of collections.
var methods = map[string][]string{"set": {"add", "clear", "remove"}, "list": {"append", "clear", "insert", "pop"}, "map": {"clear"}}

// method translates o.tags.add("x"), o.items.append(x), o.items.pop(0), o.tags.clear().
func (b *body) method(call *syntax.CallExpr, into *[]node) bool {
	c := b.c
	fn, ok := call.Fn.(*syntax.DotExpr)
	if !ok {
		return false
	}
	before := len(c.list)
	p := c.place(fn.X, b.s)
	if p == nil || p.shape == nil {
		return len(c.list) > before
	}
	at, name, pos := c.position(call), fn.Name.Name, call.Args
	if !slices.Contains(methods[p.word], name) {
		c.fail(call, "unknown-function", diag.DidYouMean(name, methods[p.word]), "a %s has %s", orPlain(p.word), doctree.Either(methods[p.word]))
		return true
	}
	if most := map[string]int{"clear": 0, "insert": 2}[name]; len(pos) > max(most, 1) || name == "clear" && len(pos) > 0 || name != "clear" && name != "pop" && len(pos) < max(most, 1) {
		c.fail(call, "arity", "", "%s takes another number of arguments", name)
		return true
	}
	switch name {
	case "clear":
		b.clear(p, at, into)
	case "add", "remove":
		b.member(p, pos[0], name == "add", at, into)
	case "append":
		b.extend(p, pos[0], at, into)
	case "insert":
		if c.literalOrNone(pos[0]).Text != "0" || b.refersTo(pos[1], p.base) {
			c.fail(call, "arity", "keep what it reads of the list in another field", "must be insert(0, VALUE), with a value that does not read the list")
			return true
		}
		for i := len(p.keys) - 1; i > 0; i-- {
			b.move(p, i-1, i, at, into)
		}
		b.replace(p.memberPlace("0", p.parts[0].shape), pos[1], at, into)
		b.grow(p, at, into)
	case "pop":
		first := len(pos) == 1
		if first && c.literalOrNone(pos[0]).Text != "0" {
			c.fail(call, "arity", "", "pop() takes the last element, pop(0) the first")
			return true
		}
		b.shorten(p, first, at, into)
	}
	return true
}

// member adds an element to a set or removes it.
func (b *body) member(p *place, e syntax.Expr, in bool, at doctree.Pos, into *[]node) {
	c := b.c
	is := truth(at, in)
	if v := c.constant(e); v != nil {
		for i, k := range p.keys {
			if k.Kind == v.Kind && k.Text == v.Text {
				b.store(p.memberPlace(k.Text, p.parts[i].shape), at, func(string) node { return is }, into)
				return
			}
		}
		c.fail(e, "unknown-field", diag.DidYouMean(v.Text, textsOf(p.keys)), "the set cannot hold %s", v.Text)
		return
	}
	of := *p.shape
	of.word = "map" // a map from elements to membership
	as := *p
	as.shape = &of
	b.store(c.indexed(&as, e, b.s), at, func(string) node { return is }, into)
}

// extend appends to a list. If the list is full, its length exceeds the bounds of its field, which
// is a finding like any other excess.
func (b *body) extend(p *place, e syntax.Expr, at doctree.Pos, into *[]node) {
	var rest []node
	long := b.grow(p, at, &rest)
	b.steps = true
	for i := range slices.Backward(p.keys) {
		var then []node
		b.replace(p.memberPlace(p.parts[i].name, p.parts[i].shape), e, at, &then)
		b.grow(p, at, &then)
		rest = []node{*b.conditional(at, op(at, "eq", long, integer(at, i)), then, rest)}
	}
	*into = append(*into, rest...)
}

// grow adds 1 to the length of a list, and returns the length before.
func (b *body) grow(p *place, at doctree.Pos, into *[]node) (long node) {
	length := p.memberPlace("length", p.part("length"))
	long = length.choose(at, length.field(at))
	b.store(length, at, func(string) node { return op(at, "add", long, integer(at, 1)) }, into)
	return long
}

// move assigns one element of a list to another.
func (b *body) move(p *place, from, to int, at doctree.Pos, into *[]node) {
	source, here := p.memberPlace(p.parts[from].name, p.parts[from].shape), p.memberPlace(p.parts[to].name, p.parts[to].shape)
	here.eachField("", func(name string, _ node) {
		v := source.choose(at, func(base string) node { return source.field(at)(base + name) })
		x := here
		if name != "" {
			x = here.memberPlace(name[1:], nil)
		}
		b.store(x, at, func(string) node { return v }, into)
	})
}

// shorten removes the last element of a list, or the first.
func (b *body) shorten(p *place, first bool, at doctree.Pos, into *[]node) {
	length := p.memberPlace("length", p.part("length"))
	long := length.choose(at, length.field(at))
	for i := range p.keys {
		here := p.memberPlace(p.parts[i].name, p.parts[i].shape)
		switch {
		case !first: // only the last one is cleared
			var then []node
			b.clear(here, at, &then)
			if len(then) > 0 {
				b.steps = true
				*into = append(*into, *b.conditional(at, op(at, "eq", long, integer(at, i+1)), then, nil))
			}
		case i == len(p.keys)-1:
			b.clear(here, at, into)
		default:
			b.move(p, i+1, i, at, into)
		}
	}
	b.store(length, at, func(string) node { return op(at, "sub", long, integer(at, 1)) }, into)
}
