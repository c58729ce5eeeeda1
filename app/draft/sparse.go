package draft

import (
	"maps"
	"slices"
	"strings"
)

// A trace rarely reads the state after each call. The state between two reads is followed here from
// call to call: the number of instances, and what one operation forbids until another one allows
// it.

// countedBy returns the entity whose live instances an operation counts every time.
func (m *modelling) countedBy(op int) (string, bool) {
	for _, e := range m.entities() {
		if e == "" || m.f.Ops[op].Entity != "" {
			continue
		}
		seen, is := map[int]bool{}, true
		for _, list := range m.f.Sequences {
			live := map[string]bool{}
			for _, s := range list {
				switch o := &m.f.Ops[s.Op]; {
				case s.Refused:
				case s.Op == op:
					n, ok := s.Value.(int64)
					seen[len(live)], is = true, is && ok && n == int64(len(live))
				case o.Makes && o.Entity == e:
					live[s.Made] = true
				case o.Entity == e && o.Ends != "":
					delete(live, s.On)
				}
			}
		}
		if is && len(seen) > least {
			return e, true
		}
	}
	return "", false
}

// unsteady reports whether what an operation reads changes without a call that the draft could
// explain it by.
func (m *modelling) unsteady(op int) bool {
	for _, list := range m.f.Sequences {
		was := map[string]any{}
		for _, s := range list {
			o := &m.f.Ops[s.Op]
			switch v, known := was[s.On]; {
			case s.Refused:
			case s.Op == op && known && v != s.Value:
				return true
			case s.Op == op:
				was[s.On] = s.Value
			case o.Left != "":
				clear(was)
			case o.Entity == m.f.Ops[op].Entity && o.Pure == "":
				delete(was, s.On)
			}
		}
	}
	return false
}

// toggle is a hidden flag: one operation sets it, another one clears it (-1: none does).
type toggle struct{ set, unset int }

// findFlags looks for flags that explain refusals that nothing else explains.
func (m *modelling) findFlags(entity string) {
	ops := slices.DeleteFunc(m.of(entity), func(i int) bool { return m.f.Ops[i].Pure != "" })
	all := map[string]toggle{}
	for _, a := range ops {
		for _, b := range append([]int{-1}, ops...) {
			if name := "after_" + m.names[a]; a != b {
				if b >= 0 {
					name += "_until_" + m.names[b]
				}
				all[name] = toggle{a, b}
			}
		}
	}
	if len(all) > 100 {
		return
	}
	for name, f := range all {
		m.follow(entity, name, f)
	}
	for _, i := range m.of(entity) {
		taken, refused := m.splitCalls(i)
		list := m.conds(i)
		if _, ok := m.allowed(taken, refused, list); ok || len(refused) < least {
			continue
		}
		n := m.naming(i)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			list = append(list, n.fieldOf(name))
		}
		t, ok := m.allowed(taken, refused, list)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if ok && slices.Contains(strings.Fields(t.text), n.self+"."+name) && !slices.Contains(m.fields[entity], name) {
				m.fields[entity], m.flags[name] = append(m.fields[entity], name), all[name]
			}
		}
	}
}

// allowed is the condition under which an operation is allowed. A trace is not an experiment:
// there, one observation is not a rule.
func (m *modelling) allowed(taken, refused []*Step, list []term) (term, bool) {
	kills := 1
	if m.f.Recorded {
		if kills = least; len(taken) < least {
			return term{}, false
		}
	}
	return separate(taken, refused, list, 3, kills)
}

// follow records a flag in the steps.
func (m *modelling) follow(entity, name string, f toggle) {
	for _, list := range m.f.Sequences {
		on := map[string]bool{}
		for i := range list {
			s := &list[i]
			o := &m.f.Ops[s.Op]
			if o.Makes || o.Entity != entity {
				continue
			}
			s.Before = with(s.Before, name, on[s.On])
			if !s.Refused && s.Broken == "" && (s.Op == f.set || s.Op == f.unset) {
				on[s.On] = s.Op == f.set
			}
			s.After = with(s.After, name, on[s.On])
		}
	}
}
