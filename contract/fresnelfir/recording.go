package fresnelfir

import (
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/port/dut"
)

// recording is what was called, and what was answered when. It is the evidence of a
// failure that depends on how calls overlap, and the case that confirms it: checked
// again, not called again.
type recording struct {
	Tape   []byte    `json:"tape"` // of the traversal that decided the calls
	Calls  []called  `json:"calls"`
	Faults []faulted `json:"faults,omitempty"`
}

// called is a call. Begin and End count what happened in the history: End is 0 if
// nobody knows how the call ended.
type called struct {
	Step     int       `json:"step"`               // of the score; -1: an observer, at the end
	Observer int       `json:"observer,omitempty"` // function
	Of       []int32   `json:"of,omitempty"`       // instances that the observer is asked about
	Thread   int       `json:"thread"`
	Begin    int64     `json:"begin"`
	End      int64     `json:"end,omitempty"`
	Cause    dut.Cause `json:"cause,omitempty"`
	Value    dut.Value `json:"value"`
	Why      string    `json:"why,omitempty"`     // it did not return
	Stack    []string  `json:"stack,omitempty"`   // likewise
	Excused  bool      `json:"excused,omitempty"` // by a fault: how it failed is not the system's
	// Dropped says that the history is to fail whether or not the call was made.
	Dropped bool `json:"dropped,omitempty"`
}

// faulted is a fault that was injected.
type faulted struct {
	At     int64            `json:"at"`
	Until  int64            `json:"until"`
	Kind   environmentFault `json:"kind"`
	Thread int              `json:"thread"`
}

// recordingMark begins a recording where a case's payload is one, and not a tape.
const recordingMark = "history 1\n"

// encode is the recording as a case.
func (r *recording) encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		return nil // numbers and strings alone: cannot fail
	}
	return append([]byte(recordingMark), b...)
}

// readRecording reads what encode wrote; nil: it is no recording.
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

// checkScore reports whether a recording is of a score: it may come from elsewhere.
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

// number is what the system calls an instance; not ok: it has not said.
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
