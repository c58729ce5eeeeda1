package covering

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/solve"
)

// improve makes the array smaller: it removes the row that alone covers the fewest tuples, and
// repairs the coverage by changing one cell at a time, as long as the budget of work lasts. It
// stops at lower rows, a bound for every array.
//
// A recent change is not undone at once (tabu search; the idea of changing one cell of a row that
// already has half of an uncovered pair is that of Lin, Luo, Cai, Su, Hao and Zhang, 2015).
func (b *builder) improve(budget int64, lower int) {
	best := b.copyRows()
	end, patience, again := b.t.work+budget, budget/beginnings, false
	for len(best) > max(lower, len(b.given)) && len(best) < full && b.t.work < end {
		dropped := b.drop(again)
		if again = !b.closeGaps(min(end, b.t.work+patience)); again {
			b.restore(best, dropped)
		} else {
			best = b.copyRows()
		}
	}
}

// beginnings is the minimum number of restarts of the search for one row less.
const beginnings = 3

// restore returns to the rows of best, after the row at dropped was removed and others were
// changed.
func (b *builder) restore(best [][]int, dropped int) {
	for i, row := range b.rows {
		was := best[i]
		if i >= dropped {
			was = best[i+1]
		}
		if !slices.Equal(row, was) {
			b.t.remove(row)
			b.t.add(was)
			copy(row, was)
		}
	}
	b.t.add(best[dropped])
	b.rows = slices.Insert(b.rows, dropped, slices.Clone(best[dropped]))
}

func (b *builder) copyRows() [][]int {
	rows := make([][]int, len(b.rows))
	for i, r := range b.rows {
		rows[i] = slices.Clone(r)
	}
	return rows
}

// drop removes the row that alone covers the fewest tuples, or the best of a sample if looking at
// all is expensive, and returns its index. The sample includes the last row: greedy rows cover ever
// less. After a failure, again, it removes a random row.
func (b *builder) drop(again bool) int {
	first, n := len(b.given), len(b.rows)-len(b.given)
	worst := len(b.rows) - 1
	if look := min(n, max(4, dropLooks/len(b.t.sets))); again {
		worst = first + b.rng.below(n)
	} else {
		least := b.t.coveredAlone(b.rows[worst])
		for j := 1; j < look; j++ {
			i := len(b.rows) - 1 - j
			if look < n {
				i = first + b.rng.below(n)
			}
			if a := b.t.coveredAlone(b.rows[i]); a < least {
				worst, least = i, a
			}
		}
	}
	b.t.remove(b.rows[worst])
	b.rows = slices.Delete(b.rows, worst, worst+1)
	return worst
}

// dropLooks limits the work of choosing a row to remove.
const dropLooks = 200_000

// Work of a move, of a row considered for it, and of a forced tuple, besides the views that are
// looked at, so that a step of effort takes about as long for all models.
const (
	moveWork   = 100
	lookWork   = 12
	forceWork  = 500
	forceBound = 100
)

// closeGaps changes cells until no tuple is open, and reports whether the work sufficed.
func (b *builder) closeGaps(end int64) bool {
	k := len(b.levels)
	tabu := make([]int, len(b.rows)*k)
	tuple := make([]int, k)
	for move := 1; len(b.t.open) > 0; move++ {
		if b.t.work > end {
			return false
		}
		b.t.work += moveWork + 4*int64(len(b.rows))
		for c := range tuple {
			tuple[c] = solve.Open
		}
		s := b.t.write(b.t.open[b.rng.below(len(b.t.open))], tuple)
		if b.rng.below(1000) == 0 {
			b.force(s, tuple)
			continue
		}
		bestRow, bestCol, bestGain, ties := -1, 0, 0, 0
		for i, row := range b.rows {
			c := missing(s.cols, row, tuple)
			if c < 0 || tabu[i*k+c] > move || !b.mayChange(i, c, tuple[c]) {
				continue
			}
			b.t.work += lookWork
			switch gain := b.t.delta(row, c, tuple[c]); {
			case bestRow < 0 || gain > bestGain:
				bestRow, bestCol, bestGain, ties = i, c, gain, 1
			case gain == bestGain:
				if ties++; b.rng.below(ties) == 0 {
					bestRow, bestCol = i, c
				}
			}
		}
		if bestRow < 0 {
			b.force(s, tuple)
			continue
		}
		b.t.change(b.rows[bestRow], bestCol, tuple[bestCol])
		tabu[bestRow*k+bestCol] = move + 1 + b.rng.below(5)
	}
	return true
}

// missing is the only column of cols in which row differs from the tuple, -1 if there are more.
func missing(cols, row, tuple []int) int {
	at := -1
	for _, c := range cols {
		if row[c] != tuple[c] {
			if at >= 0 {
				return -1
			}
			at = c
		}
	}
	return at
}

// mayChange reports whether the cell c of row i may become x.
func (b *builder) mayChange(i, c, x int) bool {
	if i < len(b.given) && b.given[i][c] != solve.Open {
		return false
	}
	row := b.rows[i]
	old := row[c]
	row[c] = x
	ok := b.solver.Holds(row, c)
	row[c] = old
	return ok
}

// force puts a tuple into some row at any price: unchanged if the conditions allow that, otherwise
// with the fewest changes found by a search that tries each cell's old value first.
func (b *builder) force(s *set, tuple []int) {
	b.t.work += forceWork + forceBound*int64(len(b.bound))
	if len(b.rows) == len(b.given) {
		return
	}
	pick := func() int { return len(b.given) + b.rng.below(len(b.rows)-len(b.given)) }
	for range 20 {
		row := b.rows[pick()]
		old := slices.Clone(row)
		for _, c := range s.cols {
			row[c] = tuple[c]
		}
		ok := !slices.ContainsFunc(s.cols, func(c int) bool { return !b.solver.Holds(row, c) })
		copy(row, old)
		if ok {
			for _, c := range s.cols {
				if row[c] != tuple[c] {
					b.t.change(row, c, tuple[c])
				}
			}
			return
		}
	}
	row := b.rows[pick()]
	order := b.order[:copy(b.order, b.bound)]
	b.rng.shuffle(order)
	a := b.solver.Solve(solve.Query{Fixed: tuple, Order: order, Nodes: rowNodes, Prefer: func(c int, _ []int) []int {
		b.picks = append(b.picks[:0], row[c])
		for x := range b.levels[c] {
			if x != row[c] {
				b.picks = append(b.picks, x)
			}
		}
		b.rng.shuffle(b.picks[1:])
		return b.picks
	}})
	if a.Status != solve.Sat {
		return
	}
	for c, x := range a.Row {
		if x != solve.Open && x != row[c] {
			b.t.change(row, c, x)
		}
	}
}
