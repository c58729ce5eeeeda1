// Package pyrandtest seeds generators from an integer, as Python's
// random.Random does, for tests.
package pyrandtest

import (
	"math/big"

	"github.com/thresh-dev/thresh/engine/pyrand"
)

// New returns a generator seeded as random.Random(n).
func New(n int64) *pyrand.Rand { return NewBig(big.NewInt(n)) }

// NewBig is New for an integer of any size.
func NewBig(n *big.Int) *pyrand.Rand {
	r := new(pyrand.Rand)
	r.SeedBig(n)
	return r
}

// Choice returns an element of s: choice(s).
func Choice[T any](r *pyrand.Rand, s []T) T { return s[r.Index(len(s))] }
