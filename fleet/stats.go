package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Roles of the members that publish statistics.
const (
	RoleWorker      = "worker"
	RoleCoordinator = "coordinator"
)

// Stats is what workers and coordinators publish once a second to all listeners.
type Stats struct {
	Role    string   `json:"role"`
	ID      string   `json:"id"` // of the worker or the run
	Host    string   `json:"host"`
	Runs    []string `json:"runs,omitempty"` // served by the worker
	Labels  []string `json:"labels,omitempty"`
	Lanes   int      `json:"lanes,omitempty"`
	Busy    int      `json:"busy,omitempty"` // lanes that are running cases
	Cases   int64    `json:"cases"`          // since the member began
	Leases  int64    `json:"leases"`         // taken by a worker or given out by a coordinator
	Leaving bool     `json:"leaving,omitempty"`

	InFlight    int64 `json:"in_flight,omitempty"` // leases that a coordinator waits for
	Retries     int64 `json:"retries,omitempty"`   // leases given to another worker
	Stolen      int64 `json:"stolen,omitempty"`    // leases partly taken over by an idle worker
	Quarantined int64 `json:"quarantined,omitempty"`
}

// Row is one member of the fleet, with its rate.
type Row struct {
	Stats
	Rate float64 // cases per second since the last look
}

// Watcher collects what the members of a fleet publish.
type Watcher struct {
	sub *nats.Subscription

	mu   sync.Mutex
	rows map[string]*watched
}

type watched struct {
	row  Row
	seen time.Time
}

// Watch starts to listen.
func Watch(l *Link) (*Watcher, error) {
	w := &Watcher{rows: make(map[string]*watched)}
	sub, err := l.nc.Subscribe(statsSubject, func(m *nats.Msg) {
		var s Stats
		if json.Unmarshal(unsealed(m.Data), &s) == nil {
			w.noteStats(s, time.Now())
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listen to the fleet: %w", err)
	}
	w.sub = sub
	return w, nil
}

func (w *Watcher) noteStats(s Stats, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := s.Role + " " + s.ID
	if s.Leaving {
		delete(w.rows, key)
		return
	}
	old := w.rows[key]
	if old == nil {
		w.rows[key] = &watched{Row{Stats: s}, now}
		return
	}
	if d := now.Sub(old.seen).Seconds(); d > 0 {
		old.row.Rate = max(float64(s.Cases-old.row.Cases), 0) / d
	}
	old.row.Stats, old.seen = s, now
}

// Rows returns the members heard from in the last five seconds.
func (w *Watcher) Rows() []Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []Row
	for key, r := range w.rows {
		if time.Since(r.seen) > 5*time.Second {
			delete(w.rows, key)
			continue
		}
		list = append(list, r.row)
	}
	return list
}

// Close stops listening.
func (w *Watcher) Close() { _ = w.sub.Unsubscribe() } // the connection may be gone

// publishStats publishes statistics once a second until ctx ends, and then that the member is
// leaving.
func publishStats(ctx context.Context, l *Link, ch channel, stats func() Stats) {
	publish := func(s Stats) {
		if text, err := json.Marshal(s); err == nil {
			_ = l.nc.Publish(statsSubject, ch.seal(kindStats, "", "", messageFor, text)) // the next one follows in a second
		}
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		publish(stats())
		select {
		case <-ctx.Done():
			s := stats()
			s.Leaving = true
			publish(s)
			_ = l.nc.FlushTimeout(time.Second)
			return
		case <-second.C:
		}
	}
}
