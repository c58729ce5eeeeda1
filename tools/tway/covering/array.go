package covering

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/logic"
)

// Options, together with the model, determine the array.
type Options struct {
	Seed uint64
	// Effort is the work spent on making the array smaller, in units of EffortUnit looks at the table
	// of tuples. 0 keeps the result of the greedy method.
	Effort int
}

// EffortUnit is the work of one step of effort: a few tenths of a second.
const EffortUnit = 100_000_000

// Array is a covering array.
type Array struct {
	Rows        [][]int // a value for each parameter
	Given       int     // number of leading rows that the model gave, completed
	Tuples      int64   // number of covered combinations: all possible ones
	Lower       int     // no array has fewer rows (the largest set of mutually exclusive combinations)
	Unreachable []Unreachable
	Unproven    []Tuple // combinations that the budget could not decide; not all are covered
	Refused     []Refusal
}

// Refusal is a given row that was left out.
type Refusal struct {
	Row   int   // in Model.Rows
	Conds []int // the conditions that exclude it; nil: two invalid values, or not decided
}

// Contradiction is the error for a model without any possible row.
type Contradiction struct {
	Conds []int // conditions that contradict each other; none can be dropped
}

func (c *Contradiction) Error() string {
	return fmt.Sprintf("%d conditions contradict each other: no row is possible", len(c.Conds))
}

// Generate makes an array for a model. It fails if the model is invalid or too large (Model.Check,
// ErrTooLarge), contradicts itself (*Contradiction), or cannot be decided within the budget
// (ErrTooHard).
func Generate(m *Model, opt Options) (*Array, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	sets, err := m.Sets()
	if err != nil {
		return nil, err
	}
	open := blank(len(m.Levels))
	switch core, complete := solve.New(m.Levels, m.Conds).Conflict(open, 5*partNodes); {
	case core != nil:
		return nil, &Contradiction{core}
	case !complete:
		return nil, ErrTooHard
	}
	a := &Array{}
	var given, invalid [][]int
	for i, row := range m.Rows {
		params := make([]int, 0, len(row))
		values := make([]int, 0, len(row))
		for p, x := range row {
			if x != solve.Open {
				params, values = append(params, p), append(values, x)
			}
		}
		switch m.invalids(params, values) {
		case 0:
			given = append(given, row)
		case 1:
			invalid = append(invalid, row)
		default:
			a.Refused = append(a.Refused, Refusal{Row: i})
		}
	}
	var rest [][]int
	for want, rows := range [][][]int{given, invalid} {
		if want == 1 && !m.hasInvalid() {
			break
		}
		p := &phase{m: m, sets: sets, want: want, given: rows, opt: opt, array: a}
		if err := p.run(); err != nil {
			return nil, err
		}
		a.Rows = append(a.Rows, p.kept...)
		rest = append(rest, p.added...)
	}
	if u := a.Unreachable; len(u) > 0 && len(a.Rows)+len(rest) == 0 {
		return nil, &Contradiction{u[len(u)-1].Conds} // each row would hold several invalid values
	}
	a.Given = len(a.Rows)
	a.Rows = append(a.Rows, rest...)
	slices.SortFunc(a.Refused, func(x, y Refusal) int { return x.Row - y.Row })
	return a, nil
}

func (m *Model) hasInvalid() bool {
	return slices.ContainsFunc(m.Invalid, func(list []bool) bool { return slices.Contains(list, true) })
}

// phase makes the rows with a certain number of invalid values: first those with none, which cover
// the valid combinations, then those with one. A combination of valid values in a row with an
// invalid one does not count: the program under test may never look at it.
type phase struct {
	m     *Model
	sets  [][]int
	want  int
	given [][]int
	opt   Options
	array *Array

	kept, added [][]int
}

// conds are the model's conditions and the phase's own.
func (p *phase) conds() []solve.Cond {
	conds := slices.Clone(p.m.Conds)
	var columns []int
	for c, list := range p.m.Invalid {
		if slices.Contains(list, true) {
			columns = append(columns, c)
		}
	}
	valid := func(c int) solve.Cond {
		set := make([]bool, len(p.m.Invalid[c]))
		for x, bad := range p.m.Invalid[c] {
			set[x] = !bad
		}
		return logic.In(c, set)
	}
	for i, c := range columns {
		if p.want == 0 {
			conds = append(conds, valid(c))
			continue
		}
		for _, d := range columns[:i] {
			conds = append(conds, logic.Or(valid(c), valid(d)))
		}
	}
	return conds
}

func (p *phase) run() error {
	conds := p.conds()
	b := newBuilder(p.m.Levels, conds, newTable(p.m.Levels, p.sets), p.opt.Seed)
	r := newReach(p.m, b, conds, p.want)
	tuples, lower := r.require()
	a := p.array
	a.Tuples, a.Lower = a.Tuples+tuples, a.Lower+lower
	a.Unreachable = append(a.Unreachable, r.unreachable...)
	a.Unproven = append(a.Unproven, r.unproven...)
	if err := p.begin(b); err != nil {
		return err
	}
	if err := b.greedy(); err != nil {
		return err
	}
	if budget := int64(p.opt.Effort) * EffortUnit; budget > 0 && len(b.rows) > lower {
		b = p.improve(b, budget, lower)
	}
	b.weigh(p.m.Weights)
	p.kept, p.added = b.rows[:len(b.given)], b.rows[len(b.given):]
	return nil
}

// improve makes the array smaller; if there is a construction, it starts from that as well.
func (p *phase) improve(b *builder, budget int64, lower int) *builder {
	if len(b.bound) > 0 {
		budget *= 3 // conditions forbid many moves
	}
	other := p.construct(b)
	if other == nil {
		b.improve(budget, lower)
		return b
	}
	other.improve(budget/2, lower)
	if len(other.rows) > lower {
		b.improve(budget/2, lower)
	}
	if len(other.rows) < len(b.rows) {
		return other
	}
	return b
}

// begin adds the given rows.
func (p *phase) begin(b *builder) error {
	for _, row := range p.given {
		full := b.complete(slices.Clone(row))
		if full != nil {
			b.given = append(b.given, row)
			b.push(full)
			continue
		}
		core, complete := b.solver.Conflict(row, partNodes)
		if core == nil && !complete {
			return ErrTooHard
		}
		i := slices.IndexFunc(p.m.Rows, func(r []int) bool { return &r[0] == &row[0] })
		core = slices.DeleteFunc(core, func(c int) bool { return c >= len(p.m.Conds) })
		p.array.Refused = append(p.array.Refused, Refusal{Row: i, Conds: core})
	}
	return nil
}

// construct starts over from a construction if one is smaller than b's array; nil otherwise.
func (p *phase) construct(b *builder) *builder {
	if len(p.given) > 0 || len(b.bound) > 0 || slices.ContainsFunc(p.sets, func(s []int) bool { return len(s) != 2 }) {
		return nil
	}
	start := construction(p.m.Levels, len(b.rows)-1, b.rng.next())
	if start == nil {
		return nil
	}
	t := newTable(p.m.Levels, p.sets)
	for i := range t.count {
		t.require(int32(i))
	}
	other := newBuilder(p.m.Levels, nil, t, b.rng.next())
	for _, row := range start {
		if full := other.complete(row); t.coversOpen(full) {
			other.push(full)
		}
	}
	if other.greedy() != nil || len(other.rows) >= len(b.rows) {
		return nil
	}
	return other
}

// coversOpen reports whether a row covers an open tuple.
func (t *table) coversOpen(row []int) bool {
	for i := range t.sets {
		if t.count[t.sets[i].at(row)] == 0 {
			return true
		}
	}
	return false
}

// weigh fills the cells that coverage leaves free by weight.
func (b *builder) weigh(weights [][]int) {
	for c, list := range weights {
		if len(list) == 0 {
			continue
		}
		for i, row := range b.rows {
			old := row[c]
			total, pick := 0, old
			for x, w := range list {
				if w < 1 || x != old && (!b.mayChange(i, c, x) || b.t.delta(row, c, x) < 0) {
					continue
				}
				if total += w; b.rng.below(total) < w {
					pick = x
				}
			}
			if pick != old {
				b.t.change(row, c, pick)
			}
		}
	}
}

// ErrTooHard is the error for conditions that exceed the budget.
var ErrTooHard = errors.New("the conditions are too hard: neither a row nor a proof that there is none was found within the budget")
