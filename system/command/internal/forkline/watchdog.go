package forkline

import (
	"sync"
	"time"
)

// Watchdog calls a function when a wait takes too long. It is made for many short waits: a wait
// that ends in time costs no timer, because one timer keeps running across waits and checks, when
// it fires, whether the current wait is overdue.
type Watchdog struct {
	bite func(times int) (again time.Duration)

	mu       sync.Mutex
	timer    *time.Timer
	fires    time.Time // when the timer fires; zero: not set
	deadline time.Time // when the current wait is overdue; zero: no wait
	times    int
}

// NewWatchdog returns a watchdog that calls bite when a wait is overdue, with the number of earlier
// calls for this wait. If bite returns more than 0, it is called again after that time. It is never
// called once Stop has returned.
func NewWatchdog(bite func(times int) (again time.Duration)) *Watchdog {
	return &Watchdog{bite: bite}
}

// Start begins a wait that may take d.
func (w *Watchdog) Start(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline, w.times = time.Now().Add(d), 0
	if w.fires.IsZero() || w.fires.After(w.deadline) {
		w.set(d)
	}
}

// Stop ends the wait and reports whether it was overdue.
func (w *Watchdog) Stop() (overdue bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = time.Time{}
	return w.times > 0
}

// Close stops the watchdog for good.
func (w *Watchdog) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline, w.fires = time.Time{}, time.Time{}
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *Watchdog) set(d time.Duration) {
	w.fires = time.Now().Add(d)
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.look)
	} else {
		w.timer.Reset(d)
	}
}

func (w *Watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fires = time.Time{}
	if w.deadline.IsZero() {
		return
	}
	if left := time.Until(w.deadline); left > 0 {
		w.set(left)
		return
	}
	again := w.bite(w.times)
	w.times++
	if again > 0 {
		w.deadline = time.Now().Add(again)
		w.set(again)
	}
}
