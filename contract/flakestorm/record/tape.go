package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// How much of a session is kept, and how many may go on at once.
const (
	maxCalls = 500
	maxBytes = 16 << 20
	maxOpen  = 1000
)

// Tape tells the sessions of agents apart by their calls. A session begins when a
// model is asked what a user says. It goes on while requests have the same trace,
// or hand in the results of what the model asked for. It is for one goroutine.
type Tape struct {
	// Alone says that the agent does one thing after the other: whatever it calls
	// while the model waits for results belongs to the session at hand.
	Alone bool
	Done  func(s config.Session) // takes a session that is over
	Stray int                    // calls that could be of no session, or of several
	Large int                    // sessions that were dropped for their size

	open  []*session // oldest first
	early []fault.Exchange
}

// session is one that goes on.
type session struct {
	trace, reply string
	s            config.Session
	calls        []fault.Exchange
	size         int
	seen         time.Duration // when its last call was over
}

// Add takes a call that is over.
func (t *Tape) Add(e fault.Exchange) {
	var s *session
	switch e.Kind {
	case fault.ModelCall:
		s = t.modelSession(&e)
	case fault.ToolCall, fault.MCPCall:
		s = t.called(&e)
	}
	if s == nil {
		return
	}
	s.calls, s.seen = append(s.calls, e), e.At+e.Took
	if s.size += len(e.Request) + len(e.Response); s.size > maxBytes || len(s.calls) > maxCalls {
		t.Large++
		t.open = slices.DeleteFunc(t.open, func(o *session) bool { return o == s })
	}
}

// modelSession is the session of a question to a model.
func (t *Tape) modelSession(e *fault.Exchange) *session {
	q := request(e)
	if q == nil {
		t.Stray++
		return nil
	}
	reply := q.Answered(e.ContentType, e.Response)
	talk := q.Talk()
	last := -1
	for i, m := range talk {
		if m.Role == "user" {
			last = i
		}
	}
	for _, s := range slices.Backward(t.open) {
		goesOn := e.Trace != "" && e.Trace == s.trace || s.issued(q.Results())
		if s.waits() && !goesOn && e.Trace == "" { // without identifiers, or asked on the way
			goesOn = t.Alone || last >= 0 && talk[last].Text == s.s.Input
		}
		if goesOn {
			s.reply = reply
			return s
		}
	}
	if last < 0 {
		t.Stray++
		return nil
	}
	if t.Alone {
		t.End(e.At)
	} else if len(t.open) >= maxOpen {
		t.End(t.open[0].seen)
	}
	s := &session{trace: e.Trace, reply: reply, calls: t.early, s: config.Session{Source: "recorded", Contract: "default", Input: talk[last].Text}}
	for _, m := range talk[:last] {
		s.s.Context = append(s.s.Context, config.Message{Role: m.Role, Content: m.Text})
	}
	t.open, t.early = append(t.open, s), nil
	return s
}

// called is the session of a call of a tool.
func (t *Tape) called(e *fault.Exchange) *session {
	if t.Alone {
		if len(t.open) == 0 {
			t.early = append(t.early, *e) // what is looked up before the model is asked
			return nil
		}
		return t.open[len(t.open)-1]
	}
	var waiting, naming []*session
	for _, s := range t.open {
		if e.Trace != "" && e.Trace == s.trace {
			return s
		}
		if s.waits() {
			waiting = append(waiting, s)
			if s.names(e.Tool) {
				naming = append(naming, s)
			}
		}
	}
	for _, list := range [][]*session{naming, waiting} {
		if len(list) == 1 {
			return list[0]
		}
	}
	t.Stray++
	return nil
}

// replies are what models have replied in a session, the latest first.
func (s *session) replies(yield func([]byte) bool) {
	for _, e := range slices.Backward(s.calls) {
		if e.Kind == fault.ModelCall && !yield(e.Response) {
			return
		}
	}
}

// calls is how a reply of a model asks for a call of a tool.
var calls = lazy.Pattern(`"tool_calls"\s*:\s*\[\s*\{|"type"\s*:\s*"(?:function_call|tool_use)"`)

// waits reports whether the model waits for the result of a call.
func (s *session) waits() bool {
	for r := range s.replies {
		return calls().Match(r)
	}
	return false
}

// names reports whether the model's last reply names a tool.
func (s *session) names(tool string) bool {
	for r := range s.replies {
		return bytes.Contains(r, []byte(`"`+tool+`"`))
	}
	return false
}

// issued reports whether the model asked for one of the calls whose results these
// are.
func (s *session) issued(results []fault.Said) bool {
	for r := range s.replies {
		for _, x := range results {
			if len(x.ID) > 3 && bytes.Contains(r, []byte(x.ID)) {
				return true
			}
		}
	}
	return false
}

// End ends the sessions whose last call was over by then.
func (t *Tape) End(by time.Duration) {
	t.open = slices.DeleteFunc(t.open, func(s *session) bool {
		if s.seen > by {
			return false
		}
		s.s.Reply = s.reply
		Put(&s.s, s.calls)
		sum := sha256.Sum256([]byte(s.s.Input + "\x00" + strings.Join(s.s.Trace, "\n")))
		s.s.ID = "recorded-" + hex.EncodeToString(sum[:4])
		t.Done(s.s)
		return true
	})
}

// Shape is the order of a session's calls, with whatever arguments.
func Shape(s *config.Session) string {
	shape := ""
	for _, line := range s.Trace {
		what, rest, _ := strings.Cut(line, " ")
		name, _, _ := strings.Cut(rest, " ")
		shape += what + " " + name + "\n"
	}
	return shape
}
