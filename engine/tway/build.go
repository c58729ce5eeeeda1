package tway

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/splitmix"
)

// builder makes an array for the tuples that are open.
//
// The tuples of one column set have consecutive numbers: the first column's value
// times a stride, and so on.
type builder struct {
	levels []int
	sets   []set
	in     [][]int // the sets that a column is in
	open   []int32 // the tuples that must still be covered
	where  []int32 // a tuple's index in open, or -1
	solver *solve.Solver
	state  uint64 // of the random generator
	array  Array

	bound []int // columns with conditions
	free  []int // the others
	order []int // scratch
	gain  []int
	picks []int
}

// set is a set of columns whose combinations are all tuples.
type set struct {
	cols    []int
	strides []int32
	first   int32 // the number of its first tuple
}

func newBuilder(m *Model, columns [][]int, seed uint64) *builder {
	k := len(m.Levels)
	b := &builder{levels: m.Levels, solver: solve.New(m.Levels, m.Conds), state: seed, in: make([][]int, k), order: make([]int, k)}
	for c := range k {
		if b.solver.Constrained(c) {
			b.bound = append(b.bound, c)
		} else {
			b.free = append(b.free, c)
		}
	}
	n := int32(0)
	for i, cols := range columns {
		s := set{cols: cols, strides: make([]int32, len(cols)), first: n}
		size := int32(1)
		for j, c := range slices.Backward(cols) {
			s.strides[j] = size
			size *= int32(m.Levels[c])
			b.in[c] = append(b.in[c], i)
		}
		n += size
		b.sets = append(b.sets, s)
	}
	b.where = make([]int32, n)
	for i := range b.where {
		b.where[i] = -1
	}
	return b
}

// size returns the number of tuples of a set.
func (b *builder) size(s *set) int32 { return s.strides[0] * int32(b.levels[s.cols[0]]) }

// value returns the value that a tuple of s has in the column s.cols[j].
func (b *builder) value(s *set, tuple int32, j int) int {
	return int((tuple - s.first) / s.strides[j] % int32(b.levels[s.cols[j]]))
}

// require adds a tuple to those that must be covered.
func (b *builder) require(tuple int32) {
	b.where[tuple] = int32(len(b.open))
	b.open = append(b.open, tuple)
}

// push adds a row; each cell has a value.
func (b *builder) push(row []int) {
	for i := range b.sets {
		s := &b.sets[i]
		tuple := s.first
		for j, c := range s.cols {
			tuple += int32(row[c]) * s.strides[j]
		}
		if at := b.where[tuple]; at >= 0 {
			last := len(b.open) - 1
			moved := b.open[last]
			b.open[at], b.where[moved] = moved, at
			b.open, b.where[tuple] = b.open[:last], -1
		}
	}
	b.array.Rows = append(b.array.Rows, row)
}

// gains adds to gain[x], for each value x of column c, the number of open tuples
// that it completes together with the cells of row that have values.
func (b *builder) gains(row []int, c int) {
next:
	for _, i := range b.in[c] {
		s := &b.sets[i]
		at, own := s.first, int32(0)
		for j, d := range s.cols {
			switch {
			case d == c:
				own = s.strides[j]
			case row[d] == solve.Open:
				continue next
			default:
				at += int32(row[d]) * s.strides[j]
			}
		}
		for x := range b.gain {
			if b.where[at] >= 0 {
				b.gain[x]++
			}
			at += own
		}
	}
}

// rowNodes is the budget of one row; a row that costs more is given up.
const rowNodes = 10_000

// complete gives values to the open cells of row, so that the conditions hold and
// many open tuples are covered. It returns nil if that is impossible, or costs too
// much.
func (b *builder) complete(row []int) []int {
	if len(b.bound) > 0 {
		a := b.solver.Solve(solve.Query{Fixed: row, Order: b.shuffled(b.bound), Prefer: b.bestValues, Nodes: rowNodes})
		if a.Status != solve.Sat {
			return nil
		}
		row = a.Row
	}
	order := b.shuffled(b.free)
	slices.SortStableFunc(order, func(x, y int) int { return b.levels[y] - b.levels[x] })
	for _, c := range order {
		if row[c] == solve.Open {
			row[c] = b.bestValues(c, row)[0]
		}
	}
	return row
}

// bestValues returns the values of c, those first that cover the most; equal ones
// in random order.
func (b *builder) bestValues(c int, row []int) []int {
	b.gain = append(b.gain[:0], make([]int, b.levels[c])...)
	picks := b.anyValues(c, row)
	b.gains(row, c)
	slices.SortStableFunc(picks, func(x, y int) int { return b.gain[y] - b.gain[x] })
	return picks
}

// anyValues returns the values of c in random order.
func (b *builder) anyValues(c int, _ []int) []int {
	b.picks = b.picks[:0]
	for x := range b.levels[c] {
		b.picks = append(b.picks, x)
	}
	b.shuffle(b.picks)
	return b.picks
}

// greedy adds rows until nothing is open. Each begins with an open tuple, so the
// array ends even if rows are poor.
func (b *builder) greedy() error {
	for len(b.open) > 0 {
		tuple := b.open[b.below(len(b.open))]
		s := &b.sets[sort.Search(len(b.sets), func(i int) bool { return b.sets[i].first > tuple })-1]
		row := blank(len(b.levels))
		for j, c := range s.cols {
			row[c] = b.value(s, tuple, j)
		}
		full := b.complete(row)
		if full == nil {
			return errTooHard
		}
		b.push(full)
	}
	return nil
}

// shuffled returns columns in random order, in the builder's memory.
func (b *builder) shuffled(columns []int) []int {
	order := b.order[:copy(b.order, columns)]
	b.shuffle(order)
	return order
}

func (b *builder) shuffle(list []int) {
	for i := len(list) - 1; i > 0; i-- {
		j := b.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// below returns a number from 0 to n-1; n must be positive.
func (b *builder) below(n int) int {
	hi, _ := bits.Mul64(splitmix.Next(&b.state), uint64(n))
	return int(hi)
}

// blank returns a row of n open cells.
func blank(n int) []int {
	row := make([]int, n)
	for i := range row {
		row[i] = solve.Open
	}
	return row
}
