package operator

import (
	"context"
	"errors"
	"io"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Stream makes children of seeds that come one after the other, in memory that
// does not grow with their number: for pipelines.
type Stream struct {
	Lane       *mutator.Lane
	Children   int64 // wanted for each seed
	Duplicates Duplicates
	All        bool // give children that did not come about as well
	Controls   bool // seeds without constraints of their own keep control characters

	met map[met]bool
}

// Counts is what a stream came to.
type Counts struct {
	Seeds, Children int64
	Skipped         int64 // SKIPPED: no operator was applicable
	Invalid         int64
	Equal, Near     int64 // rejected as duplicates
	Short           int64 // seeds that got fewer children than wanted
	Breaches        int64
}

// window is how many children are made between two looks at the input, or fewer
// if the seeds are long.
const (
	window      = 512
	windowBytes = 4 << 20
)

// attempts is how many children are made for each that is wanted, at most.
const attempts = 4

// source is a seed in a window, with what it has so far.
type source struct {
	seed  *mutator.Seed
	have  int64
	asked int64 // children asked for so far
	seen  *mutator.Seen
	lines [][]byte // children that wait for their turn; nil: they go out at once
}

// Run makes children of the seeds that next gives until it returns io.EOF, and
// gives each as a line of JSON to write. breach is called for every child in which
// an operator broke the contract. Children of one seed come together, seeds in
// their order.
func (s *Stream) Run(ctx context.Context, next func() (*mutator.Seed, error), write func(line []byte) error, breach func(*mutator.Child)) (Counts, error) {
	var n Counts
	for {
		var batch []*source
		for size := int64(0); int64(len(batch))*s.Children < window && size < windowBytes; {
			seed, err := next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return n, err
			}
			batch = append(batch, s.source(seed))
			size += int64(len(seed.Text)) * s.Children
		}
		if len(batch) == 0 {
			return n, nil
		}
		if len(batch) > 1 {
			for _, x := range batch {
				x.lines = make([][]byte, 0, s.Children)
			}
		}
		if err := s.batch(ctx, batch, &n, write, breach); err != nil {
			return n, err
		}
		for _, x := range batch {
			n.Seeds++
			if x.have < s.Children {
				n.Short++
			}
			for _, line := range x.lines {
				if err := write(line); err != nil {
					return n, err
				}
			}
		}
	}
}

func (s *Stream) source(seed *mutator.Seed) *source {
	if s.met == nil {
		s.met = make(map[met]bool)
	}
	s.met[meeting(seed, s.Controls)] = true
	x := &source{seed: seed}
	distance := -1
	if s.Duplicates == RejectNear {
		distance = mutator.MaxDistance
	}
	if s.Duplicates != KeepDuplicates && s.Children > 1 {
		x.seen = mutator.NewSeen(rememberPerUnit, distance)
	}
	return x
}

// batch makes the children of the seeds of a window: what is wanted first, and
// then replacements for what was rejected.
func (s *Stream) batch(ctx context.Context, batch []*source, n *Counts, write func([]byte) error, breach func(*mutator.Child)) error {
	jobs := make([]mutator.Job, 0, window)
	owners := make([]*source, 0, window)
	var line []byte
	size := 0 // of the jobs' seeds
	flush := func() error {
		i := 0
		size = 0
		err := makeChildren(ctx, s.Lane, jobs, func(c *mutator.Child) error {
			x := owners[i]
			i++
			if len(c.Breaches) > 0 {
				n.Breaches++
				breach(c)
			}
			if !s.accepts(x, c, n) {
				return nil
			}
			n.Children++
			if x.lines != nil {
				x.lines = append(x.lines, mutator.AppendChild(nil, c))
				return nil
			}
			line = mutator.AppendChild(line[:0], c)
			return write(line)
		})
		jobs, owners = jobs[:0], owners[:0]
		return err
	}
	for {
		asked := false
		for _, x := range batch {
			want := s.Children - x.have
			if x.asked > 0 && x.have == 0 {
				want = 0 // a seed without any child has no operator
			}
			if x.asked > 0 && (s.All || s.Duplicates == KeepDuplicates) {
				want = 0
			}
			for want = min(want, attempts*s.Children-x.asked); want > 0; want-- {
				jobs = append(jobs, mutator.Job{Seed: x.seed, Index: x.asked, ID: mutator.TestcaseID(x.seed.ID, x.asked)})
				owners = append(owners, x)
				x.asked++
				asked = true
				size += len(x.seed.Text)
				if len(jobs) >= window || size >= windowBytes {
					if err := flush(); err != nil {
						return err
					}
				}
			}
		}
		if err := flush(); err != nil || !asked {
			return err
		}
	}
}

// accepts reports whether a child goes out.
func (s *Stream) accepts(x *source, c *mutator.Child, n *Counts) bool {
	switch c.Status {
	case textop.Skipped:
		n.Skipped++
		return s.All
	case textop.Invalid:
		n.Invalid++
		return s.All
	}
	if x.seen != nil {
		switch x.seen.Meet(mutator.FingerprintOf(c.Text)) {
		case mutator.Same:
			n.Equal++
			return s.All
		case mutator.Near:
			n.Near++
			return s.All
		}
	}
	x.have++
	return true
}
