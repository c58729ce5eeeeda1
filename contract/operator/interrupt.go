package operator

import (
	"context"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/engine/mutator"
)

// grace is how long a call that cannot be interrupted is waited for once the
// run is over. What has not come back by then is left to itself: the limits of
// operators end it.
const grace = 250 * time.Millisecond

// untilCancelled calls fn, and stops waiting for it soon after the context has ended.
// Then what fn uses must not be used again.
func untilCancelled(ctx context.Context, fn func() error) error {
	if ctx.Done() == nil {
		return fn()
	}
	if err := ctx.Err(); err != nil {
		return err // the call before this one came back in time
	}
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return ctx.Err()
	}
}

// interpreted reports whether a registry has operators whose calls cannot be
// interrupted.
func interpreted(r *mutator.Registry) bool {
	return slices.ContainsFunc(r.Entries(), func(e mutator.Entry) bool { return e.Kind == mutator.Starlark })
}

// makeLane is [mutator.Lane.Make] that ends soon after the context. The lane
// must not be used again then. Children are handed to yield on the calling
// goroutine.
func makeLane(ctx context.Context, lane *mutator.Lane, jobs []mutator.Job, yield func(*mutator.Child) error) error {
	if ctx.Done() == nil || !interpreted(lane.Registry()) {
		return lane.Make(ctx, jobs, yield)
	}
	children, taken := make(chan *mutator.Child), make(chan error)
	done := make(chan error, 1)
	go func() {
		done <- lane.Make(ctx, jobs, func(c *mutator.Child) error {
			select {
			case children <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
			return <-taken
		})
	}()
	for {
		select {
		case c := <-children:
			taken <- yield(c)
		case err := <-done:
			return err
		case <-ctx.Done():
			return untilCancelled(ctx, func() error { return <-done })
		}
	}
}
