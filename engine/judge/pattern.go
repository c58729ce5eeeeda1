package judge

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/match"
)

// Pattern selects events. An event must meet every field that is set.
type Pattern struct {
	Kind      Kind
	Name      string // or a glob; "" and "*" match any name
	Status    []int  // any of them; 4 means 400 to 499, and so on
	Failed    *bool
	Text      *match.Pattern // of what was said or answered
	Arguments jsontree.Node  // of kind Object; otherwise any arguments match
}

// String returns the pattern for people: "charge with status 402".
func (p *Pattern) String() string {
	s := p.Name
	switch {
	case (s == "" || s == "*") && p.Kind == Tool:
		s = "any tool"
	case s == "" || s == "*":
		s = string(p.Kind)
	case p.Kind != Tool:
		s = string(p.Kind) + " " + s
	}
	for i, n := range p.Status {
		word := " or "
		if i == 0 {
			word = " with status "
		}
		if s += word + fmt.Sprint(n); n < 10 {
			s += "xx"
		}
	}
	if p.Failed != nil && *p.Failed {
		s += " that failed"
	} else if p.Failed != nil {
		s += " that succeeded"
	}
	if p.Arguments.Kind == jsontree.Object {
		s += " with " + jsontree.Compact.Format(&p.Arguments)
	}
	if p.Text != nil {
		s += " with that text"
	}
	return s
}

// asksOutcome reports whether the pattern is about the outcome of a call, which a
// conversation does not show.
func (p *Pattern) asksOutcome() bool {
	return p.Kind == Tool && (len(p.Status) > 0 || p.Failed != nil)
}

// Named reports whether an event has the kind and the name of the pattern.
func (p *Pattern) Named(e *Event) bool {
	if p.Kind != e.Kind || p.Name == "" || p.Name == "*" {
		return p.Kind == e.Kind
	}
	glob := normalizeName(p.Name)
	return e.named(func(n string) bool { ok, err := path.Match(glob, n); return err == nil && ok || n == glob })
}

// Owned reports whether a call has the name of the pattern as its own: one of the events, or one
// of those whose names are given. Then calls of which it is another name, such as /orders/7/pay if
// it is orders, are not meant.
func (p *Pattern) Owned(events []Event, own []string) bool {
	has := func(name string) bool { return p.Named(&Event{Kind: Tool, Name: name}) }
	return p.Kind == Tool && p.Name != "" && !strings.ContainsAny(p.Name, "*?[") && (slices.ContainsFunc(own, has) ||
		slices.ContainsFunc(events, func(e Event) bool { return e.Kind == Tool && e.Source == OnWire && has(e.Name) }))
}

// means reports whether the pattern names an event of a trace, if it owns such an event or not.
func (p *Pattern) means(t *Trace, i int, owned bool) bool {
	e := &t.Events[i]
	if !owned || e.Source != OnWire {
		return p.Named(e)
	}
	return p.Named(&Event{Kind: e.Kind, Name: e.Name}) || slices.ContainsFunc(t.wanted(i), p.Named)
}

// matches reports whether an event is selected. unseen names what the decision
// depends on but was not seen; "" if nothing.
func (p *Pattern) matches(e *Event) (hit bool, unseen string, err error) {
	if !p.Named(e) {
		return false, "", nil
	}
	noStatus := len(p.Status) > 0 && e.Status == 0 && e.Error == ""
	if len(p.Status) > 0 && !noStatus {
		ok := false
		for _, n := range p.Status {
			ok = ok || e.Status == n || n < 10 && e.Status/100 == n
		}
		if !ok {
			return false, "", nil
		}
	}
	if p.Failed != nil && !e.mixed && e.Failed() != *p.Failed {
		return false, "", nil
	}
	if p.Text != nil {
		ok, err := p.Text.Search(e.Text)
		if err != nil || !ok {
			return false, "", err
		}
	}
	if p.Arguments.Kind == jsontree.Object {
		got, err := jsontree.Parse(e.Arguments, jsontree.Python())
		if err != nil {
			return false, unseenArguments(e), nil //nolint:nilerr // arguments that cannot be read are unknown
		}
		why, err := Unlike(&p.Arguments, &got.Root, e.Texts)
		if err != nil || why != "" {
			return false, "", err
		}
	}
	switch {
	case noStatus:
		return false, fmt.Sprintf("no status of a call of %s was seen; for tools without one, use failed: true or failed: false", e.Name), nil
	case p.Failed != nil && e.mixed:
		return false, fmt.Sprintf("whether a call of %s failed was not seen", e.Name), nil
	}
	return true, "", nil
}

func unseenArguments(e *Event) string {
	return fmt.Sprintf("the arguments of a call of %s were not seen", e.Name)
}

// Unlike says how arguments differ from what is wanted; "" if they do not. Keys
// that are not wanted may have any value; a wanted {matches: PATTERN} is searched
// for in a string. With texts, values are strings, as in a query, so 7 equals "7".
func Unlike(want, have *jsontree.Node, texts bool) (string, error) {
	return difference("", want, have, texts)
}

func difference(at string, want, have *jsontree.Node, texts bool) (string, error) {
	if have == nil {
		return at + " is missing", nil
	}
	if p := want.Get("matches"); p != nil && len(want.Members) == 1 && p.Kind == jsontree.String {
		re, err := match.Compile(p.Text, match.Options{DotAll: true})
		if err != nil {
			return "", fmt.Errorf("the pattern for argument %s: %w", at, err)
		}
		if ok, err := re.Search(have.Text); err != nil || !ok || have.Kind != jsontree.String {
			return fmt.Sprintf("%s does not match %s", at, p.Text), err
		}
		return "", nil
	}
	if want.Kind == jsontree.Object && have.Kind == jsontree.Object {
		for i := range want.Members {
			m := &want.Members[i]
			if why, err := difference(strings.TrimPrefix(at+"."+m.Key, "."), &m.Value, have.Get(m.Key), texts); why != "" || err != nil {
				return why, err
			}
		}
		return "", nil
	}
	if canonical(want) == canonical(have) || texts && have.Kind == jsontree.String && canonical(want) == have.Text {
		return "", nil
	}
	at = cmp.Or(at, "all")
	return fmt.Sprintf("%s is %s", at, short(jsontree.Compact.Format(have), 120)), nil
}
