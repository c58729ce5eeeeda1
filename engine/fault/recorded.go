package fault

import "slices"

// recorded finds the recorded response for a call: of a tool, by its names; of a model,
// the reply to the same question, or else the next one.
func (l *Ledger) recorded(d *Decision) {
	c, model := &d.Call, d.Call.Kind == ModelCall
	if len(l.plan.Recorded) == 0 || c.Kind == OtherCall || model && !l.plan.RecordsModel() {
		return
	}
	find := func(fits func(r *Recorded) bool) bool {
		for i := range l.plan.Recorded {
			if r := &l.plan.Recorded[i]; !l.given[i] && r.Model == model && fits(r) {
				l.given[i], d.Recorded = true, r
				return true
			}
		}
		return false
	}
	if model {
		d.Refused = !find(func(r *Recorded) bool { return r.Asked == c.Asked }) && !find(func(*Recorded) bool { return true })
		return
	}
	names := slices.Clone(c.Names)
	if i := slices.IndexFunc(names, func(name string) bool {
		return slices.ContainsFunc(l.plan.Recorded, func(r Recorded) bool { return !r.Model && plainName(r.Tool) == plainName(name) })
	}); i >= 0 && c.Kind == ToolCall && c.URL != "" {
		names = names[:i+1] // the answers of /orders are not those of /orders/7/pay, which has its own
	}
	d.Refused = !slices.ContainsFunc(append(names, c.Wanted), func(name string) bool {
		return find(func(r *Recorded) bool {
			return plainName(r.Tool) == plainName(name) && (name == c.Wanted || slices.Contains(l.namesFor(name, c), name))
		})
	})
}

// RecordsModel reports whether replies of models are recorded.
func (p *Plan) RecordsModel() bool {
	return slices.ContainsFunc(p.Recorded, func(r Recorded) bool { return r.Model })
}
