package pyrand

import (
	"math"
	"slices"
)

// Range returns a number from start up to, but not including, stop:
// randrange(start, stop). It panics if there is none.
func (r *Rand) Range(start, stop int64) int64 { return r.RangeStep(start, stop, 1) }

// RangeStep returns an element of range(start, stop, step):
// randrange(start, stop, step). It panics if there is none.
func (r *Rand) RangeStep(start, stop, step int64) int64 {
	var n uint64
	switch {
	case step > 0 && start < stop:
		n = (uint64(stop)-uint64(start)-1)/uint64(step) + 1
	case step < 0 && start > stop:
		n = (uint64(start)-uint64(stop)-1)/-uint64(step) + 1
	}
	return start + int64(r.Below(n))*step
}

// Index returns an index into a sequence of n elements, as choice picks it.
func (r *Rand) Index(n int) int { return int(r.Below(uint64(n))) }

// Shuffle orders n elements at random by swapping: shuffle(x).
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.Index(i+1))
	}
}

// Sample returns k different indexes of a sequence of n elements, in the order
// in which sample(x, k) picks them. It panics unless 0 <= k <= n.
func (r *Rand) Sample(n, k int) []int {
	if k < 0 || k > n {
		panic("pyrand: sample larger than population")
	}
	out := make([]int, k)
	// Python copies a small population and tracks a set of picks in a large one.
	// The two draw differently, so its estimate of their memory matters.
	setSize := 21
	if k > 5 {
		setSize += 1 << (2 * ceilLog4(3*k))
	}
	if n <= setSize {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range out {
			j := r.Index(n - i)
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out
	}
	picked := make(map[int]bool, k)
	for i := range out {
		j := r.Index(n)
		for picked[j] {
			j = r.Index(n)
		}
		picked[j] = true
		out[i] = j
	}
	return out
}

// ceilLog4 returns the smallest e for which 4**e >= n.
func ceilLog4(n int) int {
	e := 0
	for 1<<(2*e) < n {
		e++
	}
	return e
}

// Choices returns k indexes of a sequence of n elements, with repetition:
// choices(x, k=k).
func (r *Rand) Choices(n, k int) []int {
	mustBePositive(n > 0)
	out := make([]int, k)
	for i := range out {
		out[i] = int(math.Floor(r.Float64() * float64(n)))
	}
	return out
}

// WeightedChoices returns k indexes of a sequence whose elements have the given
// weights: choices(x, weights, k=k). Like Python, it panics if the weights do
// not add up to a positive finite number.
func (r *Rand) WeightedChoices(weights []float64, k int) []int {
	sums := make([]float64, len(weights))
	total := 0.0
	for i, w := range weights {
		total += w
		sums[i] = total
	}
	mustBePositive(total > 0 && !math.IsInf(total, 0))
	out := make([]int, k)
	for i := range out {
		x := r.Float64() * total
		at, _ := slices.BinarySearchFunc(sums[:len(sums)-1], x, func(sum, x float64) int {
			if sum <= x { // right of equal sums
				return -1
			}
			return 1
		})
		out[i] = at
	}
	return out
}
