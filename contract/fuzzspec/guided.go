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

// A guided campaign builds on the inputs that reach new code. A case that exceeds its budget of
// edges, or its processor time, is set aside and records only that. A few of the cases set aside
// run again, in case order, like the cases of any campaign.

const (
	// guidedRound is the number of cases between two looks at what was reached, unless --round says
	// otherwise: small enough to follow a find soon, large enough for several workers. It never
	// depends on their number, or equal runs would differ.
	guidedRound = 64

	// The budget of a case is budgetFactor times the edges of the largest seed, but at least
	// leastBudget; a case that runs again gets confirmFactor times the budget.
	budgetFactor  = 20
	leastBudget   = 1 << 20
	confirmFactor = 100

	// Limits on running cases set aside again: confirmFirst, plus one per confirmEvery cases, at most
	// confirmFirst per round, and confirmLast more at the end of the document's cases, of --cases or
	// of --time.
	confirmFirst = 4
	confirmEvery = 4096
	confirmLast  = 64
	asideMost    = 256 // waiting to run again
	alikeMost    = 8   // waiting or already run again, per key

	// Cases that run again may use one part in confirmShare of all work, counted in edges. caseWork is
	// the overhead of a case in edges, mostly for its start and end; it is lower if the process is
	// kept for the next case.
	confirmShare = 16
	caseWork     = 1 << 14
	keptWork     = 1 << 11
	crashWork    = 10 // multiple of the budget charged for a case that crashes late
)

// guided is what a guided campaign knows besides its corpus. It does not change after a round has
// been made from it.
type guided struct {
	seen    map[uint32]reach // edge/hit-count tuples
	edges   int              // in seen
	entries []entry          // facts about each input of the corpus
	shares  []share          // of each input
	ends    []uint64         // running sums of the weights
	weighed int              // number of inputs when all were last weighed
	usual   uint64           // median of their work at that time
	waiting []asideCase      // cases to run again
	known   map[string]int   // number of cases to run again by key, at most alikeMost
	hung    map[uint32]bool  // edges taken by cases that hang
	like    int64            // cases set aside without other edges
	spent   uint64           // edges of cases that ran again
	aside   int64
	late    int64 // cases set aside because of their time
	cutLate int64 // inputs whose trimming was cut short by time
	again   int64 // cases that ran again
	over    int64 // cases dropped because too many were waiting
	closing bool  // the run is ending: only waiting cases run
	learning
}

// asideCase is a case set aside, with its key and its edges that no hanging case took.
type asideCase struct {
	key   string
	fresh []uint32
	input []byte
}

// measure determines the budget of edges per case and the comparisons that the program makes on the
// seeds.
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
		if res.Status != process.SetAside { // how far it got is chance
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

// processCase describes how to run a case. Explicit inputs of a guided campaign are cases set aside
// or inputs of findings: both run as a verdict requires.
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

// Round implements [campaign.Campaign]: all cases at once or, if guided, as many as may run before
// new finds are built on, or the cases set aside.
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

// confirming returns the inputs of the next round if it runs cases set aside.
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

// Fold implements [campaign.Campaign]: inputs that reached something new join the corpus, in case
// order.
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
			continue // the data of a failing case describes how it ended
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
		if !copied { // most rounds find nothing new
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

// confirm records the results of cases that ran again. Cases similar to one that hangs would hang
// too; others may still crash.
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

// setAside records a case that was set aside; a few per key wait to run again.
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

// passOver reports whether a case set aside need not run again: it took only edges of hangs, and
// its number among such cases is not a power of two.
func (g *guided) passOver(a asideCase) bool {
	if isLate(a.key) || g.hung == nil || slices.ContainsFunc(a.fresh, func(edge uint32) bool { return !g.hung[edge] }) {
		return false
	}
	g.like++
	return bits.OnesCount64(uint64(g.like)) > 1
}

// warnings reports cases that may or may not hang, and a campaign that nothing guided.
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

// Figures implements [campaign.Figurer]. An edge is what afl-showmap -C counts; a tuple is an edge
// with the class of its hit count in one case. A new tuple makes an input interesting.
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

// fresh returns the work and the edge/hit-count tuples of a case that has a tuple unseen by earlier
// rounds. The case runs twice: a tuple that does not show again is chance and would make equal runs
// differ. If time ends the second run, the case is set aside, so that the record shows it.
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

// caseCost is the overhead of a case, in edges.
func (s *state) caseCost() uint64 {
	if s.facts.Kept {
		return keptWork
	}
	return caseWork
}
