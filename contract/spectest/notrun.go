package spectest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// shownLabels is how many cases a warning names.
const shownLabels = 5

// notRun is cases that have no verdict for one and the same reason.
type notRun struct {
	what, why string
	cases     []string // the first of them
	count     int
}

// missed notes a case that was skipped or came to an error.
func (s *state) missed(c *Campaign, at campaign.Case, o *campaign.Outcome) {
	n := notRun{what: "skipped"}
	if c.Case(at.Index).page != nil && o.Verdict != campaign.VerdictError {
		var r result
		if json.Unmarshal(o.Data, &r) != nil {
			return
		}
		for _, why := range r.Skipped {
			s.unread = append(slices.Clip(s.unread), "not run: "+why)
		}
		return
	}
	switch o.Verdict {
	case campaign.VerdictSkip:
		n.why = c.SkipReason(at)
	case campaign.VerdictError:
		n.what, n.why = "not run", o.Title
	default:
		return
	}
	i := slices.IndexFunc(s.missing, func(x notRun) bool { return x.what == n.what && x.why == n.why })
	if i < 0 {
		i = len(s.missing)
		s.missing = append(s.missing, n)
	}
	m := &s.missing[i]
	if m.count++; len(m.cases) < shownLabels {
		m.cases = append(slices.Clip(m.cases), c.Case(at.Index).label())
	}
}

// Warnings implements [campaign.Warner]: which cases were not run, each reason
// once.
func (c *Campaign) Warnings(s *state) []string {
	list := make([]string, len(s.missing))
	for i, m := range s.missing {
		names := strings.Join(m.cases, ", ")
		if m.count > len(m.cases) {
			names += fmt.Sprintf(" and %d more", m.count-len(m.cases))
		}
		noun := "cases"
		if m.count == 1 {
			noun = "case"
		}
		list[i] = fmt.Sprintf("%d %s %s: %s (%s)", m.count, noun, m.what, m.why, names)
	}
	return append(list, s.unread...)
}

// SkipReason implements [campaign.Skipper].
func (c *Campaign) SkipReason(at campaign.Case) string {
	if at.Index < 0 || at.Index >= int64(len(c.slots)) {
		return ""
	}
	return c.Case(at.Index).skip
}

// Unrepeatable implements [campaign.Unrepeatable].
func (c *Campaign) Unrepeatable(at campaign.Case) string {
	if at.Index < 0 || at.Index >= int64(len(c.slots)) {
		return ""
	}
	return c.Case(at.Index).unrepeatable
}

var (
	_ campaign.Warner[*state] = (*Campaign)(nil)
	_ campaign.Skipper        = (*Campaign)(nil)
	_ campaign.Unrepeatable   = (*Campaign)(nil)
)
