package fresnelfir

import "slices"

// pick chooses the instances that an action is about, those apart that a generator's step
// binds. It is false if there is none to choose: the guard says so before. With wrong it
// chooses any instances, so that the module is asked for what the model may forbid.
func (t *traversal) pick(action int, given []startBind, wrong bool) bool {
	a := &t.p.program.Actions()[action]
	for k := range a.Picks() {
		slot := a.PickSlot(k)
		if slices.ContainsFunc(given, func(b startBind) bool { return b.slot == slot }) {
			continue
		}
		t.weights = t.m.Fits(action, k, t.weights[:0])
		if wrong {
			for i := range t.weights {
				t.weights[i] = 1
			}
		}
		if !slices.Contains(t.weights, 1) {
			return false
		}
		t.about(topicPick, action<<8|k)
		t.m.Bind(slot, t.m.Choices(action, k)[t.src.Weighted(t.weights)])
	}
	return true
}

// refusable reports whether an action could be tried for an instance that it may not be
// taken for.
func (t *traversal) refusable(action int) bool {
	if t.p.program.Actions()[action].Picks() == 0 {
		return false
	}
	t.weights = t.m.Fits(action, 0, t.weights[:0])
	return slices.Contains(t.weights, 0)
}

// chosen reports whether all instances that an action is about are such as may be chosen.
func (t *traversal) chosen(action int) bool {
	a := &t.p.program.Actions()[action]
	for k := range a.Picks() {
		t.weights = t.m.Fits(action, k, t.weights[:0])
		if i := slices.Index(t.m.Choices(action, k), t.m.Var(a.PickSlot(k))); i < 0 || t.weights[i] == 0 {
			return false
		}
	}
	return true
}
