package draft

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/port/sut"
)

// ServiceFacts describes a service or a server to draft a model of.
type ServiceFacts struct {
	SystemFacts
	Of    string
	Seen  map[string]json.RawMessage // answers of operations that were called
	Calls int                        // number of calls
	Drop  map[Claim]string           // claims that traversals contradicted
}

// role is the effect of an operation on its resource.
type role int

const (
	acts   role = iota // an effect of its own
	makes              // it makes an instance
	stores             // it makes or changes the instance that an argument names
	reads
	changes
	ends
	lists  // it reports on all instances
	clears // it restores the initial state of all
)

// endpoint is an operation with its assumed role.
type endpoint struct {
	op     *sut.Operation
	role   role
	of     *resource
	name   string   // of the action
	handle string   // argument that names the instance
	parent string   // argument that names the parent of the instance
	slots  []*input // all other arguments that are sent
	leaves []leaf   // of the answer
	why    string   // the reason for its role
	skip   string   // why it is not called
	// supposed means that nothing describes the answer.
	supposed bool
	turned   map[string]string // fields of its instance for which its answer had another value, with that value
}

// input is an argument whose value the model chooses.
type input struct {
	Slot
	named    string    // in the model
	of       *resource // resource whose instance it names; nil: none
	optional bool
}

// resource is an entity of the service.
type resource struct {
	name   string
	parent *resource
	alone  bool // the service itself
	keyed  string
	made   []*endpoint
	uses   []*endpoint
	ends   bool
	fields []*field
}

// field is a modelled field of an instance.
type field struct {
	Slot
	set     bool   // set by an argument
	initial string // an expression; "": that argument
	why     string
}

// analysis holds the operations of a service by role.
type analysis struct {
	f         *ServiceFacts
	resources []*resource
	endpoints []*endpoint
	reset     *endpoint
}

// analyse determines what the operations do.
func analyse(f *ServiceFacts) *analysis {
	a := &analysis{f: f}
	for i := range f.Operations {
		o := &f.Operations[i]
		e := &endpoint{op: o}
		answer := readSchema(answerOf(o))
		if v, ok := f.Seen[o.Name]; ok && answer.n == nil || answer.n != nil && answer.kind() == "" && ok {
			if doc, err := doctree.Parse(v, doctree.Options{}); err == nil {
				n := sampled(&doc.Root)
				answer = schema{&n, &n}
			}
		}
		if e.leaves = answer.leafValues("$"); e.leaves == nil && answer.n != nil && !slices.Contains([]string{"", "object", "array", "null"}, answer.kind()) {
			e.leaves = []leaf{{"", "", answer}}
		}
		a.endpoints = append(a.endpoints, e)
	}
	if f.Kind == sut.HTTP {
		a.paths()
	} else {
		a.tools()
	}
	for _, e := range a.endpoints {
		a.arguments(e)
	}
	for _, r := range a.resources {
		for _, e := range r.made {
			if x := e.unique(); e.skip == "" && len(x) > 0 && !a.resets() && len(f.Command) == 0 {
				e.skip = fmt.Sprintf("it may accept each %s only once, and nothing resets the service; say how under reset in the system file", x[0].Name)
			}
		}
	}
	for range a.resources { // one may be made from another
		for _, r := range a.resources {
			a.creatable(r)
		}
	}
	a.assumeCreation()
	return a
}

// answerOf is the schema of a successful answer.
func answerOf(o *sut.Operation) []byte {
	for _, status := range []string{"201", "200", "202", "2XX", "default", "0"} {
		if s := o.Answers[status]; len(s) > 0 && string(s) != "null" {
			return s
		}
	}
	return nil
}

// creatable skips operations on instances that no operation makes.
func (a *analysis) creatable(r *resource) {
	for _, e := range slices.Concat(r.made, r.uses) {
		e.slots = slices.DeleteFunc(e.slots, func(x *input) bool { return x.optional && x.of != nil && len(x.of.made) == 0 })
		for _, x := range e.slots {
			if x.of != nil && len(x.of.made) == 0 && e.skip == "" {
				e.skip = "nothing that can be called makes a " + x.of.name
			}
		}
		if r.parent != nil && len(r.parent.made) == 0 && e.skip == "" {
			e.skip = "nothing that can be called makes a " + r.parent.name
		}
	}
	r.made = slices.DeleteFunc(r.made, func(e *endpoint) bool { return e.skip != "" })
	if r.alone || len(r.made) > 0 {
		return
	}
	for _, e := range r.uses {
		if e.skip == "" {
			e.skip = "nothing that can be called makes a " + r.name
		}
	}
}

// assumeCreation assumes that answers without a description contain what instances were made with.
func (a *analysis) assumeCreation() {
	for _, r := range a.resources {
		for _, e := range r.uses {
			if e.role != reads || e.leaves != nil || e.handle == "" || len(e.slots) > 0 || a.f.Kind != sut.HTTP {
				continue
			}
			if s := readSchema(answerOf(e.op)); s.n != nil && s.kind() != "" {
				continue
			}
			for _, m := range r.made {
				for _, x := range m.slots {
					if x.of == nil && e.skip == "" {
						of := readSchema(m.op.Schema).get("properties").get(x.Name).follow()
						e.leaves, e.supposed = append(e.leaves, leaf{x.Name, "$." + x.Name, of}), true
					}
				}
			}
		}
	}
}

// resource finds or adds a resource.
func (a *analysis) resource(name string, parent *resource) *resource {
	for _, r := range a.resources {
		if r.name == name && r.parent == parent {
			return r
		}
	}
	r := &resource{name: name, parent: parent}
	a.resources = append(a.resources, r)
	return r
}

// serviceResource is the service itself.
func (a *analysis) serviceResource() *resource {
	for _, r := range a.resources {
		if r.alone {
			return r
		}
	}
	r := &resource{name: system, alone: true}
	a.resources = append(a.resources, r)
	return r
}

func (a *analysis) add(e *endpoint, of *resource, role role, why string) {
	e.of, e.role, e.why = of, role, why
	switch {
	case role == makes || role == stores:
		of.made = append(of.made, e)
	default:
		of.uses = append(of.uses, e)
	}
}

// paths determines what the operations of an HTTP service do, from methods and paths.
func (a *analysis) paths() {
	type at struct {
		segments []string
		places   []int // of the arguments
	}
	var all []at
	items := map[string]bool{} // paths of collections whose items are addressed
	for _, e := range a.endpoints {
		x := at{segments: strings.Split(strings.Trim(e.op.Path, "/"), "/")}
		for i, s := range x.segments {
			if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
				x.places = append(x.places, i)
				items[withoutArguments(x.segments[:i])] = true
			}
		}
		all = append(all, x)
	}
	for i, e := range a.endpoints {
		x := all[i]
		n := len(x.segments)
		last := len(x.places) - 1
		item := last >= 0 && x.places[last] == n-1
		collection := items[withoutArguments(x.segments)] && !item
		method := e.op.Method
		by := method + " of "
		var of, parent *resource
		for k, p := range x.places {
			parent, of = of, a.resource(entityOf(x.segments[:p]), of)
			if k == last {
				e.handle = inner(x.segments[p])
			} else {
				e.parent = inner(x.segments[p])
			}
		}
		switch {
		case len(x.places) > 2 || collection && len(x.places) > 1:
			e.skip = "it is about more than two things"
			a.add(e, of, acts, "")
		case method == "HEAD" || method == "OPTIONS":
			e.skip = "it answers nothing that a model knows"
		case clearing(e.op.Name+" "+x.segments[n-1], e.op) && len(x.places) == 0 && method != "GET":
			e.role, e.of, a.reset = clears, a.serviceResource(), e
		case collection && method == "POST":
			e.parent, e.handle = e.handle, ""
			a.add(e, a.resource(entityOf(x.segments), of), makes, by+"a collection")
		case collection && method == "GET":
			e.parent, e.handle = e.handle, ""
			a.add(e, a.resource(entityOf(x.segments), of), lists, by+"a collection")
		case !item && method == "POST" && last >= 0 && x.places[last] == n-2 && items[withoutArguments(x.segments[n-1:])]:
			e.handle, e.parent = "", "" // later calls name it without the item
			a.add(e, a.resource(entityOf(x.segments), nil), makes, by+"a collection of an item")
		case collection:
			e.skip = "it changes a whole collection"
			a.add(e, a.resource(entityOf(x.segments), of), acts, "")
		case item && method == "GET":
			a.add(e, of, reads, by+"an item")
		case item && method == "DELETE":
			a.add(e, of, ends, by+"an item")
			of.ends = true
		case item && (method == "PUT" || method == "PATCH"):
			a.add(e, of, changes, by+"an item")
		case last >= 0 && method == "GET":
			a.add(e, of, reads, by+"a part of an item")
		case last >= 0:
			a.add(e, of, acts, by+"a part of an item")
		case method == "GET":
			a.add(e, a.serviceResource(), reads, by+"the service")
		default:
			a.add(e, a.serviceResource(), acts, by+"the service")
		}
		_ = parent
	}
	for _, r := range a.resources { // a resource made only by PUT is named by the caller
		if r.alone || len(r.made) > 0 || r.parent != nil {
			continue
		}
		for _, e := range r.uses {
			if e.role == changes && e.op.Method == "PUT" {
				r.keyed, e.role, e.why = e.handle, stores, "PUT of an item that nothing else makes"
				r.made = append(r.made, e)
			}
		}
		r.uses = slices.DeleteFunc(r.uses, func(e *endpoint) bool { return e.role == stores })
	}
}

// withoutArguments is a path with the names of its arguments removed.
func withoutArguments(segments []string) string {
	list := slices.Clone(segments)
	for i, s := range list {
		if strings.HasPrefix(s, "{") {
			list[i] = "{}"
		}
	}
	return strings.Join(list, "/")
}

func inner(segment string) string { return strings.Trim(segment, "{}") }

// entityOf names the entity that a collection holds.
func entityOf(segments []string) string {
	for _, s := range slices.Backward(segments) {
		if !strings.HasPrefix(s, "{") {
			return entityName(s)
		}
	}
	return "Item"
}

// entityName is a word as the name of an entity, in the singular.
func entityName(word string) string {
	var b strings.Builder
	list := words(word)
	for i, w := range list {
		if i == len(list)-1 {
			w = singular(w)
		}
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	var taken []string
	return identifier(b.String(), &taken)
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return strings.TrimSuffix(w, "ies") + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return strings.TrimSuffix(w, "es")
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), len(w) < 4:
		return w
	}
	return strings.TrimSuffix(w, "s")
}

// arguments determines the arguments to call an operation with.
func (a *analysis) arguments(e *endpoint) {
	whole := readSchema(e.op.Schema)
	for _, x := range e.op.Arguments {
		if x.Name == e.handle || x.Name == e.parent || x.In == "header" && openapi.Credential(x.Name) {
			continue
		}
		s := whole.get("properties").get(x.Name)
		required := x.Required || x.In == "path"
		if !required && (slices.Contains(identity[:4], x.Name) || s.get("readOnly").n.Truthy()) {
			continue // the service sets it itself
		}
		if x.In == "header" && !required || x.In == "query" && !required {
			continue
		}
		slot, ok := s.slot(x.Name)
		in := &input{Slot: slot, optional: !required}
		for _, r := range a.resources {
			w := words(x.Name)
			if r == e.of && e.role != reads || r.alone || r.parent != nil || r.keyed != "" || len(w) == 0 {
				continue
			}
			if of := strings.Join(w[:len(w)-1], ""); len(w) > 1 && slices.Contains(naming, w[len(w)-1]) && strings.EqualFold(of, r.name) {
				in.of, ok = r, len(r.made) > 0
			}
		}
		var taken []string
		fits := strings.TrimRight(identifier(x.Name, &taken), "_") == strings.TrimRight(x.Name, "_") || in.of != nil
		switch {
		case ok && fits:
			e.slots = append(e.slots, in)
		case required && e.skip == "":
			e.skip = fmt.Sprintf("no simple value fits its argument %s", x.Name)
		}
	}
	if e.of == nil && e.skip == "" {
		e.skip = "nothing says what it is about"
	}
}
