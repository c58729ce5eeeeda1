package ir

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

// existing is the entity that existing tools use as the actor, whatever a document says.
const existing = "User"

// variables determines the actor and the variables of a traversal.
func (c *checker) variables() {
	d := c.doc
	d.Vars, d.Newest = map[string]string{}, map[string]string{}
	if c.actor(); d.Actor != "" {
		d.Vars["actor"] = d.Actor
	}
	c.shared = map[string][]string{}
	for _, e := range d.Effects {
		if e.Creates != nil && !slices.Contains(c.shared[e.Creates.Assign], e.Creates.Entity) {
			c.shared[e.Creates.Assign] = append(c.shared[e.Creates.Assign], e.Creates.Entity)
		}
	}
	for _, e := range d.Effects {
		for _, x := range e.Picks {
			if d.Entity(x.Entity) == nil { // only then are a path and the names worth their time
				c.entity(x.Place.Within("entity"), x.Entity)
			}
			if x.Var == "actor" {
				c.fail(x.Place, "reserved-variable", "", "must not assign to %q, which is the acting entity", "actor")
			} else if of, twice := d.Vars[x.Var]; twice && of != x.Entity {
				c.fail(x.Place, "variable-type", "", "the variable %q is already a %s", x.Var, of)
			} else {
				d.Vars[x.Var] = x.Entity
			}
		}
		if e.Creates == nil {
			continue
		}
		c.entity(e.Creates.Place.Within("entity"), e.Creates.Entity)
		if e.Creates.Assign == "actor" {
			c.fail(e.Creates.Place, "reserved-variable", "", "must not assign to %q, which is the acting entity", "actor")
			continue
		}
		if len(c.shared[e.Creates.Assign]) > 1 {
			e.renameVariables()
		}
		d.Vars[e.Creates.Assign] = e.Creates.Entity
	}
}

// renameVariables gives the variable that an effect assigns a name of its own, because other
// effects assign the same name to instances of other entities. Within one effect, the meaning is
// clear.
func (e *Effect) renameVariables() {
	was, name := e.Creates.Assign, e.Creates.Assign+" of "+e.Action
	e.Creates = &Creates{e.Creates.Place, e.Creates.Entity, name}
	e.Sets, e.Conds = slices.Clone(e.Sets), slices.Clone(e.Conds)
	for i := range e.Sets {
		if e.Sets[i].Var == was {
			e.Sets[i].Var = name
		}
		e.Sets[i].Value = e.Sets[i].Value.renamed(was, name)
	}
	for i := range e.Conds {
		e.Conds[i] = e.Conds[i].renamed(was, name)
	}
}

// renamed returns a copy of an expression with a variable renamed. It copies because other
// documents may share the expression.
func (e *Expr) renamed(was, name string) *Expr {
	if e == nil {
		return nil
	}
	x := *e
	if x.Op == FieldOf && x.Var == was {
		x.Var = name
	}
	x.Args = seq.Map(e.Args, func(a *Expr) *Expr { return a.renamed(was, name) })
	return &x
}

// actor determines which entity acts, and why. It considers which entities actions create and what
// the document requires of the actor. A name decides only between several candidates, with a
// warning.
func (c *checker) actor() {
	d := c.doc
	if x := d.Exploration.Actor; x != "" {
		if c.checkName(d.Exploration.Place.Within("actor"), "dangling-entity-ref", "an entity", x, c.entityNames()) {
			d.Actor, d.ActorWhy = x, "exploration.actor names it"
		}
		return
	}
	created, asked := c.created(), d.asked()
	most := 0
	for _, e := range d.Entities {
		most = max(most, asked.of(e))
	}
	var free, made []string // candidates that no action creates, and those that some action creates
	for _, e := range d.Entities {
		switch {
		case asked.of(e) < most:
		case created[e.Name]:
			made = append(made, e.Name)
		default:
			free = append(free, e.Name)
		}
	}
	of, why := free, "no action creates it"
	if len(free) == 0 && asked.any {
		of, why = made, "the document uses an actor"
	}
	if fields := asked.list(); fields != "" {
		why += " and it has " + fields
	}
	switch {
	case len(of) == 1:
		d.Actor, d.ActorWhy = of[0], "it is the only entity that can: "+why
	case slices.Contains(of, existing):
		d.Actor, d.ActorWhy = existing, "existing tools take the entity of that name"
		c.doubt(d.Entity(existing).Place, "actor-by-name", fmt.Sprintf(`name the entity that acts: "actor": %q in exploration`, existing),
			"acts because of its name, as in existing tools; %s could act as well", strings.Join(slices.DeleteFunc(of, func(n string) bool { return n == existing }), ", "))
	}
}

// created returns the entities that some action creates instances of.
func (c *checker) created() map[string]bool {
	set := map[string]bool{}
	for _, e := range c.doc.Effects {
		if e.Creates != nil {
			set[e.Creates.Entity] = true
		}
	}
	return set
}

// demands are what a document requires of the actor.
type demands struct {
	any    bool // the document mentions an actor
	fields map[string]bool
}

// of returns how many of the required fields an entity has.
func (x demands) of(e *Entity) int {
	n := 0
	for f := range x.fields {
		if e.Field(f) != nil {
			n++
		}
	}
	return n
}

func (x demands) list() string { return strings.Join(slices.Sorted(maps.Keys(x.fields)), ", ") }

// asked collects what effects, guards, properties and bindings require of the actor.
func (d *Document) asked() demands {
	x := demands{fields: map[string]bool{}}
	name := func(v string) { x.any = x.any || v == "actor" }
	fields := true
	var see func(e *Expr)
	see = func(e *Expr) {
		if e == nil || e.Op == Forall && e.Var == "actor" || e.Op == Exists && e.Var == "actor" {
			return // here, actor is the quantifier's variable
		}
		if name(e.Var); fields && e.Op == FieldOf && e.Var == "actor" {
			x.fields[e.Text] = true
		}
		for _, v := range e.Names {
			name(v)
		}
		for _, a := range e.With {
			name(a.Var)
		}
		for _, a := range e.Args {
			see(a)
		}
	}
	for _, e := range d.Effects {
		for _, x := range e.Picks {
			see(x.Where)
		}
		for _, x := range e.Conds {
			see(x)
		}
		for _, s := range e.Sets {
			see(s.Value)
			if name(s.Var); s.Var == "actor" {
				x.fields[s.Field] = true
			}
		}
	}
	for _, p := range d.Protocols {
		p.Root.Walk(func(n *Node) {
			for _, b := range n.Branches {
				see(b.Guard)
			}
		})
	}
	fields = false // fields used in properties do not determine the actor
	for _, p := range d.Properties {
		see(p.Predicate)
		for r := p.Rule; r != nil; r = r.Then {
			name(r.Same)
			see(r.Expr)
		}
	}
	for _, b := range d.Bindings.Actions {
		for _, a := range b.Args {
			x.any = x.any || a == "actor" || strings.HasPrefix(a, "actor_") || strings.HasPrefix(a, "actor.")
		}
	}
	for _, g := range d.Generators {
		for _, s := range g.Steps {
			for _, w := range s.With {
				name(w.Name)
			}
		}
	}
	return x
}

// invented returns the entities that the harness itself creates instances of: the actor, and those
// that generators ask for.
func (d *Document) invented() map[string]Place {
	set := map[string]Place{}
	if e := d.Entity(d.Actor); e != nil {
		set[e.Name] = e.Place
	}
	for _, g := range d.Generators {
		for _, s := range g.Steps {
			for _, w := range s.With {
				if _, known := set[w.Generate]; !known && d.Entity(w.Generate) != nil {
					set[w.Generate] = w.Place
				}
			}
		}
	}
	return set
}

// handles warns about instances that the module does not know. Instances created by the harness
// have numbers of their own, which may collide with handles of the module's instances. An observer
// is called only for instances that the module created or received.
func (c *checker) handles() {
	told := c.created() // or passed to the module
	for _, b := range c.doc.Bindings.Actions {
		for _, name := range b.Args {
			if x, ok := c.doc.ArgumentOf(b, name); ok && x.Kind <= ArgField {
				entity := c.doc.Vars[x.Var]
				if entity == "" {
					entity = c.doc.Newest[x.Var]
				}
				if x.Kind == ArgHandle {
					told[entity] = true
				} else if f := c.doc.Entity(entity).Field(x.Field); f != nil && f.Type == Ref {
					told[f.Entity] = true
				}
			}
		}
	}
	invented, created := c.doc.invented(), c.created()
	for _, name := range slices.Sorted(maps.Keys(invented)) {
		if !created[name] {
			continue
		}
		how := "a generator makes " + diag.A(name) + " that the module does not know"
		if name == c.doc.Actor {
			how = "each actor is " + diag.A(name) + " that the module did not make"
		}
		c.doubt(invented[name], "handle-collision", `let another entity act: "actor" in exploration; or let the module make it, by an action`,
			"%s, and actions create others: its number may be the handle of one of these", how)
	}
	for _, f := range c.doc.Functions {
		if !f.Observer {
			continue
		}
		for _, p := range f.Params {
			if c.doc.Entity(p.Entity) != nil && !told[p.Entity] {
				c.doubt(f.Place, "never-asked", "", "the observer %q is never asked: no action makes %s or hands one to the module", f.Name, diag.A(p.Entity))
				break
			}
		}
	}
}

// separate warns if each of several actors has state of its own, the system's answers depend on it,
// and no call says who acts.
func (c *checker) separate() {
	d := c.doc
	if d.Actor == "" || d.Exploration.Threads < 2 || c.list.HasErrors() {
		return
	}
	changed := map[string]bool{}
	for _, e := range d.Effects {
		for _, s := range e.Sets {
			changed[s.Field] = changed[s.Field] || s.Var == "actor"
		}
	}
	read, told := "", false
	see := func(e *Expr, found func(x *Expr)) {
		e.Walk(func(x *Expr) {
			if x.Var == "actor" || slices.Contains(x.Names, "actor") {
				found(x)
			}
		})
	}
	answers := func(e *Expr, by string) {
		see(e, func(x *Expr) {
			if x.Op == FieldOf && changed[x.Text] && read == "" {
				read = by
			}
		})
	}
	for _, b := range d.Bindings.Actions {
		answers(b.Answer, b.Action)
		for _, name := range b.Args {
			src, _ := d.ArgumentOf(b, name)
			if told = told || src.Var == "actor"; src.Value != nil {
				see(src.Value.Value, func(*Expr) { told = true })
			}
		}
	}
	for _, f := range d.Functions {
		if pair := d.Pair(f); pair != nil {
			answers(pair.Body, f.Name)
		}
	}
	if read != "" && !told {
		c.doubt(d.Entity(d.Actor).Place, "actor-state", "explore with one thread, or let an action make the "+d.Actor+" and choose it",
			"each of %d actors has its own %s, and %s answers by it, but no call says who acts", d.Exploration.Threads, d.Actor, read)
	}
}
