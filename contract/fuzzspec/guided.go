package fuzzspec

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/process"
)

// A guided campaign builds on the inputs that reach new code. A case that uses up
// its budget of edges, or its processor time, says only that: it is set aside, and
// a few of those are run again, in case order, as a case of any campaign is.

const (
	// guidedRound is the number of cases between two looks at what was reached, unless
	// --round says otherwise: small enough to follow a find soon, large enough for several
	// workers. It never depends on their number, or equal runs would differ.
	guidedRound = 64

	// A case may take so many times the edges of the largest seed, and never fewer
	// than a million; one that is run again, so many times that.
	budgetFactor  = 20
	leastBudget   = 1 << 20
	confirmFactor = 100

	// Cases set aside are run again as soon as there are any, but no more than these
	// and one for each so many cases, so many at once, and so many more at the end, be it
	// that of the document, of --cases or of --time.
	confirmFirst = 4
	confirmEvery = 4096
	confirmLast  = 64
	asideMost    = 256 // that wait to be run again
	alikeMost    = 8   // of those, and of those that were, by one key

	// Of all work, counted in edges, such cases may be one part in so many; a case is
	// taken to cost so many edges, most of that for its start and end. One whose process
	// is kept for the next costs less.
	confirmShare = 16
	caseWork     = 1 << 14
	keptWork     = 1 << 11
	crashWork    = 10 // budgets that a case which crashes late is taken to use up
)

// guided is what a guided campaign knows beside its corpus. It is never changed
// once a round has been made from it.
type guided struct {
	seen    map[uint32]reach // tuples of edge and count class
	edges   int              // in them
	entries []entry          // what is known of each input of the corpus
	shares  []share          // of each
	ends    []uint64         // running sums of their weights
	weighed int              // how many there were as all were weighed
	usual   uint64           // median of their work then
	waiting []asideCase      // to be run again
	known   map[string]int   // how many of a key were to be run again; alikeMost: no more
	hung    map[uint32]bool  // edges that cases took which hang
	like    int64            // cases set aside that took no other edges
	spent   uint64           // edges of cases that were run again
	aside   int64
	late    int64 // of those, by their time
	cutLate int64 // inputs of which time ended a run to cut them
	again   int64 // cases that were run again
	over    int64 // cases that would have waited too many
	closing bool  // the run ends: what waits is run again, and nothing else
	learning
}

// asideCase is a case set aside, by what it is known, and its edges that no case took
// which hangs.
type asideCase struct {
	key   string
	fresh []uint32
	input []byte
}

// measure learns how many edges a case may take, and what the seeds have the program
// compare.
func (c *Campaign) measure(ctx context.Context, f *facts) error {
	r, err := c.open(ctx, c.plan(), 0, 1, false)
	if err != nil {
		return err
	}
	defer r.Close()
	most := uint64(0)
	seeds := slices.Concat([][]byte{c.seed}, c.deep.corpus)
	for _, seed := range seeds {
		res, err := r.Run(ctx, process.Case{Index: 1, RunID: c.probeID(), Input: seed})
		if err != nil {
			return err
		}
		f.Kept = f.Kept || res.Kept
		if res.Status != process.SetAside { // how far that came is chance
			most = max(most, res.Work)
		}
	}
	if most > 0 {
		f.Budget = max(budgetFactor*most, leastBudget)
	}
	for _, seed := range seeds[:min(len(seeds), comparedSeeds)] {
		compared, listens, err := c.listen(ctx, r, process.Case{Index: 1, RunID: c.probeID(), Input: seed, Budget: f.Budget})
		if err != nil {
			return err
		}
		f.Listens = f.Listens || listens && (most == 0 || c.set.cmplog != "")
		f.Compared = append(f.Compared, compared)
	}
	if !slices.ContainsFunc(f.Compared, func(b []byte) bool { return len(b) > 0 }) {
		f.Compared = nil
	}
	return nil
}

// processCase is how a case is run. Explicit inputs of a guided campaign are those
// set aside, and those of findings: both are run as the verdict asks.
func (c *Campaign) processCase(s *state, at campaign.Case, runID string, input []byte, cold bool) process.Case {
	pc := process.Case{Index: at.Index, RunID: runID, Input: input, Confirm: cold}
	if c.set.guided {
		pc.Confirm = cold || at.Payload != nil
		if pc.Budget = s.facts.Budget; pc.Confirm {
			pc.Budget *= confirmFactor
		}
	}
	return pc
}

// Round implements [campaign.Campaign]: all cases at once, or, guided, as many
// as may pass before new finds are built on, or those set aside.
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	left := c.count - s.done
	if c.set.guided {
		if again := c.confirming(s); len(again) > 0 {
			return campaign.Round{Len: int64(len(again)), At: func(i int64) []byte { return again[i].input }}, true
		}
		if left = min(left, c.set.round); s.closing {
			left = 0
		}
	}
	return campaign.Round{Len: left}, left > 0
}

// confirming is the inputs of the next round if it is one of cases set aside.
func (c *Campaign) confirming(s *state) []asideCase {
	may, usual := confirmFirst+s.done/confirmEvery-s.again, s.caseCost()
	switch {
	case s.done >= c.count || s.closing:
		may += confirmLast
	case s.again >= confirmFirst && s.facts.Budget > 0 && s.spent*confirmShare > uint64(s.done)*usual:
		may = 0
	}
	return s.waiting[:min(int64(len(s.waiting)), max(0, min(may, confirmFirst)))]
}

// Fold implements [campaign.Campaign]: inputs that reached something new join
// the corpus, in case order.
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := *s
	if again := c.confirming(s); len(again) > 0 {
		next.confirm(again, results)
		return &next
	}
	copied := false
	from := c.pool(s)
	if c.set.guided {
		next.shares = slices.Clone(s.shares)
	}
	for at, o := range results {
		if o.Verdict == campaign.VerdictFail {
			next.failed++
		}
		next.done++
		if _, staged := from.StagedAt(c.start + at.Index); staged {
			next.staged = next.staged[1:]
		} else if c.set.guided {
			next.spend(c.maker.parent(from, c.start+at.Index), o)
		}
		if !c.set.guided || o.Verdict != campaign.VerdictPass {
			continue // a failing one's data says how it ended
		}
		if key, fresh, ok := decodeAside(o.Data); ok {
			next.setAside(key, fresh, func() []byte { return c.input(s, at) })
			continue
		}
		data, late := cutLate(o.Data)
		if late {
			next.cutLate++
		}
		trimmed, data := cutTrim(data)
		compared, kept := cutCompared(data)
		work, tuples := decodeKept(kept)
		if !slices.ContainsFunc(tuples, next.unseen) {
			continue
		}
		if !copied { // most rounds find nothing
			next.seen, next.entries, copied = maps.Clone(s.seen), slices.Clone(s.entries), true
		}
		next.addInput(trimmed(c.input(s, at)), work, tuples)
		next.learn(len(next.corpus)-1, compared)
	}
	if copied {
		edges := make(map[uint32]bool)
		for e := range next.seen {
			edges[e>>8] = true
		}
		next.edges = len(edges)
	}
	if c.set.guided {
		round, _ := c.Round(s)
		next.closing = next.done-s.done < round.Len
		next.weigh()
	}
	return &next
}

// confirm notes what came of cases that were run again. Cases like one that hangs
// would hang too; others may still crash.
func (s *state) confirm(batch []asideCase, results iter.Seq2[campaign.Case, campaign.Outcome]) {
	n := 0
	hangs := map[string]bool{}
	for _, o := range results {
		switch {
		case o.Kind == kindTimeout:
			hangs[batch[n].key] = true
			s.hung = maps.Clone(s.hung)
			if s.hung == nil {
				s.hung = map[uint32]bool{}
			}
			for _, edge := range batch[n].fresh {
				s.hung[edge] = true
			}
			s.spent += confirmFactor * s.facts.Budget
		case o.Verdict == campaign.VerdictFail:
			s.spent += crashWork * s.facts.Budget
		default:
			work, _ := decodeKept(o.Data)
			s.spent += work
		}
		if o.Verdict == campaign.VerdictFail {
			s.failed++
		}
		n++
	}
	s.again += int64(n)
	s.closing = s.closing || n < len(batch)
	s.waiting = slices.DeleteFunc(slices.Clone(s.waiting[n:]), func(a asideCase) bool { return hangs[a.key] || len(hangs) > 0 && s.passOver(a) })
	s.known = maps.Clone(s.known)
	for key := range hangs {
		s.known[key] = alikeMost
	}
}

// setAside notes a case that was set aside; a few of each key wait to be run again.
func (g *guided) setAside(key string, fresh []uint32, input func() []byte) {
	g.aside++
	if isLate(key) {
		g.late++
	}
	if g.known[key] == alikeMost || g.passOver(asideCase{key: key, fresh: fresh}) {
		return
	}
	if len(g.waiting) >= asideMost {
		g.over++
		return
	}
	g.known = maps.Clone(g.known)
	if g.known == nil {
		g.known = map[string]int{}
	}
	g.known[key]++
	g.waiting = append(slices.Clip(g.waiting), asideCase{key, fresh, input()})
}

// passOver reports whether a case set aside need not be run again: it took no edge
// beside those of hangs, and is not the first, second, fourth, eighth of such cases.
func (g *guided) passOver(a asideCase) bool {
	if isLate(a.key) || g.hung == nil || slices.ContainsFunc(a.fresh, func(edge uint32) bool { return !g.hung[edge] }) {
		return false
	}
	g.like++
	return bits.OnesCount64(uint64(g.like)) > 1
}

// warnings name the cases of which it is not known whether they hang, and say that
// nothing guided the campaign.
func (c *Campaign) warnings(s *state) (list []string) {
	if c.set.guided && s.done > 0 && len(s.seen) == 0 {
		list = append(list, fmt.Sprintf("nothing guided the campaign: no coverage was seen in %s, "+
			"since none passed (--ok-exit takes exit codes for a pass) or all were run by spawn, which the notes then say", diag.Plural(s.done, "case")))
	}
	left := int64(len(s.waiting)) + s.over
	if left == 0 {
		return list
	}
	why := "budget of edges"
	if s.late > 0 {
		why += " or their processor time"
	}
	return append(list, fmt.Sprintf("%s used up their %s and were not run again: whether they hang or crash later is unknown (%d were run again)",
		diag.Plural(left, "case"), why, s.again))
}

// Summarize implements [campaign.Summarizer].
func (c *Campaign) Summarize(s *state) campaign.Summary {
	sum := campaign.Summary{Warnings: c.warnings(s), Advice: c.advice(s)}
	if !c.set.guided {
		return sum
	}
	var rows [][]string
	for _, f := range c.Figures(s) {
		rows = append(rows, []string{f.Name, fmt.Sprint(f.Value)})
	}
	sum.Exhibits = []campaign.Exhibit{campaign.TableExhibit("Coverage", []string{"what", "count"}, rows)}
	return sum
}

// Figures implements [campaign.Figurer]. An edge is what afl-showmap -C counts;
// a tuple is an edge with the class of how often one case took it, which is what
// makes an input new.
func (c *Campaign) Figures(s *state) []campaign.Figure {
	if !c.set.guided {
		return nil
	}
	list := []campaign.Figure{
		{Name: "edges", Value: int64(s.edges)}, {Name: "edge/hit-count tuples", Value: int64(len(s.seen))},
		{Name: "inputs in the corpus", Value: int64(len(s.corpus))},
	}
	if s.aside > 0 {
		list = append(list, campaign.Figure{Name: "cases set aside", Value: s.aside}, campaign.Figure{Name: "of them by time", Value: s.late},
			campaign.Figure{Name: "run again", Value: s.again})
	}
	if s.cutLate > 0 {
		list = append(list, campaign.Figure{Name: "inputs with a cut ended by time", Value: s.cutLate})
	}
	return list
}

// fresh is the work and the tuples of edge and hit count of a case that has one
// that no earlier round has seen. They are looked at twice: one that does not show
// again is chance and would make equal runs differ. If time ends the second look, the
// case is set aside, so that the record tells.
func (x *executor) fresh(ctx context.Context, s *state, pc process.Case, res process.Result) ([]byte, error) {
	if !slices.ContainsFunc(res.Edges, s.unseen) {
		return nil, nil
	}
	first := slices.Clone(res.Edges)
	again, err := x.runner.Run(ctx, pc)
	if err != nil {
		return nil, err
	}
	if again.Status == process.SetAside {
		return s.encodeAside(&again, pc.Input), nil
	}
	stable := first[:0]
	for _, e := range first {
		if _, ok := slices.BinarySearch(again.Edges, e); ok {
			stable = append(stable, e)
		}
	}
	if !slices.ContainsFunc(stable, s.unseen) {
		return nil, nil
	}
	cuts, late, left, stable, work, err := x.trim(ctx, s, pc, stable, min(res.Work, again.Work))
	if err != nil {
		return nil, err
	}
	var compared []byte
	if s.facts.Budget > 0 || s.facts.Listens {
		compared, _, err = x.c.listen(ctx, x.runner, left)
	}
	return withLate(late, withTrim(cuts, withCompared(compared, encodeKept(work, stable)))), err
}

// caseCost is how many edges a case is taken to cost beside its own.
func (s *state) caseCost() uint64 {
	if s.facts.Kept {
		return keptWork
	}
	return caseWork
}
