package system

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// makes matches the verbs of tools that create something, and ending the endings of arguments that
// identify it.
var (
	makes  = lazy.Pattern(`(?i)^(create|make|new|add|open|register|insert|start|begin|build|save|store|upload|init|set_?up)[-_]?`)
	ending = lazy.Pattern(`(?i)[-_]?(id|key|ref|no|number|name)$`)
	token  = lazy.Pattern(`^[\w.-]{1,40}$|\b[A-Za-z]*[-_]?\d[\w-]*`)
)

// made returns the calls of tools that create what another tool is about. An argument book or
// book_id is the answer of add_book, or a member of the described answer of another tool that changes
// something; an argument name is the one with which make_bed was called.
func made(all []usage, to *usage) (before []earlier, takes []take) {
	args, _ := arguments(to.valid[0][len(to.valid[0])-1].Args) // written by this package
	for _, a := range args {
		noun := strings.ToLower(ending().ReplaceAllString(a.Name, ""))
		named := func(u usage) bool {
			thing := strings.ToLower(makes().ReplaceAllString(u.op.Name, ""))
			return noun != "" && strings.HasSuffix(thing, noun) || noun == "" && strings.Contains(strings.ToLower(to.op.Name), thing)
		}
		given := func(u usage) bool {
			return slices.ContainsFunc(u.op.Arguments, func(own sut.Argument) bool { return own.Name == a.Name })
		}
		yields := func(u usage) bool { // whatever its verb
			return noun != "" && noun != strings.ToLower(a.Name) && !u.op.Reads && !u.op.Destroys && !given(u) && answers(u.op, a.Name)
		}
		at := -1
		for _, likely := range []func(usage) bool{named, given, func(u usage) bool { return noun == "" && answers(u.op, a.Name) }} {
			if at < 0 {
				at = slices.IndexFunc(all, func(u usage) bool {
					return u.op.Name != to.op.Name && len(u.valid[0]) > 0 && makes().MatchString(u.op.Name) && likely(u)
				})
			}
		}
		if at < 0 {
			at = slices.IndexFunc(all, func(u usage) bool { return u.op.Name != to.op.Name && len(u.valid[0]) > 0 && yields(u) })
		}
		if at < 0 || !single(a.Value) {
			continue
		}
		from := a.Name
		if given(all[at]) {
			from = "$request.body#/" + a.Name
		}
		step := slices.IndexFunc(before, func(e earlier) bool { return e.Operation == all[at].op.Name })
		if step < 0 {
			step, before = len(before), append(before, all[at].after(nil))
		}
		takes = append(takes, take{a.Name, step, from})
	}
	return before, takes
}

// answers reports whether an operation's description says that it answers with an object that has a
// member.
func answers(o *sut.Operation, name string) bool {
	var s struct{ Properties map[string]json.RawMessage }
	return json.Unmarshal(o.Answers["0"], &s) == nil && s.Properties[name] != nil
}

// needs returns the calls that create what an operation is about.
func needs(all []usage, to *usage) ([]earlier, []take) {
	if to.op.Method != "" {
		before, takes := within(all, to.op)
		before, more := references(all, to, before)
		return before, append(slices.Clip(takes), more...)
	}
	return made(all, to)
}

// several returns calls of the first tools that create something, so that tools about all things
// have more than one.
func several(all []usage) (calls []earlier) {
	for i := range all {
		if u := &all[i]; len(calls) < 6 && u.op.Method == "" && len(u.valid[0]) > 0 && makes().MatchString(u.op.Name) {
			for range 3 {
				calls = append(calls, u.after(nil))
			}
		}
	}
	return calls
}
