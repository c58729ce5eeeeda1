package operator

import (
	"context"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// elsewhereFirst is the number of cases, from the first, that are also made in another process. Of
// the later ones it is one in elsewhereEvery.
const (
	elsewhereFirst = 64
	elsewhereEvery = 64
)

// session makes children also in a further process with the operators in Python: what an operator
// chose at random while it was imported is the same in every call of one process. The lanes share
// the process, which starts when it is needed.
type session struct {
	c    *Campaign
	mu   sync.Mutex
	host pyhost.Operators
	lane *mutator.Lane
}

// Open implements [campaign.Campaign].
func (c *Campaign) Open(*campaign.Cache) campaign.Session[*state] { return &session{c: c} }

// elsewhere reports whether a case is also made in the further process. It depends on nothing but the
// case, so that any number of lanes finds the same.
func elsewhere(at campaign.Case, job mutator.Job) bool {
	return at.Payload != nil || at.Index < elsewhereFirst || mutator.FingerprintOf(job.ID).Exact%elsewhereEvery == 0
}

// Close implements [campaign.Session].
func (s *session) Close() error {
	if s.host == nil {
		return nil
	}
	return s.host.Close()
}

// make is [mutator.Lane.Make] in the further process.
func (s *session) make(ctx context.Context, m *mutator.Mutator, jobs []mutator.Job, yield func(*mutator.Child) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil {
		host, err := s.c.plugins.Open(ctx)
		if err != nil {
			return fmt.Errorf("repeating children in another process: %w", err)
		}
		s.host = host
	}
	if s.lane == nil {
		s.lane = s.c.base.NewLane(s.host)
	}
	s.lane.Use(m)
	err := makeLane(ctx, s.lane, jobs, yield)
	if ctx.Err() != nil { // a call may still be running in the lane
		s.lane = nil
	}
	return err
}
