package store

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// ran returns whether run B executed the case that first showed a finding of run A, with
// something to judge. The journals know, or records count.
func (s *Store) ran(both [][2]*campaign.CampaignRecord, runA, runB string, gone []campaign.Finding) func(campaign.Finding) bool {
	again := make(map[campaignKey]func(campaign.Finding) bool)
	for _, p := range both {
		a, b := p[0], p[1]
		if a == nil || b == nil || !slices.ContainsFunc(gone, func(f campaign.Finding) bool { return f.Contract == a.Contract && f.Campaign == a.Name }) {
			continue
		}
		k := campaignKey{a.Contract, a.Name}
		if y := s.passage(runB, b); y != nil {
			again[k] = y.repeats(s.passage(runA, a))
		} else { // a case that could not be run may be any
			again[k] = func(f campaign.Finding) bool { return f.First < b.Cases.Run && b.Cases.Error == 0 }
		}
	}
	return func(f campaign.Finding) bool {
		repeats := again[campaignKey{f.Contract, f.Campaign}]
		return repeats != nil && repeats(f)
	}
}

// passage is what a run did in a campaign.
type passage struct {
	of     *campaign.CampaignRecord
	basis  basis
	names  func(campaign.Case) string // nil: the document does not name its cases
	cases  map[int64]tried
	rounds map[int]uint64 // sums over the facts of their cases
}

// tried is a case that a run executed.
type tried struct {
	round             int
	judged, exercised bool   // it has a verdict; what it is for occurred
	sent              uint64 // what it sent, if sends
	sends             bool
}

// passage reads a run's journal; nil: there is none.
func (s *Store) passage(runID string, c *campaign.CampaignRecord) *passage {
	if s == nil {
		return nil
	}
	j, err := s.OpenJournal(runID)
	if err != nil {
		return nil
	}
	defer j.Close()
	m := j.Manifest()
	k := slices.Index(m.Identities, campaign.Identity{Contract: c.Contract, Name: c.Name, Digest: c.Identity})
	if k < 0 {
		return nil
	}
	p := &passage{of: c, basis: m.basis(c), cases: make(map[int64]tried), rounds: make(map[int]uint64)}
	p.basis.Settings = settingsDigest(m.Settings, "strict", "cases") // fewer cases are the same ones
	contract := s.contract(c.Contract)
	if s.CaseNames != nil {
		p.names = s.CaseNames(runID, c)
	}
	pairer, _ := contract.(campaign.Pairer)
	exerciser, _ := contract.(campaign.Exerciser)
	attempt, buf := 0, []byte(nil)
	for e, err := range j.Entries() {
		if err != nil {
			break // what is before the damage counts
		}
		if e.Kind != KindOutcome || e.Campaign != k || e.Attempt < attempt {
			continue
		}
		if e.Attempt > attempt {
			clear(p.cases)
			clear(p.rounds)
			attempt = e.Attempt
		}
		x := tried{round: e.Case.Round, judged: e.Outcome.Verdict == campaign.VerdictPass || e.Outcome.Verdict == campaign.VerdictFail, exercised: true}
		if exerciser != nil {
			x.exercised = exerciser.Exercised(e.Outcome.Data)
		}
		if pairer != nil {
			x.sent, _, x.sends = pairer.Sent(e.Outcome.Data)
		}
		p.cases[e.Case.Index] = x
		buf = e.Outcome.AppendFacts(binary.AppendVarint(buf[:0], e.Case.Index))
		sum := fnv.New64a()
		sum.Write(buf)
		p.rounds[x.round] += sum.Sum64()
	}
	return p
}

func (s *Store) contract(name string) any {
	if s == nil || s.Contract == nil {
		return nil
	}
	return s.Contract(name)
}

// repeats returns whether the run executed the case again that first showed a finding of
// another run, x; nil: that has no journal, since it is a report.
func (y *passage) repeats(x *passage) func(campaign.Finding) bool {
	sent := make(map[uint64]bool)
	for _, c := range y.cases {
		sent[c.sent] = sent[c.sent] || c.sends
	}
	return func(f campaign.Finding) bool {
		before := tried{exercised: true}
		if x != nil {
			before = x.cases[f.First]
		} else if len(f.Samples) > 0 {
			before.round = f.Samples[0].Case.Round
		}
		if before.sends {
			return sent[before.sent]
		}
		at, same := y.counterpart(x, f.First, before.round)
		now := y.cases[at]
		return same && now.judged && (now.exercised || !before.exercised)
	}
}

// counterpart is the number of the case that is the same as one of x, if there is one. A
// number means the same in both if both were asked the same, unless what occurred in
// earlier rounds decided what later ones did.
func (y *passage) counterpart(x *passage, number int64, round int) (int64, bool) {
	switch {
	case x == nil:
		return number, round == 0 || y.names != nil
	case x.names != nil && y.names != nil:
		return y.named(x, number)
	}
	for r := range round {
		if x.rounds[r] != y.rounds[r] {
			return 0, false
		}
	}
	a, b := x.basis, y.basis
	if a.Identity == b.Identity || a.Document == "" || b.Document == "" { // the last: it is not known
		return number, true
	}
	return number, a.Document == b.Document && a.Settings == b.Settings && a.Inputs == b.Inputs
}

// named finds a case of x by its name and, of several of that name, by which one it is.
func (y *passage) named(x *passage, number int64) (int64, bool) {
	name, which := x.names(campaign.Case{Index: number}), 0
	for i := range number {
		if x.names(campaign.Case{Index: i}) == name {
			which++
		}
	}
	for i := range y.of.Cases.Run {
		if y.names(campaign.Case{Index: i}) == name {
			if which == 0 {
				return i, true
			}
			which--
		}
	}
	return 0, false
}
