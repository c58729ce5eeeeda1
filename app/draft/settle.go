package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/seq"
)

// recall finds numeric fields that calls change: values that instances are made with and that later
// answers show, and values that an operation reads occasionally.
func (m *modelling) recall(entity string) {
	makers, ops := m.makers(entity), slices.DeleteFunc(m.of(entity), func(i int) bool { return m.f.Ops[i].Pure != "" })
	if len(makers) > 1 || len(ops) == 0 {
		return
	}
	maker, starts := -1, []int{-1}
	if len(makers) == 1 {
		maker = makers[0]
		for k, slot := range m.f.Ops[maker].Slots {
			if slot.Kind == "int" {
				starts = append(starts, k)
			}
		}
	}
	follow := func(n number, field string) {
		ways := make([]int, len(ops))
		best, most := number{}, least-1
		for tried := 0; tried < mostReplays; tried++ {
			n.ways = ways
			if told := m.replay(ops, n, ""); told > most {
				best, most = number{n.maker, n.slot, n.reader, slices.Clone(ways)}, told
			}
			at := 0
			for ; at < len(ways); at++ {
				if ways[at] = m.nextWay(ops[at], ways[at], n.reader >= 0); ways[at] > 0 {
					break
				}
			}
			if at == len(ways) {
				break
			}
		}
		if best.ways != nil {
			m.replay(ops, best, field)
			if best.reader < 0 {
				m.fields[entity] = append(m.fields[entity], field)
			}
		}
	}
	for _, k := range starts[1:] {
		if field := m.inputs[maker][k]; !m.read(entity, field) {
			follow(number{maker, k, -1, nil}, field)
		}
	}
	for _, i := range m.of(entity) {
		if !m.f.Recorded || !m.f.Ops[i].Field() {
			continue
		}
		for _, k := range starts {
			follow(number{maker, k, i, nil}, m.f.Ops[i].FieldName)
		}
	}
}

// mostReplays limits the combinations that are tried of how operations may change a number.
const mostReplays = 40_000

// number is a number that calls change: it starts as an argument of the maker (slot -1: 0), reader
// shows it (-1: none does), and each operation changes it in one way.
type number struct {
	maker, slot, reader int
	ways                []int
}

// nextWay returns the next way in which an operation may change a number: 0 keep it, 1 subtract its
// argument, 2 add it, 3 replace it; for a number that is read also 4 add one, 5 subtract one, 6
// reset to 0.
func (m *modelling) nextWay(op, way int, read bool) int {
	o := &m.f.Ops[op]
	takes := false
	for k := range o.Slots {
		takes = takes || k != o.Handle && o.Slots[k].Kind == "int"
	}
	switch way++; {
	case way <= 3 && takes:
		return way
	case way > 6 || !read:
		return 0
	}
	return max(way, 4)
}

// read reports whether an operation reads a field of that name.
func (m *modelling) read(entity, field string) bool {
	return slices.ContainsFunc(m.of(entity), func(i int) bool { return m.f.Ops[i].Field() && m.f.Ops[i].FieldName == field })
}

// replay follows a number through all sequences. It returns how many answers are the number, before
// or after a call; -1 if one is not. If field is set, it records the number in the steps.
func (m *modelling) replay(ops []int, n number, field string) int {
	moved, told := 0, 0
	asked := map[int][2]bool{} // by operation: whether its answers are the number before, after
	for _, list := range m.f.Sequences {
		held := map[string]int64{}
		if n.maker < 0 {
			held[""] = 0
		}
		for i := range list {
			s := &list[i]
			if m.f.Ops[s.Op].Left != "" && !s.Refused {
				clear(held) // its effect is unknown
				continue
			}
			if s.Op == n.maker && !s.Refused && s.Broken == "" {
				v, ok := int64(0), true
				if n.slot >= 0 {
					v, ok = s.Args[n.slot].(int64)
				}
				if ok {
					held[s.Made] = v
					if field != "" {
						s.After = with(s.After, field, v)
					}
				}
				continue
			}
			at := slices.Index(ops, s.Op)
			before, known := held[s.On]
			if answer, ok := s.Value.(int64); s.Op == n.reader && !s.Refused && ok {
				if known && answer != before {
					return -1
				}
				if told++; known && before != 0 {
					moved++
				}
				held[s.On], before, known = answer, answer, true
			}
			if !known {
				continue
			}
			if field != "" {
				s.Before, s.After = with(s.Before, field, before), with(s.After, field, before)
			}
			if at < 0 || s.Refused || s.Broken != "" {
				continue
			}
			after := m.moved(s, before, n.ways[at])
			held[s.On] = after
			if field != "" {
				s.After = with(s.After, field, after)
			}
			if answer, ok := s.Value.(int64); ok && n.reader < 0 {
				is, met := asked[s.Op]
				if !met {
					is = [2]bool{true, true}
				}
				asked[s.Op] = [2]bool{is[0] && answer == before, is[1] && answer == after}
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

// moved is the number after a call.
func (m *modelling) moved(s *Step, before int64, way int) int64 {
	if way >= 4 {
		return []int64{before + 1, before - 1, 0}[way-4]
	}
	for j, a := range s.Args {
		if n, ok := a.(int64); ok && j != m.f.Ops[s.Op].Handle && way > 0 {
			return []int64{before - n, before + n, n}[way-1]
		}
	}
	return before
}

func with(s State, field string, v any) State {
	if s == nil {
		s = State{}
	}
	s[field] = v
	return s
}

// decideFields decides which fields an entity has and which operations are skipped: a field that
// the calls do not explain is dropped, and if only one operation changes a field in unexplained
// ways, that operation is skipped.
func (m *modelling) decideFields(entity string) {
	for _, i := range m.of(entity) {
		_, no := m.dropped(i, "models")
		if m.f.Recorded && m.f.Ops[i].Field() && !no {
			if e, ok := m.countedBy(i); ok {
				m.counts[i], no = e, true
			} else if m.unsteady(i) {
				m.why[entity+"."+m.f.Ops[i].FieldName], no = "contradicted: it changes without a call of "+cmp.Or(entity, "the system itself"), true
			}
		}
		if m.f.Ops[i].Field() && len(m.f.Sequences) > 0 && !no {
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
		switch moves := m.countChangers(entity, worst); {
		case worst == "":
			if m.f.Recorded {
				m.findFlags(entity)
			}
			m.conditions(entity)
			return
		case len(by) == 1 && moves >= 2 && !m.f.Ops[by[0]].Makes:
			m.left[by[0]] = fmt.Sprintf("nothing observed explains what it does to %s", worst)
		default:
			m.fields[entity] = slices.DeleteFunc(m.fields[entity], func(f string) bool { return f == worst })
			m.why[entity+"."+worst] = "contradicted: no simple rule explains how calls of " + m.list(by) + " change it"
		}
	}
}

func (m *modelling) list(ops []int) string {
	return strings.Join(seq.Map(ops, func(i int) string { return m.names[i] }), ", ")
}

// countChangers counts the operations whose change of a field is explained.
func (m *modelling) countChangers(entity, field string) (n int) {
	for _, i := range m.of(entity) {
		if t, ok := m.effect(i, field); ok && t.text != "" {
			n++
		}
	}
	return n
}

// effect is the new value of a field after an operation; "" if it does not change.
func (m *modelling) effect(i int, field string) (term, bool) {
	o := &m.f.Ops[i]
	taken, refused := m.splitCalls(i)
	for _, s := range refused {
		if b, ok := s.Before[field]; ok && s.Broken == "" && s.After[field] != nil && s.After[field] != b {
			return term{}, false
		}
	}
	if f, is := m.flags[field]; is {
		switch {
		case i == f.set:
			return constant(true), true
		case i == f.unset || o.Makes:
			return constant(false), true
		}
		return term{}, true
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
	t, ok := explain(taken, list, func(s *Step) (any, bool) {
		v, ok := s.After[field]
		if _, knew := s.Before[field]; m.f.Recorded && !o.Makes && !knew {
			return nil, false // its previous value is unknown
		}
		return v, ok && v != nil
	}, m.conds(i))
	if ok && t.text == n.self+"."+field && !o.Makes {
		t.text = ""
	}
	return t, ok || o.Makes && len(taken) == 0
}

// conds are the operands of an operation's conditions.
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

// conditions skips operations whose refusals nothing explains.
func (m *modelling) conditions(entity string) {
	for _, i := range append(m.makers(entity), m.of(entity)...) {
		taken, refused := m.splitCalls(i)
		if len(refused) == 0 {
			continue
		}
		if _, ok := m.allowed(taken, refused, m.conds(i)); !ok || len(taken) == 0 {
			why := "refused"
			if slices.ContainsFunc(refused, func(s *Step) bool { return s.Broken != "" }) {
				why = refused[slices.IndexFunc(refused, func(s *Step) bool { return s.Broken != "" })].Broken
			}
			m.left[i] = fmt.Sprintf("no simple condition says when %s of %d calls end so: %s", share(len(refused), len(refused)+len(taken)), len(refused)+len(taken), why)
		}
	}
}

func share(n, of int) string {
	if n == of {
		return "all"
	}
	return fmt.Sprint(n)
}
