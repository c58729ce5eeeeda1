package fresnelfir

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// A history is linearizable if each call can be assigned a moment between its begin and its end
// such that the model, taking the calls in that order, explains each answer. Calls that change no
// instance in common are independent and are checked separately (Herlihy and Wing's locality).

// mostOrders limits the steps of the search for such an order in one history.
const mostOrders = 2_000_000

// judge checks recordings against the model. It is not safe for concurrent use.
type judge struct {
	p       *plan
	mod     *module
	m       *model.Machine
	device  *device
	score   *score
	rec     *recording
	replies []*called // by step
	tried   int
	seed    maphash.Seed
}

// point is a state of the model in a search, with its instances.
type point struct {
	at   *model.Snapshot
	lin  []int32 // by planned instance: the model's instance, or None
	key  string
	wild bool // a call was made that the document does not describe: anything may follow
}

func newJudge(p *plan, mod *module, s *score, r *recording) *judge {
	j := &judge{p: p, mod: mod, m: p.program.New(1), score: s, rec: r, replies: make([]*called, len(s.steps)), seed: maphash.MakeSeed()}
	j.device = &device{mod: mod, p: p, machine: j.m, made: make([]int64, len(p.doc.Entities))}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Step >= 0 {
			j.replies[c.Step] = c
		}
	}
	return j
}

// apart splits the actors' calls, and the observations at the end, into independent groups. Each
// group holds call numbers in ascending order.
func (j *judge) apart() [][]int {
	changed := make([]bool, len(j.score.insts))
	about := make([][]int32, len(j.rec.Calls))
	whole := false
	for i := range j.rec.Calls {
		c := &j.rec.Calls[i]
		if c.Step < 0 {
			about[i] = c.Of
			continue
		}
		x := &j.score.steps[c.Step]
		t := j.p.scopeOf(x.action, x.guards)
		whole = whole || t.all
		for _, b := range x.slots {
			if b.instance < 0 {
				continue
			}
			about[i] = append(about[i], b.instance)
			if slices.Contains(t.written, b.slot) {
				changed[b.instance] = true
			}
		}
		if x.made >= 0 {
			about[i], changed[x.made] = append(about[i], x.made), true
		}
	}
	for i := range j.mod.pairs {
		whole = whole || j.p.program.Sees(j.p.doc.Pair(j.p.doc.Functions[j.mod.pairs[i].observer]))
	}
	root := make([]int, len(j.score.insts)+1) // the last one is for calls that concern no changing instance
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	rest := len(root) - 1
	first := func(i int) int {
		for _, at := range about[i] {
			if changed[at] {
				return int(at)
			}
		}
		return rest
	}
	if !whole {
		for i := range about {
			f := first(i)
			for _, at := range about[i] {
				if changed[at] {
					root[find(int(at))] = find(f)
				}
			}
		}
	}
	groups := map[int]int{}
	var list [][]int
	for i := range j.rec.Calls {
		if c := &j.rec.Calls[i]; c.Step >= 0 && c.Step < j.score.setup {
			continue
		}
		k := 0
		if !whole {
			k = find(first(i))
		}
		at, met := groups[k]
		if !met {
			at = len(list)
			groups[k] = at
			list = append(list, nil)
		}
		list[at] = append(list[at], i)
	}
	return list
}

// explained reports whether some order explains calls, as far as they had ended by a moment.
func (j *judge) explained(calls []int, until int64) bool {
	var ops []porcupine.Operation
	for _, i := range calls {
		c := &j.rec.Calls[i]
		op := porcupine.Operation{ClientId: c.Thread, Input: c, Call: c.Begin, Return: c.End, Output: !c.Dropped}
		if c.Begin > until {
			continue
		}
		if c.End == 0 || c.End > until {
			op.Return, op.Output = math.MaxInt64, false
		}
		ops = append(ops, op)
	}
	m := porcupine.NondeterministicModel{
		Init:  func() []any { return []any{j.start()} },
		Equal: func(a, b any) bool { return a.(*point).key == b.(*point).key },
		Hash:  func(s any) uint64 { return maphash.String(j.seed, s.(*point).key) },
		Step: func(state, input, output any) (list []any) {
			from, c := state.(*point), input.(*called)
			ok, to := j.step(from, c, output.(bool))
			if ok {
				list = append(list, to)
			}
			if c.Dropped && to != from {
				list = append(list, from) // or the call took no effect
			}
			return list
		},
	}
	return porcupine.CheckOperations(m.ToModel(), ops)
}

// start returns the state in which the actors begin.
func (j *judge) start() *point {
	s := &point{at: j.score.from, lin: make([]int32, len(j.score.insts))}
	j.m.Load(s.at)
	for i := range s.lin {
		if s.lin[i] = model.None; i < j.m.Instances() {
			s.lin[i] = int32(i)
		}
	}
	s.key = j.key(s)
	return s
}

// step applies a call in a state. For a call that is not known, it is unknown how it ended and
// whether it took effect.
func (j *judge) step(s *point, c *called, known bool) (bool, *point) {
	if j.tried++; j.tried > mostOrders {
		return false, s
	}
	if s.wild {
		return true, s
	}
	j.m.Load(s.at)
	if c.Step < 0 {
		return !known || j.observed(s, c), s
	}
	x := &j.score.steps[c.Step]
	a := &j.p.program.Actions()[x.action]
	call := &j.mod.actions[x.action]
	allowed, there := j.stage(s, x)
	refused := known && j.refused(call, c)
	switch {
	case !known && !allowed:
		return true, s
	case !there: // the call came after its instance was gone, or its instance's creation was lost
		return refused || j.replaced(s, x), s
	case refused:
		return !allowed, s
	case !allowed && a.Binding != nil && a.Binding.Rejects == nil:
		return true, &point{wild: true, key: "wild"}
	case !allowed:
		return false, s
	}
	if !j.argumentsUnchanged(x, call) {
		return true, &point{wild: true, key: "wild"}
	}
	if known && call.answer != nil {
		if want, ok := j.m.Value(call.answer); ok && j.answer(s, c.Value, &call.returns) != want {
			return false, s
		}
	}
	if f := j.m.Apply(x.action); f.Cause != model.NoFault {
		return true, &point{wild: true, key: "wild"}
	}
	next := &point{lin: s.lin}
	if x.made >= 0 {
		next.lin = slices.Clone(s.lin)
		next.lin[x.made] = j.m.Var(a.Assigns())
	}
	for slot := range j.p.program.Vars() { // variables are set from the score
		j.m.Bind(slot, model.None)
	}
	next.at = j.m.Save()
	next.key = j.key(next)
	return true, next
}

// stage sets the call's inputs and variables in the machine. allowed says that the model allows the
// call; there says that every instance it is about exists.
func (j *judge) stage(s *point, x *cue) (allowed, there bool) {
	j.m.Act(0)
	for d, v := range x.inputs {
		j.m.SetInput(d, v)
	}
	for _, b := range x.slots {
		to := model.None
		if b.instance >= 0 {
			if to = s.lin[b.instance]; to < 0 {
				return false, false
			}
		}
		j.m.Bind(b.slot, to)
	}
	for _, g := range x.guards {
		list := j.p.allowing(x.action, g)
		if len(list) > 0 && !slices.ContainsFunc(list, func(b *branch) bool {
			v, ok := j.m.Modelled(b.guard.Code)
			return ok && v == model.True
		}) {
			return false, true
		}
	}
	return j.m.Chosen(x.action), true
}

// replaced reports whether a step is about a missing instance whose number the system has given to
// another one.
func (j *judge) replaced(s *point, x *cue) bool {
	return slices.ContainsFunc(x.slots, func(b standing) bool {
		if b.instance < 0 || s.lin[b.instance] >= 0 {
			return false
		}
		n, _ := j.rec.number(j.score, j.mod, b.instance, j.replies)
		for i := range j.score.insts {
			other, known := j.rec.number(j.score, j.mod, int32(i), j.replies)
			if known && other == n && int32(i) != b.instance && j.score.insts[i].entity == j.score.insts[b.instance].entity {
				return true
			}
		}
		return false
	})
}

// argumentsUnchanged reports whether arguments that depend on the model's state equal what was
// sent.
func (j *judge) argumentsUnchanged(x *cue, call *call) bool {
	for k := range call.args {
		a := &call.args[k]
		if a.Kind != ir.ArgField && a.Kind != ir.ArgValue || a.kind == dut.Ref {
			continue
		}
		if v, ok := j.device.argument(a, nil); !ok || v != x.args[k] {
			return false
		}
	}
	return true
}

// refused reports whether a call's answer is a refusal.
func (j *judge) refused(x *call, c *called) bool {
	return c.Cause == dut.Refused || c.Cause.Refuses() && x.trap || c.Cause == dut.None && x.refuses != nil && x.refuses(c.Value.Int)
}

// answer converts an answer into a value of the model in a state.
func (j *judge) answer(s *point, v dut.Value, as *result) model.Value {
	if v.Kind != dut.Ref {
		return j.device.answer(v, as)
	}
	for i := range j.score.insts {
		if j.score.insts[i].entity != as.entity || s.lin[i] < 0 {
			continue
		}
		if n, ok := j.rec.number(j.score, j.mod, int32(i), j.replies); ok && n == v.Int {
			return model.Identity(s.lin[i])
		}
	}
	return j.device.answer(v, as) // no instance has that number
}

// observed reports whether the model explains an observation at the end.
func (j *judge) observed(s *point, c *called) bool {
	for k := range j.mod.pairs {
		x := &j.mod.pairs[k]
		if x.observer != c.Observer {
			continue
		}
		var list []int32
		for _, i := range c.Of {
			if s.lin[i] < 0 {
				return true // the instance was never created
			}
			list = append(list, s.lin[i])
		}
		want, ok := j.m.ValueWith(x.model, list)
		return !ok || c.Cause == dut.None && j.answer(s, c.Value, &j.mod.observers[x.observer].returns) == want
	}
	return true
}

// key distinguishes states: which instances exist, in the score's order, and their fields.
func (j *judge) key(s *point) string {
	back := make(map[int32]int, len(s.lin))
	for i, at := range s.lin {
		if at >= 0 {
			back[at] = i
		}
	}
	var b []byte
	for i, at := range s.lin {
		if at < 0 {
			continue
		}
		b = binary.AppendUvarint(b, uint64(i))
		for k := range j.p.doc.Entities[j.m.EntityOf(at)].Fields {
			v := j.m.Get(at, k)
			if v.Kind == model.Symbol && v.N < 0 {
				v.N = ^int64(back[int32(^v.N)])
			}
			b = binary.AppendVarint(append(b, byte(v.Kind)), v.N)
		}
	}
	return string(b)
}
