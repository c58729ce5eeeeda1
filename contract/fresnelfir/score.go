package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// Where actors really call a system at the same time, a traversal of the model decides
// beforehand who calls what, in which order each. How the calls overlap is the machine's
// affair: what was called and answered when is a history (recording), and what is held
// against the model.

// score is what each actor is to call.
type score struct {
	device *device // writes arguments
	steps  []cue
	setup  int             // so many steps are a generator's, before the actors begin
	from   *model.Snapshot // the model before the actors begin
	insts  []planned       // by instance of the model
	met    []branchAt      // guards that held in this turn
}

type branchAt struct{ node, branch int }

// cue is a step of a score.
type cue struct {
	thread, action int
	guards         []branchAt
	inputs         []model.Value
	slots          []standing         // what the action's variables stand for
	args           []dut.Value        // a reference is the instance's number + 1, or 0
	says           []string           // the arguments, for people
	made           int32              // the instance that it makes, or None
	faults         []environmentFault // before it
}

// standing is what a variable stands for.
type standing struct {
	slot     int
	instance int32
}

// planned is an instance: which step makes it, and its number for the system if that
// gives it none.
type planned struct {
	name   string
	entity int
	maker  int // step; -1: the harness
	number int64
}

// newScore is a score that a traversal writes.
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

// attempt notes the action that a branch begins with, which the model does not allow here,
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

// favor makes an instance that the last step was about as likely as all others together:
// only calls about the same instances can disturb each other.
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

// applied notes what the last step made.
func (s *score) applied(t *traversal, action int) {
	if slot := t.p.program.Actions()[action].Assigns(); slot >= 0 {
		s.steps[len(s.steps)-1].made = t.m.Var(slot)
	}
}

// begun notes the state in which actors begin.
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

// touched is what an action, behind its guards, has to do with.
type touched struct {
	slots   []int
	written []int // slots of instances that it changes or makes
	all     bool  // it looks at instances that no variable stands for
}

// scopeOf is what an action has to do with when it is reached through guards.
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

// allowing are the branches of which one must be open for an action that was reached through
// a guard: in another order of the calls it may be another one than the walk took. None: it
// is always allowed there.
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

// picked reports whether a guard says no more than that there is an instance which the
// action may choose.
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

// sameExpr reports whether two expressions are the same, wherever they stand.
func sameExpr(a, b *ir.Expr) bool {
	return a.Op == b.Op && a.Bool == b.Bool && a.Int == b.Int && a.Text == b.Text && a.Var == b.Var && a.Over == b.Over &&
		a.Input == b.Input && slices.Equal(a.Names, b.Names) && slices.Equal(a.With, b.With) && slices.EqualFunc(a.Args, b.Args, sameExpr)
}
