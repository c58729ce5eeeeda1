package ir

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// kind is the type of an expression.
type kind struct {
	Type
	values []string // of an enum
	entity string   // of a ref
}

func (k kind) String() string {
	switch k.Type {
	case NoType:
		return "a value"
	case Enum:
		return "one of " + either(k.values)
	case Ref:
		return "a " + k.entity
	case Int:
		return "an int"
	}
	return "a " + k.Type.String()
}

// text reports whether values of the type are strings: enum values and
// references are.
func (k kind) text() bool { return k.Type == String || k.Type == Enum || k.Type == Ref }

// fits reports whether a value of type k may stand where w is wanted. What was
// reported already fits anywhere.
func (k kind) fits(w kind) bool {
	if k.Type == NoType || w.Type == NoType {
		return true
	}
	if k.Type == Enum && w.Type == Enum {
		return slices.ContainsFunc(k.values, func(v string) bool { return slices.Contains(w.values, v) })
	}
	if k.Type == Ref && w.Type == Ref {
		return k.entity == w.entity
	}
	return k.Type == w.Type || k.text() && w.text()
}

func fieldType(f *Field) kind { return kind{f.Type, f.Values, f.Entity} }

func domainType(x *Domain) kind { return kind{Type: x.Type, values: x.Values} }

// returnType is the type that a type's name stands for; NoType if none.
func returnType(d *Document, name string) kind {
	switch strings.ToLower(name) {
	case "bool", "boolean":
		return kind{Type: Bool}
	case "int", "integer", "i32", "i64", "u32", "u64":
		return kind{Type: Int}
	case "string":
		return kind{Type: String}
	}
	if d.Entity(name) != nil {
		return kind{Type: Ref, entity: name}
	}
	return kind{}
}

// scope is what an expression may name.
type scope struct {
	vars   map[string]string // variable -> entity
	inputs bool              // ["field", "input", domain] is the value of an input
	loose  bool              // a variable that nothing binds may stand for the newest instance
	target bool              // ... and as the target of an effect for the newest that is not the actor
	domain bool              // strings that name a domain stand for its value
}

func (s scope) with(name, entity string) scope {
	vars := maps.Clone(s.vars)
	vars[name] = entity
	s.vars = vars
	return s
}

// variable returns the entity of a variable; "" if that is not known, which is
// reported.
func (c *checker) variable(at Place, name string, s scope) string {
	if e, ok := s.vars[name]; ok {
		return e
	}
	if s.loose && name != "actor" {
		if e := c.newest(name, s.target); e != "" {
			c.doc.Newest[name] = e
			if !c.said[name] {
				c.said[name] = true
				c.doubt(at, "unbound-variable", "let an effect assign it", "nothing binds the variable %q: it stands for the newest %s", name, e)
			}
			return e
		}
	}
	hint := diag.DidYouMean(name, slices.Sorted(maps.Keys(s.vars)))
	if name == "actor" && hint == "" {
		hint = `say which entity acts: "actor" in exploration`
	}
	c.fail(at, "unbound-variable", hint, "nothing binds the variable %q", name)
	return ""
}

// newest is the entity that a variable without a binding stands for: the one
// of that name; for "self" and for targets of effects the only one that is created.
func (c *checker) newest(name string, target bool) string {
	for _, e := range c.doc.Entities {
		if strings.EqualFold(e.Name, name) {
			return e.Name
		}
	}
	if name != "self" && !target {
		return ""
	}
	found := ""
	for _, e := range c.doc.Effects {
		if e.Creates != nil && e.Creates.Entity != found {
			if found != "" {
				return ""
			}
			found = e.Creates.Entity
		}
	}
	return found
}

func (c *checker) fieldOf(at Place, e *Entity, name string) *Field {
	f := e.Field(name)
	if f == nil {
		c.fail(at, "unknown-field", diag.DidYouMean(name, names(e.Fields, func(f *Field) string { return f.Name })), "%s has no field %q", e.Name, name)
	}
	return f
}

// predicate checks an expression that must be true or false.
func (c *checker) predicate(e *Expr, s scope) {
	if e == nil {
		return
	}
	if got := c.expr(e, s); !got.fits(kind{Type: Bool}) {
		c.fail(e.Place, "not-a-condition", "", "must be true or false, got %s", got)
	}
}

// expr returns the type of an expression and reports its faults.
func (c *checker) expr(e *Expr, s scope) kind {
	if e == nil {
		return kind{}
	}
	switch e.Op {
	case LitBool:
		return kind{Type: Bool}
	case LitInt:
		return kind{Type: Int}
	case LitString:
		if x := c.doc.Domain(e.Text); s.domain && x != nil {
			return domainType(x)
		}
		return kind{Type: String}
	case FieldOf:
		return c.field(e, s)
	case Eq, Neq, Lt, Lte, Gt, Gte:
		c.comparison(e, s)
		return kind{Type: Bool}
	case Add, Sub, Mul:
		for _, a := range e.Args {
			if got := c.expr(a, s); !got.fits(kind{Type: Int}) {
				c.fail(a.Place, "operand-type", "", "%s takes integers, got %s", e.Op, got)
			}
		}
		return kind{Type: Int}
	case And, Or, Not, Implies:
		for _, a := range e.Args {
			if got := c.expr(a, s); !got.fits(kind{Type: Bool}) {
				c.fail(a.Place, "operand-type", "", "%s takes conditions, got %s", e.Op, got)
			}
		}
		return kind{Type: Bool}
	case Forall, Exists:
		if c.entity(e.Place, e.Over) != nil {
			c.predicate(e.Args[0], s.with(e.Var, e.Over))
		}
		return kind{Type: Bool}
	case Derived, Observer:
		return c.call(e, s)
	case Is:
		c.refinementTest(e, s)
	}
	return kind{Type: Bool}
}

func (c *checker) field(e *Expr, s scope) kind {
	if e.Var == "input" && (s.inputs || s.domain) {
		if c.known(e.Place, "unknown-domain", "an input domain", e.Text, names(c.doc.Inputs.Domains, func(x *Domain) string { return x.Name })) {
			return domainType(c.doc.Domain(e.Text))
		}
		return kind{}
	}
	entity := c.doc.Entity(c.variable(e.Place, e.Var, s))
	if entity == nil {
		return kind{}
	}
	if f := c.fieldOf(e.Place, entity, e.Text); f != nil {
		return fieldType(f)
	}
	return kind{}
}

func (c *checker) comparison(e *Expr, s scope) {
	a, b := c.expr(e.Args[0], s), c.expr(e.Args[1], s)
	if e.Op > Neq {
		for i, k := range []kind{a, b} {
			if !k.fits(kind{Type: Int}) {
				c.fail(e.Args[i].Place, "operand-type", "", "%s compares integers, got %s", e.Op, k)
			}
		}
		return
	}
	if !a.fits(b) {
		c.fail(e.Place, "operand-type", "", "%s compares values of one type, got %s and %s", e.Op, a, b)
		return
	}
	c.literal(e.Args[1], a)
	c.literal(e.Args[0], b)
}

// literal checks that a string that meets an enum is one of its values.
func (c *checker) literal(e *Expr, w kind) {
	if e.Op == LitString && w.Type == Enum && len(w.values) > 0 && !slices.Contains(w.values, e.Text) && c.doc.Domain(e.Text) == nil {
		c.fail(e.Place, "enum-value", diag.DidYouMean(e.Text, w.values), "must be %s, got %q", w, e.Text)
	}
}

// argument checks a variable that is handed to a parameter.
func (c *checker) argument(at Place, name, want, param string, s scope) {
	if got := c.variable(at, name, s); got != "" && got != want && c.doc.Entity(want) != nil {
		c.fail(at, "argument-type", "", "the parameter %q takes a %s, but %q is a %s", param, want, name, got)
	}
}

func (c *checker) call(e *Expr, s scope) kind {
	f := c.doc.Function(e.Text)
	if f == nil || f.Observer != (e.Op == Observer) {
		var of []string
		for _, x := range c.doc.Functions {
			if x.Observer == (e.Op == Observer) {
				of = append(of, x.Name)
			}
		}
		hint := diag.DidYouMean(e.Text, of)
		if f != nil {
			hint = "it is of the other kind"
		}
		c.fail(e.Place, "unknown-function", hint, "%q is no %s function of the document", e.Text, e.Op)
		return kind{}
	}
	if len(e.Names) != len(f.Params) {
		c.fail(e.Place, "argument-count", "", "%s takes %s, got %d", f.Name, count(len(f.Params), "argument"), len(e.Names))
		return returnType(c.doc, f.Returns)
	}
	for i, p := range f.Params {
		c.argument(e.Place, e.Names[i], p.Entity, p.Name, s)
	}
	k := returnType(c.doc, f.Returns)
	if k.Type == NoType {
		return kind{Type: Int}
	}
	return k
}

func (c *checker) refinementTest(e *Expr, s scope) {
	r := c.doc.Refinement(e.Text)
	if r == nil {
		c.known(e.Place, "unknown-refinement", "a refinement", e.Text, names(c.doc.Refinements, func(r *Refinement) string { return r.Name }))
		return
	}
	if got := c.variable(e.Place, e.Var, s); got != "" && got != r.Base && c.doc.Entity(r.Base) != nil {
		c.fail(e.Place, "refinement-base", "", "%s refines %s, but %q is a %s", r.Name, r.Base, e.Var, got)
	}
	declared := names(r.Params, func(p Param) string { return p.Name })
	given := map[string]string{}
	for _, a := range e.With {
		if !slices.Contains(declared, a.Param) {
			c.fail(e.Place, "unknown-parameter", diag.DidYouMean(a.Param, declared), "%s has no parameter %q", r.Name, a.Param)
		}
		given[a.Param] = a.Var
	}
	for _, p := range r.Params {
		if v, ok := given[p.Name]; ok {
			c.argument(e.Place, v, p.Entity, p.Name, s)
		} else if _, same := s.vars[p.Name]; same {
			c.argument(e.Place, p.Name, p.Entity, p.Name, s)
		} else {
			c.fail(e.Place, "missing-parameter", "", "%s needs its parameter %q, and no variable goes by that name", r.Name, p.Name)
		}
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
