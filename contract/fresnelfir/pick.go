package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

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
		t.setTopic(topicPick, action<<8|k)
		t.m.Bind(slot, t.m.Choices(action, k)[t.src.Weighted(t.weights)])
	}
	return true
}

// refusable reports whether the action that a branch begins with could be tried for instances that it
// may not be taken for. What a choice depends on may not be chosen yet: then it could.
func (t *traversal) refusable(b *branch) bool {
	a := &t.p.program.Actions()[b.attempt]
	for k := range a.Picks() {
		if slices.Contains(b.told, a.PickSlot(k)) {
			if t.weights = t.m.Fits(b.attempt, k, t.weights[:0]); slices.Contains(t.weights, 0) {
				return true
			}
		}
	}
	return false
}

// allowed reports whether the action that a branch begins with is allowed for the instances that are
// bound, whatever is chosen, from the choice of that number on, of what the system is not told.
func (t *traversal) allowed(b *branch, k int) bool {
	a := &t.p.program.Actions()[b.attempt]
	switch {
	case k == a.Picks():
		v, _ := t.m.Eval(b.guard.Code)
		return v == model.True && t.m.Chosen(b.attempt)
	case slices.Contains(b.told, a.PickSlot(k)):
		return t.allowed(b, k+1)
	}
	return slices.ContainsFunc(t.m.Choices(b.attempt, k), func(x int32) bool {
		t.m.Bind(a.PickSlot(k), x)
		return t.allowed(b, k+1)
	})
}

// told are the variables whose instances the system can tell from the arguments of a call.
func (p *plan) told(call *ir.ActionBinding) (slots []int) {
	for _, name := range call.Args {
		switch x, _ := p.doc.ArgumentOf(call, name); x.Kind {
		case ir.ArgHandle, ir.ArgField:
			slots = append(slots, p.program.Slot(x.Var))
		case ir.ArgValue:
			slots, _ = p.program.Touches(x.Value.Value, slots)
		}
	}
	return slots
}
