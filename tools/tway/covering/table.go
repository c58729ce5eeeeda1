package covering

// A table counts how often the rows of an array cover each tuple.
//
// The tuples of one column set have consecutive numbers: the first column's value times a stride,
// and so on. For each column the table has views of the sets that contain it: from the values of
// the other columns, a view gives the number of the tuple for value 0 of the column, and the stride
// to the next value. So a few additions per view, without a search, show what a change of one cell
// covers and uncovers.
type table struct {
	levels  []int
	sets    []set
	count   []uint16 // number of rows that cover a tuple; from exempt on, the tuple need not be covered
	open    []int32  // tuples that must be covered and are not
	where   []int32  // index of a tuple in open, or -1
	pairs   [][]view2
	triples [][]view3
	others  [][]viewN
	price   []int64 // by column: cost of looking at its views
	work    int64   // work done so far
}

// set is a set of columns whose combinations are all tuples.
type set struct {
	cols    []int
	strides []int32
	first   int32 // number of its first tuple
}

// view2, view3 and viewN are a set of two, three or any number of columns as seen from one of them.
type (
	view2 struct{ base, own, col, stride int32 }
	view3 struct{ base, own, col1, stride1, col2, stride2 int32 }
	viewN struct {
		base, own     int32
		cols, strides []int32
	}
)

const (
	exempt = 1 << 14    // added to the count of tuples that need not be covered
	full   = exempt - 1 // maximum count; no array that is improved has so many rows
)

// newTable makes a table of column sets; no tuple needs covering yet.
func newTable(levels []int, columns [][]int) *table {
	k := len(levels)
	t := &table{levels: levels, pairs: make([][]view2, k), triples: make([][]view3, k), others: make([][]viewN, k), price: make([]int64, k)}
	n := int32(0)
	t.sets = make([]set, len(columns))
	for i, cols := range columns {
		s := set{cols: cols, strides: make([]int32, len(cols)), first: n}
		size := int32(1)
		for j := len(cols) - 1; j >= 0; j-- {
			s.strides[j] = size
			size *= int32(levels[cols[j]])
		}
		n += size
		t.sets[i] = s
		t.show(&s)
	}
	t.count, t.where = make([]uint16, n), make([]int32, n)
	for i := range t.count {
		t.count[i], t.where[i] = exempt, -1
	}
	return t
}

// show adds its view of a set to each column of the set.
func (t *table) show(s *set) {
	for j, c := range s.cols {
		var cols, strides []int32
		for o, d := range s.cols {
			if o != j {
				cols, strides = append(cols, int32(d)), append(strides, s.strides[o])
			}
		}
		t.price[c] += int64(len(s.cols) - 1 + min(1, len(s.cols)/3)) // as measured: a triple costs as much as three pairs
		switch len(cols) {
		case 1:
			t.pairs[c] = append(t.pairs[c], view2{s.first, s.strides[j], cols[0], strides[0]})
		case 2:
			t.triples[c] = append(t.triples[c], view3{s.first, s.strides[j], cols[0], strides[0], cols[1], strides[1]})
		default:
			t.others[c] = append(t.others[c], viewN{s.first, s.strides[j], cols, strides})
		}
	}
}

// at is the number of the tuple of a set that a row covers.
func (s *set) at(row []int) int32 {
	i := s.first
	for j, c := range s.cols {
		i += int32(row[c]) * s.strides[j]
	}
	return i
}

// size is the number of tuples of a set.
func (t *table) size(s *set) int32 { return s.strides[0] * int32(t.levels[s.cols[0]]) }

// setOf finds the set of a tuple.
func (t *table) setOf(tuple int32) *set {
	lo, hi := 0, len(t.sets)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; t.sets[mid].first <= tuple {
			lo = mid
		} else {
			hi = mid
		}
	}
	return &t.sets[lo]
}

// value is the value that a tuple of s has in the column s.cols[j].
func (t *table) value(s *set, tuple int32, j int) int {
	return int((tuple - s.first) / s.strides[j] % int32(t.levels[s.cols[j]]))
}

// write puts the values of a tuple into row.
func (t *table) write(tuple int32, row []int) *set {
	s := t.setOf(tuple)
	for j, c := range s.cols {
		row[c] = t.value(s, tuple, j)
	}
	return s
}

// require marks a tuple as one that must be covered.
func (t *table) require(tuple int32) {
	if t.count[tuple] >= exempt {
		t.count[tuple] -= exempt
		if t.count[tuple] == 0 {
			t.uncover(tuple)
		}
	}
}

func (t *table) uncover(tuple int32) {
	t.where[tuple] = int32(len(t.open))
	t.open = append(t.open, tuple)
}

func (t *table) win(tuple int32) {
	last := len(t.open) - 1
	p, moved := t.where[tuple], t.open[last]
	t.open[p], t.where[moved] = moved, p
	t.open, t.where[tuple] = t.open[:last], -1
}

func (t *table) inc(tuple int32) {
	if n := t.count[tuple]; n&full == full {
		return
	}
	t.count[tuple]++
	if t.count[tuple] == 1 {
		t.win(tuple)
	}
}

func (t *table) dec(tuple int32) {
	t.count[tuple]--
	if t.count[tuple] == 0 {
		t.uncover(tuple)
	}
}

// add counts a row; each cell must have a value.
func (t *table) add(row []int) {
	for i := range t.sets {
		t.inc(t.sets[i].at(row))
	}
}

// remove stops counting a row.
func (t *table) remove(row []int) {
	for i := range t.sets {
		t.dec(t.sets[i].at(row))
	}
}

// coveredAlone is the number of tuples that only this row covers.
func (t *table) coveredAlone(row []int) int {
	n := 0
	for i := range t.sets {
		if t.count[t.sets[i].at(row)] == 1 {
			n++
		}
	}
	t.work += int64(len(t.sets))
	return n
}

// openGains adds to gain[x], for each value x of column c, the number of open tuples that it
// completes together with the filled cells of row.
func (t *table) openGains(row []int, c int, gain []int) {
	for _, v := range t.pairs[c] {
		if row[v.col] >= 0 {
			at := v.base + int32(row[v.col])*v.stride
			for x := range gain {
				if t.count[at] == 0 {
					gain[x]++
				}
				at += v.own
			}
		}
	}
	for i := range t.triples[c] {
		v := &t.triples[c][i]
		if row[v.col1] >= 0 && row[v.col2] >= 0 {
			at := v.base + int32(row[v.col1])*v.stride1 + int32(row[v.col2])*v.stride2
			for x := range gain {
				if t.count[at] == 0 {
					gain[x]++
				}
				at += v.own
			}
		}
	}
next:
	for i := range t.others[c] {
		v := &t.others[c][i]
		at := v.base
		for j, d := range v.cols {
			if row[d] < 0 {
				continue next
			}
			at += int32(row[d]) * v.strides[j]
		}
		for x := range gain {
			if t.count[at] == 0 {
				gain[x]++
			}
			at += v.own
		}
	}
	t.work += t.price[c]
}

// delta is the change in the number of covered tuples if the cell c of row becomes x.
func (t *table) delta(row []int, c, x int) int {
	old, to, n := int32(row[c]), int32(x), uint32(0)
	for _, v := range t.pairs[c] {
		at := v.base + int32(row[v.col])*v.stride
		n += isZero(t.count[at+to*v.own]) - isZero(t.count[at+old*v.own]^1)
	}
	for i := range t.triples[c] {
		v := &t.triples[c][i]
		at := v.base + int32(row[v.col1])*v.stride1 + int32(row[v.col2])*v.stride2
		n += isZero(t.count[at+to*v.own]) - isZero(t.count[at+old*v.own]^1)
	}
	for i := range t.others[c] {
		at, own := t.others[c][i].at(row)
		n += isZero(t.count[at+to*own]) - isZero(t.count[at+old*own]^1)
	}
	t.work += t.price[c]
	return int(int32(n))
}

// isZero is 1 for 0 and 0 for other counts. Branches would be mispredicted half of the time, and
// this is where most of the time goes.
func isZero(count uint16) uint32 { return (uint32(count) - 1) >> 31 }

// at is the number of the view's tuple for value 0 of its column.
func (v *viewN) at(row []int) (at, own int32) {
	at = v.base
	for j, d := range v.cols {
		at += int32(row[d]) * v.strides[j]
	}
	return at, v.own
}

// change sets the cell c of a counted row to x.
func (t *table) change(row []int, c, x int) {
	old, to := int32(row[c]), int32(x)
	for _, v := range t.pairs[c] {
		at := v.base + int32(row[v.col])*v.stride
		t.inc(at + to*v.own)
		t.dec(at + old*v.own)
	}
	for i := range t.triples[c] {
		v := &t.triples[c][i]
		at := v.base + int32(row[v.col1])*v.stride1 + int32(row[v.col2])*v.stride2
		t.inc(at + to*v.own)
		t.dec(at + old*v.own)
	}
	for i := range t.others[c] {
		at, own := t.others[c][i].at(row)
		t.inc(at + to*own)
		t.dec(at + old*own)
	}
	t.work += 2 * t.price[c]
	row[c] = x
}
