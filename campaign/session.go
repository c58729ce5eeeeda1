package campaign

import (
	"context"
	"errors"
)

// Session is what is open while one process executes cases of a campaign. The
// campaign itself is a plan, which nothing changes once it is compiled.
type Session[S any] interface {
	// Executor opens a lane. Lanes are opened and used side by side.
	Executor(ctx context.Context, lane Lane) (Executor[S], error)
	// Close frees what the lanes share, once all of them are closed.
	Close() error
}

// Separate is a session whose lanes share nothing: it opens them.
type Separate[S any] func(ctx context.Context, lane Lane) (Executor[S], error)

// Executor implements [Session].
func (open Separate[S]) Executor(ctx context.Context, lane Lane) (Executor[S], error) {
	return open(ctx, lane)
}

// Close implements [Session].
func (Separate[S]) Close() error { return nil }

// Solo opens a session of one lane, which ends when the executor is closed.
func Solo[S any](ctx context.Context, c Campaign[S], lane Lane) (Executor[S], error) {
	s := c.Open(nil)
	x, err := s.Executor(ctx, lane)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return solo[S]{x, s}, nil
}

type solo[S any] struct {
	Executor[S]
	session Session[S]
}

func (s solo[S]) Close() error { return errors.Join(s.Executor.Close(), s.session.Close()) }

// Unwrap implements [Wrapper].
func (s solo[S]) Unwrap() any { return s.Executor }

type erasedSession[S any] struct{ inner Session[S] }

func (e erasedSession[S]) Executor(ctx context.Context, lane Lane) (Executor[any], error) {
	x, err := e.inner.Executor(ctx, lane)
	if err != nil {
		return nil, err
	}
	return erasedExecutor[S]{x}, nil
}

func (e erasedSession[S]) Close() error { return e.inner.Close() }

type erasedExecutor[S any] struct{ inner Executor[S] }

func (e erasedExecutor[S]) Execute(ctx context.Context, s any, c Case) (Outcome, error) {
	return e.inner.Execute(ctx, s.(S), c)
}
func (e erasedExecutor[S]) Close() error { return e.inner.Close() }

// Unwrap implements [Wrapper].
func (e erasedExecutor[S]) Unwrap() any { return e.inner }
