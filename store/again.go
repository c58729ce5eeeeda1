package store

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

// ran returns a function that reports whether run B executed the case that first showed a finding
// of run A, with a verdict. It asks the journals or, without them, the counts of the records.
func (s *Store) ran(both [][2]*campaign.CampaignRecord, runA, runB string, gone []campaign.Finding) func(campaign.Finding) bool {
	again := make(map[campaignKey]func(campaign.Finding) bool)
	for _, p := range both {
		a, b := p[0], p[1]
		if a == nil || b == nil {
			continue
		}
		var first []int64
		for _, f := range gone {
			if f.Contract == a.Contract && f.Campaign == a.Name {
				first = append(first, f.First)
			}
		}
		if first == nil {
			continue
		}
		x := s.passage(runA, a)
		if !x.read(first, nil) {
			x = nil // A is a report, without a journal
		}
		again[campaignKey{a.Contract, a.Name}] = s.passage(runB, b).again(x, first)
	}
	return func(f campaign.Finding) bool {
		repeats := again[campaignKey{f.Contract, f.Campaign}]
		return repeats != nil && repeats(f)
	}
}

// again returns a function that reports whether the run executed the cases that first showed
// findings of another run, x, with a verdict. x is nil if that is a report, without a journal.
func (y *passage) again(x *passage, first []int64) func(campaign.Finding) bool {
	if y.read(y.counterparts(x, first)) {
		return func(f campaign.Finding) bool { return y.repeats(x, f) }
	}
	cases := y.of.Cases // without a journal: a case with an error may be any of them
	return func(f campaign.Finding) bool { return f.First < cases.Run && cases.Error == 0 }
}

// passage is what a run did in a campaign. It holds only the cases that it was asked for.
type passage struct {
	store  *Store
	runID  string
	of     *campaign.CampaignRecord
	names  func(campaign.Case) string // nil: the document does not name its cases
	basis  basis
	cases  map[int64]tried
	sent   map[uint64]bool
	rounds map[int]uint64 // sums of hashes of the facts of their cases
}

// tried is a case that a run executed.
type tried struct {
	round             int
	judged, exercised bool   // it has a verdict; the event that it tests for occurred
	sent              uint64 // digest of what it sent, if sends
	sends             bool
}

// passage returns the passage of a run, of which nothing has been read yet.
func (s *Store) passage(runID string, c *campaign.CampaignRecord) *passage {
	p := &passage{store: s, runID: runID, of: c}
	if s != nil && s.CaseNames != nil {
		p.names = s.CaseNames(runID, c)
	}
	return p
}

// read reads the run's journal. It keeps the cases with these numbers, and which of the prompts in
// sent were sent. It returns false if there is no journal.
func (p *passage) read(numbers []int64, sent map[uint64]bool) bool {
	p.cases, p.sent, p.rounds = make(map[int64]tried), make(map[uint64]bool), make(map[int]uint64)
	contract := p.store.contract(p.of.Contract)
	pairer, _ := contract.(campaign.Pairer)
	exerciser, _ := contract.(campaign.Exerciser)
	var buf []byte
	m, ok := p.store.outcomes(p.runID, p.of, func(e Entry, again bool) {
		if again {
			clear(p.cases)
			clear(p.sent)
			clear(p.rounds)
		}
		x := tried{round: e.Case.Round, judged: e.Outcome.Verdict == campaign.VerdictPass || e.Outcome.Verdict == campaign.VerdictFail, exercised: true}
		if pairer != nil {
			x.sent, _, x.sends = pairer.Sent(e.Outcome.Data)
		}
		if x.sends && sent[x.sent] {
			p.sent[x.sent] = true
		}
		if slices.Contains(numbers, e.Case.Index) {
			if exerciser != nil {
				x.exercised = exerciser.Exercised(e.Outcome.Data)
			}
			p.cases[e.Case.Index] = x
		}
		buf = e.Outcome.AppendFacts(binary.AppendVarint(buf[:0], e.Case.Index))
		sum := fnv.New64a()
		sum.Write(buf)
		p.rounds[x.round] += sum.Sum64()
	})
	if ok {
		p.basis = m.basis(p.of)
		p.basis.Settings = settingsDigest(m.Settings, "strict", "cases") // fewer cases are still the same cases
	}
	return ok
}

// counterparts returns the numbers of the cases that may be the same as the given cases of another
// run, x, and digests of what x sent in these.
func (y *passage) counterparts(x *passage, first []int64) (numbers []int64, sent map[uint64]bool) {
	if x == nil {
		return first, nil
	}
	sent = make(map[uint64]bool)
	for _, c := range x.cases {
		if c.sends {
			sent[c.sent] = true
		}
	}
	if x.names == nil || y.names == nil {
		return first, sent
	}
	for _, n := range first {
		if at, same := y.named(x, n); same {
			numbers = append(numbers, at)
		}
	}
	return numbers, sent
}

// outcomes calls each for the outcomes of a campaign in the journal of a run, up to any damage.
// again means that an attempt begins that replaces the earlier ones. It returns false if there is
// no such journal.
func (s *Store) outcomes(runID string, c *campaign.CampaignRecord, each func(e Entry, again bool)) (m Manifest, ok bool) {
	if s == nil {
		return m, false
	}
	j, err := s.OpenJournal(runID)
	if err != nil {
		return m, false
	}
	defer j.Close()
	m = j.Manifest()
	k := slices.Index(m.Identities, campaign.Identity{Contract: c.Contract, Name: c.Name, Digest: c.Identity})
	if k < 0 {
		return m, false
	}
	attempt := 0
	var closing []Entry
	for e, err := range j.Entries() {
		if err != nil {
			break
		}
		switch {
		case !e.Kind.Outcome() || e.Campaign != k || e.Attempt < attempt:
		case e.Kind == KindClosing:
			closing = append(closing, e)
		default:
			each(e, e.Attempt > attempt)
			closing, attempt = nil, e.Attempt
		}
	}
	for _, e := range closing {
		each(e, false)
	}
	return m, true
}

func (s *Store) contract(name string) any {
	if s == nil || s.Contract == nil {
		return nil
	}
	return s.Contract(name)
}

// repeats reports whether the run executed again the case that first showed a finding of another
// run, x, or of a report (nil).
func (y *passage) repeats(x *passage, f campaign.Finding) bool {
	before := tried{exercised: true}
	if x != nil {
		before = x.cases[f.First]
	} else if len(f.Samples) > 0 {
		before.round = f.Samples[0].Case.Round
	}
	if before.sends {
		return y.sent[before.sent]
	}
	at, same := y.counterpart(x, f.First, before.round)
	now := y.cases[at]
	return same && now.judged && (now.exercised || !before.exercised)
}

// counterpart returns the number of the case that is the same as a case of x, if there is one. A
// number means the same case in both runs if both were asked the same and their earlier rounds had
// the same outcomes, since those decide later rounds.
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
	if a.Identity == b.Identity || a.Document == "" || b.Document == "" { // if no document is known, assume the same
		return number, true
	}
	return number, a.Document == b.Document && a.Settings == b.Settings && a.Inputs == b.Inputs
}

// named finds the counterpart of a case of x by its name and, if several have that name, by its
// position among them. A follow-up case has the name of the case that it investigates, and is found
// if that is.
func (y *passage) named(x *passage, number int64) (int64, bool) {
	name, which := x.names(campaign.Case{Round: x.cases[number].round, Index: number}), 0
	for i := range number {
		if x.names(campaign.Case{Index: i}) == name && x.names(campaign.Case{Index: number}) == name {
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
