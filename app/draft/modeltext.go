package draft

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
)

func (m *modelling) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// dropped reports whether a claim was contradicted before, and why.
func (m *modelling) dropped(i int, what string) (string, bool) {
	why, ok := m.f.Drop[Claim{m.names[i], what}]
	return why, ok
}

// write writes the model.
func (m *modelling) write(entities []string) {
	calls := 0
	for _, list := range m.f.Sequences {
		calls += len(list)
	}
	m.line(`"""Drafted from %s.`, strings.ReplaceAll(m.f.Of, `"`, "'"))
	m.line("")
	m.line("Everything under guess was concluded from names and from %d calls. thresh check says which", calls)
	m.line("guesses traversals support, contradict or never try. Delete guess where you know better.")
	m.line(`"""`)
	if m.f.Target != "" {
		m.line("%s", m.f.Target)
	}
	m.line("explore(threads = 1)")
	m.d.why("%s, %s in %s.", diag.Plural(len(m.f.Ops), "operation"), diag.Plural(calls, "call"), diag.Plural(len(m.f.Sequences), "sequence"))
	for _, e := range entities {
		m.entity(e)
	}
	m.line("")
	var done []string
	for i, o := range m.f.Ops {
		for k, s := range o.Slots {
			if k != o.Handle && m.left[i] == "" && !slices.Contains(done, m.inputs[i][k]) {
				done = append(done, m.inputs[i][k])
				line := m.inputs[i][k] + " = input(" + s.kind() + ")"
				if m.f.Recorded && s.Kind == "int" {
					line += " # the values recorded: widen it if others are valid"
				}
				m.line("%s", line)
			}
		}
	}
	if len(done) > 0 {
		m.d.ask(done[0]+" = input", "which values may arguments have? The ranges are guesses.")
	}
	acts := 0
	for _, e := range entities {
		acts += m.reads(e)
	}
	for _, e := range entities {
		for _, i := range append(m.makers(e), m.of(e)...) {
			if m.left[i] == "" && !m.observed(i) {
				m.action(i)
				acts++
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(m.left)) {
		m.line("\n# Skipped: %s: %s.", m.f.Ops[i].Name, m.left[i])
		m.f.Left = append(m.f.Left, m.f.Ops[i].Name+" ("+m.left[i]+")")
	}
	for _, k := range slices.Sorted(maps.Keys(m.why)) {
		m.line("\n# %s: %s.", strings.TrimPrefix(k, "."), m.why[k])
	}
	if len(m.f.Left) > 0 {
		m.d.why("Skipped: %s.", strings.Join(m.f.Left, "; "))
	}
	m.d.ask("explore(", "which properties must hold? Add NAME = always(CONDITION).")
	if m.f.Target == "" {
		m.d.ask("explore(", `what does it describe? To run it, add system("FILE.system.yaml") or module("FILE.wasm").`)
	}
}

// kind is an argument's type in the language.
func (s *Slot) kind() string {
	switch s.Kind {
	case "bool":
		return "bool"
	case "text":
		return "string(" + strings.Join(seq.Map(s.Values, strconv.Quote), ", ") + ")"
	}
	return fmt.Sprintf("int(%d, %d)", s.Min, s.Max)
}

// typed is the type of a field, inferred from its values.
func (m *modelling) typed(entity, field string) (kind string, first any) {
	texts := []string{}
	for _, list := range m.f.Sequences {
		for i := range list {
			for _, s := range []State{list[i].Before, list[i].After} {
				on := list[i].On
				if list[i].Made != "" {
					on = list[i].Made
				}
				v, ok := s[field]
				if !ok || v == nil || m.f.Ops[list[i].Op].Entity != entity && entity != "" || on == "" && entity != "" {
					continue
				}
				if first == nil {
					first = v
				}
				switch x := v.(type) {
				case int64:
					kind = "int"
				case bool:
					kind = "bool"
				case string:
					if kind = "text"; !slices.Contains(texts, x) && len(texts) < 60 {
						texts = append(texts, x)
					}
				}
			}
		}
	}
	if kind == "text" {
		slices.Sort(texts)
		for i, t := range texts {
			texts[i] = strconv.Quote(t)
		}
		kind = "enum(" + strings.Join(texts, ", ") + ")"
	}
	return kind, first
}

const system = "State" // name of the system itself as an entity

func (m *modelling) entity(e string) {
	var fields []string
	for _, f := range m.fields[e] {
		kind, first := m.typed(e, f)
		if e == "" && first != nil {
			if kind == "int" {
				kind = "int(default = " + literal(first) + ")"
			} else if kind == "bool" {
				kind = "bool(default = " + literal(first) + ")"
			}
		}
		fields = append(fields, f+" = "+cmp.Or(kind, "int"))
	}
	if e != "" && m.ends(e) {
		fields = append(fields, live+" = bool(default = True)")
	}
	switch {
	case e != "":
		m.line("\n%s = entity(%s)", e, strings.Join(fields, ", "))
	case len(fields) > 0:
		m.line("\n%s = entity(%s)\nexplore(actor = %s)", system, strings.Join(fields, ", "), system)
	}
}

// denied reports whether any call of an operation was refused.
func (m *modelling) denied(i int) bool {
	_, refused := m.splitCalls(i)
	return len(refused) > 0
}

// observed reports whether an operation is an observer in the model.
func (m *modelling) observed(i int) bool {
	o := &m.f.Ops[i]
	_, dropped := m.dropped(i, "models")
	return m.counts[i] != "" || o.Field() && !dropped && slices.Contains(m.fields[o.Entity], o.FieldName) && !m.denied(i)
}

// reads writes the observers of an entity's fields.
func (m *modelling) reads(e string) (acts int) {
	for _, i := range m.of(e) {
		if !m.observed(i) {
			continue
		}
		o := &m.f.Ops[i]
		f, name := o.FieldName, m.names[i]
		n := 0
		for _, s := range m.steps {
			n += len(s)
		}
		kind, _ := m.typed(e, f)
		returns, why := kind, fmt.Sprintf("%s; the rules below explain what it answered in %d calls", o.Pure, n)
		if of := m.counts[i]; of != "" {
			body := "count(" + of + ")"
			if m.ends(of) {
				body = "count(" + of + ", lambda x: x." + live + ")"
			}
			m.line("\ndef are_%s(): return %s\n%s = observer(%s, returns = int, models = are_%s,\n    guess = %s)", f, body, name, strconv.Quote(o.Name), f, strconv.Quote(why))
			continue
		}
		if strings.HasPrefix(kind, "enum") {
			returns = cmp.Or(e, system) + "." + f
		}
		if e == "" {
			body := "sum(" + system + ", lambda s: s." + f + ")"
			if kind == "bool" {
				body = "exists(" + system + ", lambda s: s." + f + ")"
			}
			m.line("\ndef is_%s(): return %s\n%s = observer(%s, returns = %s, models = is_%s,\n    guess = %s)", f, body, name, strconv.Quote(o.Name), returns, f, strconv.Quote(why))
			continue
		}
		m.line("\ndef is_%s(x = %s): return x.%s\n%s = observer(%s, x = %s, returns = %s, models = is_%s,\n    guess = %s)", f, e, f, name, strconv.Quote(o.Name), e, returns, f, strconv.Quote(why))
	}
	return 0
}
