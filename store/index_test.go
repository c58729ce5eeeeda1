package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// snapshot is all that the index can be asked, as text.
func snapshot(t *testing.T, s *Store) string {
	t.Helper()
	runs, err := s.Runs(RunQuery{})
	must(t, err)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, r := range runs {
		must(t, enc.Encode(r))
		rec, err := s.Record(r.RunID)
		must(t, err)
		must(t, enc.Encode(rec))
	}
	rows, err := s.column("SELECT run_id || finding_id || fingerprint || contract || campaign || kind || title || severity || cases || flaky FROM findings ORDER BY 1")
	must(t, err)
	return b.String() + strings.Join(rows, "\n")
}

func fillStore(t *testing.T, dir string) string {
	t.Helper()
	s := openStore(t, dir)
	writeRun(t, s, manifest("demo"), 50, finding("F-a1", campaign.SeverityHigh), finding("F-b2", campaign.SeverityLow))
	writeRun(t, s, manifest("other"), 10)
	w, err := s.Begin(manifest("cut"))
	must(t, err)
	must(t, w.Append(outcome(0)))
	must(t, w.Close())
	snap := snapshot(t, s)
	must(t, s.Close())
	return snap
}

func TestIndexIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	index := filepath.Join(dir, indexFile)
	whole, err := os.ReadFile(index)
	must(t, err)

	for _, c := range []struct {
		name, notice string
		spoil        func() error
	}{
		{"deleted", "was missing", func() error { return os.Remove(index) }},
		{"garbage", "was damaged", func() error { return os.WriteFile(index, bytes.Repeat([]byte("garbage "), 4096), 0o666) }},
		{"cut", "was damaged", func() error { return os.WriteFile(index, whole[:len(whole)/2], 0o666) }},
		{"pages overwritten", "was damaged", func() error {
			b := bytes.Clone(whole)
			for i := 4096; i < len(b); i += 64 {
				b[i] ^= 0x5a
			}
			return os.WriteFile(index, b, 0o666)
		}},
		{"empty", "", func() error { return os.WriteFile(index, nil, 0o666) }},
		{"another database", "was damaged", func() error {
			b := bytes.Clone(whole)
			copy(b[60:64], []byte{0, 0, 0, 0}) // user_version
			return os.WriteFile(index, b, 0o666)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, c.spoil())
			s := openStore(t, dir)
			defer s.Close()
			if n := strings.Join(s.Notices(), "\n"); !strings.Contains(n, c.notice) {
				t.Errorf("notices %q do not say that the index %s", n, c.notice)
			}
			if got := snapshot(t, s); got != want {
				t.Errorf("the index holds\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestRebuild(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	s := openStore(t, dir)
	_, err := s.db.Exec("UPDATE runs SET verdict = 'nonsense', digest = ''; DELETE FROM findings")
	must(t, err)
	must(t, s.Rebuild())
	if got := snapshot(t, s); got != want {
		t.Errorf("the index holds\n%s\nwant\n%s", got, want)
	}
}

// The journal alone is enough: records come back though their blobs are gone
// or damaged.
func TestRecordWithoutItsBlob(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	s := openStore(t, dir)
	blobs, err := filepath.Glob(filepath.Join(dir, blobsDir, "??", "*"))
	if err != nil || len(blobs) != 2 {
		t.Fatalf("blobs %v, %v", blobs, err)
	}
	must(t, os.Remove(blobs[0]))
	must(t, os.WriteFile(blobs[1], []byte("garbage"), 0o666))
	if got := snapshot(t, s); got != want {
		t.Errorf("the records are\n%s\nwant\n%s", got, want)
	}
	if n := strings.Join(s.Notices(), "\n"); !strings.Contains(n, "made again from the journal") {
		t.Errorf("notices %q", n)
	}
}

// A process that is killed between its journal and its index leaves an index
// that lags; the next to open the store mends that.
func TestIndexThatLags(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	s := openStore(t, dir)
	_, err := s.db.Exec("UPDATE runs SET status = 'running', verdict = '', complete = 0 WHERE run_id IN (SELECT run_id FROM campaigns WHERE name = 'demo'); DELETE FROM runs WHERE run_id IN (SELECT run_id FROM campaigns WHERE name = 'other'); INSERT INTO runs VALUES ('gone-1', 0, 'done', '', 0, '', '', '[]', 0, '')")
	must(t, err)
	s.Close()
	s = openStore(t, dir)
	if got := snapshot(t, s); got != want {
		t.Errorf("the index holds\n%s\nwant\n%s", got, want)
	}
}

func TestMigrationFromSchema1(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	s := openStore(t, dir)
	_, err := s.db.Exec("DROP TABLE outlines; DROP TABLE details; DROP INDEX findings_by_weight; DROP TABLE campaigns; DROP INDEX runs_by_age; PRAGMA user_version = 1")
	must(t, err)
	s.Close()
	s = openStore(t, dir)
	if n := s.Notices(); len(n) != 0 {
		t.Errorf("notices %q", n)
	}
	var version int
	must(t, s.db.QueryRow("PRAGMA user_version").Scan(&version))
	if version != len(migrations) {
		t.Errorf("schema %d after migration", version)
	}
	if got := snapshot(t, s); got != want {
		t.Errorf("the index holds\n%s\nwant\n%s", got, want)
	}
}
