package flakestorm

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// A case makes one finding, that of the severest invariant that fails. Another one
// that fails and makes no finding in any case is checked alone in the last round, so
// that a finding that is known or accepted does not hide it.

// brokenInvariant is the kind of a case in which an invariant failed.
const brokenInvariant = "broken-invariant"

// masked is an invariant that failed in a case whose finding is that of another.
type masked struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Reason   string            `json:"reason"`
	Severity campaign.Severity `json:"severity"`
	items    []int             // of the main round, in which it failed
}

// otherwise notes the invariants that failed beside the one that decided the outcome. A
// case of one alone is a finding in a run also if that holds now: one that does not
// reproduce.
func (t *trial) otherwise() {
	if p := t.p.Only; p != nil && t.out.Verdict == campaign.VerdictPass && !t.x.lane.Cold {
		t.out.Verdict, t.out.Severity, t.out.Kind = campaign.VerdictFail, p.Severity, brokenInvariant
		t.out.Title = t.what + ": " + p.Name + ": " + p.Reason
		t.out.Signature, t.out.Cause = t.p.Phase+"|"+p.Name+"|"+p.Type, []string{p.Type}
	}
	for _, b := range t.broken {
		same := func(x masked) bool { return x.Name == b.Name && x.Type == b.Type }
		if t.failed != nil && same(masked{Name: nameOf(t.failed), Type: t.failed.Type}) || slices.ContainsFunc(t.note.Masked, same) {
			continue
		}
		t.note.Masked = append(t.note.Masked, b)
	}
}

// keepMasked keeps the cases of each.
func (s *state) keepMasked(item int, n *note) {
	for _, b := range n.Masked {
		i := slices.IndexFunc(s.masked, func(x masked) bool { return x.Name == b.Name && x.Type == b.Type })
		if i < 0 {
			i, s.masked = len(s.masked), append(s.masked, b)
		}
		s.masked[i].items = append(s.masked[i].items, item)
	}
}

// besideAnother are the cases of the main round in which an invariant failed that was
// checked alone in the last.
func (s *state) besideAnother(signature string) []int {
	for _, b := range s.masked {
		if strings.HasSuffix(signature, b.suffix()) {
			return b.items
		}
	}
	return nil
}

// suffix is how the signature of its finding ends.
func (b *masked) suffix() string { return "|" + b.Name + "|" + b.Type }

// alone are the cases of the last round about invariants without a finding.
func (c *Campaign) alone(s *state) (list []payload) {
	for _, b := range s.masked {
		if !slices.ContainsFunc(s.weaknesses, func(w weakness) bool { return strings.HasSuffix(w.signature, b.suffix()) }) {
			p := c.payload(s, s.items[b.items[0]])
			p.Only = &b
			list = append(list, p)
		}
	}
	return list
}
