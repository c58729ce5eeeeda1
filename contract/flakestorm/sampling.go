package flakestorm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/score"
)

// A cell with min_pass_rate is sampled: its first runs are cases of the main round, and each
// further round has more runs of the cells whose rate is not clear yet. The outcomes of these runs
// are not findings; the cell is one, in the last round.

const (
	phaseRate  = "rate"        // the result of a sampled cell
	failingRun = "failing-run" // the kind of a run that did not hold, which is not a failure by itself
)

// sample is what is known about a sampled cell.
type sample struct {
	Runs   int    `json:"runs"`
	Passed int    `json:"passed"`
	Reason string `json:"reason,omitempty"` // why the first run that did not hold failed
	Plain  bool   `json:"plain,omitempty"`  // it fails without faults, too
	// Answer is the result as a word. It may be undecided only because there were not enough runs.
	Answer string `json:"answer"`

	tried, fresh int // all runs, and those of the current round that have a result
}

// cellAt is the place of a sampled cell in the matrix.
type cellAt struct{ invariant, scenario int }

// count adds a run.
func (k *sample) count(r result, reason string) {
	k.tried++
	switch r {
	case passed:
		k.Passed++
	case failed:
		k.Reason = cmp.Or(k.Reason, reason)
	default:
		return
	}
	k.Runs++
	k.fresh++
}

// sequences returns the rules by which the rates of rows are judged; nil: every run must hold.
func sequences(rows []config.Invariant, first int) []*score.Sequence {
	list := make([]*score.Sequence, len(rows))
	for i, v := range rows {
		if v.MinRate > 0 {
			q := score.NewSequence(v.MinRate, max(v.MaxRuns, first))
			list[i] = &q
		}
	}
	return list
}

// sampledBy returns the rule of a case's cell; nil: it has none.
func (c *Campaign) sampledBy(phase string, invariant int) *score.Sequence {
	if phase != PhaseContract || invariant >= len(c.sequences) {
		return nil
	}
	return c.sequences[invariant]
}

// sampleOn judges the cells that are sampled, and adds runs of those that are not clear yet. It
// returns false if there are none.
func (c *Campaign) sampleOn(s *state) bool {
	s.from = len(s.items)
	for b := range c.scenarios {
		for a, q := range c.sequences {
			at := cellAt{a, b}
			k, ok := s.samples[at]
			if q == nil || !ok || k.Answer != score.Undecided.String() {
				continue
			}
			k.Answer = q.Judge(k.Passed, k.Runs).String()
			if more := min(q.More(k.Passed, k.Runs), q.Most()-k.tried); k.Answer == score.Undecided.String() && k.fresh > 0 {
				for n := range more {
					s.items = append(s.items, item{phase: PhaseContract, a: a, b: b, n: k.tried + n})
				}
			}
			k.fresh = 0
			s.samples[at] = k
		}
	}
	s.results = append(s.results, make([]result, len(s.items)-s.from)...)
	return len(s.items) > s.from
}

// run stores the result of a run of a sampled cell.
func (s *state) run(it item, r result, n *note) {
	at := cellAt{it.a, it.b}
	k, ok := s.samples[at]
	if !ok {
		k.Answer = score.Undecided.String()
	}
	k.count(r, n.Failing)
	for i := range n.Found {
		p := &n.Found[i]
		if !p.Covered {
			continue
		}
		s.covered = append(s.covered, coverage{p.Check, at})
		if p.Covered = false; !strings.Contains(k.Reason, p.Check) {
			k.Reason = n.Failing // the reason that names it
		}
	}
	s.samples[at] = k
}

// coveredBySample reports whether the finding of a sampled cell also stands for that of a check.
func (s *state) coveredBySample(check string) bool {
	return slices.ContainsFunc(s.covered, func(x coverage) bool {
		return x.check == check && s.samples[x.at].Answer == score.Fails.String()
	})
}

// coverage is a check whose finding is that of a sampled cell if the cell fails.
type coverage struct {
	check string
	at    cellAt
}

// rates returns the cases of the last round for sampled cells: those that failed and those that are
// undecided.
func (c *Campaign) rates(s *state) (list []payload) {
	plain := make(map[int]bool) // invariants that fail without faults
	for at, k := range s.samples {
		plain[at.invariant] = plain[at.invariant] || k.Answer == score.Fails.String() && !c.scenarios[at.scenario].active.any
	}
	for b := range c.scenarios {
		for a := range c.invariants {
			k, ok := s.samples[cellAt{a, b}]
			if !ok || k.Answer == score.Holds.String() || k.Runs == 0 {
				continue
			}
			p := c.payload(s, item{phase: PhaseContract, a: a, b: b})
			p.Phase, p.Run = phaseRate, k.tried
			k.Plain = plain[a] && (activity{}).applies(c.invariants[a].When)
			p.Sample = &k
			list = append(list, p)
		}
	}
	return list
}

// allow turns the failure of a run of a sampled cell into an observation: whether the cell holds is
// decided by all runs.
func (t *trial) allow() {
	if t.out.Verdict != campaign.VerdictFail {
		return
	}
	t.note.Failing, t.note.Silent = t.note.reason, false
	if t.note.Failing == "" {
		t.note.Failing = strings.TrimPrefix(t.out.Title, t.what+": ")
	}
	t.out = campaign.Outcome{Verdict: campaign.VerdictPass, Kind: failingRun, Input: t.out.Input,
		Title: fmt.Sprintf("%s: run %d of the sample did not hold: %s", t.what, t.p.Run+1, t.note.Failing)}
}

// rate sets the outcome of a sampled cell. Run by itself, the case samples the cell again.
func (t *trial) rate(ctx context.Context) error {
	c, k := t.x.c, *t.p.Sample
	v, q := &c.invariants[t.p.Invariant], c.sequences[t.p.Invariant]
	t.what = fmt.Sprintf("%s in %s", v.ID, c.scenarios[t.p.Scenario].name)
	if t.x.lane.Cold {
		var err error
		if k, err = t.resample(ctx, q); err != nil {
			return err
		}
		k.Plain = t.p.Sample.Plain
	}
	t.out.Title, t.out.Kind = c.rateTitle(&t.p, &k), "rate"
	switch k.Answer {
	case score.Undecided.String():
		t.out.Verdict, t.out.Kind = campaign.VerdictError, k.Answer
	case score.Fails.String():
		t.out.Verdict, t.out.Severity, t.out.Cause = campaign.VerdictFail, severityOf(v.Severity), []string{v.Type}
		where := place{phase: PhaseContract, part: c.scenarios[t.p.Scenario].name, owner: v.ID}
		t.out.Signature = fmt.Sprintf("%s|%s|%s", where.key(), v.ID, v.Type)
		if k.Plain {
			t.out.Signature = PhaseContract + withoutFaults + v.ID + "|" + v.Type
		}
	}
	return nil
}

// rateTitle says what the result of sampling a cell is.
func (c *Campaign) rateTitle(p *payload, k *sample) string {
	v := &c.invariants[p.Invariant]
	what := fmt.Sprintf("%s in %s", v.ID, c.scenarios[p.Scenario].name)
	low, high := score.Wilson(k.Passed, k.Runs)
	interval := " (95% interval " + score.Percents(low, high) + ")"
	seen := fmt.Sprintf("%d of %d runs held", k.Passed, k.Runs)
	switch k.Answer {
	case score.Undecided.String():
		return fmt.Sprintf("%s: undecided: %s%s, which neither shows min_pass_rate %g nor rules it out", what, seen, interval, v.MinRate)
	case score.Fails.String():
		if k.Plain {
			what = v.ID + ": also without faults"
		}
		return fmt.Sprintf("%s: %s, less than min_pass_rate %g: %s%s", what, seen, v.MinRate, k.Reason, interval)
	}
	return what + ": " + seen + interval
}

func rateOf(passed, runs int) float64 { return float64(passed) / float64(max(1, runs)) }

// resample samples the cell again, with the same intermediate decisions as in a run. What is shown
// is the last run that did not hold, if possible for the reason that the finding gives.
func (t *trial) resample(ctx context.Context, q *score.Sequence) (sample, error) {
	k := sample{Answer: score.Undecided.String()}
	for more := min(t.x.c.runs, q.Most()); k.Answer == score.Undecided.String() && more > 0; more = min(q.More(k.Passed, k.Runs), q.Most()-k.tried) {
		k.fresh = 0
		for range more {
			one := &trial{x: t.x, p: t.p}
			one.p.Phase, one.p.Run, one.p.Sample = PhaseContract, k.tried, nil
			err := one.run(ctx, nil)
			if one.cell != nil {
				one.report = one.cell.leave()
				one.tally()
			}
			if err == nil {
				err = one.settle(ctx)
			}
			if err != nil {
				return k, err
			}
			one.allow()
			r := map[campaign.Verdict]result{campaign.VerdictPass: passed, campaign.VerdictSkip: inapplicable}[one.out.Verdict]
			if one.out.Kind == failingRun {
				r = failed
			}
			fits := func(x *trial) bool { return x.note.Failing == t.p.Sample.Reason }
			if k.count(r, one.note.Failing); t.shown == nil || r == failed && (fits(one) || !fits(t.shown)) {
				t.shown = one
			}
		}
		if k.fresh == 0 {
			break
		}
		k.Answer = q.Judge(k.Passed, k.Runs).String()
	}
	return k, nil
}

// sampling shows the result of each sampled cell, and how many runs were saved by stopping once it
// was clear.
func (c *Campaign) sampling(s *state, t *Tally) []campaign.Exhibit {
	var rows [][]string
	var cases []*int64
	runs, most := 0, 0
	for i, x := range t.Cells {
		at := cellAt{i % len(c.invariants), i / len(c.invariants)}
		k, ok := s.samples[at]
		if !ok || k.Runs == 0 {
			continue
		}
		q := c.sequences[at.invariant]
		runs, most = runs+k.tried, most+q.Most()
		low, high := score.Wilson(k.Passed, k.Runs)
		rows = append(rows, []string{x.Invariant, x.Scenario, fmt.Sprint(k.Passed), fmt.Sprint(k.Runs), score.Percent(rateOf(k.Passed, k.Runs)),
			score.Percents(low, high), score.Percent(c.invariants[at.invariant].MinRate), k.Answer, fmt.Sprint(q.Most() - k.tried)})
		cases = append(cases, x.Shown)
	}
	if len(rows) == 0 {
		return nil
	}
	e := campaign.TableExhibit(fmt.Sprintf("Sampled cells: %d runs; stopping once the answer was clear saved %d of %d", runs, most-runs, most),
		[]string{"invariant", "scenario", "held", "runs", "rate", "95 % interval", "min_pass_rate", "", "runs saved"}, rows)
	e.Table.Cases, e.Brief = cases, len(rows) <= maxSampled
	return []campaign.Exhibit{e}
}

// maxSampled is the largest number of sampled cells that a report in a terminal lists.
const maxSampled = 20
