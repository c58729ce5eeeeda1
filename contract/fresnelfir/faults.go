package fresnelfir

import (
	"fmt"
	"strings"
)

// environmentFault is something that the environment does to a system between and during calls.
type environmentFault string

// The faults that a document may ask for. A clock jump calls an operation of the system,
// which stands behind the colon: "clock:advance".
const (
	faultKill  environmentFault = "kill"  // the program is killed and started again
	faultDrop  environmentFault = "drop"  // the actor never hears how its call ended
	faultDelay environmentFault = "delay" // the actor hears late how its call ended
	faultClock environmentFault = "clock" // the system's clock jumps
)

// faultWords are the faults, in the order of the documentation.
var faultWords = []string{string(faultKill), string(faultDrop), string(faultDelay), string(faultClock) + ":OPERATION"}

// kind is the fault without the operation.
func (f environmentFault) kind() environmentFault {
	word, _, _ := strings.Cut(string(f), ":")
	return environmentFault(word)
}

// operation is what a clock jump calls.
func (f environmentFault) operation() string {
	_, op, _ := strings.Cut(string(f), ":")
	return op
}

// String is the fault as people read it.
func (f environmentFault) String() string {
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

// drawFaults draws the faults of a score.
func (t *traversal) drawFaults(s *score, list []string) {
	if len(list) == 0 {
		return
	}
	for i := s.setup; i < len(s.steps); i++ {
		t.setTopic(topicPlain, 2)
		if t.src.Weighted(seldom) == 1 {
			f := environmentFault(list[t.src.Draw(uint64(len(list)))])
			s.steps[i].faults = append(s.steps[i].faults, f)
		}
	}
}
