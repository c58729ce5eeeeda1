package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// If actors really call a system at the same time, a traversal of the model decides in advance who
// calls what, and in which order. How the calls overlap is up to the machine. The calls and answers
// with their times form a history (recording), which is checked against the model.

// score is the calls of each actor.
type score struct {
	device *device // encodes arguments
	steps  []cue
	setup  int             // number of steps of a generator, before the actors begin
	from   *model.Snapshot // the model when the actors begin
	insts  []planned       // by instance of the model
	met    []branchAt      // guards that held in this turn
}

type branchAt struct{ node, branch int }

// cue is a step of a score.
type cue struct {
	thread, action int
	guards         []branchAt
	inputs         []model.Value
	slots          []standing         // instances of the action's variables
	args           []dut.Value        // a reference is the instance's number + 1, or 0
	says           []string           // the arguments, for people
	made           int32              // the instance that the step creates, or None
	faults         []environmentFault // injected before the step
}

// standing is a variable with its instance.
type standing struct {
	slot     int
	instance int32
}

// planned is an instance: the step that creates it, and the number by which it is known if the
// system does not return one.
type planned struct {
	name   string
	entity int
	maker  int // step; -1: the harness
	number int64
}

// newScore returns a score that a traversal fills.
func newScore(t *traversal, mod *module) *score {
	return &score{device: &device{mod: mod, p: t.p, machine: t.m, made: make([]int64, len(t.p.doc.Entities))}}
}

// noteBranch notes a branch whose guard holds.
func (s *score) noteBranch(t *traversal, node, branch int) {
	if !t.p.nodes[node].branches[branch].open {
		s.met = append(s.met, branchAt{node, branch})
	}
}

// step notes an action that is about to be applied.
func (s *score) step(t *traversal, action int) {
	a := &t.p.program.Actions()[action]
	x := cue{thread: t.thread, action: action, made: model.None, guards: slices.Clone(s.met)}
	for d := range t.p.doc.Inputs.Domains {
		x.inputs = append(x.inputs, t.m.Input(d))
	}
	for _, slot := range t.p.scopeOf(action, x.guards).slots {
		if slot != a.Assigns() {
			x.slots = append(x.slots, standing{slot, t.m.Var(slot)})
		}
	}
	d := s.device
	for i := len(d.handles); i < t.m.Instances(); i++ {
		d.handles = append(d.handles, handle{number: int64(i) + 1})
	}
	c := &d.mod.actions[action]
	for k := range c.args {
		v, ok := d.argument(&c.args[k], t.given)
		if !ok {
			v = dut.Number(dut.Ref, 0)
		}
		x.args = append(x.args, v)
	}
	if a.Binding != nil {
		for _, name := range a.Binding.Args {
			x.says = append(x.says, name+"="+t.argument(a.Binding, name))
		}
	}
	s.steps = append(s.steps, x)
}

// attempt notes the action with which a branch begins and which the model does not allow here,
// unless the actor lacks an instance for it.
func (s *score) attempt(t *traversal, b branchAt) {
	s.met = append(s.met, b)
	s.step(t, t.p.nodes[b.node].branches[b.branch].attempt)
	s.met = s.met[:len(s.met)-1]
	last := len(s.steps) - 1
	if slices.ContainsFunc(s.steps[last].slots, func(x standing) bool { return x.instance < 0 }) {
		s.steps = s.steps[:last]
	}
}

// favor makes an instance that the last step was about as likely as all others together, because
// only calls about the same instances can interfere.
func (s *score) favor(choices []int32, weights []float64) {
	if len(s.steps) == 0 {
		return
	}
	for _, b := range s.steps[len(s.steps)-1].slots {
		if i := slices.Index(choices, b.instance); i >= 0 && weights[i] > 0 {
			weights[i] = float64(len(weights))
		}
	}
}

// applied notes the instance that the last step created.
func (s *score) applied(t *traversal, action int) {
	if slot := t.p.program.Actions()[action].Assigns(); slot >= 0 {
		s.steps[len(s.steps)-1].made = t.m.Var(slot)
	}
}

// begun notes the state in which the actors begin.
func (s *score) begun(t *traversal) {
	s.setup, s.from, s.met = len(s.steps), t.m.Save(), s.met[:0]
}

// ended names the instances.
func (s *score) ended(t *traversal) {
	all, born := make([]int64, len(t.p.doc.Entities)), make([]int64, len(t.p.doc.Entities))
	for i := range int32(t.m.Instances()) {
		e := t.m.EntityOf(i)
		all[e]++
		s.insts = append(s.insts, planned{name: t.m.Name(i), entity: e, maker: -1, number: all[e]})
	}
	for at, x := range s.steps {
		if x.made >= 0 {
			i := &s.insts[x.made]
			born[i.entity]++
			i.maker, i.number = at, born[i.entity]
		}
	}
}

// touched is what an action and its guards access.
type touched struct {
	slots   []int
	written []int // slots of instances that it changes or creates
	all     bool  // it reads instances that no variable stands for
}

// scopeOf returns what an action accesses if it is reached through guards.
func (p *plan) scopeOf(action int, guards []branchAt) touched {
	slots, written, all := p.program.Touched(action)
	x := touched{slots, written, all}
	for _, g := range guards {
		for _, b := range p.allowing(action, g) {
			if picked(p.program.Actions()[action].Effect, b.guard.Expr) {
				continue
			}
			more, far := p.program.Touches(b.guard.Expr, x.slots)
			x.slots, x.all = more, x.all || far
		}
	}
	return x
}

// allowing returns the branches of which one must be open for an action that was reached through a
// guard. In another order of the calls it may be a different one from the branch taken in the walk.
// nil: the action is always allowed there.
func (p *plan) allowing(action int, g branchAt) (list []*branch) {
	for i := range p.nodes[g.node].branches {
		switch b := &p.nodes[g.node].branches[i]; {
		case i != g.branch && b.leads != action:
		case b.open:
			return nil
		default:
			list = append(list, b)
		}
	}
	return list
}

// picked reports whether a guard only requires an instance that the action may choose.
func picked(e *ir.Effect, guard *ir.Expr) bool {
	if len(e.Picks) != 1 || guard.Op != ir.Exists {
		return false
	}
	x := e.Picks[0]
	if guard.Var != x.Var || guard.Over != x.Entity || len(guard.Args) != 1 {
		return false
	}
	body := guard.Args[0]
	return x.Where == nil && body.Op == ir.LitBool && body.Bool || x.Where != nil && sameExpr(x.Where, body)
}

// sameExpr reports whether two expressions are equal, ignoring their places.
func sameExpr(a, b *ir.Expr) bool {
	return a.Op == b.Op && a.Bool == b.Bool && a.Int == b.Int && a.Text == b.Text && a.Var == b.Var && a.Over == b.Over &&
		a.Input == b.Input && slices.Equal(a.Names, b.Names) && slices.Equal(a.With, b.With) && slices.EqualFunc(a.Args, b.Args, sameExpr)
}
