package draft

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// action writes an operation as an action.
func (m *modelling) action(i int) {
	o, n := &m.f.Ops[i], m.naming(i)
	taken, refused := m.splitCalls(i)
	seen := func(k int) string { return fmt.Sprintf("in %d of %d calls", k, k) }
	var guesses []string
	guess := func(claim, why string) {
		guesses = append(guesses, strconv.Quote(claim)+": "+strconv.Quote(why))
	}
	var options, body []string
	say := func(format string, args ...any) { body = append(body, fmt.Sprintf(format, args...)) }
	// When is it allowed?
	cond, guarded := term{}, false
	if _, no := m.dropped(i, "requires"); len(refused) > 0 && !no {
		if cond, guarded = m.allowed(taken, refused, m.conds(i)); guarded {
			guess("requires", fmt.Sprintf("%d calls were accepted and %d refused, each as this says", len(taken), len(refused)))
		}
	}
	ended := o.Entity != "" && !o.Makes && m.ends(o.Entity) && len(taken) == 0
	if ended {
		cond, guarded = term{text: n.self + "." + live}, true
		guess("requires", "an ended instance is not used again; nothing was called")
	}
	if o.Makes {
		if guarded {
			say("require(%s)", cond.text)
		} else if !m.f.Recorded {
			say("require(count(%s) < 4)", o.Entity)
		}
		args := []string{o.Entity}
		for _, f := range m.fields[o.Entity] {
			if t, ok := m.effect(i, f); ok && t.text != "" {
				args = append(args, f+" = "+t.text)
			}
		}
		if m.ends(o.Entity) {
			args = append(args, live+" = True")
		}
		say("%s = new(%s)", n.self, strings.Join(args, ", "))
		if why, no := m.dropped(i, "returns"); no {
			say("# what it answers: %s", why)
		} else {
			guess("returns", cmp.Or(map[bool]string{true: "named " + verb(o.Name, making)}[verb(o.Name, making) != ""], "its answers name instances in later calls"))
		}
		options = append(options, "returns = "+o.Entity)
		if len(args) > 1 && len(taken) > 0 {
			guess("effect", seen(len(taken)))
		}
	} else {
		if o.Entity != "" {
			say("%s = any(%s)", n.self, o.Entity)
		}
		if guarded {
			say("require(%s)", cond.text)
		}
		changed := false
		for _, f := range m.ordered(i) {
			if t, ok := m.effect(i, f); ok && t.text != "" {
				changed = true
				if strings.HasPrefix(t.text, n.self+"."+f+" + ") || strings.HasPrefix(t.text, n.self+"."+f+" - ") {
					rest := strings.TrimPrefix(t.text, n.self+"."+f+" ")
					say("%s.%s %s= %s", n.self, f, rest[:1], rest[2:])
				} else {
					say("%s.%s = %s", n.self, f, t.text)
				}
			}
		}
		if changed {
			guess("effect", seen(len(taken)))
		}
		if o.Ends != "" && o.Entity != "" {
			say("%s.%s = False", n.self, live)
			if !changed {
				guess("effect", o.Ends)
			}
		}
		if o.Answers {
			options = append(options, m.answer(i, taken, guess)...)
		}
	}
	if slices.ContainsFunc(refused, func(s *Step) bool { return s.Broken != "" }) {
		options = append(options, `rejects = "trap"`)
	} else if guarded {
		options = append(options, `rejects = "<0"`)
	}
	if _, no := m.dropped(i, "mutates"); o.Pure != "" && !no {
		options = append(options, "mutates = False")
		guess("mutates", o.Pure)
	} else if !m.assigns(body) {
		options = append(options, "mutates = True")
	}
	again := 0
	for _, s := range taken {
		if s.Twice {
			again++
		}
		if s.Undone {
			again = -1
			break
		}
	}
	if _, no := m.dropped(i, "idempotent"); o.Again != "" && !no && (again > 0 || again == 0 && len(taken) == 0 && !o.Makes && o.Ends == "") {
		options = append(options, "idempotent = True")
		guess("idempotent", o.Again+map[bool]string{true: fmt.Sprintf("; done twice %d times", again)}[again > 0])
	}
	if len(guesses) > 0 {
		options = append(options, "guess = {\n        "+strings.Join(guesses, ",\n        ")+",\n    }")
	}
	args := []string{strconv.Quote(o.Name)}
	for k, s := range o.Slots {
		switch {
		case k == o.Handle && s.Name != n.self && m.named():
			args = append(args, given(s.Name, n.self))
		case k == o.Handle:
			args = append(args, n.self)
		case m.named() && s.Name != m.inputs[i][k]:
			args = append(args, given(s.Name, m.inputs[i][k]))
		default:
			args = append(args, m.inputs[i][k])
		}
	}
	m.line("\ndef %s():", m.names[i])
	for _, l := range body {
		m.line("    %s", l)
	}
	m.line("    call(%s)", strings.Join(append(args, options...), ", "))
}

// given writes a named argument of a call.
func given(name, value string) string {
	var taken []string
	if slices.Contains(callWords, name) || slices.Contains(reserved[:33], name) || strings.TrimRight(identifier(name, &taken), "_") != strings.TrimRight(name, "_") {
		return "**{" + strconv.Quote(name) + ": " + value + "}"
	}
	return name + " = " + value
}

// ordered returns an entity's fields in an order in which an operation can assign them: a value
// that depends on another field comes before the assignment of that field.
func (m *modelling) ordered(i int) (list []string) {
	self := self(m.f.Ops[i].Entity)
	rest := map[string]string{}
	for _, f := range m.fields[m.f.Ops[i].Entity] {
		if t, ok := m.effect(i, f); ok && t.text != "" {
			rest[f] = t.text
		}
	}
	for len(rest) > 0 {
		at := ""
		for _, f := range slices.Sorted(maps.Keys(rest)) {
			reads := regexp.MustCompile(`\b` + self + `\.` + f + `\b`)
			asked := false
			for g, text := range rest {
				asked = asked || g != f && reads.MatchString(text)
			}
			if !asked {
				at = f
				break
			}
		}
		if at == "" { // each needs the other: check reports it
			return append(list, slices.Sorted(maps.Keys(rest))...)
		}
		list = append(list, at)
		delete(rest, at)
	}
	return list
}

// named reports whether arguments are passed by name.
func (m *modelling) named() bool { return !strings.HasPrefix(m.f.Target, "module(") }

// assigns reports whether a body changes the model; then the call mutates.
func (m *modelling) assigns(body []string) bool {
	return slices.ContainsFunc(body, func(l string) bool {
		return strings.Contains(l, " = ") && !strings.Contains(l, " = any(") || strings.Contains(l, "= new(") || strings.Contains(l, " += ") || strings.Contains(l, " -= ")
	})
}

// answer writes the return value of an operation, if it explains the calls.
func (m *modelling) answer(i int, taken []*Step, guess func(claim, why string)) []string {
	o, n := &m.f.Ops[i], m.naming(i)
	kind := ""
	for _, s := range taken {
		switch s.Value.(type) {
		case int64:
			kind = "int"
		case bool:
			kind = "bool"
		case string:
			return nil
		case nil:
			continue
		}
	}
	if kind == "" {
		return nil
	}
	_, no := m.dropped(i, "answer")
	list := n.terms(m.fields[o.Entity], o.Slots, o.Handle)
	for _, f := range m.fields[o.Entity] {
		if t, ok := m.effect(i, f); ok && t.text != "" {
			list = append(list, t)
		}
	}
	t, ok := explain(taken, list, func(s *Step) (any, bool) { return s.Value, s.Value != nil }, m.conds(i))
	if !ok || no || len(taken) < least {
		return []string{"returns = " + kind}
	}
	guess("answer", fmt.Sprintf("in %d of %d calls", len(taken), len(taken)))
	return []string{"returns = " + kind, "answer = " + t.text}
}
