package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Rule is what a document demands of a trace. Those of its demands that are set
// must all hold; one without any demand says that the event occurs.
type Rule struct {
	Event Pattern
	// How often the event occurs; nil: as often as it likes.
	AtMost, AtLeast, Exactly *int
	Per                      string   // counts are for each value of this argument
	Before                   *Pattern // each of these has the event before it
	After                    *Pattern // the event has one of these before it
	NeverAfter               *Pattern // the event has none of these before it
	// Within bounds the time between the event and that of Before, After or
	// NeverAfter, or is the window of AtMost; 0: none.
	Within time.Duration
	// Arguments that every event must have.
	Arguments jsontree.Node
}

// Judge says whether a trace keeps the rule, and why.
func (r *Rule) Judge(t Trace) (Verdict, string, error) {
	if t.Blind && r.NeedsTools() {
		return Unknown, "calls of tools cannot be seen", nil
	}
	events, sure, err := selected(&r.Event, t)
	if err != nil {
		return Unknown, "", err
	}
	if why, err := r.broken(events, t, &sure); err != nil || why != "" {
		return Fail, why, err
	}
	if !sure {
		return Unknown, "a status or an argument that the rule asks for was not seen", nil
	}
	if len(events) == 0 {
		return Pass, r.Event.String() + " did not occur", nil
	}
	return Pass, fmt.Sprintf("%s occurred %s, as allowed", r.Event.String(), times(len(events))), nil
}

// NeedsTools reports whether the rule is about calls of tools.
func (r *Rule) NeedsTools() bool {
	for _, p := range []*Pattern{&r.Event, r.Before, r.After, r.NeverAfter} {
		if p != nil && p.Kind == Tool {
			return true
		}
	}
	return false
}

// selected are the numbers of the events that a pattern selects.
func selected(p *Pattern, t Trace) (list []int, sure bool, err error) {
	sure = true
	for i := range t.Events {
		e := &t.Events[i]
		if e.Source == InChat && p.asksOutcome() {
			if t.onWire(e) { // that event says what became of the call
				continue
			}
			e = t.carriedOut(i)
		}
		hit, known, err := p.matches(e)
		if err != nil {
			return nil, false, err
		}
		sure = sure && known
		if hit {
			list = append(list, i)
		}
	}
	return withoutRepeats(t, list), sure, nil
}

// withoutRepeats drops calls that were seen in a conversation only, if any of the same
// name was seen on its way: it is the same call.
func withoutRepeats(t Trace, list []int) []int {
	wire := make(map[string]bool)
	for _, i := range list {
		if e := &t.Events[i]; e.Source == OnWire {
			wire[normalizeName(e.Name)] = true
			for _, n := range e.Names {
				wire[normalizeName(n)] = true
			}
		}
	}
	kept := list[:0:0]
	for _, i := range list {
		if e := &t.Events[i]; e.Source != InChat || !wire[normalizeName(e.Name)] {
			kept = append(kept, i)
		}
	}
	return kept
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// broken says how the rule is broken, "" if it is not.
func (r *Rule) broken(events []int, t Trace, sure *bool) (string, error) {
	if why := r.counted(events, t); why != "" {
		return why, nil
	}
	if r.Arguments.Kind == jsontree.Object {
		for _, i := range events {
			e := &t.Events[i]
			got, err := jsontree.Parse(e.Arguments, jsontree.Python())
			if err != nil {
				*sure = false
				continue
			}
			why, err := Unlike(&r.Arguments, &got.Root, e.Texts)
			if err != nil || why != "" {
				return r.Event.String() + ": " + why, err
			}
		}
	}
	return r.ordered(events, t, sure)
}

func (r *Rule) counted(events []int, t Trace) string {
	groups := map[string][]int{"": events}
	var order []string
	if r.Per != "" {
		groups = make(map[string][]int)
		for _, i := range events {
			v := value(t.Events[i].Arguments, r.Per)
			if groups[v] == nil {
				order = append(order, v)
			}
			groups[v] = append(groups[v], i)
		}
	} else {
		order = []string{""}
	}
	for _, key := range order {
		list := groups[key]
		n, what := len(list), r.Event.String()
		if r.Per != "" {
			what += fmt.Sprintf(" with %s %s", r.Per, key)
		}
		if r.AtMost != nil && r.Within > 0 && r.unordered() {
			n = densest(list, t, r.Within)
			what += " within " + r.Within.String()
		}
		switch {
		case r.AtMost != nil && n > *r.AtMost:
			return fmt.Sprintf("%s occurred %s; %s", what, times(n), atMost(*r.AtMost))
		case r.AtLeast != nil && n < *r.AtLeast:
			return fmt.Sprintf("%s occurred %s; at least %s is required", what, times(n), times(*r.AtLeast))
		case r.Exactly != nil && n != *r.Exactly:
			if *r.Exactly == 0 {
				return fmt.Sprintf("%s occurred %s; %s", what, times(n), atMost(0))
			}
			return fmt.Sprintf("%s occurred %s; exactly %s is required", what, times(n), times(*r.Exactly))
		}
	}
	if len(events) == 0 && !r.Bounded() {
		return r.Event.String() + " did not occur"
	}
	return ""
}

func atMost(n int) string {
	if n == 0 {
		return "it must not"
	}
	return "at most " + times(n) + " is allowed"
}

// Idle reports whether the rule holds whatever a trace holds: it says that its
// event occurs at least 0 times, and nothing else.
func (r *Rule) Idle() bool {
	return r.AtLeast != nil && *r.AtLeast == 0 && r.AtMost == nil && r.Exactly == nil && r.unordered() &&
		r.Arguments.Kind != jsontree.Object
}

// Bounded reports whether the rule says how its event may occur; otherwise it says
// that it does.
func (r *Rule) Bounded() bool {
	return r.AtMost != nil || r.AtLeast != nil || r.Exactly != nil || !r.unordered() || r.Arguments.Kind == jsontree.Object
}

func (r *Rule) unordered() bool { return r.Before == nil && r.After == nil && r.NeverAfter == nil }

// densest is how many of the events lie within a time at most.
func densest(list []int, t Trace, within time.Duration) int {
	most := 0
	for i, first := range list {
		n := 0
		for _, k := range list[i:] {
			if t.Events[k].At-t.Events[first].At <= within {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// ordered is about what comes before what.
func (r *Rule) ordered(events []int, t Trace, sure *bool) (string, error) {
	near := func(first, then int) bool {
		return r.Within <= 0 || t.Events[then].At-t.Events[first].At <= r.Within
	}
	preceded := func(i int, by []int) bool {
		for _, k := range by {
			if k < i && near(k, i) {
				return true
			}
		}
		return false
	}
	others := func(p *Pattern) ([]int, error) {
		list, known, err := selected(p, t)
		*sure = *sure && known
		return list, err
	}
	within := ""
	if r.Within > 0 {
		within = " within " + r.Within.String()
	}
	if r.After != nil {
		by, err := others(r.After)
		if err != nil {
			return "", err
		}
		for _, i := range events {
			if !preceded(i, by) {
				return fmt.Sprintf("%s occurred without %s before it%s", r.Event.String(), r.After.String(), within), nil
			}
		}
	}
	if r.Before != nil {
		then, err := others(r.Before)
		if err != nil {
			return "", err
		}
		for _, i := range then {
			if !preceded(i, events) {
				return fmt.Sprintf("%s occurred without %s before it%s", r.Before.String(), r.Event.String(), within), nil
			}
		}
	}
	if r.NeverAfter != nil {
		by, err := others(r.NeverAfter)
		if err != nil {
			return "", err
		}
		for _, i := range events {
			if preceded(i, by) {
				return fmt.Sprintf("%s occurred after %s%s, and must not", r.Event.String(), r.NeverAfter.String(), within), nil
			}
		}
	}
	return "", nil
}

// value is an argument as text, "" if there is none.
func value(args json.RawMessage, name string) string {
	doc, err := jsontree.Parse(args, jsontree.Python())
	if err != nil {
		return ""
	}
	n := &doc.Root
	for part := range strings.SplitSeq(name, ".") {
		n = n.Get(part)
	}
	if n == nil {
		return ""
	}
	return canonical(n)
}

// canonical is a value as text that is equal for equal values.
func canonical(n *jsontree.Node) string {
	var v any
	text := jsontree.Compact.Format(n)
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	b, _ := json.Marshal(v) // of what was decoded
	return string(b)
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
