package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite" // also registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/thresh-dev/thresh/store/lock"
)

// migrations bring the index from one schema to the next; PRAGMA user_version
// counts those that were applied. They are never changed once released. refill
// asks for the journals to be read again, for columns that only these hold.
var migrations = [...]struct {
	sql    string
	refill bool
}{
	{sql: `
CREATE TABLE runs (
	run_id    TEXT PRIMARY KEY,
	created   INTEGER NOT NULL, -- microseconds since 1970
	status    TEXT NOT NULL,    -- "running", "done", "interrupted" or "error"
	verdict   TEXT NOT NULL,    -- "" while running
	complete  INTEGER NOT NULL,
	stopped   TEXT NOT NULL,
	digest    TEXT NOT NULL,
	command   TEXT NOT NULL,    -- JSON array
	seconds   REAL NOT NULL,
	record    TEXT NOT NULL     -- blob of the record; "" if the journal alone has it
) STRICT;
CREATE TABLE findings (
	run_id      TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
	finding_id  TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	contract    TEXT NOT NULL,
	campaign    TEXT NOT NULL,
	kind        TEXT NOT NULL,
	title       TEXT NOT NULL,
	severity    INTEGER NOT NULL,
	cases       INTEGER NOT NULL,
	flaky       INTEGER NOT NULL,
	PRIMARY KEY (run_id, finding_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX findings_by_id ON findings (finding_id);
`},
	{refill: true, sql: `
CREATE TABLE campaigns (
	run_id   TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
	place    INTEGER NOT NULL, -- 0-based, in the order of the run
	contract TEXT NOT NULL,
	name     TEXT NOT NULL,
	identity TEXT NOT NULL,
	source   TEXT NOT NULL,
	planned  INTEGER NOT NULL,
	run      INTEGER NOT NULL,
	pass     INTEGER NOT NULL,
	fail     INTEGER NOT NULL,
	skip     INTEGER NOT NULL,
	error    INTEGER NOT NULL,
	score    REAL,
	PRIMARY KEY (run_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_age ON runs (created);
`},
	// A record as a whole may be hundreds of megabytes; these are its parts, so
	// that a page of it is read and no more. Bodies are JSON, compressed.
	{refill: true, sql: `
CREATE TABLE outlines (
	run_id TEXT PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
	body   BLOB NOT NULL -- the record without its findings
) STRICT, WITHOUT ROWID;
CREATE TABLE details (
	run_id     TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
	finding_id TEXT NOT NULL,
	first_case INTEGER NOT NULL,
	body       BLOB NOT NULL, -- the finding
	PRIMARY KEY (run_id, finding_id)
) STRICT;
CREATE INDEX campaigns_by_name ON campaigns (contract, name);
CREATE INDEX findings_by_weight ON findings (run_id, severity DESC, finding_id);
`},
}

// newerError refuses an index that a newer version of Thresh wrote.
type newerError struct{ has, knows int }

func (e *newerError) Error() string {
	return fmt.Sprintf("its index has schema %d and this version of Thresh knows %d: a newer version wrote it; use that version, or another store", e.has, e.knows)
}

// openIndex opens the index and brings it up to date with the journals. A
// damaged index is removed and made again.
func (s *Store) openIndex(dir string) error {
	// One process at a time, so that two that find damage do not remove each
	// other's new index, and one that creates is not taken for damage.
	l, err := lock.Wait(filepath.Join(dir, indexLock), lock.Exclusive)
	if err != nil {
		return err
	}
	defer l.Close()
	path := filepath.Join(dir, indexFile)
	_, err = os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)

	refill, err := s.connect(path)
	if damaged(err) {
		s.notice("the index was damaged (%v) and is made again from the journals", err)
		if err := removeIndex(path); err != nil {
			return fmt.Errorf("remove the damaged index: %w", err)
		}
		refill, err = s.connect(path)
	}
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	known := len(s.notices)
	n, err := s.reconcile(refill)
	if err != nil {
		return fmt.Errorf("bring the index up to date: %w", err)
	}
	if missing && n > 0 && known == 0 {
		s.notice("the index was missing and was made again from the journals of %s", count(n, "run"))
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// connect opens the database, checks it and migrates it.
func (s *Store) connect(path string) (refill bool, err error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: url.Values{
		"_pragma": {
			"busy_timeout(20000)", // other processes write for moments only
			"journal_mode(WAL)",
			"synchronous(NORMAL)", // losing the last moment to a power cut is mended by Open
			"foreign_keys(1)",
		},
		"_txlock": {"immediate"}, // a transaction that starts by reading would fail when it comes to write
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	db.SetMaxOpenConns(4)
	var verdict string
	if err := db.QueryRow("PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return false, err
	}
	if verdict != "ok" {
		return false, &corruptError{verdict}
	}
	if refill, err = migrate(db); err != nil {
		return false, err
	}
	s.db = db
	return refill, nil
}

// migrate applies the migrations that the index has not seen.
func migrate(db *sql.DB) (refill bool, err error) {
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version == len(migrations) {
		return false, err
	}
	tx, err := db.Begin()
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return false, err
	}
	if version > len(migrations) {
		return false, &newerError{version, len(migrations)}
	}
	for i, m := range migrations[version:] {
		if _, err := tx.Exec(m.sql); err != nil {
			return false, fmt.Errorf("migrate to schema %d: %w", version+i+1, err)
		}
		refill = refill || m.refill
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return false, err
	}
	return refill, tx.Commit()
}

type corruptError struct{ what string }

func (e *corruptError) Error() string { return e.what }

// damaged reports whether err says that the file is no sound database.
func damaged(err error) bool {
	var c *corruptError
	if errors.As(err, &c) {
		return true
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	case sqlite3.SQLITE_ERROR:
		// A sound database with other tables in it, such as one whose
		// user_version was lost: migrations then fail on names.
		return true
	}
	return false
}

func removeIndex(path string) error {
	for _, suffix := range [...]string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(path + suffix); err != nil {
			return err
		}
	}
	return nil
}

// inTx runs f in one transaction.
func (s *Store) inTx(f func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
