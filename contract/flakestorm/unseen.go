package flakestorm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/judge"
)

// mention is a call or a fault that an invariant names: one that no case shows
// leaves the invariant untested, or its name is misspelt.
type mention struct {
	Rule string     `json:"rule"`
	Kind judge.Kind `json:"kind"`
	Name string     `json:"name"`
	// Idle says that the invariant holds for want of it, and that this is no point
	// of the invariant, as it is of one that forbids a call.
	Idle bool `json:"idle,omitempty"`
	Seen bool `json:"seen,omitempty"`
}

// mentions are those of an invariant.
func mentions(v *config.Invariant) (list []mention) {
	add := func(kind judge.Kind, name string, idle bool) {
		named := slices.Contains([]judge.Kind{judge.Tool, judge.Model, judge.Fault}, kind) && name != "" && name != "*"
		if m := (mention{Rule: strings.TrimSuffix(v.Path+" ("+v.ID+")", " ()"), Kind: kind, Name: name, Idle: idle}); named && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	r := v.Trace
	if r == nil {
		add(judge.Tool, v.Tool, false)
		return list
	}
	most, never := func(n *int) bool { return n != nil && *n > 0 }, func(n *int) bool { return n != nil && *n == 0 }
	demanded := !r.Bounded() || most(r.AtLeast) || most(r.Exactly)
	add(r.Event.Kind, r.Event.Name, !demanded && !never(r.AtMost) && !never(r.Exactly) && !v.Negate)
	for _, p := range []*judge.Pattern{r.Before, r.NeverAfter} {
		if p != nil {
			add(p.Kind, p.Name, !v.Negate)
		}
	}
	if r.After != nil {
		add(r.After.Kind, r.After.Name, false)
	}
	return list
}

// mention notes which of the calls and faults that an invariant names occurred in
// the case, and what did occur if one of them did not.
func (t *trial) mention(v *config.Invariant) {
	list := mentions(v)
	if len(list) == 0 {
		return
	}
	var r fault.Report
	if t.cell.faults != nil {
		r = t.cell.faults.Report()
	}
	trace := t.cell.trace(&r, -1)
	if trace.Blind {
		return // which is an error of what needs calls
	}
	for _, m := range list {
		p := judge.Pattern{Kind: m.Kind, Name: m.Name}
		m.Seen = slices.ContainsFunc(trace.Events, func(e judge.Event) bool { return p.Named(&e) })
		if !slices.Contains(t.note.Mentions, m) {
			t.note.Mentions = append(t.note.Mentions, m)
		}
		if !m.Seen {
			t.note.Occurred = trace.Occurred()
		}
	}
}

// maxOccurred is how many names of a kind are kept.
const maxOccurred = 100

// remember keeps what a case says of the names in invariants.
func (s *state) remember(n *note) {
	for _, m := range n.Mentions {
		unseen := m
		unseen.Seen = false
		i := slices.IndexFunc(s.mentions, func(x mention) bool { x.Seen = false; return x == unseen })
		if i < 0 {
			s.mentions = append(s.mentions, m)
		} else if m.Seen {
			s.mentions[i].Seen = true
		}
	}
	for kind, names := range n.Occurred {
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.occurred[kind], names))))
		s.occurred[kind] = all[:min(len(all), maxOccurred)]
	}
}

// unseen are the names in invariants that no case showed.
func (s *state) unseen() (list []string) {
	for _, m := range s.mentions {
		seen := s.occurred[m.Kind]
		near := diag.Nearest(m.Name, seen)
		if m.Seen || !m.Idle && (near == "" || near == m.Name) {
			continue
		}
		text := fmt.Sprintf("%s: no %s %s occurred in any case", m.Rule, m.Kind, m.Name)
		if m.Idle {
			text += ", so that this was not tested"
		}
		switch {
		case near == m.Name: // it was offered
		case near != "":
			text += "; did you mean " + near + "?"
		case len(seen) > 0:
			text += fmt.Sprintf("; seen: %s", diag.Runes(strings.Join(seen, ", "), 160))
		case m.Kind == judge.Tool:
			text += "; " + noCalls
		}
		list = append(list, text)
	}
	return list
}

// noCalls says that nothing was seen of tools, and why that may be.
const noCalls = "no call of any tool was seen: the agent made none, or by a client that Thresh does not reach, such as one for MCP servers on stdio that is not MCP's SDK for Python or TypeScript"
