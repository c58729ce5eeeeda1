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

// traversal walks a protocol over a model. It is reused for one case after another; run leaves the
// result in outcome. Its parts have no methods of their own, because a step needs all of them.
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
	score *score // calls of parallel actors; nil: actors take turns

	everything bool // all alternatives of all decisions are tried
	looked     struct {
		known bool // shut belongs to this node after these decisions of this step
		node  int
		made  []uint64
		open  uint64
	}
}

// protocolPositions is the threads' positions in their protocols.
type protocolPositions struct {
	walkers   []walk.Walker
	threads   int
	alive     []int // threads that have not ended
	thread    int   // the acting thread
	born      []int // by thread: where its decisions begin on the tape
	weights   []float64
	shut      []bool  // by branch of the current alternative
	habits    *habits // what loses weight; nil: nothing does
	forbidden []int   // branches that may be tried although their guards do not hold
	attempted int     // number of such attempts
	aside     uint64  // marks the decisions of an attempt
}

// deviceStep compares the module with the model in a step.
type deviceStep struct {
	dev           *device                // the module in lockstep with the model; nil: the model alone
	mod           *module                // what dev runs; without dev, what the steps would run on
	given         map[string]model.Value // arguments from a generator's step
	tuple         []int32                // instances passed to an observer
	wide          bool                   // observers are asked about more instances
	before, after []dut.Value            // readings before and after a call
	readers       []int                  // by reading: the observer
	lastArgs      []dut.Value
	lastReply     dut.Reply
	versions      []int // by entity: how often it was written
	memos         []memo
}

// actorRules is how actors are created.
type actorRules struct {
	linked []int    // domains from which an instance's fields are drawn
	same   []int    // the inputs of the previous actor
	drew   []uint64 // the values drawn for its fields
}

// lessons are what the campaign has learned, and how this case uses it.
type lessons struct {
	state     *state     // what was learned; nil: nothing
	from      *entry     // the beginning; nil: the start
	key       uint64     // determines the decisions after the beginning
	snapshots *snapshots // nil: snapshots are not kept
	restored  bool       // the traversal began with a snapshot
	finder    *finder    // nil: nothing is to be found
	row       uint64     // the row of the covering array to begin with
	wanted    *inputGoal // inputs to use if possible; nil: any
	sketch    uint64     // of the model after the last action
}

// outcome is what happened in a traversal, and what is wrong.
type outcome struct {
	actions int
	begun   int // actions before its own part begins
	seen    coverage
	trace   *trace // nil: not needed
	breach  []model.Breach
	failed  *failure
	lenient uint64   // properties to pass over unless the tape says otherwise, as bits
	passing uint64   // properties that are passed over
	passed  *failure // the first of them that did not hold
	blamed  event    // the last branch taken before that
	beyond  []excess // excluded values that effects assigned
	enough  int      // decisions up to a failure that did not end the traversal; 0: the failure ended it
}

// habits are what a traversal has done before, for documents that want variety. A branch loses
// weight each time it is taken. It loses more each time that merely repeats something, that is, if
// since it last led to a new state it has led only to states the traversal has been in.
type habits struct {
	took map[event]float64 // by branch: how often it was taken
	idle map[event]float64 // by branch: repetitions since it last led to a new state
	met  map[uint64]bool   // visited states of the model
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

// divisor returns what a branch's weight is divided by.
func (h *habits) divisor(at, child int) float64 {
	e := branchOf(at, child)
	return math.Sqrt(1+h.took[e]) + h.idle[e]
}

func (h *habits) countChoice(at, child int) {
	h.last = branchOf(at, child)
	h.took[h.last]++
}

// led notes the state that the last branch led to.
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

// pick chooses the instances of an action's choices, except those that a generator's step binds. It
// returns false if there is none to choose, which a guard normally prevents. With wrong, it chooses
// any instances, to ask the module for something that the model may forbid.
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
		if t.dev != nil {
			t.dev.discard(t.m.Choices(action, k), t.weights)
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

// refusable reports whether the branch's action could be tried for instances that the model
// excludes. If a condition depends on a choice not yet made, it could.
func (t *traversal) refusable(b *branch) bool {
	a := &t.p.program.Actions()[b.attempt]
	for k := range a.Picks() {
		if slices.Contains(b.passed, a.PickSlot(k)) {
			if t.weights = t.m.Fits(b.attempt, k, t.weights[:0]); slices.Contains(t.weights, 0) {
				return true
			}
		}
	}
	return false
}

// allowed reports whether the branch's action is allowed for the bound instances with some choice
// of the instances that no call passes to the system, from choice k on.
func (t *traversal) allowed(b *branch, k int) bool {
	a := &t.p.program.Actions()[b.attempt]
	switch {
	case k == a.Picks():
		v, _ := t.m.Eval(b.guard.Code)
		return v == model.True && t.m.Chosen(b.attempt)
	case slices.Contains(b.passed, a.PickSlot(k)):
		return t.allowed(b, k+1)
	}
	return slices.ContainsFunc(t.m.Choices(b.attempt, k), func(x int32) bool {
		t.m.Bind(a.PickSlot(k), x)
		return t.allowed(b, k+1)
	})
}

// passed returns the variables whose instances the system learns from the arguments of a call.
func (p *plan) passed(call *ir.ActionBinding) (slots []int) {
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
