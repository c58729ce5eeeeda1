package campaign

import (
	"context"
	"errors"
	"io"
	"sync"
)

// Session holds what is open while a process executes cases of a campaign. The
// campaign itself is a plan, which nothing changes once it is compiled.
type Session[S any] interface {
	// Executor opens a lane. It is called concurrently, for lanes that are used
	// concurrently.
	Executor(ctx context.Context, lane Lane) (Executor[S], error)
	// Close frees what the lanes share. All of them are closed by then.
	Close() error
}

// Separate is a session whose lanes share nothing; the function opens a lane.
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

// Cache holds what lanes have opened for lanes of later campaigns of the same run
// to reuse, such as a process that starts slowly and keeps no state of a case. The
// zero value is an empty cache; a nil Cache is always empty.
type Cache struct {
	mu     sync.Mutex
	kept   map[string][]io.Closer
	closed bool
}

// Take removes something of that name from the cache. The caller must close it or
// put it back.
func (s *Cache) Take(name string) (io.Closer, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.kept[name]
	if len(list) == 0 {
		return nil, false
	}
	s.kept[name] = list[:len(list)-1]
	return list[len(list)-1], true
}

// Put adds something to the cache, or closes it if the cache is nil or closed.
func (s *Cache) Put(name string, c io.Closer) error {
	if s == nil {
		return c.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return c.Close()
	}
	if s.kept == nil {
		s.kept = make(map[string][]io.Closer)
	}
	s.kept[name] = append(s.kept[name], c)
	return nil
}

// Close closes everything in the cache.
func (s *Cache) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for _, list := range s.kept {
		for _, c := range list {
			errs = append(errs, c.Close())
		}
	}
	clear(s.kept)
	return errors.Join(errs...)
}
