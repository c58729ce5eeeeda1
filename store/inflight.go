package store

import (
	"math/rand/v2"

	"github.com/thresh-dev/thresh/store/inflight"
)

const inflightFile = "inflight"

// Died returns what an earlier process of the run was doing when it was killed,
// and the number that it went by; nothing if the last one ended in order.
func (w *Writer) Died() (process uint64, marks []inflight.Mark, err error) {
	return inflight.Read(w.store.runPath(w.id, inflightFile))
}

// InFlight begins the list of what this process is doing, with so many slots.
func (w *Writer) InFlight(slots int) (*inflight.File, error) {
	return inflight.Create(w.store.runPath(w.id, inflightFile), slots, rand.Uint64())
}
