package covering

import (
	"math/bits"

	"github.com/thresh-dev/thresh/engine/splitmix"
)

// random is a generator that a seed determines.
type random struct{ state uint64 }

func (r *random) next() uint64 { return splitmix.Next(&r.state) }

// below returns a number from 0 to n-1; n must be positive.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// shuffle permutes list randomly.
func (r *random) shuffle(list []int) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
