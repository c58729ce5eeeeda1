package fresnelfir

import (
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
