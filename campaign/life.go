package campaign

import (
	"context"
	"time"
)

// KindEndedLater is the kind of an outcome about an earlier case of the round: the system
// ended after it had answered that case. Input is the earlier case's number.
const KindEndedLater = "ended-later"

// Life says whether the system that a case calls has ended by itself. The run puts it into the
// context of a case, and the code that calls the system fills it in.
type Life struct {
	System Watcher // nil: no system was called that can end between two calls
	Shared bool    // other lanes call the same system
	Calls  int     // calls of the case that were answered
	// End is how the system ended; nil: it still runs. Before counts the calls of the case that
	// were answered by then, and Cut says that the end cut a call short.
	End    *Outcome
	Before int
	Cut    bool
	// Program identifies the program that ended, so that cases which met the same end can be
	// recognised; nil: unknown.
	Program any
	// Clean removes secrets from outcomes that are made outside the executor; nil: there are none.
	Clean func(Outcome) Outcome
}

// Watcher is a system that may end between two calls.
type Watcher interface {
	// Watch waits up to d for the system to end and returns that end as a failure; nil: the system
	// still runs.
	Watch(ctx context.Context, d time.Duration) *Outcome
}

type lifeKey struct{}

// WithLife returns a context for the cases of a lane.
func WithLife(ctx context.Context, l *Life) context.Context {
	return context.WithValue(ctx, lifeKey{}, l)
}

// LifeOf returns the life in a context; nil: nobody asks for it.
func LifeOf(ctx context.Context) *Life {
	l, _ := ctx.Value(lifeKey{}).(*Life)
	return l
}
