package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/sut"
)

// sets are the values that an action assigns, by field and in order.
type sets [][2]string

// effects returns what an operation called with these arguments does to its instance.
func (s *serving) effects(e *endpoint, slots []*input) (list sets) {
	r := e.of
	me := variable(r) + "."
	for _, x := range slots {
		if f := r.field(x.Name); f != nil && e.role != acts && x.of == nil {
			list = append(list, [2]string{me + fieldName(f), x.named})
		}
	}
	if f, sign, by := r.counted(e); f != nil {
		n := "1"
		if by != nil {
			n = by.named
		}
		list = append(list, [2]string{me + fieldName(f), sign + n})
	}
	for _, f := range r.fields {
		if f.set {
			if e.role == acts && len(e.slots) == 0 && f.Kind == "bool" { // complete, archive, reopen
				for _, w := range words(e.name) {
					if w == f.Name || judge.Past(w) == f.Name || w+"d" == f.Name || w+"ed" == f.Name {
						list = append(list, [2]string{me + fieldName(f), "True"})
					}
				}
			}
			continue
		}
		if v := f.stateWord(e); v != "" && f.Kind == "text" {
			list = append(list, [2]string{me + fieldName(f), literal(v)})
		} else if v != "" && f.Kind == "bool" {
			list = append(list, [2]string{me + fieldName(f), strings.ToUpper(v[:1]) + v[1:]})
		}
		switch {
		case !strings.Contains(f.initial, "* ") && f.initial == "0" && is(f.Name, totals) && e.role == acts && e.cost() != "":
			list = append(list, [2]string{me + fieldName(f), "+" + e.cost()})
		case strings.Contains(f.initial, " * ") || strings.HasPrefix(f.initial, "* "):
			price, number, _ := strings.Cut(f.initial, "* ")
			if price = strings.TrimSpace(price); price == "" {
				price = "unit"
			}
			if slices.ContainsFunc(list, func(x [2]string) bool { return x[0] == me+price || x[0] == me+number }) {
				list = append(list, [2]string{me + fieldName(f), me + price + " * " + me + number})
			}
		}
	}
	return list
}

// variants are the sets of arguments to call an operation with: a partial update also with single
// arguments.
func (e *endpoint) variants() (list [][]*input) {
	list = append(list, e.slots)
	free := seq.Filter(e.slots, func(x *input) bool { return x.optional })
	if e.role != changes || e.op.Method == "PUT" || len(free) < 2 {
		return list
	}
	for _, x := range free[:min(len(free), 4)] {
		list = append(list, slices.DeleteFunc(slices.Clone(e.slots), func(y *input) bool { return y.optional && y != x }))
	}
	return list
}

// refusesMissing reports whether the description of an operation says that it refuses missing
// instances.
func (e *endpoint) refusesMissing(http bool) bool {
	if !http {
		return e.role == reads
	}
	declared := false
	for status := range e.op.Answers {
		if slices.Contains([]string{"404", "410", "4XX", "default"}, status) {
			return true
		}
		declared = declared || status[0] == '4' && status != "422"
	}
	return e.role == reads || e.role == changes && !declared
}

func (s *serving) make(e *endpoint) {
	r := e.of
	me := variable(r)
	args := []string{r.name}
	pre := s.chooseOperations(e, false)
	require := "count(" + r.name + ") < 4"
	for _, x := range e.unique() {
		require += fmt.Sprintf(" and not exists(%s, lambda x: x.%s == %s)", r.name, fieldName(r.field(x.Name)), x.named)
	}
	pre = append(pre, "require("+require+")")
	if r.parent != nil {
		args = append(args, "of = "+variable(r.parent))
	}
	if h := r.holds(); h != "" {
		args = append(args, "unit = "+h)
	}
	for _, f := range r.fields {
		v := ""
		for _, x := range e.slots {
			if x.Name == f.Name {
				v = x.named
			}
		}
		if v == "" {
			v = s.begins(r, e, f)
		}
		if v != "" {
			args = append(args, fieldName(f)+" = "+v)
		}
	}
	if r.ends {
		args = append(args, live+" = True")
	}
	id, known := e.identity(r)
	options := []string{"returns = " + r.name}
	if id != "" {
		options = append(options, "part = "+strconv.Quote(id))
	}
	why := e.why
	if !known {
		why += "; nothing says where its answer names what it made"
	}
	guess := [][2]string{{"returns", why}}
	if len(args) > 1 {
		guess = append(guess, [2]string{"effect", s.reasonsFor(r, "it keeps what it is made with")})
	}
	s.action(e, e.name, append(pre, me+" = new("+strings.Join(args, ", ")+")"), e.slots, options, guess)
}

// reasonsFor adds the reasons for the initial values of fields.
func (s *serving) reasonsFor(r *resource, why string) string {
	for _, f := range r.fields {
		if f.why != "" {
			why += fmt.Sprintf("; %s: %s", f.Name, f.why)
		}
	}
	return why
}

// begins is the initial value of a field that no argument sets.
func (s *serving) begins(r *resource, e *endpoint, f *field) string {
	switch {
	case strings.Contains(f.initial, "* "):
		a, b, _ := strings.Cut(f.initial, "* ")
		return cmp.Or(e.inputNamed(strings.TrimSpace(a)), r.holds()) + " * " + e.inputNamed(b)
	}
	return f.initial
}

// inputNamed is the input that an operation sends under a name.
func (e *endpoint) inputNamed(name string) string {
	for _, x := range e.slots {
		if x.Name == name {
			return x.named
		}
	}
	return ""
}

// unique are the arguments whose values must be unique in a service: e-mail addresses and user
// names, and others if the operation documents a conflict.
func (e *endpoint) unique() (list []*input) {
	for _, x := range e.slots {
		_, conflict := e.op.Answers["409"]
		if x.Kind == "text" && x.of == nil && (is(x.Name, []string{"email", "username", "login"}) || conflict && is(x.Name, strings.Fields("name slug sku code title key handle number"))) {
			list = append(list, x)
		}
	}
	return list
}

// identity is the path in an answer to the id of what was made.
func (e *endpoint) identity(r *resource) (path string, known bool) {
	if len(e.leaves) == 1 && e.leaves[0].path == "" {
		return "", true
	}
	best := ""
	for _, l := range e.leaves {
		w := words(l.name)
		switch {
		case len(w) > 0 && slices.Contains(naming[:3], w[len(w)-1]) && (len(w) == 1 || strings.EqualFold(strings.Join(w[:len(w)-1], ""), r.name)):
			return l.path, true
		case strings.EqualFold(strings.Join(w, ""), r.name), slices.Contains(naming, strings.ToLower(l.name)) && r.field(l.name) == nil:
			best = cmp.Or(best, l.path)
		}
	}
	if best != "" {
		return best, true
	}
	return "$.id", false
}

// store writes an operation that makes or replaces an instance that the caller names.
func (s *serving) store(e *endpoint) {
	r, me := e.of, variable(e.of)
	name := me + "_name"
	var args, again []string
	for _, f := range r.fields {
		for _, x := range e.slots {
			if x.Name == f.Name {
				args, again = append(args, fieldName(f)+" = "+x.named), append(again, fmt.Sprintf("%s.%s = %s", me, fieldName(f), x.named))
			}
		}
	}
	if r.ends {
		args, again = append(args, live+" = True"), append(again, me+"."+live+" = True")
	}
	guess := [][2]string{{"effect", e.why}}
	options := []string(nil)
	if e.op.Method == "PUT" || verb(e.op.Name, setting) != "" {
		options, guess = []string{"idempotent = True"}, append(guess, [2]string{"idempotent", cmp.Or(e.op.Method, e.why)})
	}
	first := []string{fmt.Sprintf("require(not exists(%s, lambda x: x.named == %s))", r.name, name),
		fmt.Sprintf("%s = new(%s, %s)", me, r.name, strings.Join(append([]string{"named = " + name}, args...), ", "))}
	s.action(e, e.name, first, e.slots, nil, guess[:1])
	s.action(e, identifier(e.name+"_again", &s.taken), append([]string{me + " = any(" + r.name + ")"}, again...), e.slots, options, guess)
}

var gone = [][2]string{{"requires", "an ended instance is gone"}}

// read writes an action for each value that an operation shows.
func (s *serving) read(e *endpoint) {
	r, me := e.of, variable(e.of)
	careful := r.ends && e.refusesMissing(s.f.Kind == sut.HTTP)
	did := false
	for _, l := range e.leaves {
		f := r.field(l.name)
		if l.name == "" { // the whole answer
			for _, x := range r.fields {
				if f == nil && (len(r.fields) == 1 || slices.Contains(words(e.op.Name), words(x.Name)[0])) {
					f = x
				}
			}
		}
		if f == nil || len(e.slots) > 0 || !comparable(f, l) {
			continue
		}
		returns := f.Kind
		if f.Kind == "text" {
			returns = r.name + "." + fieldName(f)
		}
		options := []string{"returns = " + returns}
		if l.path != "" {
			options = append(options, "part = "+strconv.Quote(l.path))
		}
		options = append(options, "mutates = False")
		if careful && !did { // check whether it still exists
			s.action(e, e.name, s.chooseOperations(e, false), nil, append(slices.Clone(options), `rejects = True`), gone)
		}
		name := e.name
		if len(e.leaves) > 1 || careful {
			name = identifier(e.name+"_"+cmp.Or(l.name, "value"), &s.taken)
		}
		s.action(e, name, s.chooseOperations(e, true), nil, append(options, "answer = "+me+"."+fieldName(f)), [][2]string{{"answer", e.why + ": what was written last" + map[bool]string{true: "; nothing describes the answer"}[e.supposed]}})
		did = true
	}
	if did {
		return
	}
	options, guess := []string{"mutates = False"}, [][2]string{{"mutates", e.why}}
	if careful && len(e.slots) == 0 {
		options, guess = append(options, `rejects = True`), append(guess, gone...)
	}
	s.action(e, e.name, s.chooseOperations(e, !careful), e.slots, options, guess)
}

// comparable reports whether a value of an answer can be compared with a field.
func comparable(f *field, l leaf) bool {
	switch l.of.kind() {
	case "integer", "number":
		return f.Kind == "int"
	case "boolean":
		return f.Kind == "bool"
	case "string":
		return f.Kind == "text"
	case "array":
		return f.Kind == "text" && len(f.Values) > 0 && strings.HasPrefix(f.Values[0], "[")
	}
	return false
}

// act writes an operation that changes an instance.
func (s *serving) act(e *endpoint) {
	r := e.of
	for i, slots := range e.variants() {
		name := e.name
		if i > 0 {
			for _, x := range slots {
				if x.optional {
					name = identifier(e.name+"_"+x.Name, &s.taken)
				}
			}
		}
		changed := s.effects(e, slots)
		careful := r.ends && e.refusesMissing(s.f.Kind == sut.HTTP) && e.role != ends && i == 0
		pre := s.chooseOperations(e, !careful)
		var options []string
		var guess [][2]string
		reason := e.why
		for _, x := range changed {
			target, v := x[0], x[1]
			switch f := r.field(strings.TrimPrefix(target, variable(r)+".")); {
			case v[0] == '-':
				pre = append(pre, fmt.Sprintf("require(%s >= %s)", target, v[1:]))
				if e.refuses() {
					options = append(options, `rejects = True`)
				}
				guess = append(guess, [2]string{"requires", "cannot take more than there is"})
				reason = "named like taking from " + target[strings.Index(target, ".")+1:]
			case v[0] == '+':
				reason = "named like adding to " + target[strings.Index(target, ".")+1:]
			case f != nil && f.stateWord(e) != "" && f.initial != "":
				pre = append(pre, fmt.Sprintf("require(%s == %s)", target, f.initial))
				guess = append(guess, [2]string{"requires", "an instance in its first state can move on"})
				if reason = "named like the state"; e.turned != nil {
					reason = "a call answered so"
				}
			}
		}
		for _, x := range changed {
			if x[1][0] == '+' || x[1][0] == '-' {
				pre = append(pre, fmt.Sprintf("%s %c= %s", x[0], x[1][0], x[1][1:]))
			} else {
				pre = append(pre, x[0]+" = "+x[1])
			}
		}
		if e.role == ends {
			if e.refusesMissing(s.f.Kind == sut.HTTP) && s.f.Kind == sut.HTTP {
				careful = true
				pre = s.chooseOperations(e, false)
			}
			pre = append(pre, variable(r)+"."+live+" = False")
		}
		if careful {
			options = append(options, `rejects = True`)
			guess = append(guess, gone...)
		}
		guess = append(guess, [2]string{"effect", reason})
		if e.op.Method == "PUT" || e.op.Path == "" && e.role == changes && verb(e.op.Name, setting) != "" {
			options, guess = append(options, "idempotent = True"), append(guess, [2]string{"idempotent", cmp.Or(e.op.Method, e.why)})
		}
		for _, x := range changed { // a changed value that the answer shows
			at := strings.TrimPrefix(x[0], variable(r)+".")
			i := slices.IndexFunc(e.leaves, func(l leaf) bool { return l.name == at && r.field(at) != nil && comparable(r.field(at), l) })
			if i < 0 || e.role == ends {
				continue
			}
			f := r.field(at)
			returns := map[bool]string{true: r.name + "." + at, false: f.Kind}[f.Kind == "text"]
			v := x[1]
			if v[0] == '+' || v[0] == '-' {
				v = fmt.Sprintf("%s %c %s", x[0], v[0], v[1:])
			}
			if strings.Contains(v, variable(r)+".") && strings.Contains(v, " * ") {
				continue
			}
			options = append(options, "returns = "+returns, "part = "+strconv.Quote(e.leaves[i].path), "answer = "+v)
			why := "its schema shows " + at
			if len(answerOf(e.op)) == 0 {
				why = "a call answered " + at
			}
			guess = append(guess, [2]string{"answer", why})
			break
		}
		s.action(e, name, pre, slots, options, guess)
	}
}

// refuses reports whether an operation documents that it may refuse a state.
func (e *endpoint) refuses() bool {
	for _, status := range []string{"400", "402", "409", "422", "403"} {
		if _, ok := e.op.Answers[status]; ok {
			return true
		}
	}
	return false
}
