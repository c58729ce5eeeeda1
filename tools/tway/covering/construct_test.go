package covering

import "testing"

// pairs counts the pairs of values in two columns.
func pairs(rows [][]int, c, d, v int) []int {
	n := make([]int, v*v)
	for _, row := range rows {
		if row[c] >= 0 && row[d] >= 0 {
			n[row[c]*v+row[d]]++
		}
	}
	return n
}

// TestOrthogonal has each pair of values exactly once in each pair of columns.
func TestOrthogonal(t *testing.T) {
	for q := 2; q <= 16; q++ {
		f := newField(q)
		power := q != 6 && q != 10 && q != 12 && q != 14 && q != 15
		if (f != nil) != power {
			t.Errorf("a field of %d elements: %t", q, f != nil)
		}
		if f == nil {
			continue
		}
		rows := f.orthogonal(q + 1)
		for c := range q + 1 {
			for d := range c {
				for i, n := range pairs(rows, c, d, q) {
					if n != 1 {
						t.Fatalf("%d: columns %d and %d have the pair %d %d times", q, d, c, i, n)
					}
				}
			}
		}
	}
}

// TestStarter covers each pair of values in each pair of columns.
func TestStarter(t *testing.T) {
	found := 0
	for v := 2; v <= 8; v++ {
		for k := v + 3; k <= v+6; k++ {
			s := starter(k, v, &random{1})
			if s == nil {
				continue
			}
			found++
			rows := develop(s, v, k)
			if len(rows) != k*(v-1)+1 {
				t.Errorf("%d rows", len(rows))
			}
			for c := range k {
				for d := range c {
					for i, n := range pairs(rows, c, d, v) {
						if n == 0 {
							t.Fatalf("%d^%d: columns %d and %d lack the pair %d", v, k, d, c, i)
						}
					}
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d starters found", found)
	}
}
