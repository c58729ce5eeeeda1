package fresnelfir

import (
	"math"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/solve"
)

// inputs are the inputs of one traversal.
type inputs struct {
	s      *space
	solver *solve.Solver // nil until needed
	row    []int         // the index of each value; solve.Open for any other value
	fixed  []int
	order  []int                      // all domains
	hint   func(d int) (uint64, bool) // returns a value to try, if there is one
	// unlikely makes all values equally likely, so that trying all alternatives of a decision
	// begins with the first.
	unlikely bool
	plain    bool                // use only distinguished values, except
	narrow   string              // in a domain that was therefore not tried completely
	exact    map[int]uint64      // indices to use, by domain
	given    map[int]model.Value // values to use without deciding, by domain
}

func (in *inputs) reset(s *space) {
	in.s = s
	for d := len(in.order); d < len(s.domains); d++ {
		in.order = append(in.order, d)
	}
	in.row = append(in.row[:0], s.first...)
}

// bound reports whether a constraint mentions a domain.
func (s *space) bound(d int) bool {
	return slices.ContainsFunc(s.conds, func(c solve.Cond) bool { return slices.Contains(c.Vars, d) })
}

// draw draws new values for some domains such that all constraints hold. like is a row to copy them
// from if possible, or nil.
func (in *inputs) draw(src *choice.Source, m *model.Machine, domains []int, like []int) {
	p := m.Program()
	for _, d := range domains {
		if v, ok := in.given[d]; ok {
			m.SetInput(d, v)
			continue
		}
		x := &in.s.domains[d]
		n := uint64(len(x.values))
		aside := src.Topic & topicAside
		src.Topic = aside | topicPlain<<topicBits | uint64(d<<8|3)
		var k int
		if like != nil {
			k = int(src.Prefer(uint64(like[d]), n))
		} else {
			k = int(src.Draw(n))
		}
		if !in.s.bound(d) {
			in.row[d] = k
			at := x.values[k]
			if !x.whole {
				src.Topic = aside | topicOther<<topicBits | uint64(d)
				at = in.drawOther(src, d, at)
			}
			m.SetInput(d, p.DomainValue(d, at))
			continue
		}
		in.constrained(d, k, domains)
		m.SetInput(d, p.DomainValue(d, x.values[in.row[d]]))
	}
}

// drawOther occasionally draws any value of a large domain instead of at.
func (in *inputs) drawOther(src *choice.Source, d int, at uint64) uint64 {
	x := in.s.domains[d].source
	size := x.Size() + uint64(len(x.Variants))
	if x.Type == ir.Int && x.Min == math.MinInt64 && x.Max == math.MaxInt64 {
		size = 0 // all 2^64
	}
	if exact, ok := in.exact[d]; ok {
		if src.Prefer(1, 2) == 1 {
			at, in.row[d] = src.Prefer(exact, size), solve.Open
		}
	} else if in.plain {
		src.Prefer(0, 2)
		in.narrow = x.Name
	} else if hint, ok := in.hint(d); ok {
		if src.Prefer(1, 2) == 1 {
			at, in.row[d] = src.Prefer(hint, size), solve.Open
		}
	} else if src.Weighted(onceInFour) == 1 {
		at, in.row[d] = src.Draw(size), solve.Open
	}
	return at
}

// constrained gives a domain the first value, from k on, that the other domains allow. Domains that
// are still to be drawn may change for it.
func (in *inputs) constrained(d, k int, domains []int) {
	if in.solver == nil {
		in.solver = in.s.solver()
	}
	if !in.solver.Constrained(d) { // its conditions hold for any value
		in.row[d] = k
		return
	}
	at := slices.Index(domains, d)
	n := len(in.s.domains[d].values)
	for i := range n {
		in.fixed = append(in.fixed[:0], in.row...)
		for _, later := range domains[at+1:] {
			in.fixed[later] = solve.Open
		}
		for v := range in.fixed {
			if !in.solver.Constrained(v) {
				in.fixed[v] = 0 // it has no condition
			}
		}
		in.fixed[d] = (k + i) % n
		// With a fixed order, the first answer does not depend on earlier queries.
		if a := in.solver.Solve(solve.Query{Fixed: in.fixed, Order: in.order}); a.Status == solve.Sat {
			for v, x := range a.Row {
				if in.solver.Constrained(v) {
					in.row[v] = x
				}
			}
			return
		}
	}
}
