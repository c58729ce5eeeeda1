package covering

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// builder makes an array for the open tuples of its table.
type builder struct {
	t      *table
	levels []int
	solver *solve.Solver
	rng    random
	rows   [][]int
	given  [][]int // fixed cells of the first rows: a value, or solve.Open for any

	bound []int // columns with conditions
	free  []int // the others
	order []int // scratch
	gain  []int
	picks []int
}

func newBuilder(levels []int, conds []solve.Cond, t *table, seed uint64) *builder {
	b := &builder{t: t, levels: levels, solver: solve.New(levels, conds), rng: random{seed}}
	for c := range levels {
		if b.solver.Constrained(c) {
			b.bound = append(b.bound, c)
		} else {
			b.free = append(b.free, c)
		}
	}
	b.order = make([]int, len(levels))
	return b
}

// rowNodes is the budget of one row; a row that needs more is given up.
const rowNodes = 10_000

// complete fills the open cells of row so that the conditions hold and many open tuples are
// covered. It returns nil if that is impossible or too expensive.
func (b *builder) complete(row []int) []int {
	if len(b.bound) > 0 {
		order := b.order[:copy(b.order, b.bound)]
		b.rng.shuffle(order)
		a := b.solver.Solve(solve.Query{Fixed: row, Order: order, Prefer: b.bestValues, Nodes: rowNodes})
		if a.Status != solve.Sat {
			return nil
		}
		row = a.Row
	}
	order := b.order[:copy(b.order, b.free)]
	b.rng.shuffle(order)
	slices.SortStableFunc(order, func(x, y int) int { return b.levels[y] - b.levels[x] })
	for _, c := range order {
		if row[c] == solve.Open {
			row[c] = b.bestValues(c, row)[0]
		}
	}
	return row
}

// bestValues returns the values of c in order of coverage, equal ones in random order.
func (b *builder) bestValues(c int, row []int) []int {
	n := b.levels[c]
	b.gain = append(b.gain[:0], make([]int, n)...)
	b.picks = b.picks[:0]
	for x := range n {
		b.picks = append(b.picks, x)
	}
	b.rng.shuffle(b.picks)
	b.t.openGains(row, c, b.gain)
	for i := 1; i < n; i++ {
		for j := i; j > 0 && b.gain[b.picks[j]] > b.gain[b.picks[j-1]]; j-- {
			b.picks[j], b.picks[j-1] = b.picks[j-1], b.picks[j]
		}
	}
	return b.picks
}

// greedy adds rows until no tuple is open. Each row begins with an open tuple, so this ends even if
// rows are poor.
func (b *builder) greedy() error {
	for len(b.t.open) > 0 {
		row := blank(len(b.levels))
		b.t.write(b.t.open[b.rng.below(len(b.t.open))], row)
		full := b.complete(row)
		if full == nil {
			return ErrTooHard
		}
		b.push(full)
	}
	return nil
}

func (b *builder) push(row []int) {
	b.t.add(row)
	b.rows = append(b.rows, row)
}

// blank is a row of n open cells.
func blank(n int) []int {
	row := make([]int, n)
	for i := range row {
		row[i] = solve.Open
	}
	return row
}
