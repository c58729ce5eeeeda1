package fresnelfir

import (
	"fmt"
	"strings"
)

// mishap is something that the environment does to a system between and during calls.
type mishap string

// The faults that a document may ask for. A clock jump calls an operation of the system,
// which stands behind the colon: "clock:advance".
const (
	faultKill  mishap = "kill"  // the program is killed and started again
	faultDrop  mishap = "drop"  // the actor never hears how its call ended
	faultDelay mishap = "delay" // the actor hears late how its call ended
	faultClock mishap = "clock" // the system's clock jumps
)

// faultWords are the faults, in the order of the documentation.
var faultWords = []string{string(faultKill), string(faultDrop), string(faultDelay), string(faultClock) + ":OPERATION"}

// kind is the fault without the operation.
func (f mishap) kind() mishap {
	word, _, _ := strings.Cut(string(f), ":")
	return mishap(word)
}

// operation is what a clock jump calls.
func (f mishap) operation() string {
	_, op, _ := strings.Cut(string(f), ":")
	return op
}

// String is the fault as people read it.
func (f mishap) String() string {
	switch f.kind() {
	case faultKill:
		return "the system is killed and started again"
	case faultDrop:
		return "the reply is dropped"
	case faultDelay:
		return "the reply is delayed"
	}
	return fmt.Sprintf("the clock jumps: %s", f.operation())
}

// seldom is the chance that one of the faults strikes before a step, as weights.
var seldom = []float64{15, 1}

// misfortunes draws the faults of a score.
func (t *traversal) misfortunes(s *score, list []string) {
	if len(list) == 0 {
		return
	}
	for i := s.setup; i < len(s.steps); i++ {
		t.about(topicPlain, 2)
		if t.src.Weighted(seldom) == 1 {
			f := mishap(list[t.src.Draw(uint64(len(list)))])
			s.steps[i].faults = append(s.steps[i].faults, f)
		}
	}
}
