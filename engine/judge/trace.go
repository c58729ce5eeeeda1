package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// Kind is what happened.
type Kind string

// The kinds.
const (
	Said  Kind = "said"  // a prompt to the system
	Reply Kind = "reply" // a reply of the system
	Tool  Kind = "tool"  // a call of a tool, with its result
	Model Kind = "model" // a call of a model, with its answer
	Fault Kind = "fault" // an injected fault
	Log   Kind = "log"   // what the system printed
)

// Source is where a call was seen. One call may be seen in two places: requested in a
// conversation, and on the wire. Counts are those of the place that saw most.
type Source string

// The sources.
const (
	OnWire Source = "wire" // the call itself
	InChat Source = "chat" // a model asked for it and got a result
)

// Event is one thing that happened.
type Event struct {
	Kind   Kind
	Name   string   // of the tool or the provider; for a fault, its mode
	Names  []string // other names of it
	Source Source
	// Arguments of a call: JSON, or a query or form; "": unknown.
	Arguments json.RawMessage
	// Garbled has the arguments that the model gave if they are not JSON; Arguments is ""
	// then.
	Garbled string
	// Texts means that the values in Arguments are strings only because they have no type.
	Texts  bool
	Method string // of HTTP; "": there is none
	Key    string // by which a server recognises a repeated call
	Status int    // of HTTP; 0: there is none, or no answer came
	Error  string // why there is no complete answer; "": there is one
	Raised string // the class of the exception, if a tool that is a function raised one
	// Declined means that the answer itself says that the call failed.
	Declined bool
	Text     string // what was said or answered
	// Leaks means that the call, or the log, contains a secret that the system was given.
	Leaks bool
	// Injected is the text that a fault put into the answer; "": none.
	Injected string
	// Attack means that the injected text gives orders, whatever its words.
	Attack bool
	Faults []string // faults that affected the call
	Turn   int      // of the conversation, from 0
	At     time.Duration
	// Unrecorded means that the call was refused because a replayed recording has no answer
	// to it. It reached nothing, and says nothing about the system that it was for.
	Unrecorded bool
	// Untold means that the model was not shown the result of the call: only its answer and
	// later requests show that it asked for it.
	Untold bool
	// mixed means that some requests of the call failed and others did not, or that it is
	// unknown which requests belong to it.
	mixed bool
}

// Lost reports whether no complete answer came, or one that leaves open whether the call was
// performed.
func (e *Event) Lost() bool {
	if e.Unrecorded {
		return false
	}
	if e.Raised != "" { // most exceptions are answers
		return strings.Contains(e.Raised, "Timeout") || strings.Contains(e.Raised, "Connection")
	}
	return e.Error != "" || e.Status == 500 || e.Status == 502 || e.Status == 504
}

// Failed reports whether a call did not succeed.
func (e *Event) Failed() bool {
	return e.Error != "" || e.Raised != "" || e.Declined || e.Status >= 400
}

// failureText says how a call failed.
func (e *Event) failureText() string {
	switch {
	case e.Status >= 400:
		return fmt.Sprintf("status %d", e.Status)
	case e.Error == "" && e.Declined:
		return "an answer that says so"
	case e.Raised != "":
		return e.Raised
	}
	return "no whole answer"
}

// Trace is what happened in a case, in order.
type Trace struct {
	Events []Event
	// Blind means that calls of tools would not have been seen.
	Blind bool
	// Offered are the tools that may be called; nil: unknown.
	Offered []Offer
	// Declared means that a document names the tools, not the request to a model.
	Declared bool
	// Effects are the declared ones.
	Effects Effects
	// Own are names that calls have as their own, beside those of Events.
	Own []string
	// Secrets are what the system must keep secret.
	Secrets []string
}

// Offer is a tool that may be called.
type Offer struct {
	Name string
	// Breaks says how arguments violate the tool's schema; "" if they do not; nil: the tool
	// has no schema.
	Breaks func(arguments json.RawMessage) string
}

// Request is the kind under which [Trace.Occurred] returns the calls of tools that were seen
// on the wire.
const Request Kind = "request"

// Occurred returns the names of what occurred, by kind, and of the offered tools.
func (t *Trace) Occurred() map[Kind][]string {
	all := make(map[Kind][]string)
	add := func(k Kind, name string) {
		if name != "" && !slices.Contains(all[k], name) {
			all[k] = append(all[k], name)
		}
	}
	for i := range t.Events {
		e := &t.Events[i]
		if add(e.Kind, e.Name); e.Kind == Tool && e.Source == OnWire {
			add(Request, e.Name)
		}
	}
	for _, o := range t.Offered {
		add(Tool, o.Name)
	}
	return all
}

// Verdict is the result of a judge.
type Verdict uint8

// The verdicts.
const (
	Pass Verdict = iota
	Fail
	Unknown // it could not be decided
)

// Effects declares for tools whether their calls change something.
type Effects map[string]bool

// Declare declares whether calls of a tool change something.
func (e Effects) Declare(tool string, changes bool) { e[normalizeName(tool)] = changes }

// Of returns what is declared for a tool, by its name or by that without or with its object's.
func (e Effects) Of(tool string) (changes, declared bool) {
	name := normalizeName(tool)
	last := name[strings.LastIndexAny(name, ".:")+1:]
	for _, n := range []string{name, last} {
		if changes, declared = e[n]; declared {
			return changes, true
		}
	}
	if name == last {
		for n, v := range e {
			if strings.HasSuffix(n, "."+name) {
				changes, declared = changes || v, true
			}
		}
	}
	return changes, declared
}

// normalizeName ignores case and how the words of a name are joined.
func normalizeName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// wanted returns the calls that a model had asked for when a request was made, which the
// request may carry out.
func (t *Trace) wanted(i int) (calls []*Event) {
	if t.Events[i].Source == InChat {
		return nil
	}
	for k := i - 1; k >= 0 && t.Events[k].Kind != Model && t.Events[k].Turn == t.Events[i].Turn; k-- {
		if e := &t.Events[k]; e.Kind == Tool && e.Source == InChat {
			calls = append(calls, e)
		}
	}
	return calls
}

// names returns the names of calls, each once.
func names(calls []*Event) (list []string) {
	for _, e := range calls {
		if !slices.Contains(list, e.Name) {
			list = append(list, e.Name)
		}
	}
	return list
}

// subject returns the name of a call. If the call has the name of a gateway, as all calls of
// a service may, it is the name by which the model asked for it.
func (t *Trace) subject(i int) string {
	e := &t.Events[i]
	if asked := names(t.wanted(i)); len(asked) == 1 && len(e.Names) > 0 && e.Names[0] != e.Name {
		return asked[0]
	}
	return e.Name
}

// same reports whether two calls request the same.
func (e *Event) same(o *Event) bool {
	return o.Kind == Tool && o.Source == e.Source && o.Turn == e.Turn && o.Name == e.Name && o.Method == e.Method && string(o.Arguments) == string(e.Arguments)
}

// onWire reports whether a call of that name was seen on the wire.
func (t *Trace) onWire(e *Event) bool {
	name := normalizeName(e.Name)
	return slices.ContainsFunc(t.Events, func(x Event) bool {
		return x.Kind == Tool && x.Source == OnWire && x.named(func(n string) bool { return n == name })
	})
}

// requests returns the range [from, next) of events with the requests that may carry out a
// call of a conversation: those before the next call of the model or of the conversation.
func (t *Trace) requests(i int) (from, next int) {
	turn := t.Events[i].Turn
	for from = i; from < len(t.Events) && t.Events[from].Source == InChat && t.Events[from].Turn == turn; from++ {
	}
	for next = from; next < len(t.Events) && t.Events[next].Turn == turn && t.Events[next].Kind != Model && t.Events[next].Source != InChat; next++ {
	}
	return from, next
}

// alone reports whether the model asked only for this call at that time.
func (t *Trace) alone(i int) bool {
	chat := func(k int) bool { return k >= 0 && k < len(t.Events) && t.Events[k].Source == InChat }
	return chat(i) && !chat(i-1) && !chat(i+1)
}

// repeated returns the requests by which a call of a conversation was made more than once:
// the largest set of equal ones, under any name, unless they only look something up.
func (t *Trace) repeated(i int) (most []int) {
	if !t.alone(i) {
		return nil
	}
	from, next := t.requests(i)
	for k := from; k < next; k++ {
		e := &t.Events[k]
		if e.Kind != Tool || t.Effects.Harmless(e.Method, e.Name) {
			continue
		}
		var same []int
		for m := from; m < next; m++ {
			if e.same(&t.Events[m]) && !t.again(m) {
				same = append(same, m)
			}
		}
		if len(same) > max(1, len(most)) {
			most = same
		}
	}
	return most
}

// eachMade returns the trace with a call of a conversation for each time that it was made,
// before the requests of that time.
func (t Trace) eachMade() Trace {
	var all []Event
	var again map[int]Event // by the request before it
	for i, e := range t.Events {
		all = append(all, e)
		if c, ok := again[i]; ok {
			all = append(all, c)
		}
		if same := t.repeated(i); len(same) > 0 {
			again = make(map[int]Event)
			for n, m := range same[:len(same)-1] {
				e.At = t.Events[same[n+1]].At
				again[m] = e
			}
		}
	}
	t.Events = all
	return t
}

// one reports whether two events are one call: requested in a conversation, and carried out
// by a request.
func (t *Trace) one(chat, wire int) bool {
	if t.Events[chat].Source != InChat || t.Events[wire].Source != OnWire {
		return false
	}
	from, next := t.requests(chat)
	return from <= wire && wire < next
}

// saysError matches a result that is only an error.
var saysError = lazy.Pattern(`(?is)^\s*(?:error\b|\{.*"(?:error|is_?error)"\s*:\s*(?:"[^"]|\{|true))`)

// carriedOut returns a call of a conversation with the outcome of the requests that carried
// it out under another name: those up to the next call of the model. Of several requests for
// one call the last one counts; for several calls all must agree.
func (t *Trace) carriedOut(i int) *Event {
	e := t.Events[i]
	var asked []string
	var sent []*Event
	from, next := t.requests(i)
	for k := from - 1; k >= 0 && t.Events[k].Source == InChat && t.Events[k].Turn == e.Turn; k-- {
		asked = append(asked, normalizeName(t.Events[k].Name))
	}
	for k := from; k < next; k++ {
		x := &t.Events[k]
		if x.Kind == Tool && x.Source == OnWire && !x.named(func(n string) bool { return slices.Contains(asked, n) }) {
			sent = append(sent, x)
		}
	}
	if len(sent) == 0 { // it was carried out out of sight, or not at all
		e.Declined = e.Declined || saysFailed(e.Text)
		return &e
	}
	last := sent[len(sent)-1]
	for _, x := range sent {
		if len(asked) > 1 && (x.Status != last.Status || x.Failed() != last.Failed()) {
			e.mixed = true
			return &e
		}
	}
	e.Status, e.Error, e.Raised, e.Declined = last.Status, last.Error, last.Raised, last.Declined
	return &e
}

// CarriedOut returns the tools for which a call that the model asked for, and for no other,
// was followed by a request.
func (t *Trace) CarriedOut() map[string]bool {
	all := make(map[string]bool)
	for i := range t.Events {
		e := &t.Events[i]
		if from, next := t.requests(i); t.alone(i) && t.requested(from, next) {
			all[normalizeName(e.Name)] = true
		}
	}
	return all
}

// WithoutUnsent returns the trace without the calls of these tools that only a conversation
// shows: the model asked for them, and no request followed.
func (t Trace) WithoutUnsent(tools func(name string) bool) Trace {
	var kept []Event
	for i, e := range t.Events {
		if from, next := t.requests(i); e.Source != InChat || t.requested(from, next) || !tools(normalizeName(e.Name)) {
			kept = append(kept, e)
		}
	}
	t.Events = kept
	return t
}

func (t *Trace) requested(from, next int) bool {
	return slices.ContainsFunc(t.Events[from:next], func(e Event) bool { return e.Kind == Tool && e.Source == OnWire })
}

func (e *Event) named(match func(string) bool) bool {
	if match(normalizeName(e.Name)) {
		return true
	}
	return slices.ContainsFunc(e.Names, func(n string) bool { return match(normalizeName(n)) })
}
