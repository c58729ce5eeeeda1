package fresnelfir

import (
	"math"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
)

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
