package campaign

import (
	"errors"
	"io"
	"sync"
)

// Cache holds what a lane of one campaign has opened and a lane of a later
// campaign of the same run may go on with: a process that is costly to start
// and keeps nothing of a case. The zero value is empty, a nil Cache stays so.
type Cache struct {
	mu     sync.Mutex
	kept   map[string][]io.Closer
	closed bool
}

// Take takes something of that name out of the cache; it is the caller's then.
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

// Put leaves something in the cache, or closes it if there is none.
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

// Close closes what is left.
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
