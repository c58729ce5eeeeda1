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

// elsewhere makes children in a further process with the operators in Python: what an operator
// chose at random while it was imported is the same in every call of one process. The lanes share
// the process, which starts when it is needed and ends with the last lane.
type elsewhere struct {
	mu    sync.Mutex
	lanes int
	host  pyhost.Operators
	lane  *mutator.Lane
}

// wants reports whether a case is also made elsewhere. It depends on nothing but the case, so that
// any number of lanes finds the same.
func (*elsewhere) wants(at campaign.Case, job mutator.Job) bool {
	return at.Payload != nil || at.Index < elsewhereFirst || mutator.FingerprintOf(job.ID).Exact%elsewhereEvery == 0
}

func (e *elsewhere) open() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes++
}

func (e *elsewhere) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lanes--; e.lanes > 0 || e.host == nil {
		return nil
	}
	err := e.host.Close()
	e.host, e.lane = nil, nil
	return err
}

// make is [mutator.Lane.Make].
func (e *elsewhere) make(ctx context.Context, c *Campaign, m *mutator.Mutator, jobs []mutator.Job, yield func(*mutator.Child) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.host == nil {
		host, err := c.plugins.Open(ctx)
		if err != nil {
			return fmt.Errorf("repeating children in another process: %w", err)
		}
		e.host = host
	}
	if e.lane == nil {
		e.lane = c.base.NewLane(e.host)
	}
	e.lane.Use(m)
	err := makeLane(ctx, e.lane, jobs, yield)
	if ctx.Err() != nil { // a call may still be running in the lane
		e.lane = nil
	}
	return err
}
