package campaign

import (
	"context"
	"time"
)

// KindEndedLater is the kind of an outcome about an earlier case of the round: the system
// ended after it had answered that case. Input is the earlier case's number.
const KindEndedLater = "ended-later"

// Life says whether the system that a case calls has ended by itself. The run puts it into
// the context of a case, and whoever reaches the system fills it in.
type Life struct {
	System Watcher // nil: nothing that may end between two calls was called
	Shared bool    // other lanes call the same system
	Calls  int     // of the case that were answered
	// End is how the system ended; nil: it has not. By then, Before calls of the case were
	// answered. Cut says that another one was cut.
	End    *Outcome
	Before int
	Cut    bool
	// Program is which one ended, to tell whether several cases met one end; nil: not known.
	Program any
	// Clean removes secrets from outcomes that are made outside of the executor; nil: there are none.
	Clean func(Outcome) Outcome
}

// Watcher is a system that may end between two calls.
type Watcher interface {
	// Watch waits for the system to end, for d at most, and returns the failure that this
	// is; nil: it goes on.
	Watch(ctx context.Context, d time.Duration) *Outcome
}

type lifeKey struct{}

// WithLife returns a context for the cases of a lane.
func WithLife(ctx context.Context, l *Life) context.Context {
	return context.WithValue(ctx, lifeKey{}, l)
}

// LifeOf returns the life that a context has; nil: nobody asks.
func LifeOf(ctx context.Context) *Life {
	l, _ := ctx.Value(lifeKey{}).(*Life)
	return l
}
