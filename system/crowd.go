package system

import (
	"context"
	"errors"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/sut"
)

// Brancher is implemented by edges whose process serves several actors over one connection. Other
// edges are opened again for each actor.
type Brancher interface{ Branch() Edge }

// Join implements sut.Crowd.
func (x *session) Join(ctx context.Context) (sut.System, error) {
	if err := x.ensure(ctx); err != nil {
		return nil, err
	}
	if b, ok := x.edge.(Brancher); ok {
		return &member{of: x, edge: b.Branch()}, nil
	}
	if x.site.Service == nil && x.plan.URL == "" {
		return nil, diag.Environment("the system %s takes one call at a time: actors call at the same time where it is a service with a url, or a driver whose answers carry ids", x.plan.Name)
	}
	edge, err := x.kind(ctx, x.site)
	if err != nil {
		return nil, err
	}
	return &member{of: x, edge: edge}, nil
}

// Restart implements sut.Crowd.
func (x *session) Restart(ctx context.Context) error {
	if len(x.plan.Command) == 0 {
		return diag.Environment("the system %s cannot be killed: it has no command that starts it again", x.plan.Name)
	}
	if k, ok := x.edge.(killer); ok {
		k.Kill()
	}
	if x.site.Service != nil {
		x.site.Service.Kill()
	}
	return x.restart(ctx)
}

// killer is implemented by edges whose process can be killed without warning.
type killer interface{ Kill() }

// Generation implements sut.Crowd.
func (x *session) Generation() int { return x.opened }

// member is an actor's connection.
type member struct {
	of   *session
	edge Edge
}

// Operations implements sut.System.
func (m *member) Operations() []sut.Operation { return m.edge.Operations() }

// Reset implements sut.System. It fails, because all actors share the instance.
func (m *member) Reset(context.Context) error {
	return diag.Environment("the system %s is reset for all actors together", m.of.plan.Name)
}

// Call implements sut.System. It does not retry, because a retried call may take effect twice,
// which would be blamed on the system.
func (m *member) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	x := m.of
	if c.Timeout <= 0 {
		c.Timeout = x.limit
	}
	done, err := x.enter(ctx, c.Timeout)
	if err != nil {
		return sut.Observation{}, err
	}
	defer done()
	o, err := m.edge.Call(ctx, c)
	if err != nil || ctx.Err() != nil {
		return o, errors.Join(err, ctx.Err())
	}
	x.blame(ctx, &o)
	return o, nil
}

// Notes implements sut.System.
func (m *member) Notes() []string { return m.edge.Notes() }

// Close implements sut.System.
func (m *member) Close() error { return m.edge.Close() }
