package campaign

import (
	"context"
	"errors"
	"io"
	"sync"
)

// Shelf holds what a lane of one campaign has opened and a lane of a later
// campaign of the same run may go on with: a process that is costly to start
// and keeps nothing of a case. A nil Shelf is always empty.
type Shelf struct {
	mu     sync.Mutex
	kept   map[string][]io.Closer
	closed bool
}

type shelfKey struct{}

// WithShelf gives a run's context a shelf, which the caller closes when the run
// is over.
func WithShelf(ctx context.Context) (context.Context, *Shelf) {
	s := &Shelf{kept: make(map[string][]io.Closer)}
	return context.WithValue(ctx, shelfKey{}, s), s
}

// ShelfOf is the shelf of the run that a context is of; nil if it has none.
func ShelfOf(ctx context.Context) *Shelf {
	s, _ := ctx.Value(shelfKey{}).(*Shelf)
	return s
}

// Take takes something of that name off the shelf; it is the caller's then.
func (s *Shelf) Take(name string) (io.Closer, bool) {
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

// Put leaves something on the shelf, or closes it if there is none.
func (s *Shelf) Put(name string, c io.Closer) error {
	if s == nil {
		return c.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return c.Close()
	}
	s.kept[name] = append(s.kept[name], c)
	return nil
}

// Close closes what is left.
func (s *Shelf) Close() error {
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
