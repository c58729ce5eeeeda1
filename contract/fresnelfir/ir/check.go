package ir

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Check checks the sections of a document against each other, and sets what follows from them:
// Actor, Vars and Newest. The diagnostics are in the order of the text. The table in
// docs/fresnelfir.md lists what is an error, and by which rule; everything else that is doubtful is
// a warning.
func Check(doc *Document, src *Source) diag.List { return check(doc, src, nil) }

// Errors is [Check] for a document in which some lines have been reported already. It returns only
// the errors in the other lines, and no warnings.
func Errors(doc *Document, src *Source, except map[int]bool) diag.List {
	return check(doc, src, except)
}

func check(doc *Document, src *Source, except map[int]bool) diag.List {
	c := &checker{doc: doc, src: src, except: except, said: map[string]bool{}, wrong: src.wrong, asked: map[*Function]bool{}, read: map[*Field]bool{}, given: map[*Field]bool{}, known: map[string]bool{}, bound: map[string]bool{}}
	c.actionNames = names(doc.Effects, func(e *Effect) string { return e.Action })
	for _, name := range c.actionNames {
		c.known[name] = true
	}
	for _, b := range doc.Bindings.Actions {
		c.bound[b.Action] = true
	}
	c.entities()
	c.variables()
	c.refinements()
	c.functions()
	c.recursion()
	c.protocols()
	c.effects()
	c.properties()
	c.generators()
	c.exploration()
	c.inputs()
	c.bindings()
	if c.except == nil { // these have only warnings
		c.handles()
		c.exercised()
		c.unset()
		c.separate()
		c.guards()
	}
	c.list.Sort()
	if !doc.assigns("input") {
		src.keep()
	}
	return c.list
}

type checker struct {
	doc  *Document
	src  *Source
	list diag.List
	said map[string]bool // doubts reported already
	// shared holds the entities that effects create for a variable, by its name.
	shared map[string][]string
	asked  map[*Function]bool // observers used in some expression
	read   map[*Field]bool    // fields used in some expression
	given  map[*Field]bool    // fields that some effect sets from other values
	target *Field             // field set by the current value, if there is one
	self   bool               // the current value reads target
	// wrong holds places that could not be read and have been reported.
	wrong map[doctree.Pos]bool
	// except holds lines that have been reported; if it is not nil, there are no warnings.
	except map[int]bool
	// actionNames are the actions with effects; bound are those with a binding.
	actionNames  []string
	known, bound map[string]bool
}

// report is either fail or doubt.
type report func(at Place, code, hint, format string, args ...any)

// there reports whether a place has a readable value. Other places have been reported already.
func (c *checker) there(at Place) bool {
	return !at.missing() && !c.wrong[at.Pos] && (c.except == nil || !c.except[c.src.where(at).Line])
}

func (c *checker) fail(at Place, code, hint, format string, args ...any) {
	if !c.there(at) {
		return
	}
	c.list = append(c.list, c.src.Report(diag.Error, at, code, fmt.Sprintf(format, args...), hint))
}

func (c *checker) doubt(at Place, code, hint, format string, args ...any) {
	if c.except != nil || !c.there(at) {
		return
	}
	c.list = append(c.list, c.src.Report(diag.Warning, at, code, fmt.Sprintf(format, args...), hint))
}

// checkName reports a name that is not among the known names.
func (c *checker) checkName(at Place, code, what, name string, names []string) bool {
	if slices.Contains(names, name) {
		return true
	}
	c.fail(at, code, diag.DidYouMean(name, names), "must be %s of the document, got %q", what, name)
	return false
}

func names[T any](list []T, name func(T) string) []string {
	return seq.Map(list, name)
}

func (c *checker) entityNames() []string {
	return names(c.doc.Entities, func(e *Entity) string { return e.Name })
}

// entity returns an entity by its name, and reports a missing one.
func (c *checker) entity(at Place, name string) *Entity {
	e := c.doc.Entity(name)
	if e == nil {
		c.checkName(at, "dangling-entity-ref", "an entity", name, c.entityNames())
	}
	return e
}

func (c *checker) entities() {
	for _, e := range c.doc.Entities {
		for _, f := range e.Fields {
			switch f.Type {
			case Enum:
				c.values(f.Place, f.Type, f.Values)
			case Int:
				if f.Min != nil && f.Max != nil && *f.Min > *f.Max {
					c.doubt(f.Place, "int-bounds", "", "min is above max, %d and %d: no value is within the bounds", *f.Min, *f.Max)
				}
			case Ref:
				c.entity(f.Place.Within("entity"), f.Entity)
			}
			c.initial(e, f)
		}
	}
}

// initial checks a field's default.
func (c *checker) initial(e *Entity, f *Field) {
	switch v := f.Default; {
	case v == nil || v.Op == Faulty:
	case v.Op > LitString:
		c.fail(v.Place, "default", "", "must be a value, got an expression")
	default:
		c.assigned(e, f, v, c.expr(v, scope{}), c.fail)
	}
}

func (c *checker) values(at Place, of Type, values []string) {
	if len(values) == 0 {
		c.fail(at, "empty-enum", "", "%s must have at least one value", map[Type]string{Enum: "an enum", String: "a string input"}[of])
	}
	seen := map[string]bool{}
	for _, v := range values {
		if seen[v] {
			c.doubt(at, "duplicate-value", "", "the value %q is listed twice", v)
		}
		seen[v] = true
	}
}

func (c *checker) params(list []Param) map[string]string {
	scope := map[string]string{}
	for _, p := range list {
		c.entity(p.Place.Within("type"), p.Entity)
		if _, twice := scope[p.Name]; twice {
			c.fail(p.Place, "duplicate-parameter", "", "the parameter %q is declared twice", p.Name)
		}
		scope[p.Name] = p.Entity
	}
	return scope
}

func (c *checker) refinements() {
	for _, r := range c.doc.Refinements {
		c.entity(r.Place.Within("base"), r.Base)
		vars := c.params(r.Params)
		vars["self"] = r.Base
		c.predicate(r.Predicate, scope{vars: c.withActor(vars)})
	}
}

// withActor adds the actor to the variables of a refinement or function, because the contract
// defines it everywhere.
func (c *checker) withActor(vars map[string]string) map[string]string {
	if _, own := vars["actor"]; !own && c.doc.Actor != "" {
		vars["actor"] = c.doc.Actor
	}
	return vars
}

func (c *checker) functions() {
	for _, f := range c.doc.Functions {
		vars := c.params(f.Params)
		c.models(f)
		if f.Observer {
			continue
		}
		got := c.expr(f.Body, scope{vars: c.withActor(vars)})
		f.Result = c.answers(f.Place, f.Returns, got)
		if want := returnType(c.doc, f.Returns); !got.assignableTo(want) {
			c.fail(f.Body.Place, "return-type", "", "must be %s, as the function returns, got %s", want, got)
		}
	}
	for _, f := range c.doc.Functions {
		if f.Observer {
			says := ValueType{}
			if pair := c.doc.Pair(f); pair != nil {
				says = pair.Result
			}
			f.Result = c.answers(f.Place, f.Returns, says)
		}
	}
}

// models checks the derived function that an observer is compared with.
func (c *checker) models(f *Function) {
	if f.Models == "" {
		return
	}
	at := f.Place.Within("models")
	var derived []string
	for _, x := range c.doc.Functions {
		if !x.Observer {
			derived = append(derived, x.Name)
		}
	}
	if !f.Observer {
		c.fail(at, "models", "", "is for observers: a derived function is the model itself")
		return
	}
	if !c.checkName(at, "unknown-function", "a derived function", f.Models, derived) {
		return
	}
	x := c.doc.Function(f.Models)
	if !x.sameParameters(f) || !returnType(c.doc, x.Returns).assignableTo(returnType(c.doc, f.Returns)) {
		c.fail(at, "models", "", "%s must take the same parameters as %s and return the same type", x.Name, f.Name)
	}
}

func (c *checker) typeNames() []string {
	return append(c.entityNames(), "bool", "int", "string", "void")
}

// recursion refuses derived functions and refinements that refer to themselves, directly or not.
func (c *checker) recursion() {
	type item struct {
		at   Place
		body *Expr
	}
	all := map[string]item{}
	for _, r := range c.doc.Refinements {
		all["refinement "+r.Name] = item{r.Place, r.Predicate}
	}
	for _, f := range c.doc.Functions {
		all["function "+f.Name] = item{f.Place, f.Body}
	}
	state := map[string]int{} // 1: in progress, 2: done
	var visit func(name string, trail []string)
	visit = func(name string, trail []string) {
		it, ok := all[name]
		if !ok || state[name] == 2 {
			return
		}
		trail = append(trail, name)
		if state[name] == 1 {
			from := slices.Index(trail, name)
			c.fail(it.at, "recursion", "", "must not need itself: %s", strings.Join(trail[from:], " needs "))
			return
		}
		state[name] = 1
		it.body.Walk(func(e *Expr) {
			switch e.Op {
			case Is:
				visit("refinement "+e.Text, trail)
			case Derived:
				visit("function "+e.Text, trail)
			}
		})
		state[name] = 2
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		visit(name, nil)
	}
}

func (c *checker) effects() {
	called := c.called()
	for _, e := range c.doc.Effects {
		sc := scope{vars: c.doc.Vars, inputs: true, loose: true}
		for _, x := range e.Picks {
			c.predicate(x.Where, sc)
		}
		sc.old = true
		for _, x := range e.Conds {
			c.predicate(x, sc)
		}
		for _, s := range e.Sets {
			c.set(s, sc)
		}
		if !called[e.Action] {
			c.doubt(e.Place, "unused-effect", diag.DidYouMean(e.Action, slices.Sorted(maps.Keys(called))), "no protocol and no generator calls the action %q", e.Action)
		}
	}
}

func (c *checker) set(s Set, sc scope) {
	name := c.variable(s.Place, s.Var, scope{vars: c.doc.Vars, loose: true, target: true})
	entity := c.doc.Entity(name)
	var f *Field
	if entity != nil {
		f = c.fieldOf(s.Place, entity, s.Field)
	}
	c.target, c.self = f, false
	got := c.expr(s.Value, sc)
	c.target = nil
	if f != nil && s.Value != nil {
		c.given[f] = c.given[f] || !c.self
		c.assigned(entity, f, s.Value, got, c.doubt)
	}
}

// unset warns about fields that are read but never get a value although an action creates
// instances.
func (c *checker) unset() {
	if c.list.HasErrors() {
		return
	}
	for _, e := range c.doc.Effects {
		if e.Creates == nil || c.doc.Entity(e.Creates.Entity) == nil {
			continue
		}
		for _, f := range c.doc.Entity(e.Creates.Entity).Fields {
			if c.read[f] && !c.given[f] && f.Default == nil && !(f.Name == "id" && f.Type == String) {
				c.given[f] = true // report it once
				c.doubt(f.Place, "unset-field", "give it a default", "%s.%s is read and never has a value: %s creates instances without it, and no effect sets it", e.Creates.Entity, f.Name, e.Action)
			}
		}
	}
}

// assigned checks a value assigned to a field. outside reports a value outside the field's
// declaration. In an effect that is only a warning: the format allows it, and a run shows which
// action sets the value.
func (c *checker) assigned(e *Entity, f *Field, v *Expr, got ValueType, outside report) {
	want := fieldType(f)
	if got.Type == Enum && want.Type == Enum {
		got.Values = want.Values // each set is checked at run time, even if no value is common
	}
	if !got.assignableTo(want) {
		c.fail(v.Place, "value-type", "", "must be %s for %s.%s, got %s", want, e.Name, f.Name, got)
		return
	}
	c.literal(v, want, outside)
	if v.Op == LitInt && (f.Min != nil && v.Int < *f.Min || f.Max != nil && v.Int > *f.Max) {
		outside(v.Place, "int-bounds", "", "is outside the bounds of %s.%s, got %d", e.Name, f.Name, v.Int)
	}
}

// Notes explains how a document is read where its text does not say: who acts, which fields are
// identities, which function an observer is compared with, and what an ambiguous argument means.
// None of these is a problem.
func Notes(doc *Document, src *Source) diag.List {
	var list diag.List
	note := func(at Place, format string, args ...any) {
		list = append(list, src.Note(at, fmt.Sprintf(format, args...)))
	}
	if e := doc.Entity(doc.Actor); e != nil {
		note(e.Place, "each actor is %s, which Thresh makes: %s", diag.A(e.Name), doc.ActorWhy)
	}
	for _, e := range doc.Entities {
		if f := e.Field("id"); f != nil && f.Type == String && f.Place.Pos != e.Place.Within("fields").Pos { // a field in the document, not an implied one
			note(f.Place, "a string field called id is the identity of each %s: unique, unless an effect sets it", e.Name)
		}
	}
	for _, f := range doc.Functions {
		if pair := doc.Pair(f); f.Models == "" && pair != nil {
			note(f.Place, `is compared with %s, the only derived function with its parameters and type; "models" names another`, pair.Name)
		}
	}
	told := map[string]bool{}
	for _, b := range doc.Bindings.Actions {
		for i, name := range b.Args {
			if all := doc.readings(name); len(all) > 1 && !told[name] {
				told[name] = true
				note(b.Place.Within("args", fmt.Sprint(i)), "is %s, not %s", all[0], strings.Join(all[1:], " or "))
			}
		}
	}
	list.Sort()
	return list
}

// Note returns a note on how a place is read.
func (s *Source) Note(at Place, message string) diag.Diagnostic {
	d := s.Report(diag.Note, at, "read-as", message, "")
	d.Source = "" // no change is needed
	return d
}

// readings returns everything that an argument's name may mean, the actual meaning first.
func (d *Document) readings(name string) []string {
	var list []string
	for _, v := range []string{strings.TrimSuffix(name, "_id"), name} {
		if _, ok := d.Vars[v]; ok {
			list = append(list, "the handle of "+v)
		}
	}
	if v, field, ok := d.fieldArgument(name); ok && field != "id" { // an id is the handle
		list = append(list, "the field "+field+" of "+v)
	}
	if d.Domain(name) != nil {
		list = append(list, "the input "+name)
	}
	return slices.Compact(list)
}
