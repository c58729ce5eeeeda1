package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/thresh-dev/thresh/diag"
)

// Member is a member of a fleet, a coordinated run or a worker, as it reports itself once a second.
type Member struct {
	Role        string   `json:"role"` // "coordinator" or "worker"
	ID          string   `json:"id"`   // of the worker or the run
	Host        string   `json:"host"`
	Runs        []string `json:"runs"` // served by the worker
	Labels      []string `json:"labels"`
	Lanes       int      `json:"lanes"`
	Busy        int      `json:"busy"`  // lanes that are running cases
	Cases       int64    `json:"cases"` // since the member began
	Rate        float64  `json:"cases_per_second"`
	Leases      int64    `json:"leases"`    // taken by a worker or given out by a coordinator
	InFlight    int64    `json:"in_flight"` // leases that a coordinator waits for
	Retries     int64    `json:"retries"`   // leases given to another worker
	Stolen      int64    `json:"stolen"`    // leases partly taken over by an idle worker
	Quarantined int64    `json:"quarantined"`
	Stored      bool     `json:"stored"` // the run is running in this store and has a page
}

// FleetState lists every member that reported in the last seconds.
type FleetState struct {
	Runs    []Member `json:"runs"`
	Workers []Member `json:"workers"`
	Lanes   int      `json:"lanes"`
	Busy    int      `json:"busy"`
	Rate    float64  `json:"cases_per_second"` // sum over the workers
	Leases  int64    `json:"in_flight"`
	Retries int64    `json:"retries"`
}

func (s *Server) fleet() FleetState {
	f := FleetState{Runs: []Member{}, Workers: []Member{}}
	if s.cfg.Fleet == nil {
		return f
	}
	for _, m := range s.cfg.Fleet() {
		// Lists must not be null in JSON.
		m.Runs, m.Labels = append([]string{}, m.Runs...), append([]string{}, m.Labels...)
		if m.Role == "worker" {
			f.Workers = append(f.Workers, m)
			f.Lanes, f.Busy, f.Rate = f.Lanes+m.Lanes, f.Busy+m.Busy, f.Rate+m.Rate
			continue
		}
		// Equal campaigns can give runs in other stores the same id, so the run must also be
		// running.
		run, err := s.cfg.Store.Run(m.ID)
		m.Stored = err == nil && run.Status == "running"
		f.Runs = append(f.Runs, m)
		f.Leases, f.Retries = f.Leases+m.InFlight, f.Retries+m.Retries
	}
	for _, list := range [...][]Member{f.Runs, f.Workers} {
		slices.SortFunc(list, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	}
	return f
}

// noFleet returns an error that says how to watch a fleet; nil if one is watched.
func (s *Server) noFleet() error {
	if s.cfg.Fleet != nil {
		return nil
	}
	return diag.WithHint(diag.Refused("no fleet is watched here"), "thresh ui --fleet URL, or thresh run --fleet URL --ui")
}

type fleetPage struct {
	frame
	FleetState
}

func (s *Server) fleetPage(w http.ResponseWriter, r *http.Request) error {
	if err := s.noFleet(); err != nil {
		return err
	}
	p := fleetPage{s.frame(r, "Fleet", "fleet"), s.fleet()}
	p.Events = "/api/v1/fleet/events"
	return s.show(w, http.StatusOK, "fleet-page.tmpl", p)
}

func (s *Server) apiFleet(w http.ResponseWriter, _ *http.Request) error {
	if err := s.noFleet(); err != nil {
		return err
	}
	return answer(w, http.StatusOK, s.fleet())
}

// fleetEvents sends the fleet's state whenever it changes. Members report once a second.
func (s *Server) fleetEvents(w http.ResponseWriter, r *http.Request) error {
	if err := s.noFleet(); err != nil {
		return err
	}
	return s.changes(w, r, "fleet", func() (compared, told []byte, err error) {
		now, err := json.Marshal(s.fleet())
		return now, now, err
	})
}

// fleetMetrics exports the members of the watched fleet.
func (s *Server) fleetMetrics(e *exposition) {
	if s.cfg.Fleet == nil {
		return
	}
	f := s.fleet()
	e.family("thresh_fleet_workers", "gauge", "Workers of the fleet that reported in the last seconds.")
	e.sample("thresh_fleet_workers", float64(len(f.Workers)))
	e.family("thresh_fleet_lanes", "gauge", "Lanes of the fleet's workers, by what they do.")
	e.sample("thresh_fleet_lanes", float64(f.Busy), "state", "busy")
	e.sample("thresh_fleet_lanes", float64(max(0, f.Lanes-f.Busy)), "state", "idle")
	e.family("thresh_fleet_cases_per_second", "gauge", "Rate of the fleet's workers.")
	e.sample("thresh_fleet_cases_per_second", f.Rate)
	e.family("thresh_fleet_leases", "gauge", "Leases of a run in progress.")
	for _, m := range f.Runs {
		e.sample("thresh_fleet_leases", float64(m.InFlight), "run", m.ID)
	}
	e.family("thresh_fleet_retries", "gauge", "Leases of a run that went to another worker.")
	for _, m := range f.Runs {
		e.sample("thresh_fleet_retries", float64(m.Retries), "run", m.ID)
	}
}
