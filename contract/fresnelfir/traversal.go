package fresnelfir

import (
	"math"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/walk"
	"github.com/thresh-dev/thresh/port/dut"
)

// traversal walks a protocol over a model. It is used again for case after
// case; run leaves what happened in its outcome. What it consists of has no
// methods of its own: a step needs all of it.
type traversal struct {
	p   *plan
	m   *model.Machine
	src choice.Source
	in  inputs

	protocolPositions
	deviceStep
	actorRules
	lessons
	outcome
	score *score // what actors are to call at the same time; nil: they take turns

	everything bool // all ways of all decisions are gone through
	looked     struct {
		known bool // shut is about this node after these decisions of this step
		node  int
		made  []uint64
		open  uint64
	}
}

// protocolPositions is where the threads stand in their protocols.
type protocolPositions struct {
	walkers   []walk.Walker
	threads   int
	alive     []int // threads that have not ended
	thread    int   // the acting one
	born      []int // by thread: where on the tape its making begins
	weights   []float64
	shut      []bool  // by branch of the present alternative
	habits    *habits // what loses weight; nil: nothing does
	forbidden []int   // branches that may be tried though their guard does not hold
	attempted int     // how often one was
	aside     uint64  // marks the decisions of an attempt
}

// deviceStep is what holds the module against the model in a step.
type deviceStep struct {
	dev           *device                // the module in step with the model; nil: the model alone
	mod           *module                // what dev runs; without dev, what the steps would be taken with
	given         map[string]model.Value // arguments that a generator's step gives
	tuple         []int32                // instances that an observer is asked about
	wide          bool                   // observers are asked about more instances
	before, after []dut.Value            // readings
	readers       []int                  // by reading: the observer
	lastArgs      []dut.Value
	lastReply     dut.Reply
	versions      []int // by entity: how often it was written
	memos         []memo
}

// actorRules is how acting instances are made.
type actorRules struct {
	linked []int    // domains that an instance's fields are drawn from
	same   []int    // the inputs that the acting instance before was made from
	drew   []uint64 // what was drawn for its fields
}

// lessons are what the campaign has learned, and what of it this case goes by.
type lessons struct {
	state     *state     // what was learned; nil: nothing
	from      *entry     // what to begin with; nil: the start
	key       uint64     // what decides on the way from there
	snapshots *snapshots // nil: none are kept
	restored  bool       // it began with a snapshot
	finder    *finder    // nil: nothing is to be found
	row       uint64     // the row of the covering array to begin with
	wanted    *inputGoal // the inputs to use where they can be; nil: any
	sketch    uint64     // of the model, after the last action
}

// outcome is what has happened, and what is wrong with it.
type outcome struct {
	actions int
	begun   int // actions that led to where its own part begins
	seen    coverage
	trace   *trace // nil: not wanted
	breach  []model.Breach
	failed  *failure
	lenient uint64   // the properties to pass over, if the tape does not say, as bits
	passing uint64   // those that are passed over
	passed  *failure // the first of them that did not hold
	blamed  event    // the branch that was taken last before that
	beyond  []excess // what effects gave fields beyond their bounds
	enough  int      // how many decisions led to the failure, if it did not end the traversal; 0: it did
}

// habits are what a traversal has done, for documents that want it to do something else:
// a branch loses weight each time it is taken, and more where that only repeats, as it
// has led, since it last led to a new state, to states in which the traversal has been.
type habits struct {
	took map[event]float64 // by branch, how often
	idle map[event]float64 // by branch, how often that only repeated since it led to a new state
	met  map[uint64]bool   // states of the model
	last event
	key  []byte
}

func (h *habits) clear() {
	if h != nil {
		clear(h.took)
		clear(h.idle)
		clear(h.met)
		h.last = event{}
	}
}

func branchOf(at, child int) event { return event{kind: eventBranch, node: at, child: child} }

// divisor is what a branch's weight is divided by.
func (h *habits) divisor(at, child int) float64 {
	e := branchOf(at, child)
	return math.Sqrt(1+h.took[e]) + h.idle[e]
}

func (h *habits) countChoice(at, child int) {
	h.last = branchOf(at, child)
	h.took[h.last]++
}

// led notes the state that the branch has led to.
func (h *habits) led(m *model.Machine) {
	h.key = m.Key(h.key[:0])
	k := choice.Key(uint64(len(h.key)))
	for _, b := range h.key {
		k = (k ^ uint64(b)) * 0x100000001b3
	}
	switch {
	case !h.met[k]:
		delete(h.idle, h.last)
	case h.last != (event{}):
		h.idle[h.last]++
	}
	h.met[k] = true
}

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
		if t.score != nil {
			t.score.favor(t.m.Choices(action, k), t.weights)
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
