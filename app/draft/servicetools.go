package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/port/sut"
)

// clearing reports whether a name says that everything is reset.
func clearing(name string, o *sut.Operation) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains([]string{"reset", "clear", "wipe"}, w) }) &&
		!slices.ContainsFunc(o.Arguments, func(a sut.Argument) bool { return a.Required })
}

// naming are words of arguments that name an instance of any kind.
var naming = strings.Fields("id uuid uid key name handle ref path slug code number")

// tools determines what the tools of a server do, from their names, arguments and hints.
func (a *analysis) tools() {
	named := func(e *endpoint, r *resource) string { // the argument that names an instance
		for _, x := range e.op.Arguments {
			w := words(x.Name)
			if len(w) == 0 {
				continue
			}
			if joined := strings.Join(strings.Fields(strings.Join(w[:len(w)-1], " ")), ""); len(w) > 1 && slices.Contains(naming, w[len(w)-1]) && strings.EqualFold(joined, r.name) {
				return x.Name
			}
			if strings.EqualFold(strings.Join(w, ""), r.name) {
				return x.Name
			}
		}
		if entityNoun(e.op.Name) == r.name {
			for _, x := range e.op.Arguments {
				if w := words(x.Name); len(w) == 1 && slices.Contains(naming[:3], w[0]) {
					return x.Name
				}
			}
		}
		return ""
	}
	for _, e := range a.endpoints { // operations that make something
		v := verb(e.op.Name, making)
		if v == "" || e.op.Reads || verb(e.op.Name, ending) != "" || verb(e.op.Name, asking[:9]) != "" {
			continue
		}
		if n := entityNoun(e.op.Name); n != "" && a.handled(n, e) {
			a.add(e, a.resource(n, nil), makes, "named "+v)
		}
	}
	a.keyed(func(e *endpoint, x string) bool {
		return slices.ContainsFunc(a.resources, func(r *resource) bool { return !r.alone && named(e, r) == x })
	})
	for _, e := range a.endpoints {
		if e.of != nil {
			continue
		}
		var of *resource
		for _, r := range a.resources {
			if r.keyed != "" {
				if slices.ContainsFunc(e.op.Arguments, func(x sut.Argument) bool { return x.Name == r.keyed }) && of == nil {
					of, e.handle = r, r.keyed
				}
			} else if h := named(e, r); h != "" {
				of, e.handle = r, h
			}
		}
		if of == nil && len(a.resources) == 1 && !a.resources[0].alone { // the only entity there is
			for _, x := range e.op.Arguments {
				if w := words(x.Name); len(w) == 1 && slices.Contains(naming[:3], w[0]) {
					of, e.handle = a.resources[0], x.Name
				}
			}
		}
		role, why := acts, "named "+e.op.Name
		switch {
		case clearing(e.op.Name, e.op) && of == nil:
			e.role, e.of, a.reset = clears, a.serviceResource(), e
			continue
		case e.op.Reads:
			role, why = reads, "it says that it only reads"
		case of != nil && len(e.op.Arguments) == 1 && a.movesOn(e):
		case verb(e.op.Name, ending) != "" && of != nil && len(e.op.Arguments) == 1:
			role, why, of.ends = ends, "named "+verb(e.op.Name, ending), true
		case verb(e.op.Name, setting) != "" || verb(e.op.Name, []string{"edit", "change", "modify"}) != "":
			role, why = changes, "named "+verb(e.op.Name, append(slices.Clone(setting), "edit", "change", "modify"))
		case verb(e.op.Name, asking) != "" && verb(e.op.Name, slices.Concat(making, ending)) == "":
			role, why = reads, "named "+verb(e.op.Name, asking)
		}
		if of == nil {
			if role == changes || role == ends {
				role = acts
			}
			if role == reads && slices.ContainsFunc(a.resources, func(r *resource) bool { return !r.alone && r.name == entityNoun(e.op.Name) }) {
				of, role = a.resource(entityNoun(e.op.Name), nil), lists
			} else {
				of = a.serviceResource()
			}
		}
		a.add(e, of, role, why)
	}
}

// movesOn reports whether an operation is named after a state that answers show: what is cancelled
// still exists.
func (a *analysis) movesOn(e *endpoint) bool {
	return slices.ContainsFunc(a.endpoints, func(g *endpoint) bool {
		return slices.ContainsFunc(g.leaves, func(l leaf) bool {
			f := &field{}
			for _, v := range l.of.words("enum") {
				f.Values = append(f.Values, v.Text)
			}
			return f.stateWord(&endpoint{op: e.op}) != ""
		})
	})
}

// handled reports whether later calls name the entity that an operation makes, and the entity is
// not part of one that the operation itself names.
func (a *analysis) handled(entity string, by *endpoint) bool {
	for _, e := range a.endpoints {
		if e == by {
			continue
		}
		for _, x := range e.op.Arguments {
			w := words(x.Name)
			switch {
			case len(w) > 1 && slices.Contains(naming, w[len(w)-1]) && strings.EqualFold(strings.Join(w[:len(w)-1], ""), entity),
				strings.EqualFold(strings.Join(w, ""), entity),
				len(w) == 1 && slices.Contains(naming[:3], w[0]) && (entityNoun(e.op.Name) == entity || entityNoun(e.op.Name) == ""):
				return !slices.ContainsFunc(by.op.Arguments, func(y sut.Argument) bool { return y.Name == x.Name })
			}
		}
	}
	return false
}

// keyed finds entities that callers name: they are stored and requested under the same argument,
// which names nothing that another operation makes.
func (a *analysis) keyed(names func(e *endpoint, argument string) bool) {
	storing := slices.Concat(setting[:5], strings.Fields("store save upsert add insert create"))
	for _, e := range a.endpoints {
		if e.of != nil || verb(e.op.Name, storing) == "" || len(e.op.Arguments) < 2 {
			continue
		}
		for _, x := range e.op.Arguments {
			w := words(x.Name)
			if len(w) == 0 || !slices.Contains(naming, w[len(w)-1]) || names(e, x.Name) {
				continue
			}
			asked := slices.ContainsFunc(a.endpoints, func(g *endpoint) bool {
				return g != e && (verb(g.op.Name, asking) != "" || g.op.Reads) && len(g.op.Arguments) == 1 && g.op.Arguments[0].Name == x.Name
			})
			if !asked {
				continue
			}
			name := entityNoun(e.op.Name)
			name = cmp.Or(name, "Entry")
			r := a.resource(name, nil)
			if r.keyed == "" && len(r.made) == 0 {
				r.keyed, e.handle = x.Name, x.Name
				a.add(e, r, stores, fmt.Sprintf("named %s, and what it stores is asked for by %s", verb(e.op.Name, storing), x.Name))
			}
			break
		}
	}
}

// entityNoun is nounOf in the singular.
func entityNoun(name string) string {
	n := nounOf(name)
	if n == "" {
		return ""
	}
	return entityName(n)
}
