package fresnelfir

import (
	"fmt"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/walk"
)

// maxSteps is the largest number of actions in a traversal, not counting those of its generator.
const maxSteps = 256

func newTraversal(p *plan) *traversal {
	t := &traversal{p: p, m: p.program.New(1)}
	t.versions = make([]int, len(p.doc.Entities))
	if p.doc.Exploration.Vary {
		t.habits = &habits{took: map[event]float64{}, idle: map[event]float64{}, met: map[uint64]bool{}}
	}
	t.in.hint = t.hint
	return t
}

// attach makes the traversal run a module in lockstep with the model.
func (t *traversal) attach(d *device) {
	t.dev, t.mod = d, d.mod
	t.m.SetObserver(d)
}

// run walks from the beginning to the end. The caller has prepared the source of decisions.
func (t *traversal) run() {
	t.traverse()
	n := len(t.beyond)
	switch x := t.p.doc.Capsule; {
	case x != nil: // a capsule is about one failure
		for _, f := range t.beyond {
			if f.title == x.Description {
				t.failed, t.enough = &f.failure, f.decided
			}
		}
	case n > 0 && (t.failed == nil || t.passing&excessFirst != 0):
		f := t.beyond[t.actions%n] // so that each of them is shown by some traversals
		t.failed, t.seen.last, t.enough = &f.failure, f.blamed, f.decided
	case t.failed == nil && t.passed != nil:
		t.failed, t.seen.last = t.passed, t.blamed
	}
}

func (t *traversal) traverse() {
	t.restored = false
	if t.from == nil {
		t.start()
		t.walk(math.MaxInt)
		return
	}
	if x := t.snapshots.of(t.from); x != nil {
		t.restored = true
		t.goBack(x, t.key)
	} else {
		t.start()
		t.walk(len(t.from.tape))
		if t.snapshots != nil && t.failed == nil {
			t.snapshots.add(t.from, t.snapshot())
		}
	}
	t.depart()
	t.walk(math.MaxInt)
}

// noting reports whether the states of the model matter to someone: to a campaign that learns, or
// to a search.
func (t *traversal) noting() bool { return t.state != nil || t.in.plain && !t.everything }

// want sets the inputs to use from now on if possible; nil: any.
func (t *traversal) want(x *inputGoal) {
	if t.wanted, t.in.exact = x, nil; x != nil {
		t.in.exact = x.exact
	}
}

// clear resets the traversal for a new case.
func (t *traversal) clear() {
	t.actions, t.begun, t.failed, t.passed = 0, 0, nil, nil
	t.beyond, t.enough = t.beyond[:0], 0
	t.seen.reset()
	t.memos, t.attempted, t.aside = t.memos[:0], 0, 0
	clear(t.versions)
	t.habits.clear()
}

// start prepares the first step.
func (t *traversal) start() {
	t.clear()
	t.in.reset(&t.p.space)
	t.setTopic(topicStart, 0)
	if n := uint64(t.p.doc.Exploration.Threads); t.habits != nil && t.state != nil && t.row&1 == 0 {
		t.threads = 1 + int(t.src.Prefer(n-1, n)) // a single actor cannot show what only others' actions reveal
	} else {
		t.threads = 1 + int(t.src.Draw(n))
	}
	if t.wide = false; t.mod != nil && len(t.mod.pairs) > 0 {
		wide := uint64(0)
		if t.state != nil && t.state.wide > 0 {
			wide = 1
		}
		t.setTopic(topicPlain, 0)
		t.wide = t.src.Prefer(wide, 2) == 1
	}
	if t.passing = 0; t.p.program.Properties() > 0 || t.p.exceeds {
		t.setTopic(topicStart, 1)
		t.passing = t.src.Prefer(t.lenient, 0)
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
	if t.score != nil {
		t.score.begun(t)
	}
	t.sketch = t.m.Sketch(t.p.actor)
	if t.finder != nil {
		t.finder.observe(t)
	}
}

// walk takes steps until none is possible, or a number of decisions has been made.
func (t *traversal) walk(decisions int) {
	for t.failed == nil && t.canStep() && t.src.Len() < decisions {
		t.src.Begin()
		t.step()
		t.src.End()
		if t.finder != nil {
			t.finder.observe(t)
		}
	}
}

// canStep reports whether there is a step to take.
func (t *traversal) canStep() bool { return len(t.alive) > 0 && t.actions < maxSteps }

// chooseStart chooses a generator; 0 is none.
func (t *traversal) chooseStart(n int) int {
	t.weights = t.weights[:0]
	t.weights = append(t.weights, 2*float64(n))
	for range n {
		t.weights = append(t.weights, 1)
	}
	t.setTopic(topicStart, 2)
	return t.src.Weighted(t.weights)
}

// startTries is how often actors are drawn again because the invariants do not hold for them.
const startTries = 8

// actors creates the threads, each with an actor and the protocol that it walks. The decisions for
// a thread form one span, so that a thread can be removed as a whole.
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
			t.thread = i
			t.m.Act(i)
			t.born = append(t.born, t.src.Len())
			t.src.Begin()
			if n := len(t.p.roots); n > 0 {
				t.setTopic(topicRoot, 0)
				r := t.src.Draw(uint64(n))
				t.walkers[i].Start(&t.p.grammar, t.p.roots[r])
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
	t.breached("in the start state")
}

// step makes one thread continue to its next action and performs that.
func (t *traversal) step() {
	at := t.next()
	t.thread = t.alive[at]
	t.m.Act(t.thread)
	if len(t.p.guarded) > 0 {
		t.in.draw(&t.src, t.m, t.p.guarded, t.likely())
	}
	w := &t.walkers[t.thread]
	if t.score != nil {
		t.score.met = t.score.met[:0]
	}
	action, status := w.Next(t)
	if status != walk.Called {
		if status == walk.Deep || status == walk.Idle {
			t.seen.cut++
		}
		t.alive = append(t.alive[:at], t.alive[at+1:]...)
		return
	}
	t.seen.countEvent(event{kind: eventNode, node: w.Node()})
	if asked := t.p.asked[action]; len(asked) > 0 {
		t.in.draw(&t.src, t.m, asked, t.likely())
	}
	if len(t.p.asked[action])+len(t.p.guarded) > 0 {
		t.seen.input(t.in.row)
	}
	t.actions++
	if t.pick(action, nil, false) && !t.dev.misdirected(action) {
		t.perform(action)
	}
	w.Settle(t)
}

// next decides which thread runs next: the one with the drawn number or, if that one has ended, the
// next that has not. It returns the index in alive.
func (t *traversal) next() int {
	t.setTopic(topicThread, 0)
	n := int(t.src.Draw(uint64(t.threads)))
	for i, thread := range t.alive {
		if thread >= n {
			return i
		}
	}
	return 0
}

// perform performs an action of the acting thread on the module and the model, and checks
// everything that must hold.
func (t *traversal) perform(action int) {
	a := &t.p.program.Actions()[action]
	if t.trace != nil {
		t.trace.begin(t, action)
		defer t.trace.end(t)
	}
	if t.score != nil {
		t.score.step(t, action)
	}
	t.breach = t.m.Before(action, t.breach[:0])
	if t.dev != nil && t.dev.mod.actions[action].binding >= 0 {
		if !t.lockstep(action, len(t.breach) > 0) {
			return
		}
	}
	if len(t.breach) > 0 && t.breached("before "+a.Name) {
		return
	}
	if f := t.m.Apply(action); f.Cause != model.NoFault {
		t.fail(t.faulty(f, "the effect of "+a.Name, a.Name))
		return
	}
	if t.score != nil {
		t.score.applied(t, action)
	}
	for _, x := range t.m.Excesses() {
		t.exceeds(x, a.Name)
	}
	if a.Binding != nil && a.Binding.Idempotent && !t.m.Settled(action) {
		t.fail(&failure{kind: kindSpec, level: byModel, subject: a.Name, cause: "idempotent", at: a.Binding.Place,
			title: a.Name + " is said to be idempotent, and its effect changes more when it is done twice"})
		return
	}
	if t.dev != nil && a.Assigns() >= 0 {
		if t.dev.recordHandle(action, t.m.Var(a.Assigns())) {
			t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: a.Name, cause: "handle", at: a.Binding.Place.Within("reuses"),
				title: a.Name + " returns the handle of an instance that is not " + a.Binding.Reuses})
			return
		}
	}
	t.breach = t.m.After(action, t.breach[:0])
	if t.breach = t.m.Check(t.breach); len(t.breach) > 0 && t.breached("after "+a.Name) {
		// nothing after this is checked
	} else if t.dev != nil {
		t.check(action)
	} else if t.mod != nil && t.mod.actions[action].binding >= 0 && t.p.claims[action].twice {
		t.setTopic(topicPlain, 1)
		t.src.Prefer(0, 2) // keeps the tape equal to one with a module, which would be called twice
	}
	t.m.Commit()
	if t.habits != nil {
		t.habits.led(t.m)
	}
	if t.noting() {
		t.sketch = t.m.Sketch(t.p.actor)
		t.seen.countEvent(event{kind: eventModel, state: t.sketch})
	}
}

// check compares the module with the model, and with what its binding claims, after an action that
// both have taken.
func (t *traversal) check(action int) {
	name := t.p.program.Actions()[action].Name
	if t.compare(name); t.failed != nil || t.dev.mod.actions[action].binding < 0 {
		return
	}
	t.written(action)
	if t.checkStable(action); t.failed == nil {
		t.callTwice(action)
	}
}

// Choose implements [walk.Guide].
func (t *traversal) Choose(at int) int {
	n := &t.p.nodes[at]
	open := t.opened(at)
	if t.failed != nil {
		return -1
	}
	if (t.mod != nil || t.score != nil) && n.attempts {
		if t.attempts(at); t.failed != nil {
			return -1
		}
	}
	t.weights = append(t.weights[:0], t.state.weightsOf(t.p, at, open)...)
	total := 0.0
	for i, w := range t.weights {
		if t.shut[i] {
			w, t.weights[i] = 0, 0
			t.seen.countEvent(event{eventClosed, at, open, i})
		}
		if t.habits != nil {
			w /= t.habits.divisor(at, i)
			t.weights[i] = w
		}
		total += w
	}
	if total <= 0 {
		t.seen.countEvent(event{kind: eventStuck, node: at, state: open})
		return -1
	}
	if t.noting() {
		t.seen.countEvent(event{kind: eventSituation, node: at, state: (t.sketch ^ open*0x9e3779b97f4a7c15) >> 32})
	}
	t.setTopic(topicBranch, at)
	i := t.src.Weighted(t.weights)
	t.seen.countBranch(at, open, i)
	if t.habits != nil {
		t.habits.countChoice(at, i)
	}
	if t.score != nil {
		t.score.noteBranch(t, at, i)
	}
	if t.trace != nil {
		t.trace.noteBranch(n.branches[i].id)
	}
	return i
}

// opened finds which branches are shut. It returns the open ones as bits, under which learned
// weights are stored. With more than 64 branches, several share a bit.
func (t *traversal) opened(at int) (open uint64) {
	x := &t.looked
	if t.everything {
		made := t.src.Tape().Values
		if x.known && x.node == at && slices.Equal(x.made, made) {
			return x.open
		}
		x.known, x.node, x.made = false, at, append(x.made[:0], made...)
	}
	t.shut = t.shut[:0]
	for i := range t.p.nodes[at].branches {
		b := &t.p.nodes[at].branches[i]
		if t.shut = append(t.shut, !b.open && !t.guard(b)); !t.shut[i] {
			open |= 1 << (i & 63)
		}
		if t.failed != nil {
			return open
		}
	}
	x.known, x.open = true, open
	return open
}

// guard reports whether a guard holds. A guard that lacks an instance does not; a faulty one is a
// finding.
func (t *traversal) guard(b *branch) bool {
	// Guards are evaluated in the model alone, because they must not depend on a module's faults.
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
	t.setTopic(topicMore, at)
	if t.everything && t.walkers[t.thread].Last() {
		return t.src.Prefer(1, 2) == 1 // a thread that stops for good can do nothing more than one that continues
	}
	if t.state.loopLimit(t.p, at, count) {
		return t.src.Prefer(0, 2) == 1
	}
	if t.habits != nil {
		return t.src.Longer(count, t.p.grammar.Nodes[at].Max)
	}
	return t.src.More(count, t.p.grammar.Nodes[at].Max)
}
