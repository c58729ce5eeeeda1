package ir

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Meaningful words of the exploration section. Others are free text for existing tools, so they
// cause warnings, not errors.
var (
	Directives = []string{"adjust_weight", "force", "skip", "loop_limit", "swap_observer"}
	Signals    = []string{"coverage_delta", "property_violation", "discrepancy", "crash", "timeout", "guard_failure", "coverage_plateau"}
	scopes     = []string{"per_alt_branch_and_model_state", "per_alt_branch"}
	decays     = []string{"per_epoch", "none"}
	initials   = []string{"from_protocol"}
	traversals = []string{"pseudo_random_traversal"}
	fallbacks  = []string{"targeted_on_violation"}
	modes      = []string{"deterministic_interleaving", Parallel}
	hookModes  = []string{"function_intercept"}
	runtimes   = []string{"wasm", "system"}
	captures   = []string{"args", "return_value", "side_effects"}
)

func (c *checker) generators() {
	for _, g := range c.doc.Generators {
		vars := c.doc.Vars
		for _, s := range g.Steps {
			c.calls(s.Place, s.Action)
			for _, w := range s.With {
				vars = c.checkBinding(s.Action, w, vars)
			}
		}
		c.predicate(g.Postcondition, scope{vars: vars, loose: true})
		if len(g.Steps) == 0 {
			c.doubt(g.Place, "empty-generator", "", "the generator %q has no steps", g.Name)
		}
	}
}

// checkBinding checks a binding of a generator's step and returns the variables that are bound from
// then on.
func (c *checker) checkBinding(action string, w With, vars map[string]string) map[string]string {
	if w.Literal != nil {
		if w.Literal.Op == Faulty {
			return vars
		}
		if w.Literal.Op > LitString {
			c.fail(w.Place, "generator-value", "", "must be a value, an instance to generate or a name to bind")
			return vars
		}
		if x := c.doc.Domain(w.Name); x != nil {
			c.member(w.Literal, x)
		} else if b := c.doc.Binding(action); b != nil && !slices.ContainsFunc(b.Args, func(name string) bool {
			x, _ := c.doc.ArgumentOf(b, name)
			return x.With == w.Name
		}) {
			known := slices.Clone(b.Args)
			for _, x := range c.doc.Inputs.Domains {
				known = append(known, x.Name)
			}
			c.doubt(w.Place, "idle-value", diag.DidYouMean(w.Name, known), "nothing takes the value: %q is neither an input nor an argument of %s", w.Name, action)
		}
		return vars
	}
	entity := w.Generate
	if entity == "" {
		if entity = vars[w.Name]; entity == "" {
			entity = vars[w.Bind]
		}
	}
	if entity == "" {
		c.fail(w.Place, "unbound-variable", `say what it is: {"bind": ..., "generate": Entity}`, "nothing says which entity %q belongs to", w.Bind)
		return vars
	}
	if e := c.entity(w.Place, entity); e != nil && w.Where != nil {
		c.predicate(w.Where, scope{vars: map[string]string{"self": entity}})
	}
	if known, ok := vars[w.Name]; ok && known != entity {
		c.fail(w.Place, "variable-type", "", "the variable %q is %s, not %s", w.Name, diag.A(known), diag.A(entity))
	}
	s := scope{vars: vars}
	if w.Bind != "" {
		s = s.withVariable(w.Bind, entity)
	}
	return s.withVariable(w.Name, entity).vars
}

// word warns about a word that has no meaning here.
func (c *checker) word(word string, allowed []string, at Place) {
	if !slices.Contains(allowed, word) {
		c.doubt(at, "unknown-word", diag.DidYouMean(word, allowed), "is %q, which is unknown; %q is used", word, allowed[0])
	}
}

func (c *checker) exploration() {
	x := &c.doc.Exploration
	in := func(keys ...string) Place { return x.Place.Within(keys...) }
	c.word(x.Scope, scopes, in("weights", "scope"))
	c.word(x.Initial, initials, in("weights", "initial"))
	c.word(x.Decay, decays, in("weights", "decay"))
	c.word(x.Strategy, traversals, in("strategy", "initial"))
	c.word(x.Fallback, fallbacks, in("strategy", "fallback"))
	c.word(x.Mode, modes, in("concurrency", "mode"))
	words := func(list, known []string, key, kind, what string) {
		for i, w := range list {
			if !slices.Contains(known, w) {
				c.doubt(in(key, strconv.Itoa(i), kind), "unknown-word", diag.DidYouMean(w, known), "%q is not %s and has no effect", w, diag.A(what))
			}
		}
	}
	words(x.Directives, Directives, "directives_allowed", "type", "directive")
	words(x.Signals, Signals, "adaptation_signals", "signal", "signal")
	if x.EpochSize == 0 {
		c.doubt(in("epoch_size"), "epoch-size", "", "is 0, so epochs have 100 actions")
		x.EpochSize = 100
	}
	if x.Threads == 0 {
		c.doubt(in("concurrency", "threads"), "threads", "", "is 0, so there is one thread")
		x.Threads = 1
	}
	if x.Threads > 64 {
		c.doubt(in("concurrency", "threads"), "threads", "", "is %d; at most 64 traversals are interleaved", x.Threads)
		x.Threads = 64
	}
	if f := x.CoverageFloor; math.IsNaN(f) || f < 0 || f > 1 {
		c.doubt(in("coverage_floor_threshold"), "coverage-floor", "", "must be from 0 to 1; it is cut to that")
		x.CoverageFloor = min(max(f, 0), 1)
	}
}

func (c *checker) inputs() {
	in := &c.doc.Inputs
	domains := names(in.Domains, func(x *Domain) string { return x.Name })
	for _, x := range in.Domains {
		switch {
		case x.Type == Enum, x.Type == String:
			c.values(x.Place, x.Type, x.Values)
		case x.Type == Int && x.Min > x.Max && c.there(x.Place.Within("min")) && c.there(x.Place.Within("max")):
			c.fail(x.Place, "int-bounds", "", "min must not be above max, got %d and %d", x.Min, x.Max)
		}
	}
	for _, k := range in.Constraints {
		c.predicate(k.Rule, scope{vars: map[string]string{}, domain: true})
		c.checkReferences(k)
	}
	for _, t := range in.Targets {
		switch t.Kind {
		case AllPairs, TWay:
			for i, name := range t.Over {
				c.checkName(t.Place.Within("over", strconv.Itoa(i)), "unknown-domain", "an input domain", name, domains)
				if slices.Contains(t.Over[:i], name) {
					c.fail(t.Place, "duplicate-value", "", "the domain %q is listed twice", name)
				}
			}
			if t.Strength < 1 || t.Strength > 6 || len(t.Over) < t.Strength {
				c.fail(t.Place, "strength", "", "must be over at least %d domains (strength 1 to 6), got %d", max(t.Strength, 1), len(t.Over))
			}
		case EachTransition:
			c.checkName(t.Place.Within("machine"), "dangling-protocol-ref", "a protocol", t.Machine, names(c.doc.Protocols, func(p *Protocol) string { return p.Name }))
		case Boundary:
			if !c.checkName(t.Place.Within("domain"), "unknown-domain", "an input domain", t.Domain, domains) {
				continue
			}
			for _, v := range t.Values {
				c.member(v, c.doc.Domain(t.Domain))
			}
		}
	}
}

// checkReferences refuses expressions that a rule over inputs cannot use, and comparisons of text
// that names no domain. It warns about a rule that names no domain.
func (c *checker) checkReferences(k Constraint) {
	found := false
	named := func(e *Expr) bool {
		return e.Op == LitString && c.doc.Domain(e.Text) != nil || e.Input
	}
	domains := names(c.doc.Inputs.Domains, func(x *Domain) string { return x.Name })
	k.Rule.Walk(func(e *Expr) {
		found = found || named(e)
		if e.Op >= Eq && e.Op <= Gte && !slices.ContainsFunc(e.Args, func(x *Expr) bool { return x.Op > LitString || named(x) }) && e.Args[0].Op == LitString {
			c.checkName(e.Args[0].Place, "unknown-domain", "an input domain", e.Args[0].Text, domains)
			found = true
		}
		switch e.Op {
		case Forall, Exists, Derived, Observer, Is:
			c.fail(e.Place, "constraint-operator", "", "a constraint is over input domains and cannot use %s", e.Op)
		}
	})
	if k.Rule != nil && !found {
		c.doubt(k.Place, "idle-constraint", "", "the constraint %q names no input domain", k.Name)
	}
}

// member checks that a literal is a value of a domain.
func (c *checker) member(v *Expr, x *Domain) {
	if x.Type == Int && x.Min > x.Max || (x.Type == Enum || x.Type == String) && len(x.Values) == 0 {
		return // reported already
	}
	ok := false
	want := "true or false"
	switch x.Type {
	case Bool:
		ok = v.Op == LitBool
	case Enum, String:
		ok, want = v.Op == LitString && slices.Contains(x.Values, v.Text), "one of "+doctree.Either(x.Values)
	case Int:
		ok, want = v.Op == LitInt && x.Min <= v.Int && v.Int <= x.Max, "an integer within the domain's bounds"
	}
	if !ok {
		c.fail(v.Place, "outside-domain", "", "must be %s, as the domain %q has it", want, x.Name)
	}
}

// CodeArgument is the code for arguments without a meaning: a warning for a model, and an error as
// soon as a module is to be called with them.
const CodeArgument = "unknown-argument"

func (c *checker) bindings() {
	b := &c.doc.Bindings
	if !slices.Contains(runtimes, b.Runtime) {
		c.doubt(b.Place.Within("runtime"), "unknown-word", "", "is %q; only wasm modules and systems can be run", b.Runtime)
	}
	called := c.called()
	for _, a := range b.Actions {
		if !called[a.Action] {
			c.doubt(a.Place, "unused-binding", "", "no protocol and no generator calls the action %q", a.Action)
		}
		a.Values = slices.Clone(a.Values)
		for i := range a.Values {
			x := &a.Values[i]
			x.Result = c.expr(x.Value, scope{vars: c.doc.Vars, inputs: true, loose: true})
			if !slices.Contains(a.Args, x.Name) {
				c.doubt(x.Place, CodeArgument, diag.DidYouMean(x.Name, a.Args), "the argument %q is computed and not among args", x.Name)
			}
		}
		for i, name := range a.Args {
			if _, ok := c.doc.ArgumentOf(a, name); !ok && c.except == nil {
				c.doubt(a.Place.Within("args", strconv.Itoa(i)), CodeArgument, c.argumentHint(name), "the argument %q has no value: it names no variable, no field of a variable and no input domain", name)
			}
		}
		got := c.expr(a.Answer, scope{vars: c.doc.Vars, inputs: true, loose: true})
		if a.Rejects != nil && a.Rejects.Op != "" {
			got.Unsigned = false // a returned value may be negative
		}
		a.Result = c.answers(a.Place, a.Returns, got)
		if want := returnType(c.doc, a.Returns); a.Answer != nil && !a.Place.Within("returns").untyped() && (a.Returns == "" || !got.assignableTo(want)) {
			c.fail(a.Answer.Place, "return-type", "", "must be what the action returns, %q, got %s", a.Returns, got)
		}
		c.claims(a)
		c.reuses(a)
		c.touches(a, "reads", a.Reads)
		c.touches(a, "writes", a.Writes)
	}
	c.word(b.HookMode, hookModes, b.Place.Within("event_hooks", "mode"))
	for i, a := range b.Observe {
		if c.doc.Binding(a) == nil {
			c.doubt(b.Place.Within("event_hooks", "observe", strconv.Itoa(i)), "unknown-action", diag.DidYouMean(a, c.actionNames), "%q has no binding", a)
		}
	}
	for i, w := range b.Capture {
		if !slices.Contains(captures, w) {
			c.doubt(b.Place.Within("event_hooks", "capture", strconv.Itoa(i)), "unknown-word", diag.DidYouMean(w, captures), "%q means nothing", w)
		}
	}
}

// touches warns about names in a list of the entities that a call reads or writes.
func (c *checker) touches(a *ActionBinding, key string, list []string) {
	for i, e := range list {
		if c.doc.Entity(e) == nil {
			c.doubt(a.Place.Within(key, strconv.Itoa(i)), "unknown-entity", diag.DidYouMean(e, c.entityNames()), "%q is not an entity of the document", e)
		}
	}
}

// claims warns about claims of a binding that contradict each other or the effect.
func (c *checker) claims(a *ActionBinding) {
	e := c.doc.Effect(a.Action)
	switch {
	case a.Mutates:
	case e != nil && (e.Creates != nil || len(e.Sets) > 0):
		c.doubt(a.Place.Within("mutates"), "claims", "", "is false, and the effect of %q changes the model", a.Action)
	case len(a.Writes) > 0:
		c.doubt(a.Place.Within("mutates"), "claims", "", "is false, and %q is said to write %s", a.Action, strings.Join(a.Writes, ", "))
	}
	if a.Idempotent && e != nil && e.Creates != nil {
		c.doubt(a.Place.Within("idempotent"), "claims", "", "is true, and %q creates an instance each time it is taken: it is not called twice", a.Action)
	}
}

func (c *checker) argumentHint(name string) string {
	var all []string
	for v := range c.doc.Vars {
		all = append(all, v, v+"_id")
	}
	for _, x := range c.doc.Inputs.Domains {
		all = append(all, x.Name)
	}
	slices.Sort(all)
	return diag.DidYouMean(name, all)
}

// Domain is the values that an input may have.
type Domain struct {
	Place
	Name     string
	Type     Type     // Enum, Bool, Int or, as an extension, String
	Values   []string // of an enum or a string
	Min, Max int64    // of an int
	Variants []string // of a string: texts occasionally tried instead of Values
}

// Size returns the number of values, without variants. Ranges too large to count give the maximum.
func (d *Domain) Size() uint64 {
	switch d.Type {
	case Bool:
		return 2
	case Enum, String:
		return uint64(len(d.Values))
	}
	if d.Max < d.Min {
		return 0
	}
	n := uint64(d.Max) - uint64(d.Min)
	if n+1 == 0 {
		return n
	}
	return n + 1
}

// Integer returns integer number i of a domain, simplest first.
func (d *Domain) Integer(i uint64) int64 { return Integer(d.Min, d.Max, i) }

// Number returns the number of an integer of a domain; it is the inverse of Integer.
func (d *Domain) Number(v int64) uint64 {
	near := min(max(0, d.Min), d.Max)
	if v == near {
		return 0
	}
	above, below := uint64(d.Max)-uint64(near), uint64(near)-uint64(d.Min)
	if v > near {
		far := uint64(v) - uint64(near)
		return far + min(far-1, below)
	}
	far := uint64(near) - uint64(v)
	return far + min(far, above)
}

// Integer returns integer number i of a range, ordered by distance from 0, the positive one of two
// first: 0, 1, -1, 2 ...
func Integer(low, high int64, i uint64) int64 {
	near := min(max(0, low), high)
	above, below := uint64(high)-uint64(near), uint64(near)-uint64(low)
	both := 2 * min(above, below)
	switch {
	case i > both && above > below:
		return int64(uint64(near) + i - both/2)
	case i > both:
		return int64(uint64(near) - i + both/2)
	case i%2 == 1:
		return near + int64(i/2) + 1
	}
	return near - int64(i/2)
}

// reuses checks which instances' handles an action may give to the one that it creates.
func (c *checker) reuses(a *ActionBinding) {
	if a.Reuses == "" {
		return
	}
	at, creates := a.Place.Within("reuses"), ""
	if e := c.doc.Effect(a.Action); e != nil && e.Creates != nil && a.Result.Entity == e.Creates.Entity {
		creates = a.Result.Entity
	}
	r := c.doc.Refinement(a.Reuses)
	switch {
	case r == nil:
		c.fail(at, "unknown-refinement", diag.DidYouMean(a.Reuses, seq.Map(c.doc.Refinements, func(r *Refinement) string { return r.Name })), "%q is not a refinement of the document", a.Reuses)
	case creates == "":
		c.fail(at, "reuses", "", "%s must return the handle of the instance that it creates", a.Action)
	case r.Base != creates || len(r.Params) > 0:
		c.fail(at, "reuses", "", "must be a refinement of %s without parameters, got %s", creates, r.Name)
	}
}
