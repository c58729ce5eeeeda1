package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Mention is a call or a fault that a judge names. If no case shows it, the judge is
// untested or the name is misspelt.
type Mention struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// Idle means that the judge holds because the call or fault never occurred,
	// although it is not meant to forbid it.
	Idle bool `json:"idle,omitempty"`
}

// Mentions returns the mentions of a rule, perhaps negated.
func (r *Rule) Mentions(negate bool) (list []Mention) {
	add := func(p *Pattern, idle bool) {
		if p == nil || p.Name == "" || p.Name == "*" || !slices.Contains([]Kind{Tool, Model, Fault}, p.Kind) {
			return
		}
		if m := (Mention{p.Kind, p.Name, idle}); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	some, none := func(n *int) bool { return n != nil && *n > 0 }, func(n *int) bool { return n != nil && *n == 0 }
	demanded := !r.Bounded() || some(r.AtLeast) || some(r.Exactly)
	add(&r.Event, !demanded && r.Before == nil && !none(r.AtMost) && !none(r.Exactly) && !negate)
	add(r.Before, !negate)
	add(r.NeverAfter, !negate)
	add(r.After, false)
	return list
}

// In reports whether one of the events is the mentioned one.
func (m Mention) In(t Trace) bool {
	p := Pattern{Kind: m.Kind, Name: m.Name}
	owned := p.Owned(t.Events, t.Own)
	for i := range t.Events {
		if p.means(&t, i, owned) {
			return true
		}
	}
	return false
}

// Missing says that no case showed the mentioned name, but other names of its kind,
// and why there may be none; "" if nothing suggests a mistake.
func (m Mention) Missing(seen []string, none string) string {
	near := diag.Nearest(m.Name, seen)
	if !m.Idle && (near == "" || near == m.Name) {
		return ""
	}
	text := fmt.Sprintf("no %s %s occurred in any of its cases", m.Kind, m.Name) // it may in those of other judges
	if m.Idle {
		text += ", so this was not tested"
	}
	switch {
	case near == m.Name: // others showed it, or it was offered
	case near != "":
		text += "; did you mean " + near + "?"
	case len(seen) > 0:
		text += fmt.Sprintf("; seen: %s", diag.Runes(strings.Join(seen, ", "), 160))
	case m.Kind == Tool:
		text += "; " + none
	}
	return text
}
