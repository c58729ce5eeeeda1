package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// serving is the state of drafting a service's model.
type serving struct {
	*analysis
	d     *Draft
	b     strings.Builder
	taken []string
}

// callWords are the words of call(...) that are not arguments of the operation.
var callWords = strings.Fields("function returns part rejects answer mutates idempotent reads writes guess")

// DraftService returns a model of a service, and the system file for reaching it.
func DraftService(f *ServiceFacts) *Draft {
	s := &serving{analysis: analyse(f), d: &Draft{Format: "fresnelfir", Folder: f.Folder, Document: f.Name + ".model.star"}}
	s.name()
	for _, r := range s.resources {
		s.learn(r)
	}
	for _, r := range s.resources { // totals that depend on a price of another entity
		s.total(r, func(f *field) *field {
			r.fields = append(r.fields, f)
			return f
		})
	}
	s.state()
	s.write()
	s.d.Files = []campaign.File{{Name: s.d.Document, Data: []byte(s.b.String())}, {Name: f.Name + ".system.yaml", Data: []byte(s.systemFile())}}
	if f.Described != nil {
		s.d.Files = append(s.d.Files, campaign.File{Name: f.OpenAPI, Data: f.Described})
	}
	return s.d
}

// name gives entities, actions and inputs distinct names.
func (s *serving) name() {
	for _, r := range s.resources {
		r.name = identifier(r.name, &s.taken)
		s.taken = append(s.taken, variable(r))
	}
	for _, e := range s.endpoints {
		name := e.op.Name
		if e.op.Path != "" && strings.ContainsAny(name, " /{}") && e.of != nil {
			name = e.title()
		}
		e.name = identifier(name, &s.taken)
	}
	inputs := map[string]string{}
	for _, e := range s.endpoints {
		if e.skip != "" {
			continue
		}
		for _, x := range e.slots {
			key := x.Name + x.typed()
			if inputs[key] == "" && x.of == nil {
				inputs[key] = identifier(x.Name, &s.taken)
			}
			x.named = inputs[key]
		}
	}
}

// title makes a name for an operation that has none.
func (e *endpoint) title() string {
	of := strings.ToLower(e.of.name)
	_, last, _ := cutLast(e.op.Path, "/")
	switch {
	case e.role == makes:
		return "create_" + of
	case e.role == lists:
		return "list_" + of
	case e.role == stores:
		return "put_" + of
	case e.of.alone || !strings.HasPrefix(last, "{"):
		return strings.Join(words(strings.ToLower(e.op.Method)+"_"+of+"_"+inner(last)), "_")
	}
	return map[string]string{"PUT": "replace", "PATCH": "update", "DELETE": "delete"}[e.op.Method] + map[bool]string{true: "get"}[e.op.Method == "GET"] + "_" + of
}

// variable is the variable for an instance.
func variable(r *resource) string {
	if r.alone {
		return "actor"
	}
	return "a_" + strings.ToLower(r.name)
}

// state skips operations on the service itself if nothing restores its initial state.
func (s *serving) state() {
	r := s.serviceResource()
	if s.reset == nil && len(s.f.Command) == 0 {
		r.fields = nil
	}
	for _, e := range s.endpoints {
		if (e.role == acts || e.role == changes) && e.skip == "" && !s.effectKnown(e) {
			e.skip = "nothing says what it changes"
		}
	}
}

// effectKnown reports whether the draft knows what an operation does to its instance.
func (s *serving) effectKnown(e *endpoint) bool {
	return len(s.effects(e, e.slots)) > 0
}

func (s *serving) line(format string, args ...any) { fmt.Fprintf(&s.b, format+"\n", args...) }

func (s *serving) write() {
	s.line(`"""Drafted from %s.`, strings.ReplaceAll(s.f.Of, `"`, "'"))
	s.line("")
	s.line("Everything under guess was concluded from names, methods and schemas%s. thresh check says", map[bool]string{true: fmt.Sprintf(", and from %d calls", s.f.Calls)}[s.f.Calls > 0])
	s.line("which guesses traversals support, contradict or never try. Delete guess where you know better.")
	s.line(`"""`)
	s.line("system(%q)", s.f.Name+".system.yaml")
	s.line("explore(threads = 1, budget = 1000)")
	for _, r := range s.resources {
		s.entity(r)
	}
	s.line("")
	var done []string
	for _, e := range s.endpoints {
		for _, x := range e.slots {
			if e.skip == "" && e.role != clears && x.of == nil && !slices.Contains(done, x.named) {
				done = append(done, x.named)
				s.line("%s = input(%s)", x.named, x.typed())
			}
		}
	}
	if len(done) > 0 {
		s.d.ask(done[0]+" = input", "which values may arguments have? Where the schema gives none, these are guesses.")
	}
	var called, left []string
	for _, r := range s.resources {
		for _, e := range slices.Concat(r.made, r.uses) {
			if e.skip == "" {
				s.actions(e)
			}
			if e.skip == "" {
				called = append(called, e.op.Name)
			}
		}
	}
	for _, e := range s.endpoints {
		if e.skip != "" {
			s.line("\n# Skipped: %s: %s.", e.op.Name, e.skip)
			left = append(left, fmt.Sprintf("%s (%s)", e.op.Name, e.skip))
		}
	}
	s.d.why("Actions: %s.", strings.Join(called, ", "))
	if len(left) > 0 {
		s.d.why("Skipped: %s.", strings.Join(left, "; "))
	}
	if s.reset != nil && s.resets() {
		s.d.why("Between two traversals %s is called, as its name says that it resets everything.", s.reset.op.Name)
	}
	s.d.ask("explore(", "which properties must hold? Add NAME = always(CONDITION).")
}

func (s *serving) entity(r *resource) {
	var list []string
	if r.parent != nil || s.named(r) {
		list = append(list, "id = string")
	}
	if r.parent != nil {
		list = append(list, "of = ref("+r.parent.name+")")
	}
	if r.keyed != "" {
		if len(r.made) > 0 {
			slot, ok := readSchema(r.made[0].op.Schema).get("properties").get(r.keyed).slot(r.keyed)
			if !ok {
				slot = Slot{Kind: "text", Values: examples[""]}
			}
			list = append(list, "named = "+slot.typed())
			s.line("\n%s_name = input(%s)", variable(r), slot.typed())
		}
	}
	for _, f := range r.fields {
		kind := f.typed()
		if f.Kind == "int" && f.Max > 1<<30 {
			kind = "int"
		}
		if r.alone {
			kind = strings.TrimSuffix(kind, ")")
			switch {
			case kind == "int":
				kind = "int(default = " + cmp.Or(f.initial, "0") + ")"
			default:
				kind += map[bool]string{true: ", ", false: "("}[strings.Contains(kind, "(")] + "default = " + cmp.Or(f.initial, "0") + ")"
			}
		}
		list = append(list, fieldName(f)+" = "+kind)
	}
	if r.holds() != "" {
		list = append(list, "unit = int")
	}
	if r.ends {
		list = append(list, live+" = bool(default = True)")
	}
	switch {
	case r.alone && len(r.fields) == 0:
	case r.alone:
		s.line("\n%s = entity(%s)\nexplore(actor = %s)", r.name, strings.Join(list, ", "), r.name)
	case len(r.made) > 0:
		s.line("\n%s = entity(%s)", r.name, strings.Join(list, ", "))
	}
}

// named reports whether an entity is the parent of another one.
func (s *serving) named(r *resource) bool {
	return slices.ContainsFunc(s.resources, func(x *resource) bool { return x.parent == r })
}

// fieldName is a field's name in the language.
func fieldName(f *field) string {
	taken := []string{"id", "of", "named", "unit", live}
	return identifier(f.Name, &taken)
}

// holds is the price of another instance that an instance refers to.
func (r *resource) holds() string {
	if x := r.priced(); x != nil && slices.ContainsFunc(r.fields, func(f *field) bool { return strings.HasPrefix(f.initial, "* ") }) {
		return variable(x.of) + "." + x.of.price()
	}
	return ""
}

// actions writes an operation as actions.
func (s *serving) actions(e *endpoint) {
	switch e.role {
	case makes:
		s.make(e)
	case stores:
		s.store(e)
	case reads:
		s.read(e)
	case lists:
		s.action(e, e.name, s.chooseOperations(e, true), nil, []string{"mutates = False"}, nil)
	case clears:
	default:
		s.act(e)
	}
}

// chooseOperations chooses the instances that an operation is about.
func (s *serving) chooseOperations(e *endpoint, strictly bool) (list []string) {
	choose := func(r *resource, how string) {
		switch {
		case r.alone:
		case r.ends && strictly:
			list = append(list, fmt.Sprintf("%s = any(%s, %s = True%s)", variable(r), r.name, live, how))
		default:
			list = append(list, fmt.Sprintf("%s = any(%s%s)", variable(r), r.name, how))
			if r.ends {
				list = append(list, fmt.Sprintf("require(%s.%s)", variable(r), live))
			}
		}
	}
	if e.handle != "" {
		choose(e.of, "")
	}
	if e.parent != "" && e.of.parent != nil {
		was := strictly
		strictly = true
		if e.handle == "" {
			choose(e.of.parent, "")
		} else if e.of.parent.ends {
			list = append(list, fmt.Sprintf("require(exists(%s, lambda x: x == %s.of and x.%s))", e.of.parent.name, variable(e.of), live))
		}
		strictly = was
	}
	for _, x := range e.slots {
		if x.of != nil && x.of != e.of {
			was := strictly
			strictly = true
			choose(x.of, "")
			strictly = was
		}
	}
	return list
}

// action writes an action.
func (s *serving) action(e *endpoint, name string, body []string, slots []*input, options []string, guess [][2]string) {
	args := []string{strconv.Quote(e.op.Name)}
	arg := func(name, v string) {
		args = append(args, given(name, v))
	}
	if e.parent != "" && e.of.parent != nil {
		of := variable(e.of.parent)
		if e.handle != "" {
			of = variable(e.of) + ".of"
		}
		arg(e.parent, of)
	}
	if e.handle != "" {
		if e.of.keyed != "" {
			arg(e.handle, variable(e.of)+".named")
			if e.role == stores && strings.Contains(strings.Join(body, ""), " = new(") {
				args[len(args)-1] = given(e.handle, variable(e.of)+"_name")
			}
		} else {
			arg(e.handle, variable(e.of))
		}
	}
	for _, x := range slots {
		if x.of != nil {
			arg(x.Name, variable(x.of))
		} else {
			arg(x.Name, x.named)
		}
	}
	var claims []string
	for _, g := range guess {
		claim := Claim{name, g[0]}
		if _, no := s.f.Drop[claim]; !no && !slices.ContainsFunc(claims, func(c string) bool { return strings.HasPrefix(c, strconv.Quote(g[0])) }) {
			claims = append(claims, strconv.Quote(g[0])+": "+strconv.Quote(g[1]))
		}
	}
	slices.Sort(options)
	options = slices.Compact(options)
	if len(claims) > 0 {
		options = append(options, "guess = {\n        "+strings.Join(claims, ",\n        ")+",\n    }")
	}
	s.line("\ndef %s():", name)
	for _, l := range body {
		s.line("    %s", l)
	}
	s.line("    call(%s)", strings.Join(append(args, options...), ", "))
}
