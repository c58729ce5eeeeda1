package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/lock"
)

// The statuses of a run.
const (
	statusRunning     = "running"
	statusDone        = "done"
	statusInterrupted = "interrupted"
	statusError       = "error"
)

// projection is what the index says of one run.
type projection struct {
	manifest Manifest
	status   string
	rec      campaign.Record
	blob     string // of rec; "" if the journal alone has it
}

// project reads a journal into a projection: the record that its last
// KindEnd holds if nothing came after it, and otherwise what can be told from
// the records of a run that did not come to its end, or is live and has not
// yet.
func project(j *Journal, live bool) (projection, error) {
	p := projection{manifest: j.manifest, status: statusInterrupted}
	part := partial{man: j.manifest}
	ended := false
	for e, err := range j.Entries() {
		if err != nil {
			part.warn(err.Error())
			break // what is before the damage counts
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
// "environment" are words that a record's Stopped is documented to have; a run
// that a limit stopped did what it was asked to do.
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

// Rebuild makes the index again from the journals.
func (s *Store) Rebuild() error {
	if _, err := s.reconcile(true); err != nil {
		return diag.Environment("make the index of %s again: %w", s.dir, err)
	}
	return nil
}

// reconcile makes the index agree with the folders: it reads the journals of
// runs that the index does not know, or says are running though nobody writes
// them (of all, if all is set), and forgets runs that are gone. It returns how
// many journals it read.
func (s *Store) reconcile(all bool) (int, error) {
	status := make(map[string]string)
	rows, err := s.db.Query("SELECT run_id, status FROM runs")
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var id, st string
		if err := rows.Scan(&id, &st); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		status[id] = st
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	ids, err := s.runIDs()
	if err != nil {
		return 0, err
	}
	slices.Sort(ids)
	read := 0
	for _, id := range ids {
		st, known := status[id]
		delete(status, id)
		if !all && known && st != statusRunning {
			continue
		}
		live, err := lock.Held(s.runPath(id, runLock))
		if err != nil {
			return read, err
		}
		if !all && known && live {
			continue
		}
		if err := s.reindex(id, live); err != nil {
			return read, err
		}
		read++
	}
	if len(status) == 0 {
		return read, nil
	}
	return read, s.inTx(func(tx *sql.Tx) error {
		for id := range status {
			if _, err := tx.Exec("DELETE FROM runs WHERE run_id = ?", id); err != nil {
				return err
			}
		}
		return nil
	})
}

// reindex puts a run into the index by its journal. A journal that cannot be
// read is told and left alone.
func (s *Store) reindex(id string, live bool) error {
	j, err := s.OpenJournal(id)
	if err != nil {
		s.notice("%v; the run is kept but cannot be shown", err)
		return nil
	}
	defer j.Close()
	p, err := project(j, live)
	if err != nil {
		return err
	}
	if live {
		// What this writes may be older than what the run's writer has put
		// there; while the status is "running", that is looked at again.
		p.status, p.rec.Verdict, p.rec.Stopped = statusRunning, "", ""
	}
	if !s.blobs.Has(p.blob) {
		p.blob = ""
	}
	return s.indexRun(p)
}

// indexRun replaces what the index says of a run.
func (s *Store) indexRun(p projection) error {
	command, err := json.Marshal(p.manifest.Command)
	if err != nil {
		return fmt.Errorf("encode the command: %w", err)
	}
	id, rec := p.manifest.RunID, &p.rec
	if rec.Campaigns == nil {
		part := partial{man: p.manifest}
		rec.Campaigns = part.record(true).Campaigns
	}
	return s.inTx(func(tx *sql.Tx) error {
		// Deleting takes the rows of the other tables along.
		if _, err := tx.Exec("DELETE FROM runs WHERE run_id = ?", id); err != nil {
			return fmt.Errorf("index run %s: %w", id, err)
		}
		_, err := tx.Exec("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?)",
			id, p.manifest.Created.UnixMicro(), p.status, rec.Verdict, rec.Complete, rec.Stopped,
			rec.Digest, string(command), rec.Environment.Seconds, p.blob)
		if err != nil {
			return fmt.Errorf("index run %s: %w", id, err)
		}
		put, err := tx.Prepare("INSERT INTO campaigns VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)")
		if err != nil {
			return fmt.Errorf("index the campaigns of run %s: %w", id, err)
		}
		defer put.Close()
		for n, c := range rec.Campaigns {
			k := c.Cases
			_, err := put.Exec(id, n, c.Contract, c.Name, c.Identity, c.Source, k.Planned, k.Run, k.Pass, k.Fail, k.Skip, k.Error, c.Score)
			if err != nil {
				return fmt.Errorf("index campaign %s of run %s: %w", c.Name, id, err)
			}
		}
		for _, f := range rec.Findings {
			_, err := tx.Exec("INSERT OR REPLACE INTO findings VALUES (?,?,?,?,?,?,?,?,?,?)",
				id, f.ID, f.Fingerprint, f.Contract, f.Campaign, f.Kind, f.Title, int(f.Severity), f.Cases, f.Flaky)
			if err != nil {
				return fmt.Errorf("index finding %s of run %s: %w", f.ID, id, err)
			}
		}
		return s.indexParts(tx, id, rec)
	})
}

// setStatus changes the status of a run, and nothing else that is known of it.
func (s *Store) setStatus(m Manifest, status string) error {
	res, err := s.db.Exec("UPDATE runs SET status = ? WHERE run_id = ?", status, m.RunID)
	if err != nil {
		return fmt.Errorf("index run %s: %w", m.RunID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return s.indexRun(projection{manifest: m, status: status})
}
