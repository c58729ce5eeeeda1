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

// How much of a session is kept, and how many sessions may be open at once.
const (
	maxCalls = 500
	maxBytes = 16 << 20
	maxOpen  = 1000
)

// Tape separates the sessions of agents by their calls. A session begins when a model is asked what
// a user says. It continues with requests that have the same trace or that contain the results of
// what the model asked for. A Tape is for one goroutine.
type Tape struct {
	// Alone says that the agent does one thing after the other: anything that it calls while the
	// model waits for results belongs to the current session.
	Alone bool
	Done  func(s config.Session) // receives a session that has ended
	Stray int                    // calls that could belong to no session, or to several
	Large int                    // sessions dropped because of their size

	open  []*session // oldest first
	early []fault.Exchange
}

// session is an open session.
type session struct {
	trace, reply string
	s            config.Session
	calls        []fault.Exchange
	size         int
	seen         time.Duration // when its last call had ended
}

// Add adds a call that has ended.
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

// modelSession returns the session to which a question to a model belongs.
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
		if s.waits() && !goesOn && e.Trace == "" { // there are no identifiers, or it was asked in between
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

// called returns the session to which a tool call belongs.
func (t *Tape) called(e *fault.Exchange) *session {
	if t.Alone {
		if len(t.open) == 0 {
			t.early = append(t.early, *e) // looked up before the model is asked
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

// replies iterates over what models have replied in a session, latest first.
func (s *session) replies(yield func([]byte) bool) {
	for _, e := range slices.Backward(s.calls) {
		if e.Kind == fault.ModelCall && !yield(e.Response) {
			return
		}
	}
}

// calls matches a request for a tool call in a model's reply.
var calls = lazy.Pattern(`"tool_calls"\s*:\s*\[\s*\{|"type"\s*:\s*"(?:function_call|tool_use)"`)

// last returns what a model replied last in a session.
func (s *session) last() (reply []byte) {
	for reply = range s.replies {
		break
	}
	return reply
}

// waits reports whether the model waits for the result of a call.
func (s *session) waits() bool { return calls().Match(s.last()) }

// names reports whether the model's last reply names a tool.
func (s *session) names(tool string) bool { return bytes.Contains(s.last(), []byte(`"`+tool+`"`)) }

// issued reports whether the model asked for one of the calls that these results answer.
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

// End ends the sessions whose last call had ended by then.
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

// Shape returns the order of a session's calls, without arguments.
func Shape(s *config.Session) string {
	shape := ""
	for _, line := range s.Trace {
		what, rest, _ := strings.Cut(line, " ")
		name, _, _ := strings.Cut(rest, " ")
		shape += what + " " + name + "\n"
	}
	return shape
}
