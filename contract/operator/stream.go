package operator

import (
	"context"
	"errors"
	"io"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Stream makes children of a sequence of seeds, in constant memory: for pipelines.
type Stream struct {
	Lane       *mutator.Lane
	Children   int64 // wanted per seed
	Duplicates Duplicates
	All        bool // also write children that failed
	Controls   bool // seeds without their own constraints keep control characters

	met map[met]bool
}

// Counts are the results of a stream.
type Counts struct {
	Seeds, Children int64
	Skipped         int64 // SKIPPED: no operator was applicable
	Invalid         int64
	Equal, Near     int64 // rejected as duplicates
	Short           int64 // seeds that got fewer children than wanted
	Breaches        int64
}

// window is the number of children made between two looks at the input; windowBytes ends a window
// of long seeds earlier.
const (
	window      = 512
	windowBytes = 4 << 20
)

// attempts is the maximum number of children made per wanted one.
const attempts = 4

// source is a seed in a window, with its progress.
type source struct {
	seed  *mutator.Seed
	have  int64
	asked int64 // children asked for so far
	seen  *mutator.Seen
	lines [][]byte // children that wait for their turn; nil: write at once
}

// Run makes children of the seeds that next returns, until it returns io.EOF, and passes each child
// to write as a JSON line. It calls breach for every child in which an operator broke the contract.
// Children are grouped by seed, in the order of the seeds.
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

// batch makes the children of the seeds of a window: first the wanted ones, then replacements for
// rejected ones.
func (s *Stream) batch(ctx context.Context, batch []*source, n *Counts, write func([]byte) error, breach func(*mutator.Child)) error {
	jobs := make([]mutator.Job, 0, window)
	owners := make([]*source, 0, window)
	var line []byte
	size := 0 // of the jobs' seeds
	flush := func() error {
		i := 0
		size = 0
		err := makeChildren(ctx, s.Lane, jobs, nil, func(c *mutator.Child) error {
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

// accepts reports whether to write a child.
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
