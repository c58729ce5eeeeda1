package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// Watcher applies the faults of a cell to the tools of an agent in the Python host.
// A fault on the wire becomes what a client library makes of it: an exception, or a
// value.
type Watcher struct {
	ledger  *Ledger
	waiting []watched
}

type watched struct {
	call     pyhost.ToolCall
	decision *Decision
}

// NewWatcher makes the watcher of a cell. Like its host, it is for one goroutine.
func NewWatcher(l *Ledger) *Watcher { return &Watcher{ledger: l} }

// Called implements pyhost.ToolWatcher.
func (w *Watcher) Called(c pyhost.ToolCall) pyhost.ToolAnswer {
	d := w.ledger.Decide(Call{Kind: ToolCall, Names: append([]string{c.Tool}, c.Names()...)})
	w.ledger.Saw(SeenCall{Tool: c.Tool[strings.LastIndexAny(c.Tool, ".:")+1:], Arguments: pythonArguments(c), Source: SeenByHost})
	answer := w.start(d)
	for i := range d.Strikes {
		if s := &d.Strikes[i]; s.Rule.Mode == Slow {
			answer.Delay += s.Rule.Delay
			w.ledger.Fired(d, s, s.Change())
		}
	}
	if answer.Action != "" && answer.Action != pyhost.Replace {
		w.noteNoEffect(d)
		w.exchanged(d, c, quoted(answer.Message), answer.Class)
		return answer
	}
	if answer.Action == pyhost.Replace {
		if lost, ok := w.loseAnswer(d, c); ok {
			return lost
		}
		shaped := w.shape(d, answer.Value)
		shaped.Delay += answer.Delay
		if shaped.Action == "" {
			shaped.Action, shaped.Value = pyhost.Replace, answer.Value
		}
		w.exchanged(d, c, shaped.Value, "")
		return shaped
	}
	w.waiting = append(w.waiting, watched{c, d})
	return answer
}

// start returns the effect of a final fault or a recording on a call; the zero
// answer lets the call pass.
func (w *Watcher) start(d *Decision) pyhost.ToolAnswer {
	if s := d.Final(); s != nil {
		w.ledger.Fired(d, s, s.Change())
		switch s.Rule.Mode {
		case Timeout:
			return pyhost.ToolAnswer{Action: pyhost.Raise, Delay: s.Rule.Delay, Class: "TimeoutError", Message: fmt.Sprintf("no answer within %s", s.Rule.Delay)}
		case Reset:
			return pyhost.ToolAnswer{Action: pyhost.Raise, Class: "ConnectionResetError", Message: "connection reset by peer"}
		case Error:
			return pyhost.ToolAnswer{Action: pyhost.Raise, Class: "RuntimeError", Message: fmt.Sprintf("HTTP %d: %s", s.Rule.Status, s.Rule.Message)}
		}
		reply, _ := s.Answer()
		return pyhost.ToolAnswer{Action: pyhost.Replace, Value: quoted(string(reply.Body))}
	}
	switch {
	case d.Recorded != nil:
		w.ledger.Replayed(d, "the recorded response")
		reply := d.Recorded.Reply()
		switch d.Recorded.Ended {
		case WasReset:
			return pyhost.ToolAnswer{Action: pyhost.Raise, Delay: d.Recorded.Latency, Class: "ConnectionResetError", Message: "connection reset by peer"}
		case WasClosed:
			return pyhost.ToolAnswer{Action: pyhost.Raise, Delay: d.Recorded.Latency, Class: "ConnectionError", Message: "the connection ended before the answer did"}
		}
		if class := d.Recorded.Raises; class != "" {
			return pyhost.ToolAnswer{Action: pyhost.Raise, Delay: d.Recorded.Latency, Class: class, Message: string(reply.Body)}
		}
		if reply.Status >= 400 {
			return pyhost.ToolAnswer{Action: pyhost.Raise, Delay: d.Recorded.Latency, Class: "RuntimeError", Message: fmt.Sprintf("HTTP %d: %s", reply.Status, reply.Body)}
		}
		value := d.Recorded.Response
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		return pyhost.ToolAnswer{Action: pyhost.Replace, Delay: d.Recorded.Latency, Value: value}
	case d.Refused:
		w.ledger.Replayed(d, NotRecorded)
		return pyhost.ToolAnswer{Action: pyhost.Raise, Class: "RuntimeError", Message: string(Refusal(d.Call.Name()).Body)}
	}
	return pyhost.ToolAnswer{}
}

// Returned implements pyhost.ToolWatcher.
func (w *Watcher) Returned(c pyhost.ToolCall, result json.RawMessage, fault *pyhost.Fault) pyhost.ToolAnswer {
	d := w.decided(c)
	if d == nil {
		return pyhost.ToolAnswer{}
	}
	if fault != nil {
		w.noteNoEffect(d)
		w.exchanged(d, c, quoted(fault.Message), fault.Class)
		return pyhost.ToolAnswer{}
	}
	if lost, ok := w.loseAnswer(d, c); ok {
		return lost
	}
	answer := w.shape(d, result)
	if answer.Value != nil {
		result = answer.Value
	}
	w.exchanged(d, c, result, "")
	return answer
}

// loseAnswer returns what the agent gets for a call that was performed but whose
// value is lost.
func (w *Watcher) loseAnswer(d *Decision, c pyhost.ToolCall) (pyhost.ToolAnswer, bool) {
	s := d.Find(ReplyLost)
	if s == nil {
		return pyhost.ToolAnswer{}, false
	}
	w.ledger.Fired(d, s, s.Change())
	a := pyhost.ToolAnswer{Action: pyhost.Raise, Delay: s.Rule.Delay, Class: "ConnectionResetError", Message: "connection reset by peer"}
	switch {
	case s.Rule.Status > 0:
		a.Class, a.Message = "ConnectionError", fmt.Sprintf("HTTP %d: %s", s.Rule.Status, s.Rule.Message)
	case s.Rule.Delay > 0:
		a.Class, a.Message = "TimeoutError", fmt.Sprintf("no answer within %s", s.Rule.Delay)
	}
	w.exchanged(d, c, quoted(a.Message), a.Class)
	return a, true
}

// noteNoEffect records that the faults on an answer found no answer.
func (w *Watcher) noteNoEffect(d *Decision) {
	for i := range d.Strikes {
		if s := &d.Strikes[i]; !s.Final() && s.Rule.Mode != Slow {
			w.ledger.Missed(d, s, "the tool gave no answer")
		}
	}
}

// decided finds the decision on a call that has returned. Equal calls may return in
// any order, which makes no difference.
func (w *Watcher) decided(c pyhost.ToolCall) *Decision {
	for i, p := range w.waiting {
		if p.call.Tool == c.Tool && bytes.Equal(p.call.Args, c.Args) && bytes.Equal(p.call.Kwargs, c.Kwargs) {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			return p.decision
		}
	}
	return nil
}

// shape applies the faults on a tool's value, in the order of the wire.
func (w *Watcher) shape(d *Decision, value json.RawMessage) pyhost.ToolAnswer {
	l := w.ledger
	var answer pyhost.ToolAnswer
	set := func(s *Strike, v json.RawMessage) {
		answer.Action, answer.Value, value = pyhost.Replace, v, v
		l.Fired(d, s, s.Change())
	}
	if l.Repeats(d.Call) {
		earlier, ok := l.Earlier(d.Call, Reply{Body: bytes.Clone(value)})
		if s := d.Find(Stale); s != nil && ok {
			set(s, earlier.Body)
		} else if s != nil {
			l.Missed(d, s, "nothing earlier to answer with")
		}
	}
	if list := d.At(AtToolResult); len(list) > 0 {
		if v := w.inject(d, value); !bytes.Equal(v, value) {
			answer.Action, answer.Value, value = pyhost.Replace, v, v
		}
	}
	for i := range d.Strikes {
		s := &d.Strikes[i]
		switch s.Rule.Mode {
		case Duplicate:
			text := pythonText(value)
			if root := parsed(value); root != nil && root.Kind == jsontree.Array && len(root.Items) > 0 {
				inner := value[root.Offset+1 : root.End-1]
				set(s, fmt.Appendf(nil, "[%s,%s]", inner, inner))
			} else {
				set(s, quoted(text+text))
			}
		case WrongType:
			set(s, quoted("<html><body>"+pythonText(value)+"</body></html>"))
		case Partial:
			text := pythonText(value)
			set(s, quoted(prefix(text, len([]rune(text))/2)))
		case Late:
			answer.Delay += s.Rule.Delay
			l.Fired(d, s, s.Change())
		case Bandwidth:
			answer.Delay += time.Duration(len(value)) * time.Second / time.Duration(s.Rule.Rate)
			l.Fired(d, s, s.Change())
		}
	}
	return answer
}

// inject puts attacks into a value: into a text, or into the texts of a structure.
func (w *Watcher) inject(d *Decision, value json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return quoted(string(w.ledger.InjectResult(d, "", []byte(text))))
	}
	if parsed(value) != nil {
		return w.ledger.InjectResult(d, typeJSON, value)
	}
	return quoted(string(w.ledger.InjectResult(d, "", []byte(pythonText(value)))))
}

// pythonText returns a value as text: itself if it is a text, otherwise its JSON.
func pythonText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// pythonArguments returns all arguments by name if these are known, otherwise the
// keyword arguments, or the positional ones if there are no others.
func pythonArguments(c pyhost.ToolCall) string {
	if named := bytes.TrimSpace(c.Named); len(named) > 0 && !bytes.Equal(named, []byte("null")) {
		return string(named)
	}
	if kw := bytes.TrimSpace(c.Kwargs); len(kw) > 2 {
		return string(kw)
	}
	return string(c.Args)
}

// exchanged records a call with its result, or with the message of the exception.
func (w *Watcher) exchanged(d *Decision, c pyhost.ToolCall, result json.RawMessage, raised string) {
	limit := w.ledger.plan.Capture
	request := pythonArguments(c)
	e := Exchange{At: w.ledger.clock(), RequestSize: int64(len(request)), ResponseSize: int64(len(result)), Raised: raised}
	var message string
	if raised != "" && json.Unmarshal(result, &message) == nil {
		e.Error = raised + ": " + message
	}
	e.Request = []byte(request[:min(limit, len(request))])
	e.Response = bytes.Clone(result[:min(limit, len(result))])
	w.ledger.Exchanged(d, e)
}
