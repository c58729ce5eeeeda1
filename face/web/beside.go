package web

import (
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
)

// besideView is another case shown beside a finding, with the exhibits that both have.
type besideView struct {
	Title, Link string
	Pairs       [][2]report.Exhibit
}

// beside returns the first other case that a finding's evidence refers to. It moves the finding's
// key exhibits that this case has too from v into pairs. nil: there is no such case, or nothing of
// it was kept.
func (s *Server) beside(run string, f *campaign.Finding, v *report.FindingView) *besideView {
	for i := range f.Evidence {
		t := f.Evidence[i].Table
		if t == nil || len(t.Cases) == 0 || t.Cases[0] == nil || *t.Cases[0] == f.First {
			continue
		}
		_, shown, err := s.cfg.Use.KeptCase(run, f.Contract, f.Campaign, *t.Cases[0])
		if err != nil {
			return nil
		}
		of := make(map[string]*campaign.Exhibit)
		for k := range shown {
			of[shown[k].Kind+shown[k].Title] = &shown[k]
		}
		b := &besideView{Title: f.Evidence[i].Title, Link: caseLink(run)(f.Contract, f.Campaign, *t.Cases[0])}
		v.Key = slices.DeleteFunc(v.Key, func(e report.Exhibit) bool {
			other := of["text"+e.Title]
			if e.Text == nil || other == nil {
				return false
			}
			b.Pairs = append(b.Pairs, [2]report.Exhibit{e, report.DrawExhibit(other)})
			return true
		})
		if len(b.Pairs) == 0 {
			return nil
		}
		return b
	}
	return nil
}
