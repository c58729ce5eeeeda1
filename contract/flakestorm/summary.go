package flakestorm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/score"
)

// Tally is the result of a campaign, in the numbers of the format.
type Tally struct {
	Mutation, Chaos, Replay Component
	Contract                *score.Matrix // nil: no cell has a result
	Cells                   []CellTally
	Whole                   score.Whole
	Scored                  bool // there is an overall score
	// Tests is how many tests of equal weight each phase is based on.
	Tests map[string]float64
	// Idle lists the phases and scenarios none of whose faults ever fired: they were not exercised,
	// and count in no score.
	Idle []string

	critical bool // a critical invariant failed in a scenario that was not exercised
}

// Component holds the tests of a phase. Tests that do not apply or have no result count neither in
// Total nor in Passed.
type Component struct {
	Total, Passed        int
	Inapplicable, Broken int
	Score                float64 // 0 to 1
	Scored               bool
	ByType               []TypeTally
}

// TypeTally holds the mutations of a type.
type TypeTally struct {
	Type                        string
	Total, Passed, Inapplicable int
	Weight                      float64
}

// CellTally is one cell of the matrix over all its runs.
type CellTally struct {
	Invariant, Scenario, Severity string
	Runs, Passed                  int
	Applies                       bool
	Broken                        int    // runs without a result
	Idle                          bool   // no fault of the scenario fired in any cell
	Untested                      bool   // nothing that the invariant is about occurred in any cell
	Answer                        string // of a sampled cell; "": every run must hold
	Shown                         *int64 // the case that shows it: the first that failed, or else the first that was run
}

// Held reports whether every run of the cell held, or as many as were required.
func (c CellTally) Held() bool {
	if c.Answer != "" {
		return c.Answer == score.Holds.String()
	}
	return c.Applies && c.Runs > 0 && c.Passed == c.Runs
}

// Tally adds up a state.
func (c *Campaign) Tally(s any) Tally {
	st, ok := s.(*state)
	if !ok {
		return Tally{}
	}
	return c.tally(st)
}

func (c *Campaign) tally(s *state) Tally {
	var t Tally
	var trials []score.Trial
	types := make(map[string]*TypeTally)
	var order []string
	var grid []CellTally // all possible cells; asked says which ones are planned
	var asked []bool
	for i, it := range s.items {
		r := s.results[i]
		switch it.phase {
		case PhaseMutation:
			m := &s.mutations[it.a]
			if types[m.Type] == nil {
				types[m.Type] = &TypeTally{Type: m.Type, Weight: m.Weight}
				order = append(order, m.Type)
			}
			t.Mutation.count(r)
			switch r {
			case passed, failed:
				types[m.Type].Total++
				trials = append(trials, score.Trial{Weight: m.Weight, Passed: r == passed})
				if r == passed {
					types[m.Type].Passed++
				}
			case inapplicable:
				types[m.Type].Inapplicable++
			}
		case PhaseChaos:
			t.Chaos.count(r)
		case PhaseReplay:
			t.Replay.count(r)
		case PhaseContract:
			if grid == nil {
				n := len(c.scenarios) * len(c.invariants)
				grid, asked = make([]CellTally, n), make([]bool, n)
			}
			at := it.b*len(c.invariants) + it.a
			x := &grid[at]
			if !asked[at] {
				v := &c.invariants[it.a]
				j := &c.scenarios[it.b]
				*x = CellTally{Invariant: v.ID, Scenario: j.name, Severity: v.Severity, Applies: j.active.applies(v.When), Idle: s.idle(j), Untested: s.untested(v), Answer: s.samples[cellAt{it.a, it.b}].Answer}
				asked[at] = true
			}
			if r != untried && (x.Shown == nil || r == failed && x.Passed == x.Runs) {
				x.Shown = c.caseOf(i)
			}
			switch r {
			case passed:
				x.Runs, x.Passed = x.Runs+1, x.Passed+1
			case failed:
				x.Runs++
			case broken:
				x.Broken++
			}
		}
	}
	for _, k := range order {
		t.Mutation.ByType = append(t.Mutation.ByType, *types[k])
	}
	t.Mutation.Score, t.Mutation.Scored = score.Weighted(trials)
	if s.idle(&c.chaos) && t.Chaos.Total > 0 {
		t.Idle = append(t.Idle, PhaseChaos)
	} else {
		t.Chaos.scoreUnweighted()
	}
	t.Replay.scoreUnweighted()
	var weights []float64
	for _, x := range trials {
		weights = append(weights, x.Weight)
	}
	t.Tests = map[string]float64{PhaseMutation: score.Effective(weights), PhaseChaos: float64(t.Chaos.Total), PhaseReplay: float64(t.Replay.Total)}
	judged := make([]score.Cell, 0, len(grid))
	t.Cells = grid[:0] // each cell is read before its place is overwritten
	for i := range grid {
		if !asked[i] {
			continue
		}
		t.Cells = append(t.Cells, grid[i])
		x := &t.Cells[len(t.Cells)-1]
		switch {
		case !x.Applies || x.Runs == 0 || x.Answer == score.Undecided.String() || x.Untested && x.Held():
		case !x.Idle:
			judged = append(judged, score.Cell{Severity: score.Severity(x.Severity), Passed: x.Held()})
		default:
			// What held was not really tested; what failed did so without a fault.
			t.critical = t.critical || !x.Held() && x.Severity == string(score.Critical)
			if !slices.Contains(t.Idle, x.Scenario) {
				t.Idle = append(t.Idle, x.Scenario)
			}
		}
	}
	weights = nil
	for _, x := range judged {
		weights = append(weights, float64(x.Severity.Weight()))
	}
	t.Tests[PhaseContract] = score.Effective(weights)
	if m, ok := score.OfMatrix(judged); ok {
		m.CriticalFailed = m.CriticalFailed || t.critical
		t.Contract = &m
	}
	t.scoreOverall(c.cfg.Scoring)
	return t
}

// caseOf returns the case of an item. The baselines come before all items.
func (c *Campaign) caseOf(item int) *int64 {
	index := int64(len(c.asked) + item)
	return &index
}

func (k *Component) count(r result) {
	switch r {
	case passed:
		k.Total, k.Passed = k.Total+1, k.Passed+1
	case failed:
		k.Total++
	case inapplicable:
		k.Inapplicable++
	case broken:
		k.Broken++
	}
}

// scoreUnweighted sets the score of tests that all have the same weight.
func (k *Component) scoreUnweighted() {
	if k.Total > 0 {
		k.Score, k.Scored = float64(k.Passed)/float64(k.Total), true
	}
}

func (t *Tally) scoreOverall(w config.Scoring) {
	var p score.Parts
	if t.Mutation.Scored {
		p.Mutation = &t.Mutation.Score
	}
	if t.Chaos.Scored {
		p.Chaos = &t.Chaos.Score
	}
	if t.Replay.Scored {
		p.Replay = &t.Replay.Score
	}
	if t.Contract != nil {
		f := t.Contract.Fraction()
		p.Contract = &f
	}
	t.Whole, t.Scored = score.Resilience(p, score.Weights{Mutation: w.Mutation, Chaos: w.Chaos, Contract: w.Contract, Replay: w.Replay})
}

// CriticalFailed reports whether a critical invariant failed in any scenario. If so, the whole
// contract fails, whatever the score is.
func (t *Tally) CriticalFailed() bool {
	return t.critical || t.Contract != nil && t.Contract.CriticalFailed
}

// criticalUnknown reports whether a critical invariant has no result in some scenario, so that
// nobody knows whether it holds there.
func (t *Tally) criticalUnknown() bool {
	return slices.ContainsFunc(t.Cells, func(x CellTally) bool {
		return x.Severity == string(score.Critical) && x.Applies && (x.Broken > 0 || x.Answer == score.Undecided.String())
	})
}

// bounds returns an interval in the form of records.
func bounds(low, high float64) *[2]float64 { return &[2]float64{low, high} }

// Summarize implements [campaign.Summarizer].
func (c *Campaign) Summarize(s *state) campaign.Summary {
	t := c.tally(s)
	sum := campaign.Summary{Parts: parts(&t), Exhibits: c.exhibits(s, &t), Warnings: c.warnings(s), Advice: c.advice(s)}
	if t.Scored {
		sum.Score, sum.Interval = &t.Whole.Score, bounds(t.Whole.Interval(t.Tests))
	}
	if len(s.results) > 0 && !slices.ContainsFunc(s.results, func(r result) bool { return r != inapplicable }) {
		sum.Void = "each case was skipped, so nothing was tested"
	}
	return sum
}

// parts returns the phases that ran.
func parts(t *Tally) []campaign.ScorePart {
	var list []campaign.ScorePart
	for _, x := range t.Whole.Shares {
		if x.Ran {
			list = append(list, campaign.ScorePart{
				Name: x.Name, Score: x.Score, Weight: x.Counts, Interval: bounds(score.Interval(x.Score, t.Tests[x.Name])),
			})
		}
	}
	return list
}

// warnings lists recorded responses that were not asked for and faults that never fired.
func (c *Campaign) warnings(s *state) []string {
	if !slices.ContainsFunc(s.results, func(r result) bool { return r != untried }) {
		return nil
	}
	var list []string
	list = append(list, s.unused...)
	if names := strings.Join(s.sick, ", "); names != "" {
		list = append(list, "the baseline is unhealthy, and all results rest on it: every call of "+names+" fails, without any fault")
	}
	for _, i := range c.idle(s) {
		list = append(list, c.idleText(i, s.fired[i], s))
	}
	return append(list, s.unseen()...)
}

// exhibits shows what the score consists of, the matrix, the mutations by type and the faults.
func (c *Campaign) exhibits(s *state, t *Tally) []campaign.Exhibit {
	list := append([]campaign.Exhibit{c.composition(t)}, c.weaknessTable(s)...)
	if names := strings.Join(s.sick, ", "); names != "" {
		list[0].Title += "; the baseline is unhealthy, and this rests on it: every call of " + names + " fails, without any fault"
	}
	if len(t.Cells) > 0 {
		list = append(list, c.matrix(t))
	}
	list = append(list, c.sampling(s, t)...)
	if len(t.Mutation.ByType) > 0 {
		list = append(list, byType(&t.Mutation))
	}
	if c.written != nil && len(s.mutations) > 0 {
		list = append(list, authors(s.mutations))
	}
	if len(c.sessions) > 0 {
		list = append(list, c.replayed(s))
	}
	if len(c.rules) > 0 {
		list = append(list, c.faults(s))
	}
	return append(list, c.repliesTable(s)...)
}

func (c *Campaign) composition(t *Tally) campaign.Exhibit {
	rows := make([][]string, 0, 5)
	var absent, untried []string
	for _, x := range t.Whole.Shares {
		ran, value, counts, between := "did not run", "n/a", "", ""
		if x.Ran {
			between = score.Percents(score.Interval(x.Score, t.Tests[x.Name]))
			ran, value, counts = "ran", score.Percent(x.Score), fmt.Sprintf("%.3f", x.Counts)
		} else if x.Name == PhaseChaos && slices.Contains(t.Idle, x.Name) || x.Name == PhaseContract && slices.ContainsFunc(t.Cells, func(x CellTally) bool { return x.Runs > 0 && (x.Idle || x.Untested) }) {
			ran = "not exercised"
			untried = append(untried, x.Name)
		} else {
			absent = append(absent, x.Name)
		}
		rows = append(rows, []string{x.Name, ran, value, between, fmt.Sprintf("%.2f", x.Weight), counts})
	}
	title := "Resilience score: none, nothing was tested"
	if t.Scored {
		title = fmt.Sprintf("Resilience score: %s, 95%% interval %s", score.Percent(t.Whole.Score), score.Percents(t.Whole.Interval(t.Tests)))
	}
	if len(absent) > 0 && t.Scored {
		title += "; the weights of " + strings.Join(absent, ", ") + " were shared out, as nothing of it ran"
	}
	if len(untried) > 0 {
		title += "; " + strings.Join(untried, ", ") + ": not exercised, and without a score"
	}
	if t.CriticalFailed() {
		title += "; FAIL: a critical invariant failed"
	}
	return campaign.Exhibit{Kind: "table", Title: title, Table: &campaign.Table{
		Columns: []string{"component", "", "score", "95% interval", "weight", "counts"}, Rows: rows, Numeric: []bool{false, false, true, true, true, true},
	}}
}

// matrix shows invariants by scenarios, each with the rate of runs that held.
func (c *Campaign) matrix(t *Tally) campaign.Exhibit {
	m := &campaign.Matrix{}
	for _, j := range c.scenarios {
		m.Columns = append(m.Columns, j.name)
	}
	for i := range c.invariants {
		v := &c.invariants[i]
		m.Rows = append(m.Rows, v.ID+" ("+v.Severity+")")
		row := make([]campaign.MatrixCell, len(c.scenarios))
		for b := range c.scenarios {
			x := t.Cells[b*len(c.invariants)+i]
			row[b] = campaign.MatrixCell{Hits: int64(x.Passed), Total: int64(x.Runs), Case: x.Shown}
			if (x.Idle || x.Untested) && x.Held() { // what was not exercised has no rate
				row[b].Hits, row[b].Total = 0, 0
			}
			row[b].Low, row[b].High = score.Wilson(int(row[b].Hits), int(row[b].Total))
			switch {
			case !x.Applies:
				row[b].Note = "N/A"
			case x.Idle && x.Runs > 0:
				row[b].Note = "not exercised: no fault fired"
			case x.Untested && x.Held():
				row[b].Note = "not exercised"
			case x.Broken > 0:
				row[b].Note = diag.Plural(x.Broken, "run") + " without a result"
			case x.Answer != "" && x.Runs > 0:
				row[b].Note = fmt.Sprintf("%s (min_pass_rate %g)", x.Answer, v.MinRate)
			case x.Passed > 0 && x.Passed < x.Runs:
				row[b].Note = "flaky"
			}
		}
		m.Cells = append(m.Cells, row)
	}
	title := "Contract matrix: no cell has a result"
	if k := t.Contract; k != nil {
		title = fmt.Sprintf("Contract matrix of %s: score %s, %d of %d cells held", c.cfg.Contract.Name, score.Percent(k.Score/100), k.CellsPassed, k.Cells)
		switch {
		case k.CriticalFailed:
			title += "; FAIL: a critical invariant failed"
		case k.CellsPassed < k.Cells:
			title += "; no critical invariant failed"
		}
	}
	return campaign.Exhibit{Kind: "matrix", Title: title, Matrix: m}
}

func byType(k *Component) campaign.Exhibit {
	var rows [][]string
	for _, x := range k.ByType {
		rate := ""
		if x.Total > 0 {
			rate = score.Percent(float64(x.Passed) / float64(x.Total))
		}
		rows = append(rows, []string{config.DisplayName(x.Type), fmt.Sprint(x.Total), fmt.Sprint(x.Passed), fmt.Sprint(x.Total - x.Passed), fmt.Sprint(x.Inapplicable), rate, fmt.Sprintf("%g", x.Weight)})
	}
	title := "Mutations: no score"
	if k.Scored {
		title = fmt.Sprintf("Mutations: robustness %s, %d of %d held", score.Percent(k.Score), k.Passed, k.Total)
	}
	return campaign.Exhibit{Kind: "table", Title: title, Table: &campaign.Table{
		Columns: []string{"type", "tests", "held", "failed", "N/A", "rate", "weight"}, Rows: rows, Numeric: []bool{false, true, true, true, true, true, true},
	}}
}

func (c *Campaign) replayed(s *state) campaign.Exhibit {
	var rows [][]string
	var cases []*int64
	for i, it := range s.items {
		if it.phase != PhaseReplay {
			continue
		}
		x := &c.sessions[it.a]
		word := map[result]string{untried: "not run", passed: "holds", failed: "fails", broken: "no result"}[s.results[i]]
		rows = append(rows, []string{x.ID, x.Name, fmt.Sprint(len(x.recorded)), fmt.Sprint(len(x.checks)), word})
		var shown *int64
		if s.results[i] != untried {
			shown = c.caseOf(i)
		}
		cases = append(cases, shown)
	}
	e := campaign.TableExhibit("Replays", []string{"session", "name", "recorded responses", "checks", ""}, rows)
	e.Table.Cases = cases
	return e
}

func (c *Campaign) faults(s *state) campaign.Exhibit {
	var rows [][]string
	for i, r := range c.rules {
		f := s.fired[i]
		note := f.Missed
		if f.Fired == 0 {
			note = strings.TrimSpace("never fired " + note)
		}
		rows = append(rows, []string{r.scenario, r.rule.ID, string(r.rule.Layer) + " " + string(r.rule.Mode), fmt.Sprint(f.Considered), fmt.Sprint(f.Fired), note})
	}
	return campaign.Exhibit{Kind: "table", Title: "Faults", Table: &campaign.Table{
		Columns: []string{"scenario", "fault", "what", "calls matched", "fired", ""}, Rows: rows, Numeric: []bool{false, false, false, true, true, false},
	}}
}
