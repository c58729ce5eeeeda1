package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/walk"
	"github.com/thresh-dev/thresh/port/dut"
)

// compileAttempts finds the action with which each guarded branch begins, if the action's binding
// says how the module refuses it. Such an action may be called although the guard does not hold;
// the module must then refuse it. That excludes guards that depend on something the system cannot
// know. If another branch may begin with the same action, that branch's guard must not hold either.
func (p *plan) compileAttempts() {
	for at := range p.nodes {
		children := p.grammar.Nodes[at].Children
		for i := range p.nodes[at].branches {
			p.nodes[at].branches[i].leads = p.leading(children[i], 0)
		}
		for i := range p.nodes[at].branches {
			b := &p.nodes[at].branches[i]
			if b.attempt = -1; b.open {
				continue
			}
			if b.leads >= 0 {
				if x := p.program.Actions()[b.leads].Binding; x != nil && x.Rejects != nil && !b.hidden {
					b.attempt, b.passed, p.nodes[at].attempts = b.leads, p.passed(x), true
				}
			}
			for j := 0; b.attempt >= 0 && j < len(children); j++ {
				first := p.nodes[at].branches[j].leads
				may := first == b.attempt
				if first < 0 {
					may, _ = p.mayBegin(children[j], b.attempt, make(map[int]bool))
				}
				if may && j != i {
					b.rivals = append(b.rivals, j)
				}
			}
		}
	}
}

// leading returns the action with which a node begins; -1 if that is not fixed.
func (p *plan) leading(at, depth int) int {
	n := &p.grammar.Nodes[at]
	switch {
	case n.Kind == walk.Call:
		return n.Action
	case depth > walk.MaxDepth || n.Kind == walk.Alt || n.Kind == walk.Repeat && n.Min == 0:
		return -1
	case n.Kind == walk.Refer:
		return p.leading(p.grammar.Rules[n.Rule], depth+1)
	case len(n.Children) == 0:
		return -1
	}
	return p.leading(n.Children[0], depth+1)
}

// mayBegin reports whether a node may begin with an action, and whether it may end without one. For
// a rule already visited, it returns false and true: the rule's first visit has settled the first
// answer.
func (p *plan) mayBegin(at, action int, looked map[int]bool) (may, over bool) {
	n := &p.grammar.Nodes[at]
	switch {
	case n.Kind == walk.Call:
		return n.Action == action, false
	case n.Kind == walk.Refer && looked[n.Rule]:
		return false, true
	case n.Kind == walk.Refer:
		looked[n.Rule] = true
		return p.mayBegin(p.grammar.Rules[n.Rule], action, looked)
	}
	over = n.Kind != walk.Alt || len(n.Children) == 0
	for _, child := range n.Children {
		m, o := p.mayBegin(child, action, looked)
		may = may || m
		if n.Kind == walk.Alt {
			over = over || o
		} else if !o {
			over = false
			break
		}
	}
	return may, over || n.Kind == walk.Repeat && n.Min == 0
}

// onceInFour are the weights for doing something outside the walk.
var onceInFour = []float64{3, 1}

// onceInTwo are the weights of not trying and of trying a forbidden action. Refusing such actions
// is half of what a module has to get right.
var onceInTwo = []float64{1, 1}

// attempts occasionally tries one of the actions with which the closed branches of an alternative
// begin.
func (t *traversal) attempts(at int) {
	branches := t.p.nodes[at].branches
	t.forbidden = t.forbidden[:0]
	for i := range branches {
		if a := branches[i].attempt; a >= 0 && (t.score == nil || t.p.decidable(branches, i)) && (t.shut[i] || t.refusable(&branches[i])) {
			t.forbidden = append(t.forbidden, i)
		}
	}
	if len(t.forbidden) == 0 {
		return
	}
	calls := t.dev != nil || t.score != nil
	if t.setTopic(topicAttempt, at); !calls && t.src.Prefer(0, 2) == 0 || calls && t.src.Weighted(onceInTwo) == 0 {
		return
	}
	t.attempted++
	t.aside = topicAside
	t.src.Begin()
	defer func() {
		t.src.End()
		t.aside = 0
	}()
	t.setTopic(topicForbidden, at)
	i := t.forbidden[t.src.Draw(uint64(len(t.forbidden)))]
	b := &branches[i]
	asked, picks := t.p.asked[b.attempt], t.p.program.Actions()[b.attempt].Picks() > 0
	if len(asked) > 0 {
		t.in.draw(&t.src, t.m, asked, nil)
	}
	if picks {
		mark := t.m.Mark()
		defer t.m.Undo(mark)
		if !t.pick(b.attempt, nil, true) {
			return // no instance to choose
		}
	}
	if t.dev.misdirected(b.attempt) || (len(asked) > 0 || picks) && t.allowed(b, 0) || slices.ContainsFunc(b.rivals, func(j int) bool { return t.rivals(&branches[j], b.attempt) }) {
		return // allowed with these inputs and instances
	}
	switch {
	case t.dev != nil:
		t.attempt(b)
	case t.score != nil:
		t.score.attempt(t, branchAt{at, i})
	}
}

// decidable reports whether a history shows if the model allowed a call that was meant to be
// refused, although other calls may have changed that before it was made.
func (p *plan) decidable(branches []branch, i int) bool {
	b := &branches[i]
	a := &p.program.Actions()[b.attempt]
	for k := range a.Picks() {
		if !slices.Contains(b.passed, a.PickSlot(k)) {
			return false
		}
	}
	return a.Assigns() < 0 && !slices.ContainsFunc(b.rivals, func(j int) bool { return branches[j].leads != b.attempt })
}

// rivals reports whether a branch may allow an action that another one forbids.
func (t *traversal) rivals(b *branch, action int) bool {
	if b.open || b.attempt == action {
		return b.open || t.allowed(b, 0)
	}
	v, ok := t.m.Modelled(b.guard.Code)
	return !ok || v == model.True
}

// attempt calls an action that the model does not allow. The module must refuse it and remain
// unchanged.
func (t *traversal) attempt(b *branch) {
	d, a := t.dev, &t.p.program.Actions()[b.attempt]
	if t.trace != nil {
		t.trace.noteBranch("not allowed: " + b.id)
		t.trace.begin(t, b.attempt)
		defer t.trace.end(t)
	}
	if err := d.call(b.attempt, nil); err != nil {
		t.note(err.Error())
		return
	}
	t.seen.countEvent(event{kind: eventAttempt, node: b.attempt})
	switch {
	case d.refused(b.attempt):
		t.note("refuses, as it should")
		t.compare(t.p.claims[b.attempt].refusing)
	case t.full():
	case d.reply.Cause != dut.None:
		t.fail(t.moduleFailed(a.Name))
	default:
		t.note(d.read(d.reply.Value, &d.mod.actions[b.attempt].returns) + d.sharedArgs(b.attempt))
		t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: a.Name, cause: "not refused", at: a.Binding.Rejects.Place,
			title: "the " + d.mod.noun + " takes " + a.Name + ", which the model does not allow"})
	}
}
