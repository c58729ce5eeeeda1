package lang

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// place is a place in a collection: the fields that it may be, each with its conditions.
type place struct {
	*shape
	of   string // the variable's name in the IR
	from string // the variable's name in the source
	may  []alternative
	base string // the field's name in the source
}

type alternative struct {
	when []node
	name string
}

// place resolves o.stock["x"].count; nil if that is a plain field or not a field.
func (c *compiler) place(e syntax.Expr, s scope) *place {
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return c.place(x.X, s)
	case *syntax.Ident:
		if v, ok := s.elements[x.Name]; ok {
			return v.at
		}
		if v, ok := s.values[x.Name]; ok && !v.decides {
			if p := c.place(v.e, s.definitionScope(v)); p != nil {
				ok, before := c.current(x, v, s)
				switch {
				case !ok || before && p.shape != nil && p.word == "":
					return nil // a plain value is translated from its expression
				case before:
					c.fail(x, "expression", "name its places before all assignments", "%s is a collection that was assigned in the meantime", x.Name)
					return nil
				}
				return p
			}
		}
	case *syntax.DotExpr:
		if id, ok := x.X.(*syntax.Ident); ok && s.elements[id.Name].at == nil && s.values[id.Name] == nil {
			if d := c.decls[declEntity][c.entityOf(id.Name, s)]; d != nil {
				for _, p := range c.shapes(d) {
					if p.name == x.Name.Name && p.word != "" {
						if at := c.position(x); len(p.parts) == 0 { // its type was refused
							c.vague(at)
						}
						return &place{p.shape, s.name(id.Name), id.Name, []alternative{{name: p.name}}, p.name}
					}
				}
			} else {
				c.broken(c.entityOf(id.Name, s), c.position(x)) // a field of an unknown type
			}
			return nil
		}
		of := c.place(x.X, s)
		if of == nil {
			return nil
		}
		if of.word != "record" {
			c.fail(x, "unknown-field", "", "is a %s, which has no fields", orPlain(of.word))
			return nil
		}
		next := of.part(x.Name.Name)
		if next == nil {
			var known []string
			for _, p := range of.parts {
				known = append(known, p.name)
			}
			c.fail(x.Name, "unknown-field", diag.DidYouMean(x.Name.Name, known), "the record has no field %q", x.Name.Name)
			return nil
		}
		return of.memberPlace(x.Name.Name, next)
	case *syntax.IndexExpr:
		of := c.place(x.X, s)
		if of == nil {
			return nil
		}
		if of.word != "map" && of.word != "list" {
			c.fail(x, "type", "", "is a %s: only maps and lists have places in brackets", orPlain(of.word))
			return nil
		}
		return c.indexed(of, x.Y, s)
	}
	return nil
}

func orPlain(word string) string {
	if word == "" {
		return "plain field"
	}
	return word
}

// entityOf returns the entity of a variable. The actor's entity is the one that explore(actor =
// ...) names, or the only one that no action creates.
func (c *compiler) entityOf(name string, s scope) string {
	if e, _ := s.variable(name); e != "" || name != "actor" {
		return e
	}
	c.acted = true
	return c.actor()
}

func (c *compiler) acting() string {
	own := *c // a copy whose errors are dropped: translating the statement reports them
	for _, call := range c.rest {
		if isCall(call, "explore") {
			_, named := own.arguments(call)
			for _, a := range named {
				if id, ok := a.value.(*syntax.Ident); ok && a.name == "actor" {
					return id.Name
				} else if a.name == "actor" {
					return own.literal(a.value).Text
				}
			}
		}
	}
	made, only := map[string]bool{}, []string{}
	for _, d := range c.order {
		if d.def != nil {
			syntax.Walk(d.def, func(n syntax.Node) bool {
				if call, ok := n.(*syntax.CallExpr); ok && isCall(call, "new") && len(call.Args) > 0 {
					if id, ok := call.Args[0].(*syntax.Ident); ok {
						made[id.Name] = true
					}
				}
				return true
			})
		}
	}
	for name := range c.decls[declEntity] {
		if !made[name] {
			only = append(only, name)
		}
	}
	if len(only) == 1 {
		return only[0]
	}
	return ""
}

func (p *place) memberPlace(name string, x *shape) *place {
	next := &place{shape: x, of: p.of, from: p.from, base: p.base}
	for _, a := range p.may {
		next.may = append(next.may, alternative{a.when, a.name + "." + name})
	}
	return next
}

// indexed returns the place of a key.
func (c *compiler) indexed(p *place, key syntax.Expr, s scope) *place {
	if v := c.constant(key); v != nil {
		for i, k := range p.keys {
			if k.Kind == v.Kind && k.Text == v.Text {
				return p.memberPlace(k.Text, p.parts[i].shape)
			}
		}
		c.fail(key, "unknown-field", diag.DidYouMean(v.Text, textsOf(p.keys)), "the %s has no place %s", p.word, v.Text)
		return nil
	}
	by, _ := c.condition(key, s)
	c.beyond = true
	next := &place{of: p.of, from: p.from, base: p.base}
	if len(p.keys) > 0 {
		next.shape = p.parts[0].shape
	}
	for _, a := range p.may {
		for i, k := range p.keys {
			when := append(slices.Clip(a.when), op(by.Pos, "eq", by, k))
			next.may = append(next.may, alternative{when, a.name + "." + p.parts[i].name})
		}
	}
	return next
}

func textsOf(keys []node) []string {
	var list []string
	for _, k := range keys {
		list = append(list, k.Text)
	}
	return list
}

// constant returns a literal text, number or truth value; nil for anything else.
func (c *compiler) constant(e syntax.Expr) *node {
	v := c.literalOrNone(e)
	if x, ok := e.(*syntax.UnaryExpr); ok && x.Op == syntax.MINUS && c.literalOrNone(x.X).Kind == doctree.Int {
		v = c.literal(e)
	}
	if v.Kind == doctree.Null {
		return nil
	}
	return &v
}

// choose returns a value depending on the alternatives of a place. If no alternative applies, it is
// the least value of the place's type.
func (p *place) choose(at doctree.Pos, value func(name string) node) node {
	var n *node
	if p.shape != nil && p.word == "" {
		n = zeroOf(&p.plain)
	}
	for _, a := range slices.Backward(p.may) {
		v := value(a.name)
		if n == nil || len(a.when) == 0 {
			n = &v
			continue
		}
		x := op(at, "if", *conjunction(a.when), v, *n)
		n = &x
	}
	if n == nil { // its keys were refused
		return truth(at, true)
	}
	return *n
}

// read returns the value of a plain place.
func (c *compiler) read(p *place, at doctree.Pos) node {
	if p.shape == nil {
		return truth(at, true)
	}
	if p.word != "" {
		c.failAt(at, "type", "", "is a %s: ask %s", p.word, map[string]string{
			"record": "for one of its fields", "set": "x in SET or len(SET)", "map": "for one of its places", "list": "for LIST[0], x in LIST or len(LIST)",
		}[p.word])
		return truth(at, true)
	}
	return p.choose(at, p.field(at))
}

func (p *place) field(at doctree.Pos) func(string) node {
	return func(name string) node { return op(at, "field", text(at, p.of), text(at, name)) }
}

// elements visits the elements of a collection, each with the condition for its presence; nil: it
// is always present.
func (c *compiler) elements(p *place, at doctree.Pos, visit func(there *node, e element)) {
	for i, x := range p.parts {
		inside := p.memberPlace(x.name, x.shape)
		switch p.word {
		case "set":
			there := inside.choose(at, p.field(at))
			visit(&there, element{is: p.keys[i]})
		case "map":
			visit(nil, element{at: inside})
		case "list":
			if i < len(p.keys) {
				there := op(at, "lt", integer(at, i), c.length(p, at))
				visit(&there, element{at: inside})
			}
		}
	}
}

// element is an element of a collection: a value or a place.
type element struct {
	is node
	at *place
}

func (c *compiler) element(e element, at doctree.Pos) node {
	if e.at != nil {
		return c.read(e.at, at)
	}
	return e.is
}

// contains translates x in COLLECTION.
func (c *compiler) contains(p *place, e syntax.Expr, at doctree.Pos, s scope) node {
	if v := c.constant(e); v != nil && p.word == "set" {
		for i, k := range p.keys {
			if k.Kind == v.Kind && k.Text == v.Text {
				x := p.memberPlace(k.Text, p.parts[i].shape)
				return x.choose(at, x.field(at))
			}
		}
		c.fail(e, "unknown-field", "", "the set cannot hold %s", v.Text)
		return truth(at, true)
	}
	x := c.expr(e, s)
	n := op(at, "or")
	if p.word == "map" {
		for _, k := range p.keys {
			n.Add(op(at, "eq", x, k))
		}
		return n
	}
	c.elements(p, at, func(there *node, e element) {
		n.Add(op(at, "and", *there, op(at, "eq", c.element(e, at), x)))
	})
	return n
}

// length translates len(COLLECTION).
func (c *compiler) length(p *place, at doctree.Pos) node {
	switch p.word {
	case "list":
		x := p.memberPlace("length", p.part("length"))
		return x.choose(at, x.field(at))
	case "map":
		return integer(at, len(p.keys))
	}
	return c.folded("sum", p, at, func(element) node { return integer(at, 1) })
}

// folded translates forall, exists, sum or count over the elements of a collection.
func (c *compiler) folded(word string, p *place, at doctree.Pos, body func(element) node) node {
	n := op(at, map[string]string{"forall": "and", "exists": "or"}[word])
	total := integer(at, 0)
	c.elements(p, at, func(there *node, e element) {
		v := body(e)
		switch word {
		case "forall":
			if there != nil {
				v = op(at, "implies", *there, v)
			}
		case "exists":
			if there != nil {
				v = op(at, "and", *there, v)
			}
		default:
			c.beyond = true
			if word == "count" {
				v = op(at, "if", v, integer(at, 1), integer(at, 0))
			}
			if there != nil {
				v = op(at, "if", *there, v, integer(at, 0))
			}
			total = op(at, "add", total, v)
			return
		}
		n.Add(v)
	})
	if word == "sum" || word == "count" {
		return total
	}
	return n
}

// equal compares two collections place by place.
func (c *compiler) equal(a, b *place, at doctree.Pos) node {
	n := op(at, "and")
	var names, others []string
	a.eachField("", func(name string, _ node) { names = append(names, name) })
	b.eachField("", func(name string, _ node) { others = append(others, name) })
	if !slices.Equal(names, others) || a.word != b.word {
		c.failAt(at, "operand-type", "", "compares a %s with a %s of another shape", orPlain(a.word), orPlain(b.word))
		return truth(at, true)
	}
	for _, name := range names {
		side := func(p *place) node {
			return p.choose(at, func(base string) node { return p.field(at)(base + name) })
		}
		n.Add(op(at, "eq", side(a), side(b)))
	}
	return n
}

// overElements translates a quantifier over a collection: forall(o.items, lambda x: ...),
// sum(o.items), count([x > 1 for x in o.items]). It returns false for a quantifier over an entity.
func (c *compiler) overElements(x *syntax.CallExpr, word string, pos []syntax.Expr, s scope) (node, bool) {
	if len(pos) == 0 {
		return node{}, false
	}
	at, of, name, body, only := c.position(x), pos[0], "", syntax.Expr(nil), syntax.Expr(nil)
	if y, ok := pos[0].(*syntax.Comprehension); ok && len(y.Clauses) <= 2 {
		f, ok := y.Clauses[0].(*syntax.ForClause)
		if !ok {
			return node{}, false
		}
		if v, is := f.Vars.(*syntax.Ident); is {
			of, name, body = f.X, v.Name, y.Body
		}
		if len(y.Clauses) == 2 {
			k, ok := y.Clauses[1].(*syntax.IfClause)
			if !ok {
				return node{}, false
			}
			only = k.Cond
			if id, is := body.(*syntax.Ident); is && id.Name == name && word == "count" {
				body, only = only, nil // count([x for x in c.items if x > 1])
			}
		}
	} else if len(pos) == 2 {
		if f, ok := pos[1].(*syntax.LambdaExpr); ok && len(f.Params) == 1 {
			name, _ = parameter(f.Params[0])
			body = f.Body
		}
	}
	before := len(c.list)
	p := c.place(of, s)
	if p == nil {
		return truth(at, true), len(c.list) > before
	}
	if p.shape == nil || !slices.Contains([]string{"list", "map", "set"}, p.word) || body == nil && (word == "forall" || word == "exists") {
		c.fail(x, "type", "", "must be %s(COLLECTION, lambda x: ...), with a list, a set or a map", word)
		return truth(at, true), true
	}
	if body == nil && word == "count" {
		return c.length(p, at), true
	}
	return c.folded(word, p, at, func(e element) node {
		if body == nil {
			return c.element(e, at)
		}
		inner := s
		inner.elements = map[string]element{name: e}
		for k, v := range s.elements {
			if k != name {
				inner.elements[k] = v
			}
		}
		v := c.expr(body, inner)
		if only != nil {
			by := c.expr(only, inner)
			switch word {
			case "forall":
				v = op(at, "implies", by, v)
			case "sum":
				v = op(at, "if", by, v, integer(at, 0))
			default:
				v = op(at, "and", by, v)
			}
		}
		return v
	}), true
}
