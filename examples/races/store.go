package main

import (
	"sync"
	"time"
)

// Store keeps numbers by key in a map with slow access, and recently read ones in a cache in front
// of it.
type Store struct {
	race  string // its planted race; "": none
	write sync.Mutex
	mu    sync.RWMutex // guards the maps
	slow  map[int]int
	cache map[int]int
	last  int
}

// Races are the races that a store can have.
var Races = []string{"stale-fill", "late-invalidation", "lost-increment", "torn-swap", "early-answer"}

// NewStore returns an empty store with a race; "" for none.
func NewStore(race string) *Store {
	return &Store{race: race, slow: map[int]int{}, cache: map[int]int{}}
}

// travel simulates the latency of the slow map.
func travel() { time.Sleep(20 * time.Microsecond) }

// Create makes a key with the value 0.
func (s *Store) Create() int {
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.slow[s.last] = 0
	return s.last
}

// Get returns the value of a key.
func (s *Store) Get(key int) int {
	s.mu.RLock()
	v, ok := s.cache[key]
	s.mu.RUnlock()
	if ok {
		return v
	}
	if s.race != "stale-fill" { // fill the cache before anybody changes the value
		s.write.Lock()
		defer s.write.Unlock()
	}
	v = s.load(key)
	travel()
	s.mu.Lock()
	s.cache[key] = v
	s.mu.Unlock()
	return v
}

// Put sets the value of a key.
func (s *Store) Put(key, value int) {
	s.write.Lock()
	defer s.write.Unlock()
	s.store(key, value)
}

// Increment adds 1 to a key's value and returns the result.
func (s *Store) Increment(key int) int {
	if s.race == "lost-increment" { // two calls may read the same value
		v := s.load(key) + 1
		s.Put(key, v)
		return v
	}
	s.write.Lock()
	defer s.write.Unlock()
	v := s.load(key) + 1
	s.store(key, v)
	return v
}

// Swap replaces a key's value if it is from, and reports whether it was.
func (s *Store) Swap(key, from, to int) bool {
	if s.race == "torn-swap" { // another write may come in between
		if s.load(key) != from {
			return false
		}
		s.Put(key, to)
		return true
	}
	s.write.Lock()
	defer s.write.Unlock()
	if s.load(key) != from {
		return false
	}
	s.store(key, to)
	return true
}

// load reads the slow map.
func (s *Store) load(key int) int {
	travel()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.slow[key]
}

// store writes to the slow map and invalidates the cache. The caller must hold s.write.
func (s *Store) store(key, value int) {
	set := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.slow[key] = value
		if s.race != "late-invalidation" {
			delete(s.cache, key)
		}
	}
	travel()
	if s.race == "early-answer" { // answer before the value is written
		go func() {
			travel()
			set()
		}()
		return
	}
	set()
	if s.race == "late-invalidation" { // some readers still get the old value
		go func() {
			travel()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.cache, key)
		}()
	}
}
