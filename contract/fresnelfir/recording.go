package fresnelfir

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/port/dut"
)

// recording is the calls and answers of a history with their times. It is the evidence of a failure
// that depends on how calls overlap, and the case that confirms it: it is checked again instead of
// calling again.
type recording struct {
	Tape   []byte    `json:"tape"` // of the traversal that determined the calls
	Calls  []called  `json:"calls"`
	Faults []faulted `json:"faults,omitempty"`
}

// called is one call. Begin and End number the events of the history; End is 0 if it is unknown how
// the call ended.
type called struct {
	Step     int       `json:"step"`               // in the score; -1: an observer, at the end
	Observer int       `json:"observer,omitempty"` // function
	Of       []int32   `json:"of,omitempty"`       // instances passed to the observer
	Thread   int       `json:"thread"`
	Begin    int64     `json:"begin"`
	End      int64     `json:"end,omitempty"`
	Cause    dut.Cause `json:"cause,omitempty"`
	Value    dut.Value `json:"value"`
	Why      string    `json:"why,omitempty"`     // if the call did not return
	Stack    []string  `json:"stack,omitempty"`   // if the call did not return
	Excused  bool      `json:"excused,omitempty"` // failed because of an injected fault, not because of the system
	// Dropped says that the history must fail whether or not the call was made.
	Dropped bool `json:"dropped,omitempty"`
}

// faulted is an injected fault.
type faulted struct {
	At     int64            `json:"at"`
	Until  int64            `json:"until"`
	Kind   environmentFault `json:"kind"`
	Thread int              `json:"thread"`
}

// recordingMark is the prefix of a payload that is a recording instead of a tape.
const recordingMark = "history 1\n"

// encode returns the recording as a case's payload.
func (r *recording) encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		return nil // never happens: there are only numbers and strings
	}
	return append([]byte(recordingMark), b...)
}

// readRecording reads what encode wrote; nil: the payload is a tape.
func readRecording(payload []byte) (*recording, error) {
	if len(payload) < len(recordingMark) || string(payload[:len(recordingMark)]) != recordingMark {
		return nil, nil
	}
	r := &recording{}
	if err := json.Unmarshal(payload[len(recordingMark):], r); err != nil {
		return nil, fmt.Errorf("reading a history: %w", err)
	}
	return r, nil
}

// checkScore checks that a recording belongs to a score, because it may come from elsewhere.
func (r *recording) checkScore(s *score, p *plan) error {
	for i := range r.Calls {
		c := &r.Calls[i]
		bad := c.Step >= len(s.steps) || c.Step < -1 || c.End != 0 && c.End <= c.Begin
		if c.Step == -1 {
			bad = bad || c.Observer < 0 || c.Observer >= len(p.doc.Functions) || !p.doc.Functions[c.Observer].Observer
			for _, at := range c.Of {
				bad = bad || at < 0 || int(at) >= len(s.insts)
			}
		}
		if bad {
			return fmt.Errorf("call %d of the history does not fit the document", i+1)
		}
	}
	return nil
}

// number returns the system's number for an instance; false if the system has not returned one.
func (r *recording) number(s *score, mod *module, i int32, replies []*called) (int64, bool) {
	x := &s.insts[i]
	if x.maker < 0 {
		return x.number, true
	}
	c := replies[x.maker]
	if c == nil || c.End == 0 || c.Cause != dut.None {
		return 0, false
	}
	if mod.actions[s.steps[x.maker].action].returns.entity == x.entity {
		return c.Value.Int, true
	}
	return x.number, true
}
