package operator

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
)

// A case makes one finding: that of the first judge that fails. If another judge fails as well but
// has no finding in any case, it judges alone, in a round at the end, the first child that failed
// it. So a finding that is known or accepted does not hide another.

// masked is a judge that fails together with others.
type masked struct {
	cases int64  // number of such cases
	first []byte // recipe of the first child among them
	under string // the judge whose finding contains that child
	found bool   // it has a finding
}

// beside returns the failing judges apart from the subject of the finding, which is the first of
// them if it is blamed, or else an operator.
func (v *judged) beside(blamed bool) (ids []string) {
	for _, o := range v.opinions {
		if !o.Holds && o.Judge != "" && (o.Judge != v.broken || !blamed) && !v.ended && !slices.Contains(ids, o.Judge) {
			ids = append(ids, o.Judge)
		}
	}
	return ids
}

// keepBeside counts such failures and records which judges have findings.
func (s *state) keepBeside(f *facts, cause []string, recipe func(only string) []byte) {
	if len(f.beside) == 0 && (len(cause) < 2 || cause[0] != kindVerdict) {
		return
	}
	if s.beside == nil {
		s.beside = make(map[string]masked)
	}
	for _, id := range f.beside {
		m := s.beside[id]
		if m.cases++; m.first == nil && !m.found {
			if m.first, m.under = recipe(id), ""; len(cause) > 1 && cause[0] == kindVerdict {
				m.under = cause[1]
			}
		}
		s.beside[id] = m
	}
	if len(cause) > 1 && cause[0] == kindVerdict {
		m := s.beside[cause[1]]
		m.found, m.first = true, nil
		s.beside[cause[1]] = m
	}
}

// cause returns the judge whose finding contains the child that this judge judges alone, so that
// both findings share a cause; otherwise the judge itself.
func (s *state) cause(judge string) string {
	if m := s.beside[judge]; m.first != nil && m.under != "" {
		return m.under
	}
	return judge
}

// masked returns the judges that fail only together with others.
func (s *state) masked() (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(s.beside)) {
		if !s.beside[id].found {
			ids = append(ids, id)
		}
	}
	return ids
}

// alone is the last round: one case for each such judge.
func (c *Campaign) alone(s *state) campaign.Round {
	if s.asked {
		return campaign.Round{}
	}
	ids := s.masked()
	n := int64(len(ids))
	if b := c.spec.Budget; b != nil {
		n = b.allows(s.spent, n, c.perCase())
	}
	return campaign.Round{Len: max(n, 0), At: func(i int64) []byte { return s.beside[ids[i]].first }}
}

// foldAlone records which of these judges have a finding now.
func (c *Campaign) foldAlone(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := *s
	next.asked, next.beside = true, maps.Clone(s.beside)
	for _, o := range results {
		next.done++
		if f, ok := decodeFacts(o.Data); ok {
			next.spent.add(f.spent)
		}
		if len(o.Cause) > 1 && o.Cause[0] == kindVerdict {
			m := next.beside[o.Cause[1]]
			m.found = true
			next.beside[o.Cause[1]] = m
		}
	}
	return &next
}

// roughly says how the number of cases relates to the plan.
func (c *Campaign) roughly() string {
	more := len(c.spec.Judges) > 1
	switch {
	case c.attacker != nil, c.spec.Policy == mutator.Search, c.spec.Budget != nil && more:
		return "about"
	case c.spec.Budget != nil:
		return "at most"
	case more:
		return "at least"
	}
	return ""
}

// hidden names the judges without a finding of their own at the end.
func (s *state) hidden() (list []string) {
	for _, id := range s.masked() {
		list = append(list, fmt.Sprintf("the judge %s fails on %s, always beside another judge: accepting that judge's finding hides this failure",
			id, diag.Plural(s.beside[id].cases, "case")))
	}
	return list
}

// besideNote reports how many cases failed a judge that judged alone at the end.
func (s *state) besideNote(o *campaign.Outcome) (list []campaign.Exhibit) {
	if s == nil || len(o.Cause) < 2 || s.beside[o.Cause[1]].first == nil {
		return nil
	}
	return []campaign.Exhibit{campaign.TextExhibit("Beside other judges", fmt.Sprintf("The judge %s fails on %s, always beside another judge. Here %s alone judges.",
		o.Cause[1], diag.Plural(s.beside[o.Cause[1]].cases, "case"), o.Cause[1]))}
}

// heldAlone fails a child that failed a judge together with another one but passes it alone. The
// run reports the failure; its replay will not reproduce it.
func (v *judged) heldAlone(only string) {
	v.judgement, v.broken = mutator.Fail, only
	v.opinions = []judgement{{only, false, "it failed on this child beside another judge, and holds now"}}
}
