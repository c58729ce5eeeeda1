package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Rule is what a document demands of a trace. All demands that are set must hold;
// without any, the event must occur.
type Rule struct {
	Event Pattern
	// How often the event occurs; nil: any number of times.
	AtMost, AtLeast, Exactly *int
	Per                      string   // counts are for each value of this argument, or of [all]
	Before                   *Pattern // each of these must have the event before it
	After                    *Pattern // the event must have one of these before it
	NeverAfter               *Pattern // the event must have none of these before it
	// Within bounds the time between the event and that of Before, After or
	// NeverAfter, or is the window of AtMost; 0: no bound.
	Within time.Duration
	// Arguments that every event must have.
	Arguments jsontree.Node
}

// all is the value of Per that stands for all arguments together.
const all = "*"

// Judge reports whether a trace obeys the rule, and why.
func (r *Rule) Judge(t Trace) (Verdict, string, error) {
	if t.Blind && r.NeedsTools() {
		return Unknown, "calls of tools cannot be seen", nil
	}
	t = t.eachMade()
	events, err := selected(&r.Event, t)
	if err != nil {
		return Unknown, "", err
	}
	if r.perNothing(events, t) {
		return Unknown, fmt.Sprintf("no call of %s has the argument %s", r.Event.String(), r.Per), nil
	}
	unseen := events.unseen
	if why, err := r.broken(events, t, &unseen); err != nil || why != "" {
		return Fail, why, err
	}
	if unseen != "" {
		return Unknown, unseen, nil
	}
	if len(events.certain) == 0 {
		return Pass, r.Event.String() + " did not occur", nil
	}
	return Pass, fmt.Sprintf("%s occurred %s, as allowed", r.Event.String(), times(len(events.certain))), nil
}

// perNothing reports whether no event has the argument for whose values events are counted, and
// their number decides: the argument may have another name.
func (r *Rule) perNothing(events selection, t Trace) bool {
	if r.Per == "" || r.Per == all || len(events.possible) == 0 || events.unseen != "" {
		return false
	}
	if slices.ContainsFunc(events.possible, func(i int) bool { return value(t.Events[i].Arguments, r.Per) != "" }) {
		return false
	}
	return r.AtLeast != nil || r.Exactly != nil || r.counted(events, t) != ""
}

// NeedsTools reports whether the rule is about calls of tools.
func (r *Rule) NeedsTools() bool {
	return slices.ContainsFunc([]*Pattern{&r.Event, r.Before, r.After, r.NeverAfter}, func(p *Pattern) bool { return p != nil && p.Kind == Tool })
}

// selection holds the indexes of the events that a pattern selects. For some events
// this may be unknown: a rule is broken only if it is broken whether or not they
// count.
type selection struct {
	certain  []int
	possible []int  // these, and those that are unknown
	unseen   string // what was not seen of the unknown ones; "": there are none
}

// selected returns the events that a pattern selects.
func selected(p *Pattern, t Trace) (s selection, err error) {
	owned := p.Owned(t.Events, t.Own)
	for i := range t.Events {
		e := &t.Events[i]
		if !p.means(&t, i, owned) {
			continue
		}
		if e.Source == InChat && p.asksOutcome() {
			if t.onWire(e) { // that event says what happened to the call
				continue
			}
			e = t.carriedOut(i)
		}
		hit, unseen, err := p.matches(e)
		if err != nil {
			return selection{}, err
		}
		if hit {
			s.certain = append(s.certain, i)
		}
		if hit || unseen != "" {
			s.possible = append(s.possible, i)
		}
		s.unseen = cmp.Or(s.unseen, unseen)
	}
	s.certain, s.possible = withoutRepeats(t, s.certain), withoutRepeats(t, s.possible)
	return s, nil
}

// withoutRepeats drops calls that were seen only in a conversation if a call of the
// same name was seen on the wire, or a request that carries it out is in the list: it
// is the same call.
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
		e := &t.Events[i]
		request := func(k int) bool { return t.one(i, k) }
		if e.Source != InChat || !wire[normalizeName(e.Name)] && !slices.ContainsFunc(list, request) {
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

// broken says how the rule is broken; "" if it is not.
func (r *Rule) broken(events selection, t Trace, unseen *string) (string, error) {
	if why := r.counted(events, t); why != "" {
		return why, nil
	}
	if r.Arguments.Kind == jsontree.Object {
		for _, i := range events.certain {
			e := &t.Events[i]
			got, err := jsontree.Parse(e.Arguments, jsontree.Python())
			if err != nil {
				*unseen = cmp.Or(*unseen, unseenArguments(e))
				continue
			}
			why, err := Unlike(&r.Arguments, &got.Root, e.Texts)
			if err != nil || why != "" {
				return r.Event.String() + ": " + why, err
			}
		}
	}
	return r.ordered(events, t, unseen)
}

func (r *Rule) counted(events selection, t Trace) string {
	events.certain = slices.DeleteFunc(slices.Clone(events.certain), t.again)
	events.possible = slices.DeleteFunc(slices.Clone(events.possible), t.again)
	groups := map[string]selection{"": events}
	var order []string
	if r.Per != "" {
		groups = make(map[string]selection)
		for _, i := range events.possible {
			v := value(t.Events[i].Arguments, r.Per)
			g, known := groups[v]
			if !known {
				order = append(order, v)
			}
			if g.possible = append(g.possible, i); slices.Contains(events.certain, i) {
				g.certain = append(g.certain, i)
			}
			groups[v] = g
		}
	} else {
		order = []string{""}
	}
	for _, key := range order {
		least, most, what := groups[key].certain, groups[key].possible, r.Event.String()
		if r.Per != "" {
			if what += " with " + strings.TrimPrefix(r.Per+" ", all+" ") + key; key == "" {
				what = r.Event.String() + " without " + strings.Replace(r.Per, all, "arguments", 1)
			}
		}
		n := len(least)
		if r.AtMost != nil && r.Within > 0 && r.unordered() {
			n = densest(least, t, r.Within)
			what += " within " + r.Within.String()
		}
		switch {
		case r.AtMost != nil && n > *r.AtMost:
			return fmt.Sprintf("%s occurred %s; %s", what, times(n), atMost(*r.AtMost))
		case r.AtLeast != nil && len(most) < *r.AtLeast:
			return fmt.Sprintf("%s occurred %s; at least %s is required", what, times(n), times(*r.AtLeast))
		case r.Exactly != nil && (n > *r.Exactly || len(most) < *r.Exactly):
			if *r.Exactly == 0 {
				return fmt.Sprintf("%s occurred %s; %s", what, times(n), atMost(0))
			}
			return fmt.Sprintf("%s occurred %s; exactly %s is required", what, times(n), times(*r.Exactly))
		}
	}
	if len(events.possible) == 0 && !r.Bounded() {
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

// Idle reports whether the rule holds for every trace: it only says that its event
// occurs at least 0 times.
func (r *Rule) Idle() bool {
	return r.AtLeast != nil && *r.AtLeast == 0 && r.AtMost == nil && r.Exactly == nil && r.unordered() &&
		r.Arguments.Kind != jsontree.Object
}

// Bounded reports whether the rule says how its event may occur; otherwise it says
// that the event occurs.
func (r *Rule) Bounded() bool {
	return r.AtMost != nil || r.AtLeast != nil || r.Exactly != nil || !r.unordered() || r.Arguments.Kind == jsontree.Object
}

func (r *Rule) unordered() bool { return r.Before == nil && r.After == nil && r.NeverAfter == nil }

// densest returns the largest number of the events within a time window.
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

// ordered checks the order of events.
func (r *Rule) ordered(events selection, t Trace, unseen *string) (string, error) {
	var p *Pattern
	preceded := func(i int, by []int) bool {
		return slices.ContainsFunc(by, func(k int) bool {
			return k < i && !(p == r.NeverAfter && t.one(k, i)) && (r.Within <= 0 || t.Events[i].At-t.Events[k].At <= r.Within)
		})
	}
	within := ""
	if r.Within > 0 {
		within = " within " + r.Within.String()
	}
	for _, p = range []*Pattern{r.After, r.Before, r.NeverAfter} {
		if p == nil {
			continue
		}
		others, err := selected(p, t)
		if err != nil {
			return "", err
		}
		*unseen = cmp.Or(*unseen, others.unseen)
		first, then, what, needed := others, events, r.Event.String(), p.String()
		if p == r.Before {
			first, then, what, needed = events, others, needed, what
		}
		for _, i := range then.certain {
			switch {
			case p == r.NeverAfter && preceded(i, first.certain):
				return fmt.Sprintf("%s occurred after %s%s, which must not happen", what, needed, within), nil
			case p != r.NeverAfter && !preceded(i, first.possible):
				return fmt.Sprintf("%s occurred without %s before it%s", what, needed, within), nil
			}
		}
	}
	return "", nil
}

// value returns an argument as text; "" if there is none.
func value(args json.RawMessage, name string) string {
	doc, err := jsontree.Parse(args, jsontree.Python())
	if err != nil {
		return ""
	}
	n := &doc.Root
	if name == all {
		return canonical(n)
	}
	for part := range strings.SplitSeq(name, ".") {
		n = n.Get(part)
	}
	if n == nil {
		return ""
	}
	return canonical(n)
}

// canonical returns a text of a value that is equal for equal values.
func canonical(n *jsontree.Node) string {
	var v any
	text := jsontree.Compact.Format(n)
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	b, _ := json.Marshal(v) // cannot fail for decoded JSON
	return string(b)
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
