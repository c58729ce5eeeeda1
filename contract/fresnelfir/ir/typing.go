package ir

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// ValueType is the type of an expression, or of an answer of a function or an action; NoType if it
// is unknown.
type ValueType struct {
	Type
	Values []string // of an enum, in declared order
	Entity string   // of a ref
	// Unsigned says that an int is never negative and may exceed signed 32 bits. In 32 bits it is
	// passed as unsigned.
	Unsigned bool
}

func (k ValueType) String() string {
	switch k.Type {
	case NoType:
		return "a value"
	case Enum:
		return "one of " + doctree.Either(k.Values)
	case Ref:
		return diag.A(k.Entity)
	}
	return diag.A(k.Type.String())
}

// text reports whether values of the type are strings, which includes enum values and references.
func (k ValueType) text() bool { return k.Type == String || k.Type == Enum || k.Type == Ref }

// assignableTo reports whether a value of type k may be used where w is wanted. NoType fits
// anywhere, because it has been reported.
func (k ValueType) assignableTo(w ValueType) bool {
	if k.Type == NoType || w.Type == NoType {
		return true
	}
	if k.Type == Enum && w.Type == Enum {
		return slices.ContainsFunc(k.Values, func(v string) bool { return slices.Contains(w.Values, v) })
	}
	if k.Type == Ref && w.Type == Ref {
		return k.Entity == w.Entity
	}
	return k.Type == w.Type || k.text() && w.text()
}

func fieldType(f *Field) ValueType {
	unsigned := f.Min != nil && f.Max != nil && beyond32(*f.Min, *f.Max)
	return ValueType{f.Type, f.Values, f.Entity, unsigned}
}

func domainType(x *Domain) ValueType {
	return ValueType{Type: x.Type, Values: x.Values, Unsigned: beyond32(x.Min, x.Max)}
}

func beyond32(low, high int64) bool { return low >= 0 && high > math.MaxInt32 }

// returnType returns the type with a name; NoType if there is none.
func returnType(d *Document, name string) ValueType {
	switch strings.ToLower(name) {
	case "bool", "boolean":
		return ValueType{Type: Bool}
	case "int", "integer", "i32", "i64":
		return ValueType{Type: Int}
	case "u32", "u64":
		return ValueType{Type: Int, Unsigned: true}
	case "string":
		return ValueType{Type: String}
	}
	if d.Entity(name) != nil {
		return ValueType{Type: Ref, Entity: name}
	}
	entity, field, _ := strings.Cut(name, ".")
	if e := d.Entity(entity); e != nil && e.Field(field) != nil {
		return fieldType(e.Field(field))
	}
	return ValueType{}
}

// answers returns the type of an answer declared with a type's name. If the document has no such
// type, it is the type of the model's prediction, and an integer without one.
func (c *checker) answers(at Place, name string, says ValueType) ValueType {
	if name == "" || name == "void" || name == "null" {
		return ValueType{}
	}
	want := returnType(c.doc, name)
	if want.Type != NoType {
		want.Unsigned = want.Unsigned || says.Unsigned
		return want
	}
	hint, taken := diag.DidYouMean(name, c.typeNames()), "as integers"
	if says.Type == NoType {
		says.Type = Int
	} else {
		taken = "as what the model says they are, " + says.String()
	}
	if hint == "" && strings.EqualFold(name, "enum") {
		hint = `name the field that has its values: "Entity.field"`
	}
	c.doubt(at.Within("returns"), "unknown-return-type", hint, "is %q, which is not a type of the document: answers are read %s", name, taken)
	return says
}

// scope says what an expression may refer to.
type scope struct {
	vars   map[string]string // variable -> entity
	inputs bool              // ["field", "input", domain] is the value of an input
	loose  bool              // an unbound variable may stand for the newest instance
	target bool              // ... and, as the target of an effect, for the newest instance that is not the actor
	old    bool              // there is a previous state
	domain bool              // strings that name a domain stand for its value
}

func (s scope) withVariable(name, entity string) scope {
	vars := maps.Clone(s.vars)
	vars[name] = entity
	s.vars = vars
	return s
}

// variable returns the entity of a variable; "" if it is unknown, which it reports.
func (c *checker) variable(at Place, name string, s scope) string {
	if e, ok := s.vars[name]; ok {
		return e
	}
	if s.loose && name != "actor" {
		if e := c.newest(name, s.target); e != "" {
			c.doc.Newest[name] = e
			if !c.said[name] {
				c.said[name] = true
				c.doubt(at, "unbound-variable", "let an effect assign it", "nothing binds the variable %q: it is the newest %s", name, e)
			}
			return e
		}
	}
	if of := c.shared[name]; len(of) > 1 {
		c.fail(at, "variable-type", "let each effect assign its own variable", "the variable %q is %s after some actions and %s after others: which one it is here is unknown", name, diag.A(of[0]), diag.A(of[1]))
		return ""
	}
	hint := diag.DidYouMean(name, slices.Sorted(maps.Keys(s.vars)))
	if name == "actor" && hint == "" {
		hint = `say which entity acts: "actor" in exploration`
	} else if name == "input" {
		c.fail(at, "unbound-variable", "", "inputs are read in guards, effects and bindings only, not in functions, properties and refinements")
		return ""
	}
	c.fail(at, "unbound-variable", hint, "nothing binds the variable %q", name)
	return ""
}

// newest returns the entity that an unbound variable stands for: the entity of that name; for
// "self" and targets of effects otherwise the only entity that is created.
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
	if got := c.expr(e, s); !got.assignableTo(ValueType{Type: Bool}) {
		c.fail(e.Place, "not-a-condition", "", "must be true or false, got %s", got)
	}
}

// expr returns the type of an expression and reports its faults.
func (c *checker) expr(e *Expr, s scope) ValueType {
	if e == nil {
		return ValueType{}
	}
	switch e.Op {
	case LitBool:
		return ValueType{Type: Bool}
	case LitInt:
		return ValueType{Type: Int}
	case LitString:
		if x := c.doc.Domain(e.Text); s.domain && x != nil {
			return domainType(x)
		}
		return ValueType{Type: String}
	case FieldOf:
		return c.field(e, s)
	case Eq, Neq, Lt, Lte, Gt, Gte:
		c.comparison(e, s)
		return ValueType{Type: Bool}
	case If:
		c.predicate(e.Args[0], s)
		a, b := c.expr(e.Args[1], s), c.expr(e.Args[2], s)
		if !a.assignableTo(b) {
			c.fail(e.Place, "operand-type", "", "must be of one type in both cases, got %s and %s", a, b)
		}
		return a
	case Old:
		if !s.old {
			c.fail(e.Place, "operand-type", "", "only properties and effects can use old")
		}
		return c.expr(e.Args[0], s)
	case Sum, Count:
		if c.entity(e.Place, e.Over) != nil {
			want := map[bool]ValueType{true: {Type: Int}, false: {Type: Bool}}[e.Op == Sum]
			if got := c.expr(e.Args[0], s.withVariable(e.Var, e.Over)); !got.assignableTo(want) {
				c.fail(e.Args[0].Place, "operand-type", "", "%s takes %s, got %s", e.Op, map[bool]string{true: "integers", false: "conditions"}[e.Op == Sum], got)
			}
		}
		return ValueType{Type: Int}
	case Add, Sub, Mul, Div, Mod, Min, Max:
		all := ValueType{Type: Int}
		for _, a := range e.Args {
			got := c.expr(a, s)
			if !got.assignableTo(ValueType{Type: Int}) {
				c.fail(a.Place, "operand-type", "", "%s takes integers, got %s", e.Op, got)
			}
			all.Unsigned = all.Unsigned || got.Unsigned
		}
		return all
	case And, Or, Not, Implies:
		for _, a := range e.Args {
			if got := c.expr(a, s); !got.assignableTo(ValueType{Type: Bool}) {
				c.fail(a.Place, "operand-type", "", "%s takes conditions, got %s", e.Op, got)
			}
		}
		return ValueType{Type: Bool}
	case Forall, Exists:
		if c.entity(e.Place, e.Over) != nil {
			c.predicate(e.Args[0], s.withVariable(e.Var, e.Over))
		}
		return ValueType{Type: Bool}
	case Derived, Observer:
		return c.call(e, s)
	case Is:
		c.refinementTest(e, s)
	case Faulty:
		for _, a := range e.Args {
			c.expr(a, s)
		}
		return ValueType{}
	}
	return ValueType{Type: Bool}
}

func (c *checker) field(e *Expr, s scope) ValueType {
	if _, bound := s.vars[e.Var]; e.Var == "input" && !bound && (s.inputs || s.domain) {
		if !e.Input { // do not write to an expression that another document may share
			e.Input = true
		}
		if c.checkName(e.Place, "unknown-domain", "an input domain", e.Text, names(c.doc.Inputs.Domains, func(x *Domain) string { return x.Name })) {
			return domainType(c.doc.Domain(e.Text))
		}
		return ValueType{}
	}
	entity := c.doc.Entity(c.variable(e.Place, e.Var, s))
	if entity == nil {
		return ValueType{}
	}
	if f := c.fieldOf(e.Place, entity, e.Text); f != nil {
		c.read[f] = true
		c.self = c.self || f == c.target
		return fieldType(f)
	}
	return ValueType{}
}

func (c *checker) comparison(e *Expr, s scope) {
	a, b := c.expr(e.Args[0], s), c.expr(e.Args[1], s)
	if e.Op > Neq {
		for i, k := range []ValueType{a, b} {
			if !k.assignableTo(ValueType{Type: Int}) {
				c.fail(e.Args[i].Place, "operand-type", "", "must be an integer to be compared by size, got %s", k)
			}
		}
		return
	}
	if !a.assignableTo(b) {
		c.doubt(e.Place, "operand-type", "", "compares %s with %s: it is always %t", a, b, e.Op == Neq)
		return
	}
	for i, w := range []ValueType{b, a} {
		if x := e.Args[i]; !s.domain || c.doc.Domain(x.Text) == nil {
			c.literal(x, w, c.doubt)
		}
	}
}

// literal checks that a string used as an enum is one of its values.
func (c *checker) literal(e *Expr, w ValueType, outside report) {
	if e.Op == LitString && w.Type == Enum && len(w.Values) > 0 && !slices.Contains(w.Values, e.Text) {
		outside(e.Place, "enum-value", diag.DidYouMean(e.Text, w.Values), "is not %s, got %q", w, e.Text)
	}
}

// argument checks a variable that is passed to a parameter.
func (c *checker) argument(at Place, name, want, param string, s scope) {
	if got := c.variable(at, name, s); got != "" && got != want && c.doc.Entity(want) != nil {
		c.fail(at, "argument-type", "", "the parameter %q takes %s, but %q is %s", param, diag.A(want), name, diag.A(got))
	}
}

func (c *checker) call(e *Expr, s scope) ValueType {
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
		c.fail(e.Place, "unknown-function", hint, "%q is not a %s function of the document", e.Text, e.Op)
		return ValueType{}
	}
	c.asked[f] = true
	if len(e.Names) != len(f.Params) {
		c.fail(e.Place, "argument-count", "", "%s takes %s, got %d", f.Name, diag.Plural(len(f.Params), "argument"), len(e.Names))
		return returnType(c.doc, f.Returns)
	}
	for i, p := range f.Params {
		c.argument(e.Place, e.Names[i], p.Entity, p.Name, s)
	}
	return returnType(c.doc, f.Returns)
}

func (c *checker) refinementTest(e *Expr, s scope) {
	r := c.doc.Refinement(e.Text)
	if r == nil {
		c.checkName(e.Place, "unknown-refinement", "a refinement", e.Text, names(c.doc.Refinements, func(r *Refinement) string { return r.Name }))
		return
	}
	if got := c.variable(e.Place, e.Var, s); got != "" && got != r.Base && c.doc.Entity(r.Base) != nil {
		c.fail(e.Place, "refinement-base", "", "%s refines %s, but %q is %s", r.Name, r.Base, e.Var, diag.A(got))
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
		if p.Name == "" { // reported already
			continue
		}
		if v, ok := given[p.Name]; ok {
			c.argument(e.Place, v, p.Entity, p.Name, s)
		} else if _, same := s.vars[p.Name]; same {
			c.argument(e.Place, p.Name, p.Entity, p.Name, s)
		} else {
			c.fail(e.Place, "missing-parameter", "", "%s needs its parameter %q, and no variable has that name", r.Name, p.Name)
		}
	}
}
