package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/journal"
	"github.com/thresh-dev/thresh/store/lock"
)

// Progress is the content of a KindProgress record, as JSON: how far a run is
// at a moment.
type Progress struct {
	campaign.ProgressPoint
	Phase    string  `json:"phase"`    // "starting", "running", "running again", "confirming", "shrinking" or "done"
	Campaign string  `json:"campaign"` // name of the current campaign
	Index    int     `json:"index"`    // its place among the campaigns of the run, from 1
	Of       int     `json:"of"`
	Done     int64   `json:"done"`    // cases of the campaign, or findings while they are confirmed
	Planned  int64   `json:"planned"` // 0: unknown
	Workers  int     `json:"workers"`
	Rate     float64 `json:"rate"` // cases per second, over the last seconds
}

// Live is the state of a run according to its journal at a moment.
type Live struct {
	// Record has no evidence: its findings have the fields of [FindingSummary].
	// Its counts are those of the journaled cases.
	Record campaign.Record
	// Met are findings of the current campaign that are not confirmed yet.
	Met      []campaign.Finding
	Progress Progress
	Running  bool // a live process writes the run
}

// Follower reads a run's journal as it grows, from any process. Only one
// goroutine at a time may use it. Its memory is that of the findings'
// summaries.
type Follower struct {
	store  *Store
	id     string
	f      *os.File
	scan   *journal.Scanner
	part   partial
	last   Progress
	end    *campaign.Record
	points []campaign.ProgressPoint
	seen   int64 // size of the journal when it was last read
	now    Live
}

// Follow opens the journal of a run, named in full.
func (s *Store) Follow(runID string) (*Follower, error) {
	f, err := s.openRun(runID)
	if err != nil {
		return nil, err
	}
	return &Follower{store: s, id: runID, f: f, scan: journal.NewScanner(f, 0), part: partial{brief: true}}, nil
}

// Poll reads what was written since the last call and returns the state of the
// run. Later calls do not change what it returns.
func (f *Follower) Poll() (Live, error) {
	l, err := f.poll()
	if err != nil {
		return l, diag.Environment("follow run %s: %w", f.id, err)
	}
	return l, nil
}

func (f *Follower) poll() (Live, error) {
	// Check the lock before reading, so that everything a writer wrote before
	// it released the lock is read.
	running, err := lock.Held(f.store.runPath(f.id, runLock))
	if err != nil {
		return Live{}, err
	}
	fi, err := f.f.Stat()
	if err != nil {
		return Live{}, err
	}
	if fi.Size() == f.seen && running == f.now.Running && f.part.man.RunID != "" {
		return f.now, nil
	}
	f.seen = fi.Size()
	f.scan.Grow(f.seen)
	if err := f.read(); err != nil {
		return Live{}, err
	}
	if f.part.man.RunID == "" {
		return Live{}, errors.New("the journal has no manifest")
	}
	f.now = Live{Progress: f.last, Running: running, Met: slices.Clone(f.part.met)}
	if f.end != nil {
		f.now.Record = *f.end
		return f.now, nil
	}
	f.now.Record = f.part.record(running)
	f.now.Record.Findings = slices.Clone(f.now.Record.Findings)
	f.now.Record.Environment.Progress = slices.Clone(f.points)
	return f.now, nil
}

func (f *Follower) read() error {
	for f.scan.Next() {
		e, err := f.scan.Entry()
		if err != nil {
			return err
		}
		switch e.Kind {
		case KindManifest:
			if err := json.Unmarshal(e.Data, &f.part.man); err != nil {
				return fmt.Errorf("decode its manifest: %w", err)
			}
		case KindProgress:
			// A point that cannot be read is only missing from a display.
			if json.Unmarshal(e.Data, &f.last) == nil {
				f.point(campaign.ProgressPoint{Seconds: e.At.Seconds(), Cases: f.last.Cases, Findings: f.last.Findings})
			}
			f.part.seconds = max(f.part.seconds, e.At.Seconds())
		case KindEnd:
			var rec campaign.Record
			if readRecord(e.Data, &rec) == nil && rec.RunID == f.part.man.RunID {
				for i := range rec.Findings {
					rec.Findings[i] = summaryFinding(rec.Findings[i])
				}
				f.end = &rec
			}
		case KindResumed:
			f.end = nil
		default:
			f.part.add(e)
		}
	}
	return nil
}

// keptPoints is how many progress points a follower keeps at most.
const keptPoints = 240

// point keeps a progress point; if there are too many, it drops every other
// one.
func (f *Follower) point(p campaign.ProgressPoint) {
	if f.points = append(f.points, p); len(f.points) > keptPoints {
		half := f.points[:0]
		for i := 0; i < len(f.points); i += 2 {
			half = append(half, f.points[i])
		}
		f.points = half
	}
}

// Close closes the journal.
func (f *Follower) Close() error { return f.f.Close() }
