package campaign

import (
	"context"
	"time"
)

// Quota bounds calls of one target. The zero value of a field is no limit.
type Quota struct {
	Count  int           `json:"count,omitempty"` // calls that may begin in Per
	Per    time.Duration `json:"per,omitempty"`
	AtOnce int           `json:"at_once,omitempty"`
	Hold   time.Duration `json:"hold"` // how long a call takes at most
}

// Gate keeps a quota of calls that all lanes of a run share, on whatever machines
// they are.
type Gate interface {
	// Enter waits until one more call of the target of that key may begin; leave
	// is called when it has ended.
	Enter(ctx context.Context, key string, q Quota) (leave func(), err error)
}

type gateKey struct{}

// WithGate has what is executed under the context share quotas with other
// processes.
func WithGate(ctx context.Context, g Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

// GateOf is the gate of a context; nil: quotas are those of this process.
func GateOf(ctx context.Context) Gate {
	g, _ := ctx.Value(gateKey{}).(Gate)
	return g
}
