package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// Words in the names of fields and operations that reveal their relations.
var (
	more     = strings.Fields("increment inc increase deposit credit add topup restock receive earn gain bump")
	less     = strings.Fields("decrement dec decrease withdraw debit subtract spend redeem consume take")
	totals   = strings.Fields("total subtotal sum amount cost")
	prices   = strings.Fields("price cost rate unit")
	amounts  = strings.Fields("quantity qty count number units")
	openings = strings.Fields("initial opening starting start")
	identity = strings.Fields("id uuid uid _id href url self etag version")
)

// is reports whether the last word of a name is in a list.
func is(name string, of []string) bool {
	w := words(name)
	return len(w) > 0 && slices.Contains(of, w[len(w)-1])
}

// field returns the field of a name.
func (r *resource) field(name string) *field {
	for _, f := range r.fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// answerField is the value of a name in the answers that show an instance.
func (r *resource) answerField(name string) (l leaf, ok bool) {
	for _, e := range slices.Concat(r.uses, r.made) {
		if e.skip != "" || e.role == lists {
			continue
		}
		for _, l := range e.leaves {
			if l.name == name && name != "" {
				return l, true
			}
		}
	}
	return leaf{}, false
}

// learn decides which fields an entity has.
func (a *analysis) learn(r *resource) {
	add := func(f *field) *field {
		if old := r.field(f.Name); old != nil {
			return old
		}
		r.fields = append(r.fields, f)
		return f
	}
	for _, e := range r.made { // fields it is made with
		for _, x := range e.slots {
			if x.of != nil {
				continue
			}
			name := x.Name
			if w := words(name); len(w) > 1 && slices.Contains(openings, w[0]) {
				if _, ok := r.answerField(strings.Join(w[1:], "_")); ok {
					name = strings.Join(w[1:], "_")
				}
			}
			f := &field{Slot: x.Slot, set: true}
			if f.Name = name; name != x.Name {
				f.initial, f.why = x.named, "named like "+x.Name
			}
			add(f)
		}
	}
	for _, e := range r.uses { // fields that are changed later must be known before
		if e.role != changes || e.skip != "" {
			continue
		}
		for _, x := range e.slots {
			if f := r.field(x.Name); f != nil {
				f.merge(&x.Slot)
				continue
			}
			l, ok := r.answerField(x.Name)
			if !ok && !r.alone {
				continue
			}
			initial, why := "", ""
			if d := l.of.get("default").n; d != nil {
				initial, why = d.Text, "the default of its schema"
			} else if x.Kind == "bool" {
				initial, why = "false", "named "+x.Name
			}
			if f := (&field{Slot: x.Slot, initial: initial, why: why}); why != "" && f.literal() {
				add(f)
			}
		}
	}
	a.turns(r, add)
	a.counters(r, add)
	a.status(r, add)
	for _, e := range r.uses { // increments are unbounded
		if f, _, _ := r.counted(e); f != nil && e.skip == "" {
			f.Min, f.Max = -1<<31, 1<<31
		}
	}
	a.total(r, add)
}

// merge adds the values of another slot.
func (f *field) merge(s *Slot) {
	f.Min, f.Max = min(f.Min, s.Min), max(f.Max, s.Max)
	for _, v := range s.Values {
		if !slices.Contains(f.Values, v) {
			f.Values = append(f.Values, v)
		}
	}
}

// literal converts a JSON value to a literal of the language, if it fits the field.
func (f *field) literal() bool {
	switch f.Kind {
	case "bool":
		f.initial = map[string]string{"true": "True", "false": "False"}[strings.ToLower(f.initial)]
		return f.initial != ""
	case "text":
		if !slices.Contains(f.Values, f.initial) {
			f.Values = append(f.Values, f.initial)
		}
		f.initial = literal(f.initial)
		return true
	}
	n := int64(0)
	_, err := fmt.Sscan(f.initial, &n)
	f.Min, f.Max = min(f.Min, n), max(f.Max, n)
	return err == nil
}

// counted returns the field that an operation increments or decrements, judging by its name, and
// the argument with the amount; nil: by one.
func (r *resource) counted(e *endpoint) (f *field, sign string, by *input) {
	if e.role != acts || len(e.slots) > 1 || len(e.slots) == 1 && (e.slots[0].Kind != "int" || e.slots[0].of != nil) {
		return nil, "", nil
	}
	name := e.op.Name
	if e.op.Path != "" {
		_, last, _ := cutLast(e.op.Path, "/")
		name += " " + last
	}
	switch {
	case verb(name, less) != "":
		sign = "-"
	case verb(name, more) != "":
		sign = "+"
	default:
		return nil, "", nil
	}
	if len(e.slots) == 1 {
		by = e.slots[0]
	}
	for _, x := range r.fields {
		if x.Kind == "int" && (slices.Contains(words(name), words(x.Name)[0]) || by != nil && x.Name == by.Name) {
			return x, sign, by
		}
	}
	for _, x := range r.fields {
		if x.Kind == "int" && !x.set {
			return x, sign, by
		}
	}
	for _, x := range r.fields {
		if x.Kind == "int" && is(x.Name, []string{"balance", "stock", "quantity", "credits", "points", "value", "count"}) {
			return x, sign, by
		}
	}
	return nil, "", nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// counters adds the number that counting operations change, judging by their names.
func (a *analysis) counters(r *resource, add func(*field) *field) {
	var counting []*endpoint
	for _, e := range r.uses {
		if e.skip == "" && e.role == acts && len(e.slots) <= 1 && (verb(e.op.Name, more) != "" || verb(e.op.Name, less) != "") {
			counting = append(counting, e)
		}
	}
	if len(counting) == 0 {
		return
	}
	var open []leaf
	name := ""
	for _, e := range r.uses {
		for _, l := range e.leaves {
			if k := l.of.kind(); e.role == reads && e.skip == "" && (k == "integer" || k == "number") && r.field(l.name) == nil && !is(l.name, identity) {
				if l.name == "" { // the whole answer
					l.name = "value"
				}
				if name != l.name {
					name, open = l.name, append(open, l)
				}
			}
		}
	}
	for _, l := range open {
		if len(open) > 1 && !is(l.name, []string{"balance", "stock", "quantity", "credits", "points", "value", "count", "total"}) {
			continue
		}
		add(&field{Slot: Slot{Name: l.name, Kind: "int", Min: -1 << 31, Max: 1 << 31}, initial: "0", why: "a number that calls add to begins with 0"})
	}
}

// stateWord is the state that an operation is named after.
func (f *field) stateWord(e *endpoint) string {
	if v := e.turned[f.Name]; v != "" {
		return v
	}
	if e.role != acts && e.role != ends || len(e.slots) > 0 {
		return ""
	}
	name := e.op.Name
	if e.op.Path != "" {
		_, name, _ = cutLast(e.op.Path, "/")
	}
	return judge.StateWord(name, f.Values)
}

// moves reports whether an operation may change an instance's state to one that only a call
// reveals.
func (e *endpoint) moves() bool {
	return e.role == acts && e.handle != "" && len(e.slots) == 0 && e.skip == ""
}

// stateText matches a word or a boolean in an answer.
var stateText = lazy.Pattern(`^("[A-Za-z][A-Za-z _-]{0,30}"|true|false)$`)

// turns adds fields whose initial value a call of another operation changed.
func (a *analysis) turns(r *resource, add func(*field) *field) {
	for _, m := range r.made {
		for _, l := range m.leaves {
			was := string(valueAt(a.f.Seen[m.op.Name], l.path))
			if m.inputNamed(l.name) != "" || r.field(l.name) != nil || !stateText().MatchString(was) {
				continue
			}
			f := &field{Slot: Slot{Name: l.name, Kind: map[bool]string{true: "text", false: "bool"}[was[0] == '"']}, initial: strings.Trim(was, `"`), why: "what a call answered"}
			f.literal()
			for _, e := range r.uses {
				i := slices.IndexFunc(e.leaves, func(x leaf) bool { return x.name == l.name })
				if i < 0 || !e.moves() {
					continue
				}
				now := string(valueAt(a.f.Seen[e.op.Name], e.leaves[i].path))
				if now == was || !stateText().MatchString(now) || (now[0] == '"') != (was[0] == '"') {
					continue
				}
				if e.turned == nil {
					e.turned = map[string]string{}
				}
				e.turned[l.name] = strings.Trim(now, `"`)
				if f.Kind == "text" && !slices.Contains(f.Values, e.turned[l.name]) {
					f.Values = append(f.Values, e.turned[l.name])
				}
				add(f)
			}
		}
	}
}

// status adds the field with the state of an instance.
func (a *analysis) status(r *resource, add func(*field) *field) {
	for _, e := range slices.Concat(r.uses, r.made) {
		for _, l := range e.leaves {
			list := l.of.words("enum")
			if len(list) < 2 || r.field(l.name) != nil || e.role == lists || e.skip != "" {
				continue
			}
			f := &field{Slot: Slot{Name: l.name, Kind: "text"}}
			for _, v := range list {
				f.Values = append(f.Values, v.Text)
			}
			f.initial, f.why = literal(f.Values[0]), "the first word of its schema"
			if d := l.of.text("default"); d != "" {
				f.initial, f.why = literal(d), "the default of its schema"
			}
			for _, u := range r.uses {
				if f.stateWord(u) != "" && u.skip == "" {
					add(f)
				}
			}
		}
	}
}

// total adds a number computed from a price and a quantity.
func (a *analysis) total(r *resource, add func(*field) *field) {
	var price, number string
	for _, e := range r.made {
		for _, x := range e.slots {
			switch {
			case x.of != nil && x.of.price() != "":
				price = ""
			case x.Kind == "int" && is(x.Name, amounts):
				number = x.Name
			case x.Kind == "int" && is(x.Name, prices):
				price = x.Name
			}
		}
	}
	for _, e := range r.uses {
		for _, l := range e.leaves {
			k := l.of.kind()
			if e.role != reads || e.skip != "" || k != "integer" && k != "number" || !is(l.name, totals) || r.field(l.name) != nil {
				continue
			}
			f := &field{Slot: Slot{Name: l.name, Kind: "int", Min: 0, Max: 1 << 40}, why: "named like price times quantity"}
			switch {
			case number != "" && price != "":
				f.initial = price + " * " + number
			case number != "" && r.priced() != nil:
				f.initial = "* " + number
			case r.collects() != nil:
				f.initial, f.why = "0", "named like the sum of what is added"
			default:
				continue
			}
			add(f)
		}
	}
}

// price is the field of an entity that holds its cost.
func (r *resource) price() string {
	for _, f := range r.fields {
		if f.Kind == "int" && is(f.Name, prices) {
			return f.Name
		}
	}
	for _, e := range r.made {
		for _, x := range e.slots {
			if x.Kind == "int" && is(x.Name, prices) {
				return x.Name
			}
		}
	}
	return ""
}

// priced is the argument that names an instance with a price.
func (r *resource) priced() *input {
	for _, e := range r.made {
		for _, x := range e.slots {
			if x.of != nil && x.of.price() != "" {
				return x
			}
		}
	}
	return nil
}

// collects is an operation that adds something with a price to an instance.
func (r *resource) collects() *endpoint {
	for _, e := range r.uses {
		if e.role == acts && e.skip == "" && e.cost() != "" {
			return e
		}
	}
	return nil
}

// cost is what an operation adds to a total.
func (e *endpoint) cost() string {
	price, number := "", ""
	for _, x := range e.slots {
		switch {
		case x.of != nil || x.Kind != "int":
		case is(x.Name, amounts):
			number = x.named
		case is(x.Name, prices):
			price = x.named
		}
	}
	if verb(e.op.Name, more) == "" && (e.op.Method != "POST" || price == "") || price == "" {
		return ""
	}
	if number != "" {
		return price + " * " + number
	}
	return price
}
