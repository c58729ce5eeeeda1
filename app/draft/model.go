package draft

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/campaign"
)

// ModelFacts is what is known of a system of which a model is drafted.
type ModelFacts struct {
	Name, Folder string
	Of           string          // what it is drafted from
	Target       string          // the statement that names the system; "": the model has none
	Files        []campaign.File // that the model needs
	Ops          []Op
	Sequences    [][]Step // calls that were made or recorded
	Left         []string // operations that are skipped, each with the reason
	// Drop are claims that traversals of an earlier draft contradict.
	Drop map[Claim]string
}

// Claim is something that a draft guesses: ir.Claims, or "" for the whole operation.
type Claim struct{ Of, What string }

// live is the field that says that an instance was not ended.
const live = "live"

// modelling is a draft at work.
type modelling struct {
	f      *ModelFacts
	d      *Draft
	steps  [][]*Step // by operation
	fields map[string][]string
	left   map[int]string // operations that are skipped
	why    map[string]string
	names  []string // of actions, by operation
	inputs [][]string
	b      strings.Builder
}

// DraftModel is a model in the language: actions from operations, effects and conditions
// that explain every call that was seen, each marked as a guess.
func DraftModel(f *ModelFacts) *Draft {
	m := &modelling{f: f, d: &Draft{Format: "fresnelfir", Folder: f.Folder, Document: f.Name + ".model.star", Files: slices.Clone(f.Files)},
		steps: make([][]*Step, len(f.Ops)), fields: map[string][]string{}, left: map[int]string{}, why: map[string]string{}}
	m.call()
	for _, list := range f.Sequences {
		for i := range list {
			m.steps[list[i].Op] = append(m.steps[list[i].Op], &list[i])
		}
	}
	for i := range f.Ops {
		if why, ok := f.Drop[Claim{m.names[i], ""}]; ok {
			m.left[i] = why
		}
	}
	entities := m.entities()
	for _, e := range entities {
		m.recall(e)
		m.settle(e)
	}
	m.write(entities)
	m.d.Files = append(m.d.Files, campaign.File{Name: m.d.Document, Data: []byte(m.b.String())})
	return m.d
}

// identifier is a name that the language takes.
func identifier(name string, taken *[]string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsLetter(r) && r < 128 || unicode.IsDigit(r) && r < 128 || r == '_' {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	s := strings.Trim(b.String(), "_")
	if s == "" || unicode.IsDigit(rune(s[0])) {
		s = "op_" + s
	}
	if slices.Contains(reserved, s) {
		s += "_"
	}
	base := s
	for n := 2; slices.Contains(*taken, s); n++ {
		s = base + strconv.Itoa(n)
	}
	*taken = append(*taken, s)
	return s
}

// reserved are words of the language.
var reserved = strings.Fields("and break continue def elif else for if in lambda load not or pass return while as assert async await class del except " +
	"finally from global import is nonlocal raise try with yield True False None actor any new require weight call entity record input observer protocol " +
	"always temporal eventually until leads_to generator constraint cover explore hooks ir module system step make bind seq alt repeat ref branch " +
	"count sum forall exists old min max len implies int bool string enum list set map self input returns models guess rejects answer mutates idempotent reads writes function")

// Named are the names of the actions that operations become.
func Named(ops []Op) (names []string) {
	var taken []string
	for _, o := range ops {
		if o.Makes || o.Handle >= 0 {
			taken = append(taken, o.Entity)
		}
	}
	for _, o := range ops {
		names = append(names, identifier(o.Name, &taken))
	}
	return names
}

// call gives operations and their arguments names.
func (m *modelling) call() {
	inputs := map[string]string{}
	m.names = Named(m.f.Ops)
	taken := slices.Clone(m.names)
	for _, o := range m.f.Ops {
		taken = append(taken, o.Entity)
	}
	for _, o := range m.f.Ops {
		var list []string
		for _, s := range o.Slots {
			key := s.Name + fmt.Sprint(s.Kind, s.Min, s.Max, s.Values)
			if inputs[key] == "" {
				inputs[key] = identifier(s.Name, &taken)
			}
			list = append(list, inputs[key])
		}
		m.inputs = append(m.inputs, list)
	}
}

// entities are the names of entities, the system itself last.
func (m *modelling) entities() (list []string) {
	alone := false
	for _, o := range m.f.Ops {
		switch {
		case o.Makes && !slices.Contains(list, o.Entity):
			list = append(list, o.Entity)
		case !o.Makes && o.Handle < 0:
			alone = true
		}
	}
	if alone {
		list = append(list, "")
	}
	return list
}

// of are the operations about an entity, not those that make instances.
func (m *modelling) of(entity string) (list []int) {
	for i := range m.f.Ops {
		if o := &m.f.Ops[i]; !o.Makes && o.Entity == entity && (o.Handle >= 0 || entity == "") && m.left[i] == "" {
			list = append(list, i)
		}
	}
	return list
}

func (m *modelling) makers(entity string) (list []int) {
	for i := range m.f.Ops {
		if o := &m.f.Ops[i]; o.Makes && o.Entity == entity && m.left[i] == "" {
			list = append(list, i)
		}
	}
	return list
}

// Field is what an operation reads, if it reads something of its instance and needs
// nothing else for it.
func (o *Op) Field() bool {
	return o.Pure != "" && o.Answers && !o.Makes && (o.Handle >= 0 && len(o.Slots) == 1 || o.Handle < 0 && len(o.Slots) == 0)
}

func self(entity string) string {
	if entity == "" {
		return "actor"
	}
	return strings.ToLower(entity[:1])
}

func (m *modelling) naming(i int) names { return names{self(m.f.Ops[i].Entity), m.inputs[i]} }

// parted are the calls of an operation that were taken and that were refused.
func (m *modelling) parted(i int) (taken, refused []*Step) {
	for _, s := range m.steps[i] {
		switch {
		case s.Broken != "":
			refused = append(refused, s)
		case s.Refused:
			refused = append(refused, s)
		default:
			taken = append(taken, s)
		}
	}
	return taken, refused
}

// recall finds a field that nothing reads: what instances are made with, as answers of
// later calls tell it.
func (m *modelling) recall(entity string) {
	makers, ops := m.makers(entity), slices.DeleteFunc(m.of(entity), func(i int) bool { return m.f.Ops[i].Pure != "" })
	if len(makers) != 1 || len(ops) == 0 || len(ops) > 5 {
		return
	}
	maker := makers[0]
	for k, slot := range m.f.Ops[maker].Slots {
		if slot.Kind != "int" {
			continue
		}
		field := m.inputs[maker][k]
		if m.read(entity, field) {
			continue
		}
		ways := make([]int, len(ops))
		best, most := []int(nil), least-1
		for {
			if n := m.replay(ops, ways, maker, k, ""); n > most {
				best, most = slices.Clone(ways), n
			}
			at := 0
			for ; at < len(ways); at++ {
				if ways[at]++; ways[at] < 4 {
					break
				}
				ways[at] = 0
			}
			if at == len(ways) {
				break
			}
		}
		if best != nil {
			m.replay(ops, best, maker, k, field)
			m.fields[entity] = append(m.fields[entity], field)
		}
	}
}

// read reports whether an operation reads a field of that name.
func (m *modelling) read(entity, field string) bool {
	for _, i := range m.of(entity) {
		if m.f.Ops[i].Field() && m.f.Ops[i].FieldName == field {
			return true
		}
	}
	return false
}

// replay follows a number through all sequences: from an argument of the maker, changed
// by each operation in one way (0 kept, 1 less the argument, 2 more, 3 replaced). It
// returns how many answers are the number, before or after; -1 if one is not. With a
// field, it notes the number in the steps.
func (m *modelling) replay(ops, ways []int, maker, slot int, field string) int {
	moved, told := 0, 0
	asked := map[int][2]bool{} // by operation: whether its answers are the number before, after
	for _, list := range m.f.Sequences {
		held := map[string]int64{}
		for i := range list {
			s := &list[i]
			if s.Op == maker && !s.Refused && s.Broken == "" {
				if n, ok := s.Args[slot].(int64); ok {
					held[s.Made] = n
					if field != "" {
						s.After = with(s.After, field, n)
					}
				}
				continue
			}
			at := slices.Index(ops, s.Op)
			before, known := held[s.On]
			if !known {
				continue
			}
			if field != "" {
				s.Before, s.After = with(s.Before, field, before), with(s.After, field, before)
			}
			if at < 0 || s.Refused || s.Broken != "" {
				continue
			}
			o := &m.f.Ops[s.Op]
			after := before
			for j, a := range s.Args {
				if n, ok := a.(int64); ok && j != o.Handle && ways[at] > 0 {
					after = []int64{before, before - n, before + n, n}[ways[at]]
					break
				}
			}
			held[s.On] = after
			if field != "" {
				s.After = with(s.After, field, after)
			}
			if n, ok := s.Value.(int64); ok {
				is, met := asked[s.Op]
				if !met {
					is = [2]bool{true, true}
				}
				asked[s.Op] = [2]bool{is[0] && n == before, is[1] && n == after}
				if is = asked[s.Op]; !is[0] && !is[1] {
					return -1
				}
				told++
				if after != before {
					moved++
				}
			}
		}
	}
	if moved == 0 {
		return -1
	}
	return told
}

func with(s State, field string, v any) State {
	if s == nil {
		s = State{}
	}
	s[field] = v
	return s
}

// settle decides which fields an entity has, and which operations are left: a field that
// the calls do not explain is none, and an operation alone in changing a field in ways
// that nothing explains is skipped.
func (m *modelling) settle(entity string) {
	for _, i := range m.of(entity) {
		if _, no := m.dropped(i, "models"); m.f.Ops[i].Field() && len(m.f.Sequences) > 0 && !no {
			m.fields[entity] = append(m.fields[entity], m.f.Ops[i].FieldName)
		}
	}
	for {
		worst, by := "", []int(nil)
		for _, f := range m.fields[entity] {
			var bad []int
			for _, i := range append(m.makers(entity), m.of(entity)...) {
				if _, ok := m.effect(i, f); !ok {
					bad = append(bad, i)
				}
			}
			if len(bad) > 0 && (worst == "" || len(bad) < len(by)) {
				worst, by = f, bad
			}
		}
		switch moves := m.movers(entity, worst); {
		case worst == "":
			m.conditions(entity)
			return
		case len(by) == 1 && moves >= 2 && !m.f.Ops[by[0]].Makes:
			m.left[by[0]] = fmt.Sprintf("what it does to %s follows from nothing that was seen", worst)
		default:
			m.fields[entity] = slices.DeleteFunc(m.fields[entity], func(f string) bool { return f == worst })
			m.why[entity+"."+worst] = "contradicted: no simple rule explains how calls of " + m.list(by) + " change it"
		}
	}
}

func (m *modelling) list(ops []int) string {
	var list []string
	for _, i := range ops {
		list = append(list, m.names[i])
	}
	return strings.Join(list, ", ")
}

// movers counts the operations that change a field in a way that is explained.
func (m *modelling) movers(entity, field string) (n int) {
	for _, i := range m.of(entity) {
		if t, ok := m.effect(i, field); ok && t.text != "" {
			n++
		}
	}
	return n
}

// effect is what an operation makes of a field; "" if it stays.
func (m *modelling) effect(i int, field string) (term, bool) {
	o := &m.f.Ops[i]
	taken, refused := m.parted(i)
	for _, s := range refused {
		if b, ok := s.Before[field]; ok && s.Broken == "" && s.After[field] != nil && s.After[field] != b {
			return term{}, false
		}
	}
	changes := o.Makes
	for _, s := range taken {
		if s.Spread {
			return term{}, false
		}
		b, knew := s.Before[field]
		a, knows := s.After[field]
		changes = changes || knew && knows && a != nil && a != b
	}
	if !changes {
		return term{}, true
	}
	n := m.naming(i)
	var fields []string
	if !o.Makes {
		fields = m.fields[o.Entity]
	}
	list := n.terms(fields, o.Slots, o.Handle)
	t, ok := explain(taken, list, func(s *Step) (any, bool) { v, ok := s.After[field]; return v, ok && v != nil }, m.conds(i))
	if ok && t.text == n.self+"."+field && !o.Makes {
		t.text = ""
	}
	return t, ok || o.Makes && len(taken) == 0
}

// conds are what conditions of an operation are about.
func (m *modelling) conds(i int) []term {
	o := &m.f.Ops[i]
	n := m.naming(i)
	var list []term
	if o.Makes {
		list = append(list, term{"count(" + o.Entity + ")", 1, func(s *Step) (any, bool) { return int64(s.Live), true }})
	} else {
		for _, f := range m.fields[o.Entity] {
			list = append(list, n.fieldOf(f))
		}
		if o.Entity != "" && m.ends(o.Entity) {
			list = append(list, term{n.self + "." + live, 1, func(s *Step) (any, bool) { v, ok := s.Before[live]; return v, ok }})
		}
	}
	fields := len(list)
	for k := range o.Slots {
		if k != o.Handle {
			list = append(list, n.argOf(k))
		}
	}
	for _, f := range list[:fields] {
		for _, a := range list[fields:] {
			list = append(list, sum(f, a, -1), sum(f, a, 1))
		}
	}
	return list
}

// ends reports whether an operation ends instances of an entity.
func (m *modelling) ends(entity string) bool {
	return slices.ContainsFunc(m.of(entity), func(i int) bool { return m.f.Ops[i].Ends != "" })
}

// conditions skips the operations of which nothing says when they are refused.
func (m *modelling) conditions(entity string) {
	for _, i := range append(m.makers(entity), m.of(entity)...) {
		taken, refused := m.parted(i)
		if len(refused) == 0 {
			continue
		}
		if _, ok := separate(taken, refused, m.conds(i), 3); !ok || len(taken) == 0 {
			why := "refused"
			if slices.ContainsFunc(refused, func(s *Step) bool { return s.Broken != "" }) {
				why = refused[slices.IndexFunc(refused, func(s *Step) bool { return s.Broken != "" })].Broken
			}
			m.left[i] = fmt.Sprintf("%s of %d calls end so that no simple condition says when: %s", share(len(refused), len(refused)+len(taken)), len(refused)+len(taken), why)
		}
	}
}

func share(n, of int) string {
	if n == of {
		return "all"
	}
	return fmt.Sprint(n)
}

func (m *modelling) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// dropped reports whether a claim was contradicted before.
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
	m.line("What stands under guess was concluded from names and from %d calls. thresh check says which", calls)
	m.line("guesses traversals support, contradict or never try: delete guess where you know better.")
	m.line(`"""`)
	if m.f.Target != "" {
		m.line("%s", m.f.Target)
	}
	m.line("explore(threads = 1)")
	m.d.why("%d operations, %d calls in %d sequences.", len(m.f.Ops), calls, len(m.f.Sequences))
	for _, e := range entities {
		m.entity(e)
	}
	m.line("")
	var done []string
	for i, o := range m.f.Ops {
		for k, s := range o.Slots {
			if k != o.Handle && m.left[i] == "" && !slices.Contains(done, m.inputs[i][k]) {
				done = append(done, m.inputs[i][k])
				m.line("%s = input(%s)", m.inputs[i][k], s.kind())
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
	for _, i := range slices.Sorted(keys(m.left)) {
		m.line("\n# Skipped: %s: %s.", m.f.Ops[i].Name, m.left[i])
		m.f.Left = append(m.f.Left, m.f.Ops[i].Name+" ("+m.left[i]+")")
	}
	for _, k := range slices.Sorted(keys(m.why)) {
		m.line("\n# %s: %s.", strings.TrimPrefix(k, "."), m.why[k])
	}
	if len(m.f.Left) > 0 {
		m.d.why("Skipped: %s.", strings.Join(m.f.Left, "; "))
	}
	m.d.ask("explore(", "which properties must hold? Add NAME = always(CONDITION).")
}

func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// kind is an argument's type in the language.
func (s *Slot) kind() string {
	switch s.Kind {
	case "bool":
		return "bool"
	case "text":
		list := make([]string, len(s.Values))
		for i, v := range s.Values {
			list[i] = strconv.Quote(v)
		}
		return "string(" + strings.Join(list, ", ") + ")"
	}
	return fmt.Sprintf("int(%d, %d)", s.Min, s.Max)
}

// typed is the type of a field by the values that it had.
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

const system = "State" // what the system itself is called, as an entity

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

// denied reports whether an operation that reads a field was ever refused.
func (m *modelling) denied(i int) bool {
	_, refused := m.parted(i)
	return len(refused) > 0
}

// observed reports whether an operation is an observer of the model.
func (m *modelling) observed(i int) bool {
	o := &m.f.Ops[i]
	_, dropped := m.dropped(i, "models")
	return o.Field() && !dropped && slices.Contains(m.fields[o.Entity], o.FieldName) && !m.denied(i)
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

// action writes an operation as an action.
func (m *modelling) action(i int) {
	o, n := &m.f.Ops[i], m.naming(i)
	taken, refused := m.parted(i)
	seen := func(k int) string { return fmt.Sprintf("so in %d of %d calls", k, k) }
	var guesses []string
	guess := func(claim, why string) {
		guesses = append(guesses, strconv.Quote(claim)+": "+strconv.Quote(why))
	}
	var options, body []string
	say := func(format string, args ...any) { body = append(body, fmt.Sprintf(format, args...)) }
	// When it is allowed.
	cond, guarded := term{}, false
	if _, no := m.dropped(i, "requires"); len(refused) > 0 && !no {
		if cond, guarded = separate(taken, refused, m.conds(i), 3); guarded {
			guess("requires", fmt.Sprintf("%d calls were taken and %d refused, each as this says", len(taken), len(refused)))
		}
	}
	ended := o.Entity != "" && !o.Makes && m.ends(o.Entity) && len(taken) == 0
	if ended {
		cond, guarded = term{text: n.self + "." + live}, true
		guess("requires", "what was ended is not used any more; nothing was called")
	}
	if o.Makes {
		if guarded {
			say("require(%s)", cond.text)
		} else {
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
			args = append(args, s.Name+" = "+n.self)
		case k == o.Handle:
			args = append(args, n.self)
		case m.named() && s.Name != m.inputs[i][k]:
			args = append(args, s.Name+" = "+m.inputs[i][k])
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

// ordered are an entity's fields in an order in which an operation can assign them: what
// is computed from another field comes before that is assigned.
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
		for _, f := range slices.Sorted(keys(rest)) {
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
		if at == "" { // each needs the other: check says what is wrong
			return append(list, slices.Sorted(keys(rest))...)
		}
		list = append(list, at)
		delete(rest, at)
	}
	return list
}

// named reports whether arguments go by name.
func (m *modelling) named() bool { return !strings.HasPrefix(m.f.Target, "module(") }

// assigns reports whether a body changes the model, which says that the call mutates.
func (m *modelling) assigns(body []string) bool {
	return slices.ContainsFunc(body, func(l string) bool {
		return strings.Contains(l, " = ") && !strings.Contains(l, " = any(") || strings.Contains(l, "= new(") || strings.Contains(l, " += ") || strings.Contains(l, " -= ")
	})
}

// answer is what an operation returns, if the calls explain it.
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
	guess("answer", fmt.Sprintf("so in %d of %d calls", len(taken), len(taken)))
	return []string{"returns = " + kind, "answer = " + t.text}
}
