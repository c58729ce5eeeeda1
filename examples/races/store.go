package main

import (
	"sync"
	"time"
)

// Store keeps numbers by key in a map that is slow to reach, and what was read last in
// a cache before it.
type Store struct {
	race  string // the fault that it has; "": none
	write sync.Mutex
	mu    sync.RWMutex // of the maps
	slow  map[int]int
	cache map[int]int
	last  int
}

// Races are the faults that a store can have.
var Races = []string{"stale-fill", "late-invalidation", "lost-increment", "torn-swap", "early-answer"}

// NewStore returns an empty store.
func NewStore(race string) *Store {
	return &Store{race: race, slow: map[int]int{}, cache: map[int]int{}}
}

// travel is the way to the slow map.
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
	if s.race != "stale-fill" { // what is read is written to the cache before anybody changes it
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

// Put gives a key a value.
func (s *Store) Put(key, value int) {
	s.write.Lock()
	defer s.write.Unlock()
	s.store(key, value)
}

// Increment adds 1 to a key's value, and returns it.
func (s *Store) Increment(key int) int {
	if s.race == "lost-increment" { // two may read the same value
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

// Swap gives a key a value if it has another one, and reports whether it had.
func (s *Store) Swap(key, from, to int) bool {
	if s.race == "torn-swap" { // another value may come in between
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

// store writes the slow map and lets the cache forget. s.write is held.
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
	if s.race == "early-answer" { // who writes is answered before the value is there
		go func() {
			travel()
			set()
		}()
		return
	}
	set()
	if s.race == "late-invalidation" { // some still read the old value, and others the new one
		go func() {
			travel()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.cache, key)
		}()
	}
}
