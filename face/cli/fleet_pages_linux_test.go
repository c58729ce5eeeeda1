package cli_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/face/web"
)

// The pages of a run that uses a fleet, and those of thresh ui that watch one,
// show the same as thresh top: who works, as it changes.
func TestFleetInThePages(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("starts a fleet only to look at it: set THRESH_TEST_LONG=1")
	}
	f := newFleetLab(t, 1)
	expect(t, f.run("--quiet", "--cases", "5"), 1) // makes a store for the pages
	_, watching, _ := f.pages("--fleet", f.urls)

	run := f.coordinator("home", f.path("spec.json"), "--executor", "spawn", "--ui", "--quiet")
	stderr, err := run.StderrPipe()
	must(t, err)
	must(t, run.Start())
	t.Cleanup(func() { _ = run.Process.Kill() }) // it may have ended
	address := ""
	lines := bufio.NewScanner(stderr)
	for address == "" && lines.Scan() {
		address, _ = strings.CutPrefix(lines.Text(), "pages: ")
		if address == lines.Text() {
			address = ""
		}
	}
	address = strings.TrimSuffix(address, "?token="+pagesToken)
	base, id, ok := strings.Cut(address, "runs/")
	if !ok {
		t.Fatalf("the run names no pages: %q", address)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // it must not wait for a reader

	here := func(s web.FleetState) bool { return len(s.Runs) == 1 && s.Runs[0].ID == id }
	s := fleetEvent(t, base, func(s web.FleetState) bool { return here(s) && len(s.Workers) == 0 })
	if !s.Runs[0].Stored {
		t.Error("the run is not known to be in its own store")
	}
	if s = fleetEvent(t, watching, here); s.Runs[0].Stored {
		t.Error("the run is said to be in another store")
	}
	if code, body := get(t, base+"fleet"); code != 200 || !strings.Contains(body, `<a href="/runs/`+id+`">`) || !strings.Contains(body, "No worker has been heard of") {
		t.Errorf("the page before there is a worker: %d", code)
	}
	f.worker()
	s = fleetEvent(t, watching, func(s web.FleetState) bool { return len(s.Workers) == 1 })
	if w := s.Workers[0]; w.Lanes != 1 || s.Lanes != 1 || w.ID == "" {
		t.Errorf("the worker: %+v", w)
	}
	if err := run.Wait(); run.ProcessState.ExitCode() != 1 {
		t.Errorf("the run: %v", err)
	}
	s = fleetEvent(t, watching, func(s web.FleetState) bool {
		return len(s.Runs) == 0 && len(s.Workers) == 1 && s.Workers[0].Cases >= 300
	})
	if s.Workers[0].Leases == 0 {
		t.Errorf("the worker had no lease: %+v", s.Workers[0])
	}
	if code, body := get(t, watching+"metrics"); code != 200 || !strings.Contains(body, "\nthresh_fleet_workers 1\n") {
		t.Errorf("metrics do not know of the worker: %d", code)
	}
}

// fleetEvent reads what pages are told of a fleet until it is as wanted.
func fleetEvent(t *testing.T, base string, wanted func(web.FleetState) bool) web.FleetState {
	t.Helper()
	res := ask(t, http.MethodGet, base+"api/v1/fleet/events")
	defer res.Body.Close()
	var last string
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		last = data
		var s web.FleetState
		must(t, json.Unmarshal([]byte(data), &s))
		if wanted(s) {
			return s
		}
	}
	t.Fatalf("the stream ended (%v) after %s", lines.Err(), last)
	return web.FleetState{}
}
