package operator

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// Campaign is a compiled document. A case is one child of one seed; its payload is a [recipe] that
// makes the same child in any state.
type Campaign struct {
	id         campaign.Identity
	spec       Spec
	seeds      []mutator.Seed
	units      []unit
	picked     []pick // children that the document names; nil: Children of every unit
	folders    []string
	plugins    *Plugins
	base       *mutator.Mutator
	recalled   mutator.Bandit
	verdicts   map[string]Verdict
	own        map[string]*mutator.Seed // by prefix of testcase ids; set if verdicts are
	oracle     string                   // path of the oracle's program; "" for none
	folder     string                   // of the document; the oracle runs in it
	program    process.Opener
	plan       *sut.Plan // of the system that receives the children; nil: none
	systems    sut.Opener
	systemFile string   // the file of the plan
	document   string   // path of the document
	inDocument bool     // the plan is part of the document
	secrets    []string // texts that replies must not contain, from judges
	after      afterwards
	recordAll  bool        // keep replies of passing cases too
	attacker   *attackPlan // nil: operators make the children
	replay     recording   // replies of an earlier run to use instead of the system's; nil: ask the system
}

// kind determines which operators a seed gets.
type kind struct {
	bucket  textop.Bucket
	surface textop.Surface
}

// unit is a seed in one bucket, with children of its own.
type unit struct {
	seed   *mutator.Seed
	prefix string // of testcase ids
}

// state is what a campaign knows between rounds. It does not change after a round has been made
// from it.
type state struct {
	done     int64 // cases so far
	phase    int   // finished regular rounds
	retry    []pick
	tries    int   // finished rounds of replacements
	next     int32 // children requested of every unit in regular rounds
	extra    []int32
	have     []int32         // by unit: children that count
	spare    campaign.Counts // children that do not count, so that others may replace them
	more     int64           // replacements made
	prints   [][]mutator.Fingerprint
	tally    *tally
	learnt   mutator.Bandit
	m        *mutator.Mutator
	search   *searchState   // for the policy search; nil: another policy
	attacker *attackerState // nil: there is no attacker
	spent    spent
	tools    []string          // called in cases without a call that a judge names
	named    bool              // some case had all the calls that judges name
	spoke    bool              // the system has replied
	beside   map[string]masked // judges that fail together with another one
	asked    bool              // the judges without a finding have judged alone
	cut      int64             // finished cases of a round that the budget splits
	ended    bool              // by the budget
}

// pick is a single child: one that the document names, or the replacement of a rejected one.
type pick struct{ unit, child int32 }

// rememberPerUnit limits the children of a seed among which duplicates are searched, and maxTries
// the rounds of replacements.
const (
	rememberPerUnit = 4096
	maxTries        = 3
)

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// planned is the number of children of the campaign.
func (c *Campaign) planned() int64 {
	if c.picked != nil {
		return int64(len(c.picked))
	}
	return int64(len(c.units)) * c.spec.Children
}

// replaced counts those children that do not count and were replaced.
func (c *Campaign) replaced(s *state) campaign.Counts {
	if s.attacker != nil {
		return s.attacker.aside
	}
	pass := min(s.spare.Pass, s.more)
	return campaign.Counts{Pass: pass, Skip: min(s.spare.Skip, s.more-pass)}
}

// Probe implements [campaign.Campaign]: it reports a missing python3, and operators that hang,
// before the first case.
func (c *Campaign) Probe(ctx context.Context) (campaign.Facts, error) {
	if c.plugins.HostErr != nil {
		return campaign.Facts{}, c.plugins.HostErr
	}
	if c.oracle != "" {
		o, err := c.openOracle(ctx, campaign.Lane{Of: 1, Cold: true})
		if err != nil {
			return campaign.Facts{}, err
		}
		if err := o.Close(); err != nil {
			return campaign.Facts{}, err
		}
	}
	if c.plan != nil {
		x, err := c.openSystem(ctx, campaign.Lane{Of: 1, Cold: true})
		if err != nil {
			return campaign.Facts{}, err
		}
		if err := errors.Join(x.system.Reset(ctx), x.Close()); err != nil {
			return campaign.Facts{}, err
		}
	}
	endless, err := c.plugins.Trial(ctx, c.base.Filter())
	if err != nil {
		return campaign.Facts{}, err
	}
	return trialFacts(endless)
}

// Start implements [campaign.Campaign].
func (c *Campaign) Start(f campaign.Facts) *state {
	s := &state{
		extra: make([]int32, len(c.units)), have: make([]int32, len(c.units)), prints: make([][]mutator.Fingerprint, len(c.units)),
		tally: newTally(), learnt: c.recalled, m: GiveUp(c.base.Learned(c.recalled), endlessOf(f)),
	}
	if c.spec.Policy == mutator.Search {
		s.search = c.startSearch(s.m)
	}
	if c.attacker != nil {
		s.attacker, s.ended = c.lines(&attackerState{next: make([]int32, len(c.units))}, s.spent)
	}
	return s
}

// rounds is the number of regular rounds: one, unless the policy learns.
func (c *Campaign) rounds() int {
	if c.spec.Policy.Learns() {
		return c.spec.Rounds
	}
	return 1
}

// share is the number of children of every unit in regular round r.
func (c *Campaign) share(r int) int64 {
	n := int64(c.rounds())
	return c.spec.Children*int64(r+1)/n - c.spec.Children*int64(r)/n
}

// Round implements [campaign.Campaign]. The last round runs judges alone that failed together with
// others.
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	r := campaign.Round{Len: c.due(s)}
	if r.Len <= 0 {
		r = c.alone(s)
	}
	return r, r.Len > 0
}

// due is the number of children that come next.
func (c *Campaign) due(s *state) int64 {
	n := int64(len(s.retry))
	switch {
	case s.attacker != nil:
		return int64(len(s.attacker.plan))
	case s.search != nil: // as many as the budget allows
		return int64(len(s.search.plan))
	case s.phase < c.rounds():
		n = c.regular(s.phase) - s.cut
	}
	if b := c.spec.Budget; b != nil {
		n = b.allows(s.spent, n, c.perCase())
	}
	return n
}

// regular is the number of cases of a regular round.
func (c *Campaign) regular(phase int) int64 {
	if c.picked != nil {
		return int64(len(c.picked))
	}
	return int64(len(c.units)) * c.share(phase)
}

// job is the child of a case.
func (c *Campaign) job(s *state, index int64) (unit int32, job mutator.Job) {
	i := index - s.done
	var child int64
	var chain *[]mutator.Link
	if c.spec.Verbatim || s.attacker != nil {
		chain = &[]mutator.Link{}
	}
	switch {
	case s.attacker != nil:
		return s.attacker.job(c, i)
	case s.search != nil:
		p := &s.search.plan[i]
		unit, child, chain = int32(p.Unit), int64(s.search.index[i]), &p.Chain
	case s.phase >= c.rounds():
		unit, child = s.retry[i].unit, int64(s.retry[i].child)
	case c.picked != nil:
		i += s.cut
		unit, child = c.picked[i].unit, int64(c.picked[i].child)
	case c.spec.Budget != nil: // in turn, so that a run that ends early has children of every seed
		i += s.cut
		unit, child = int32(i%int64(len(c.units))), int64(s.next)+i/int64(len(c.units))
	default:
		per := c.share(s.phase)
		unit, child = int32(i/per), int64(s.next)+i%per
	}
	u := &c.units[unit]
	return unit, mutator.Job{Seed: u.seed, Index: child, ID: mutator.TestcaseID(u.prefix, child), Chain: chain}
}

// Fold implements [campaign.Campaign]: it finds duplicates in case order, and lets policies learn.
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	if c.due(s) <= 0 {
		return c.foldAlone(s, results)
	}
	if s.attacker != nil && s.attacker.phase != sending {
		return c.foldWritten(s, results)
	}
	next := &state{
		done: s.done, phase: s.phase, tries: s.tries, next: s.next,
		extra: slices.Clone(s.extra), have: slices.Clone(s.have), prints: slices.Clone(s.prints), tally: s.tally.clone(),
		learnt: s.learnt, m: s.m, spare: s.spare, more: s.more, spent: s.spent, tools: s.tools, named: s.named, spoke: s.spoke, beside: maps.Clone(s.beside),
	}
	var found *findings
	if s.search != nil {
		found = s.search.begin()
	}
	var sent []sentPrompt
	var earned []mutator.Reward
	owned := make(map[int32]bool) // units whose prints were copied
	odds := make(map[kind]map[string]float64)
	for at, o := range results {
		next.done++
		u, job := c.job(s, at.Index)
		f, ok := decodeFacts(o.Data)
		if !ok {
			next.have[u]++ // a resumed run tries it again: it needs no replacement
			if found != nil {
				found.add(&facts{})
			}
			sent = append(sent, sentPrompt{})
			continue
		}
		next.spent.add(f.spent)
		next.keepBeside(&f, o.Cause, func(only string) []byte {
			r := c.recipe(s, job)
			r.Only = only
			return r.encode()
		})
		if f.judged && f.lacks {
			next.tools = withTools(next.tools, f.tools)
		} else if f.judged {
			next.named = true
		}
		next.spoke = next.spoke || f.judged && !f.silent
		match := mutator.Unseen
		switch {
		case f.same:
			match = mutator.Same
		case s.search != nil: // texts are distinct, except by chance within a round
		case f.status == textop.OK:
			match = c.compareEarlier(next, u, f.print, owned)
		}
		spare := (f.status != textop.OK || c.rejects(match)) && o.Verdict != campaign.VerdictFail && o.Verdict != campaign.VerdictError
		if !spare {
			next.have[u]++
		} else {
			next.spare.Add(o.Verdict)
		}
		if _, there := c.verdicts[job.ID]; there {
			next.tally.met++
		}
		verdict, judged := c.judged(job.ID, &f)
		again := c.rejects(match)
		next.tally.count(c, job.Seed, &f, match, again, judged, verdict)
		if f.judged && c.plan != nil {
			next.tally.attacks.count(&f, job, s.m, c.planned(), again)
		}
		if found != nil {
			found.add(&f)
		}
		if s.attacker != nil {
			sent = append(sent, s.attacker.result(at.Index-s.done, &f))
		}
		if c.spec.Policy.Learns() {
			k := kind{job.Seed.Bucket, job.Seed.Surface}
			if odds[k] == nil {
				odds[k] = s.m.Odds(k.bucket, k.surface)
			}
			earned = append(earned, c.rewards(odds[k], job.Seed, &f, match, judged, verdict)...)
		}
	}
	if s.attacker != nil {
		next.attacker, next.ended = c.afterSent(s.attacker, sent, next.spent)
		return next
	}
	if found != nil {
		next.search = c.nextSearch(next, s.search, found)
		next.more = max(0, next.search.cases-c.planned())
		return next
	}
	switch ran := next.done - s.done; {
	case s.phase < c.rounds() && s.cut+ran < c.regular(s.phase):
		next.cut = s.cut + ran
	case s.phase < c.rounds():
		next.phase++
		next.next += int32(c.share(s.phase))
	default:
		next.tries++
		next.more += int64(len(s.retry))
	}
	if len(earned) > 0 {
		next.learnt = s.learnt.Learn(earned)
		next.m = next.m.Learned(next.learnt)
	}
	if next.phase >= c.rounds() {
		next.retry = c.replacements(next)
	}
	if b := c.spec.Budget; b != nil {
		next.ended = (next.cut > 0 || next.phase < c.rounds() || len(next.retry) > 0) && b.allows(next.spent, 1, c.perCase()) == 0
	}
	return next
}

// rejects reports whether a child that matches an earlier one does not count.
func (c *Campaign) rejects(m mutator.Match) bool {
	return m == mutator.Same && c.spec.Duplicates != KeepDuplicates || m == mutator.Near && c.spec.Duplicates == RejectNear
}

// compareEarlier compares a child with earlier children of the unit. Fingerprints are needed only
// while the unit needs children.
func (c *Campaign) compareEarlier(s *state, u int32, f mutator.Fingerprint, owned map[int32]bool) mutator.Match {
	m := mutator.MatchAny(s.prints[u], f, mutator.MaxDistance)
	if m == mutator.Same || c.rejects(m) {
		return m
	}
	if !owned[u] {
		s.prints[u], owned[u] = slices.Clone(s.prints[u]), true
	}
	if len(s.prints[u]) == rememberPerUnit {
		s.prints[u] = s.prints[u][1:]
	}
	s.prints[u] = append(s.prints[u], f)
	return m
}

// replacements requests a further child for every one that does not count.
func (c *Campaign) replacements(s *state) []pick {
	if c.spec.Duplicates == KeepDuplicates || s.tries >= maxTries {
		return nil
	}
	var list []pick
	for u := range c.units {
		missing := int32(c.spec.Children) - s.have[u]
		if missing <= 0 || s.have[u] == 0 { // a seed without any child has no operator
			s.prints[u] = nil
			continue
		}
		for range missing {
			list = append(list, pick{int32(u), int32(c.spec.Children) + s.extra[u]})
			s.extra[u]++
		}
	}
	return list
}

// Input implements [campaign.Inputter].
func (c *Campaign) Input(_ context.Context, s *state, at campaign.Case) []byte {
	if at.Payload != nil {
		return at.Payload
	}
	_, job := c.job(s, at.Index)
	return c.recipe(s, job).encode()
}
