package campaign

import (
	"context"
	"time"
)

// Quota limits the calls of one target. A field that is zero sets no limit.
type Quota struct {
	Count  int           `json:"count,omitempty"` // calls that may begin within Per
	Per    time.Duration `json:"per,omitempty"`
	AtOnce int           `json:"at_once,omitempty"` // calls at the same time
	Hold   time.Duration `json:"hold"`              // the longest time that a call takes
}

// Gate enforces a quota of calls over all lanes of a run, on all machines.
type Gate interface {
	// Enter waits until another call of the target with that key may begin. The caller
	// calls leave when its call has ended.
	Enter(ctx context.Context, key string, q Quota) (leave func(), err error)
}

type gateKey struct{}

// WithGate returns a context in which cases share quotas with other processes.
func WithGate(ctx context.Context, g Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

// GateOf returns the gate of a context; nil: quotas are for this process alone.
func GateOf(ctx context.Context) Gate {
	g, _ := ctx.Value(gateKey{}).(Gate)
	return g
}
