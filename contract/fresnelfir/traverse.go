package fresnelfir

import (
	"fmt"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/dut"
	"github.com/thresh-dev/thresh/engine/walk"
)

// maxSteps is how many actions a traversal takes at most, those of its
// generator not counted.
const maxSteps = 256

// traversal walks a protocol over a model. It is used again for case after
// case; run leaves what happened in actions, seen and failed.
type traversal struct {
	p       *plan
	m       *model.Machine
	src     choice.Source
	in      inputs
	walkers []walk.Walker
	alive   []int // threads that have not ended

	state   *state // what was learned; nil: nothing
	row     uint64 // the row of the covering array to begin with
	threads int
	thread  int    // the acting one
	born    []int  // by thread: where on the tape its making begins
	turns   []turn // in order
	weights []float64
	breach  []model.Breach

	actions int
	seen    coverage
	failed  *failure
	trace   *trace                 // nil: not wanted
	dev     *device                // the module in step with the model; nil: the model alone
	given   map[string]model.Value // arguments that a generator's step gives
	tuple   []int32

	wide          bool // observers are asked about more instances
	forbidden     []int
	attempted     []stretch
	before, after []dut.Value // readings
	lastArgs      []dut.Value
	lastReply     dut.Reply
	versions      []int // by entity: how often it was written
	memos         []memo
}

// turn is a step: whose it was, and where on the tape that was decided.
type turn struct{ thread, at int }

func newTraversal(p *plan) *traversal {
	t := &traversal{p: p, m: p.program.New(1), versions: make([]int, len(p.doc.Entities))}
	t.in.hint = t.hint
	return t
}

// attach lets the traversal run a module in step with the model.
func (t *traversal) attach(d *device) {
	t.dev = d
	t.m.SetObserver(d)
}

// run walks from start to end. The source has been set up by the caller.
func (t *traversal) run() {
	t.threads = 1 + int(t.src.Draw(uint64(t.p.doc.Exploration.Threads)))
	t.actions, t.failed, t.turns = 0, nil, t.turns[:0]
	t.seen.reset()
	t.in.reset(&t.p.space)
	t.memos, t.attempted = t.memos[:0], t.attempted[:0]
	if t.wide = false; t.dev != nil && len(t.dev.mod.pairs) > 0 {
		wide := uint64(0)
		if t.state != nil && t.state.wide > 0 {
			wide = 1
		}
		t.wide = t.src.Prefer(wide, 2) == 1
	}
	begin := 0
	if n := len(t.p.starts); n > 0 {
		begin = t.chooseStart(n)
	}
	t.actors(t.threads)
	if t.failed == nil && begin > 0 {
		t.src.Begin()
		t.generate(&t.p.starts[begin-1])
		t.src.End()
	}
	for t.failed == nil && len(t.alive) > 0 && t.actions < maxSteps {
		t.src.Begin()
		t.step()
		t.src.End()
	}
}

// chooseStart decides on a generator; 0 is none.
func (t *traversal) chooseStart(n int) int {
	t.weights = t.weights[:0]
	t.weights = append(t.weights, 2*float64(n))
	for range n {
		t.weights = append(t.weights, 1)
	}
	return t.src.Weighted(t.weights)
}

// startTries is how often acting instances are drawn anew because the
// invariants do not hold for them.
const startTries = 8

// actors makes the threads: each an acting instance and the protocol that it
// walks. What is decided for one is one span, so that a thread can go as a whole.
func (t *traversal) actors(threads int) {
	for len(t.walkers) < threads {
		t.walkers = append(t.walkers, walk.Walker{})
	}
	for range startTries {
		t.m.Reset(threads)
		if t.dev != nil {
			t.dev.reset()
		}
		t.alive, t.born = t.alive[:0], t.born[:0]
		for i := range threads {
			t.m.Act(i)
			t.born = append(t.born, t.src.Len())
			t.src.Begin()
			if n := len(t.p.roots); n > 0 {
				r := t.src.Draw(uint64(n))
				t.walkers[i].Start(&t.p.grammar, t.p.roots[r].rule)
				t.walkers[i].Settle(t)
				t.alive = append(t.alive, i)
			}
			if t.p.actor >= 0 {
				t.m.Bind(t.p.program.Slot("actor"), t.instance(t.p.actor, t.p.space.links))
			}
			t.src.End()
		}
		t.m.Act(0)
		if t.breach = t.m.Check(t.breach[:0]); len(t.breach) == 0 {
			return
		}
	}
	t.fail(t.broken(t.breach[0], "in the start state"))
}

// instance makes an instance and gives all of its fields a value. links are the
// domains that some are drawn from.
func (t *traversal) instance(entity int, links []int) int32 {
	var linked []int
	for _, d := range links {
		if d >= 0 {
			linked = append(linked, d)
		}
	}
	if len(linked) > 0 {
		t.in.draw(&t.src, t.m, linked, t.likely())
		t.seen.input(t.in.row)
	}
	i := t.m.Create(entity)
	t.versions[entity]++
	for k, f := range t.p.doc.Entities[entity].Fields {
		if len(links) > 0 && links[k] >= 0 {
			t.m.Set(i, k, t.m.Input(links[k]))
		} else {
			n := t.src.Draw
			if len(f.Texts) > 0 {
				n = t.src.Skewed // the plain ones, which come first, as often as all variants
			}
			t.m.Set(i, k, t.fieldValue(i, k, f, n(fieldValues(f))))
		}
	}
	if t.trace != nil {
		t.trace.made(t.m, i)
	}
	return i
}

// likely is a row of the covering array, or, as often, nil: rows alone would
// never bring the same values together twice in a row.
func (t *traversal) likely() []int {
	rows := t.p.space.rows
	t.row = choice.Key(t.row)
	if len(rows) == 0 || t.row&1 == 1 {
		return nil
	}
	return rows[t.row>>1%uint64(len(rows))]
}

// fieldValues is how many values of a field an instance may be given that the
// harness makes. Of wide integers these are 0, or what is nearest to it, and
// the ends of the range.
func fieldValues(f *ir.Field) uint64 {
	switch f.Type {
	case ir.Bool:
		return 2
	case ir.Enum:
		return uint64(len(f.Values))
	case ir.Int:
		if low, high, small := smallRange(f); small {
			return uint64(high-low) + 1
		}
		return 3
	case ir.String:
		return max(uint64(len(f.Texts)), 1)
	}
	return 1
}

func smallRange(f *ir.Field) (low, high int64, small bool) {
	if f.Min == nil || f.Max == nil {
		return 0, 0, false
	}
	return *f.Min, *f.Max, uint64(*f.Max)-uint64(*f.Min) < maxValues
}

// fieldValue is value v of those that a field of instance i may be given.
func (t *traversal) fieldValue(i int32, field int, f *ir.Field, v uint64) model.Value {
	switch f.Type {
	case ir.Bool:
		if v == 1 {
			return model.True
		}
		return model.False
	case ir.Enum:
		x, _ := t.p.program.Symbol(f.Values[v])
		return x
	case ir.Int:
		if low, _, small := smallRange(f); small {
			return model.Number(low + int64(v))
		}
		zero := int64(0)
		if f.Min != nil {
			zero = max(zero, *f.Min)
		}
		if f.Max != nil {
			zero = min(zero, *f.Max)
		}
		switch {
		case v == 1 && f.Min != nil:
			return model.Number(*f.Min)
		case v == 2 && f.Max != nil:
			return model.Number(*f.Max)
		}
		return model.Number(zero)
	case ir.Ref:
		if e := t.p.program.Entity(f.Entity); len(t.m.Live(e)) > 0 {
			return model.Identity(t.m.Live(e)[0])
		}
	}
	if x := t.m.Get(i, field); x.Kind != model.Unset {
		return x // the id
	}
	text := ""
	if len(f.Texts) > 0 {
		text = f.Texts[v]
	}
	x, _ := t.p.program.Symbol(text)
	return x
}

// step lets one thread go on to its next action and carries that out.
func (t *traversal) step() {
	at := t.next()
	t.thread = t.alive[at]
	t.turns = append(t.turns, turn{t.thread, t.src.Len() - 1})
	t.m.Act(t.thread)
	if len(t.p.guarded) > 0 {
		t.in.draw(&t.src, t.m, t.p.guarded, t.likely())
	}
	w := &t.walkers[t.thread]
	action, status := w.Next(t)
	if status != walk.Called {
		if status == walk.Deep || status == walk.Idle {
			t.seen.cut++
		}
		t.alive = append(t.alive[:at], t.alive[at+1:]...)
		return
	}
	t.seen.node(w.Node())
	if asked := t.p.asked[action]; len(asked) > 0 {
		t.in.draw(&t.src, t.m, asked, t.likely())
	}
	if len(t.p.asked[action])+len(t.p.guarded) > 0 {
		t.seen.input(t.in.row)
	}
	t.actions++
	t.perform(action)
	w.Settle(t)
}

// next decides whose turn it is: a thread by its number, or, if that one has
// ended, the next that has not. It returns its place among the living.
func (t *traversal) next() int {
	n := int(t.src.Draw(uint64(t.threads)))
	for i, thread := range t.alive {
		if thread >= n {
			return i
		}
	}
	return 0
}

// perform carries an action of the acting thread out, on the module and on the
// model, and looks at all that must hold.
func (t *traversal) perform(action int) {
	a := &t.p.program.Actions()[action]
	if t.trace != nil {
		t.trace.begin(t, action)
		defer t.trace.end(t)
	}
	t.breach = t.m.Before(action, t.breach[:0])
	if t.dev != nil && t.dev.mod.actions[action].binding >= 0 {
		if !t.lockstep(action, len(t.breach) > 0) {
			return
		}
	}
	if len(t.breach) > 0 {
		t.fail(t.broken(t.breach[0], "before "+a.Name))
		return
	}
	if f := t.m.Apply(action); f.Cause != model.NoFault {
		t.fail(t.faulty(f, "the effect of "+a.Name, a.Name))
		return
	}
	if t.dev != nil && a.Assigns() >= 0 {
		t.dev.born(action, t.m.Var(a.Assigns()))
	}
	t.breach = t.m.After(action, t.breach[:0])
	if t.breach = t.m.Check(t.breach); len(t.breach) > 0 {
		t.fail(t.broken(t.breach[0], "after "+a.Name))
	} else if t.dev != nil {
		t.check(action)
	}
	t.m.Commit()
	if t.state != nil {
		t.seen.model(t.m.Sketch(t.p.actor))
	}
}

// check holds the module against the model, and against what its binding says,
// after an action that both have taken.
func (t *traversal) check(action int) {
	name := t.p.program.Actions()[action].Name
	if t.compare(name); t.failed != nil || t.dev.mod.actions[action].binding < 0 {
		return
	}
	t.written(action)
	if t.steady(action); t.failed == nil {
		t.twice(action)
	}
}

// Choose implements [walk.Guide].
func (t *traversal) Choose(at int) int {
	n := &t.p.nodes[at]
	open := uint64(0)
	for i := range n.branches {
		b := &n.branches[i]
		if b.open || t.guard(b) {
			open |= 1 << (i & 63)
		}
		if t.failed != nil {
			return -1
		}
	}
	if t.dev != nil && n.attempts {
		if t.attempts(at, open); t.failed != nil {
			return -1
		}
	}
	t.weights = append(t.weights[:0], t.state.weightsOf(t.p, at, open)...)
	total := 0.0
	for i, w := range t.weights {
		if open>>(i&63)&1 == 0 {
			w, t.weights[i] = 0, 0
			t.seen.closed(at, open, i)
		}
		total += w
	}
	if total <= 0 {
		t.seen.stuck(at, open)
		return -1
	}
	i := t.src.Weighted(t.weights)
	t.seen.taken(at, open, i)
	if t.trace != nil {
		t.trace.took(n.branches[i].id)
	}
	return i
}

// guard reports whether a guard holds. One that cannot be told for want of an
// instance does not; one that is faulty is a finding.
func (t *traversal) guard(b *branch) bool {
	// Guards are the model's: what they say must not hang on a module's faults.
	v, ok := t.m.Modelled(b.guard.Code)
	if ok {
		return v == model.True
	}
	if f := t.m.Fault(); f.Spec() {
		t.fail(t.faulty(f, fmt.Sprintf("the guard of branch %q", b.id), "guard "+b.id))
	}
	return false
}

// More implements [walk.Guide].
func (t *traversal) More(at, count int) bool {
	if t.state.loopLimit(t.p, at, count) {
		return t.src.Prefer(0, 2) == 1
	}
	return t.src.More(count, t.p.grammar.Nodes[at].Max)
}
