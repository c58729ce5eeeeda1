package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/thresh-dev/thresh/campaign"
)

// The statuses of a run.
const (
	statusRunning     = "running"
	statusDone        = "done"
	statusInterrupted = "interrupted"
	statusError       = "error"
)

// projection is what an outline says about one run.
type projection struct {
	manifest Manifest
	status   string
	rec      campaign.Record
	blob     string // of rec; "": only the journal has it
}

// project reads a journal into a projection: the record in its last KindEnd, if
// nothing follows that, and otherwise a record made from the other entries of a
// run that did not finish, or is still live.
func project(j *Journal, live bool) (projection, error) {
	p := projection{manifest: j.manifest, status: statusInterrupted}
	part := partial{man: j.manifest}
	ended := false
	for e, err := range j.Entries() {
		if err != nil {
			part.warn(err.Error())
			break // what precedes the damage counts
		}
		switch e.Kind {
		case KindEnd:
			var rec campaign.Record
			if err := readRecord(e.Data, &rec); err == nil && rec.RunID == j.manifest.RunID {
				p.rec, ended = rec, true
			}
		case KindResumed:
			ended = false
		default:
			part.add(e)
		}
	}
	if !ended {
		p.rec = part.record(live)
		if live {
			p.status = statusRunning
		}
		return p, nil
	}
	p.status = endStatus(p.rec)
	h := sha256.New()
	if err := writeRecord(h, &p.rec); err != nil {
		return p, fmt.Errorf("encode the record of run %s: %w", p.rec.RunID, err)
	}
	p.blob = hex.EncodeToString(h.Sum(nil))
	return p, nil
}

// endStatus is the status of a run that wrote its record. "interrupted" and
// "environment" are documented values of a record's Stopped. A run that a limit
// stopped did what it was asked to do.
func endStatus(rec campaign.Record) string {
	switch {
	case rec.Complete:
		return statusDone
	case rec.Stopped == "interrupted":
		return statusInterrupted
	case rec.Stopped == "environment":
		return statusError
	}
	return statusDone
}
