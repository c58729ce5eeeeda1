package covering

import "github.com/thresh-dev/thresh/engine/solve"

// construction is an array of pairs for columns of these levels with at most limit rows, from the
// smallest construction that applies; nil if none does. Cells that may hold any value are open.
// Coverage is complete however the caller fills them: each value of a column stands for itself, and
// larger ones are open.
func construction(levels []int, limit int, seed uint64) [][]int {
	k, v := len(levels), 0
	for _, n := range levels {
		v = max(v, n)
	}
	if k < 3 || v < 2 || v > maxOrder {
		return nil
	}
	var best [][]int
	for q := v; q <= maxOrder && q*q <= limit; q++ {
		if f := newField(q); f != nil && k <= q+1 {
			best, limit = f.orthogonal(k), q*q-1
			break
		}
	}
	// A longer cycle is easier to find and has more rows.
	for n := max(k, v+1); n <= k+2 && n*(v-1)+1 <= limit; n++ {
		if s := starter(n, v, &random{seed}); s != nil {
			best = develop(s, v, k)
			break
		}
	}
	for _, row := range best {
		for c, x := range row {
			if x >= levels[c] {
				row[c] = solve.Open
			}
		}
	}
	return best
}

// maxOrder limits the fields and cycles that are tried.
const maxOrder = 64

// field is the finite field of q elements, as tables.
type field struct {
	q        int
	add, mul [][]int
}

// newField makes the field of q elements, nil if q is not a prime power. An element is a polynomial
// over the prime field, with the digits of its number as coefficients.
func newField(q int) *field {
	p := 2
	for q%p != 0 {
		p++
	}
	n := 0
	for r := q; r > 1; r /= p {
		if r%p != 0 {
			return nil
		}
		n++
	}
	f := &field{q: q, add: square(q), mul: square(q)}
	for a := range q {
		for b := range q {
			for x, y, unit := a, b, 1; x+y > 0; x, y, unit = x/p, y/p, unit*p {
				f.add[a][b] += (x%p + y%p) % p * unit
			}
		}
	}
	for m := range q { // the modulus is the monic polynomial with these lower digits
		if f.multiply(p, n, m) {
			return f
		}
	}
	return nil
}

func square(n int) [][]int {
	s := make([][]int, n)
	for i := range s {
		s[i] = make([]int, n)
	}
	return s
}

// multiply fills the table of products modulo a polynomial and reports whether they form a field:
// no product of nonzero elements is 0.
func (f *field) multiply(p, n, modulus int) bool {
	top := f.q / p // the unit of the highest digit
	reduce := 0    // the value of x^n
	for m, unit := modulus, 1; m > 0; m, unit = m/p, unit*p {
		reduce += (p - m%p) % p * unit
	}
	shift := func(a int) int { // a times x
		carry := a / top
		a = a % top * p
		for range carry {
			a = f.add[a][reduce]
		}
		return a
	}
	if n == 1 {
		for a := range f.q {
			for b := range f.q {
				f.mul[a][b] = a * b % p
			}
		}
		return modulus == 0
	}
	for a := 1; a < f.q; a++ {
		for b := 1; b < f.q; b++ {
			sum, power := 0, a
			for rest := b; rest > 0; rest, power = rest/p, shift(power) {
				for range rest % p {
					sum = f.add[sum][power]
				}
			}
			if f.mul[a][b] = sum; sum == 0 {
				return false
			}
		}
	}
	return true
}

// orthogonal is the array of q*q rows and k <= q+1 columns in which each pair of columns has each
// pair of values once: the points of all lines of the plane.
func (f *field) orthogonal(k int) [][]int {
	rows := make([][]int, 0, f.q*f.q)
	for a := range f.q {
		for b := range f.q {
			row := make([]int, k)
			for c := range row {
				row[c] = a
				if c < f.q {
					row[c] = f.add[f.mul[a][c]][b]
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// starter is a cycle of k values from 0 to v-1 such that at each distance around it the pairs of
// cells have all differences modulo v-1, and the fixed value v-1 precedes and follows other values.
// nil if a search does not find one quickly.
func starter(k, v int, rng *random) []int {
	g := v - 1
	if k < v+1 || k > 4*maxOrder {
		return nil
	}
	s := make([]int, k)
	for i := range s {
		s[i] = rng.below(v)
	}
	kinds := g + 2
	count := make([]int, (k/2+1)*kinds)
	lacking := (k / 2) * kinds
	kind := func(a, b int) int {
		switch {
		case a == g && b == g:
			return -1
		case a == g:
			return g
		case b == g:
			return g + 1
		}
		return (b - a + g) % g
	}
	note := func(i, d, by int) { // the pair of cells i and i+d
		x := kind(s[i], s[(i+d)%k])
		if x < 0 {
			return
		}
		n := &count[d*kinds+x]
		if by > 0 && *n == 0 {
			lacking--
		}
		if *n += by; by < 0 && *n == 0 {
			lacking++
		}
	}
	around := func(i, by int) {
		for d := 1; d <= k/2; d++ {
			note(i, d, by)
			note((i-d+k)%k, d, by)
		}
	}
	for i := range s {
		for d := 1; d <= k/2; d++ {
			note(i, d, 1)
		}
	}
	put := func(i, x int) {
		around(i, -1)
		s[i] = x
		around(i, 1)
	}
	for move := 0; move < starterMoves && lacking > 0; move++ {
		i, x := rng.below(k), rng.below(v)
		before, old := lacking, s[i]
		put(i, x)
		if lacking > before && rng.below(1<<min(30, 3*(lacking-before))) > 0 {
			put(i, old)
		}
	}
	if lacking > 0 {
		return nil
	}
	return s
}

const starterMoves = 200_000

// develop is the array of a starter: all its rotations with all numbers added, and one row of the
// fixed value; the first k columns of it.
func develop(s []int, v, k int) [][]int {
	g := v - 1
	rows := make([][]int, 0, len(s)*g+1)
	for turn := range s {
		for plus := range g {
			row := make([]int, k)
			for c := range row {
				row[c] = s[(c+turn)%len(s)]
				if row[c] != g {
					row[c] = (row[c] + plus) % g
				}
			}
			rows = append(rows, row)
		}
	}
	last := make([]int, k)
	for c := range last {
		last[c] = g
	}
	return append(rows, last)
}
