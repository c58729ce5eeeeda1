package lang

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// kind translates a type: int(0, 9), enum("a", "b"), ref(User), bool.
func (c *compiler) kind(e syntax.Expr, entity bool) node {
	at := c.position(e)
	n := object(at)
	name, pos, named := "", []syntax.Expr(nil), []argument(nil)
	switch x := e.(type) {
	case *syntax.Ident:
		name = x.Name
	case *syntax.CallExpr:
		if fn, ok := x.Fn.(*syntax.Ident); ok {
			name = fn.Name
		}
		pos, named = c.arguments(x)
	}
	if _, ok := c.decls[declEntity][name]; ok && entity { // owner = User
		set(n, at, "type", text(at, "ref"))
		set(n, at, "entity", text(at, name))
		return *n
	}
	words := []string{"bool", "enum", "int", "string"}
	if entity {
		words = append(words, "ref")
	} else if slices.Contains(collections, name) {
		c.fail(e, "unknown-type", "make what the action puts into it an input", "an input is one value, not a %s", name)
		return *n
	}
	if !slices.Contains(words, name) {
		c.fail(e, "unknown-type", diag.DidYouMean(name, words), "must be a type: int(MIN, MAX), bool, enum(\"a\", \"b\"), string or ref(ENTITY)")
		return *n
	}
	set(n, at, "type", text(at, name))
	if name == "string" && entity && len(pos) > 0 {
		c.fail(e, "type", "use enum(...)", "only an input can be one of several strings; use an enum for a field")
		return *n
	}
	values := list(at)
	for i, a := range pos {
		v := c.reading(a)
		switch {
		case name == "enum" || name == "string":
			values.Add(v)
		case name == "ref" && i == 0:
			set(n, c.position(a), "entity", v)
		case name == "int" && i < 2:
			set(n, c.position(a), []string{"min", "max"}[i], v)
		default:
			c.fail(a, "arity", "", "%s takes no such argument", name)
		}
	}
	if name == "enum" || len(values.Items()) > 0 {
		set(n, at, "values", values)
	}
	for _, a := range named {
		set(n, c.position(a.at), a.name, c.literal(a.value))
	}
	return *n
}

// reading translates a name or a value into its text in the document.
func (c *compiler) reading(e syntax.Expr) node {
	switch x := e.(type) {
	case *syntax.Ident:
		if x.Name != "True" && x.Name != "False" && x.Name != "None" {
			return text(c.position(e), x.Name)
		}
	case *syntax.DotExpr, *syntax.IndexExpr:
		if path := c.path(e); path != "" {
			return text(c.position(e), path)
		}
	case *syntax.ListExpr:
		n := list(c.position(e))
		for _, i := range x.List {
			n.Add(c.reading(i))
		}
		return n
	}
	return c.literal(e)
}

// path returns the document's name for ENTITY.FIELD or an element of a collection; "" if e is
// neither.
func (c *compiler) path(e syntax.Expr) string {
	of, part := syntax.Expr(nil), ""
	switch x := e.(type) {
	case *syntax.Ident:
		return x.Name
	case *syntax.DotExpr:
		of, part = x.X, x.Name.Name
	case *syntax.IndexExpr:
		of, part = x.X, c.literalOrNone(x.Y).Text
	}
	if of == nil || part == "" || c.path(of) == "" {
		return ""
	}
	return c.path(of) + "." + part
}

func (c *compiler) entity(d *decl, at doctree.Pos) {
	pos, named := c.arguments(d.call)
	for _, a := range pos {
		c.fail(a, "arity", "", "fields are given by name: %s = entity(total = int(0, 100))", d.name)
	}
	fields := object(c.position(d.call))
	for i, p := range c.shapes(d) {
		p.eachField(p.name, func(name string, kind node) { set(fields, c.position(named[i].at), name, kind) })
	}
	c.waiting(d.name, fields)
	e := object(c.position(d.call))
	set(e, e.Pos, "fields", *fields)
	set(c.section("entities"), at, d.name, *e)
}

func (c *compiler) input(d *decl, at doctree.Pos) {
	pos, _ := c.arguments(d.call)
	if len(pos) != 1 {
		c.fail(d.call, "arity", "", "must be input(TYPE), such as input(int(1, 9))")
		return
	}
	set(c.section("inputs", "domains"), at, d.name, c.kind(pos[0], false))
}

// condition translates an expression and reports whether it needs an extension of the published
// format.
func (c *compiler) condition(e syntax.Expr, s scope) (n node, beyond bool) {
	was := c.beyond
	c.beyond = false
	n = c.expr(e, s)
	beyond, c.beyond = c.beyond, was
	return n, beyond
}

// derive is the hint for conditions that the published format cannot express.
const derive = "use a derived function"

// published translates a condition that must not use extensions of the published format.
func (c *compiler) published(e syntax.Expr, s scope, code, hint, what string) node {
	n, beyond := c.condition(e, s)
	if beyond {
		c.fail(e, code, hint, "%s has no arithmetic, sum, count or old", what)
	}
	return n
}

// setExpr sets the expression of an object under key or, if existing readers could not read it,
// under full.
func (c *compiler) setExpr(n *node, at doctree.Pos, key string, v node, beyond bool, path string) {
	if beyond {
		c.noteExtension(v.Pos, func() (key, what string) { return path + ".full", "an expression with " + words(&v) })
		key = "full"
	}
	set(n, at, key, v)
}

// words lists the operators of an expression that the published format lacks.
func words(n *node) string {
	var found []string
	var visit func(*node)
	visit = func(n *node) {
		if n.Kind == doctree.Seq && len(n.Items()) > 0 && slices.Contains(further, n.Items()[0].Text) && !slices.Contains(found, n.Items()[0].Text) {
			found = append(found, n.Items()[0].Text)
		}
		for i := range n.Items() {
			visit(&n.Items()[i])
		}
	}
	visit(n)
	return doctree.Either(found)
}

// defined translates a function, an observer or a refinement, unless an earlier one needed its type
// and has done so.
func (c *compiler) defined(d *decl) {
	if d == nil || d.open {
		return
	}
	d.open = true
	if at := c.position(d.stmt); d.kind == declObserver {
		c.observer(d, at)
	} else {
		c.function(d, at)
	}
}

// function translates a derived function or a refinement.
func (c *compiler) function(d *decl, at doctree.Pos) {
	n := object(at)
	params := list(at)
	s := scope{vars: map[string]string{"actor": ""}}
	returns := node{}
	for i, p := range d.def.Params {
		name, is := parameter(p)
		if name == "returns" && is != nil {
			returns = c.returned(is)
			continue
		}
		id, ok := is.(*syntax.Ident)
		if name == "" || !ok {
			c.fail(p, "type", "", "a parameter names its entity: o = Order")
			continue
		}
		s = s.withVariable(name, id.Name)
		if d.kind == declRefinement && i == 0 {
			set(n, c.position(id), "base", text(c.position(id), id.Name))
			continue
		}
		x := object(c.position(p))
		set(x, x.Pos, "name", text(x.Pos, name))
		set(x, c.position(id), "type", text(c.position(id), id.Name))
		params.Add(*x)
	}
	body := statementsOf(d.def)
	ret, ok := body[len(body)-1].(*syntax.ReturnStmt)
	if !ok || ret.Result == nil {
		c.fail(d.def, "derived-body", "", "must return an expression")
		return
	}
	v, beyond := c.condition(ret.Result, s)
	if d.kind == declRefinement {
		c.setExpr(n, v.Pos, "predicate", v, beyond, "$.refinements."+d.name)
		if len(params.Items()) > 0 {
			set(n, at, "params", params)
		}
		set(c.section("refinements"), at, d.name, *n)
		return
	}
	set(n, at, "classification", text(at, "derived"))
	set(n, at, "params", params)
	c.setExpr(n, v.Pos, "body", v, beyond, "$.functions."+d.name)
	if returns.Kind == doctree.Null {
		returns = text(at, c.typeOf(&v, s))
	}
	set(n, at, "returns", returns)
	set(c.section("functions"), at, d.name, *n)
}

// typeOf returns the name of an expression's type.
func (c *compiler) typeOf(n *node, s scope) string {
	switch n.Kind {
	case doctree.Int:
		return "int"
	case doctree.String:
		return "string"
	case doctree.Bool:
		return "bool"
	}
	if n.Kind != doctree.Seq || len(n.Items()) < 2 {
		return "int"
	}
	switch word := n.Items()[0].Text; word {
	case "add", "sub", "mul", "div", "mod", "min", "max", "sum", "count":
		return "int"
	case "if":
		if t := c.typeOf(&n.Items()[len(n.Items())-1], s); t != "string" {
			return t
		}
		return c.typeOf(&n.Items()[2], s)
	case "old":
		return c.typeOf(&n.Items()[1], s)
	case "field":
		if f := c.fieldKind(n, s); f != nil {
			switch kind := f.Get("type").Text; kind {
			case "enum":
				return c.entityOf(n.Items()[1].Text, s) + "." + n.Items()[2].Text
			case "ref":
				return f.Get("entity").Text
			default:
				return kind
			}
		}
	case "derived", "observer":
		c.defined(c.decls[declDerived][n.Items()[1].Text])
		c.defined(c.decls[declObserver][n.Items()[1].Text])
		if f := c.section("functions").Get(n.Items()[1].Text); f != nil && f.Get("returns") != nil {
			return f.Get("returns").Text
		}
	}
	return "bool"
}

// fieldKind returns the declared type of a field expression; nil if unknown.
func (c *compiler) fieldKind(n *node, s scope) *node {
	if len(n.Items()) != 3 {
		return nil
	}
	d := c.decls[declEntity][c.entityOf(n.Items()[1].Text, s)]
	if d == nil {
		return nil
	}
	var found *node
	for _, p := range c.shapes(d) {
		p.eachField(p.name, func(name string, k node) {
			if name == n.Items()[2].Text && k.Get("type") != nil && (k.Get("type").Text != "ref" || k.Get("entity") != nil) {
				found = &k
			}
		})
	}
	return found
}

// observer translates observer("export", o = Order, returns = bool, models = paid).
func (c *compiler) observer(d *decl, at doctree.Pos) {
	pos, named := c.arguments(d.call)
	n := object(c.position(d.call))
	set(n, at, "classification", text(at, "observer"))
	export := text(at, d.name)
	if len(pos) > 1 {
		c.fail(pos[1], "arity", "", "only the export has no name; parameters are given as o = Order")
	} else if len(pos) == 1 {
		export = c.reading(pos[0])
	}
	set(n, export.Pos, "binding", export)
	params := list(at)
	for _, a := range named {
		switch a.name {
		case "returns", "models":
			if _, is := a.value.(*syntax.LambdaExpr); is {
				c.fail(a.value, "type", "def NAME(o = ENTITY): return EXPRESSION, then "+a.name+" = NAME", "must be the name of a function")
				continue
			}
			read := c.reading
			if a.name == "returns" {
				read = c.returned
			}
			set(n, c.position(a.at), a.name, read(a.value))
		case "guess", "part":
			set(n, c.position(a.at), a.name, c.literal(a.value))
		default:
			x := object(c.position(a.at))
			set(x, x.Pos, "name", text(x.Pos, a.name))
			set(x, c.position(a.value), "type", c.reading(a.value))
			known := []string{"guess", "models", "part", "returns"}
			if c.decls[declEntity][x.Get("type").Text] == nil && diag.Nearest(a.name, known) != "" {
				c.unknown(a.at, a.name, "observer", known)
				continue
			}
			params.Add(*x)
		}
	}
	set(n, at, "params", params)
	if n.Get("returns") == nil {
		c.fail(d.call, "missing-key", "", "must say what it answers: returns = bool, int, string, ENTITY or ENTITY.FIELD")
	}
	set(c.section("functions"), at, d.name, *n)
}

// property translates always(EXPR, "why") or temporal(RULE, "why").
func (c *compiler) property(d *decl, at doctree.Pos) {
	pos, _ := c.arguments(d.call)
	if len(pos) < 1 || len(pos) > 2 {
		c.fail(d.call, "arity", "", "must be %s(%s, \"why\")", d.fn, map[string]string{"always": "CONDITION", "temporal": "RULE"}[d.fn])
		return
	}
	n := object(c.position(d.call))
	s := scope{others: c.everywhere()}
	if d.fn == "always" {
		set(n, at, "type", text(at, "invariant"))
		v, beyond := c.condition(pos[0], s)
		c.setExpr(n, v.Pos, "predicate", v, beyond, "$.properties."+d.name)
		if beyond { // existing readers require the key
			set(n, at, "predicate", truth(at, true))
		}
	} else {
		set(n, at, "type", text(at, "temporal"))
		set(n, c.position(pos[0]), "rule", c.rule(pos[0], s))
	}
	if len(pos) == 2 {
		set(n, c.position(pos[1]), "description", c.literal(pos[1]))
	}
	set(c.section("properties"), at, d.name, *n)
}

// everywhere returns the variables that live as long as a traversal.
func (c *compiler) everywhere() map[string]string {
	if c.all == nil {
		c.all = map[string]string{"actor": ""}
		for v, entities := range c.vars {
			for e := range entities {
				c.all[v] = max(c.all[v], e)
			}
		}
	}
	return c.all
}

// rule translates before(ACTION, CONDITION), after(ACTION, CONDITION or never(...)) or
// never(ACTION, same = "entity").
func (c *compiler) rule(e syntax.Expr, s scope) node {
	at := c.position(e)
	call, ok := e.(*syntax.CallExpr)
	word := ""
	if ok {
		if fn, is := call.Fn.(*syntax.Ident); is {
			word = fn.Name
		}
	}
	if !slices.Contains([]string{"before", "after", "never"}, word) {
		c.fail(e, "temporal-rule", diag.DidYouMean(word, []string{"before", "after", "never"}), "must be before(...), after(...) or never(...)")
		return list(at)
	}
	pos, named := c.arguments(call)
	n := op(at, word)
	if want := map[bool]int{true: 1, false: 2}[word == "never"]; len(pos) != want {
		c.fail(e, "temporal-rule", "", "%s takes %s, got %d", word, diag.Plural(want, "argument"), len(pos))
		return n
	}
	n.Add(c.trigger(pos[0]))
	for _, a := range named {
		x := object(c.position(a.at))
		set(x, x.Pos, "same", c.reading(a.value))
		n.Add(*x)
	}
	if word == "never" {
		return n
	}
	if word == "after" && isCall(pos[1], "never") {
		n.Add(c.rule(pos[1], s))
		return n
	}
	n.Add(c.published(pos[1], s, "temporal-rule", derive, "a rule's condition"))
	return n
}

// trigger translates an action, or tag("mutating"), writes(Order), reads(Order).
func (c *compiler) trigger(e syntax.Expr) node {
	at := c.position(e)
	call, ok := e.(*syntax.CallExpr)
	if !ok {
		return c.reading(e)
	}
	pos, _ := c.arguments(call)
	fn, is := call.Fn.(*syntax.Ident)
	if !is || len(pos) != 1 || !slices.Contains([]string{"action", "tag", "writes", "reads"}, fn.Name) {
		c.fail(e, "temporal-rule", "", "must be an action, tag(\"mutating\"), writes(ENTITY) or reads(ENTITY)")
		return text(at, "")
	}
	x := object(at)
	set(x, at, fn.Name, c.reading(pos[0]))
	return *x
}
