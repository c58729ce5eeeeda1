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
	for _, r := range runs {
		page, err := s.Findings(FindingQuery{RunID: r.RunID})
		must(t, err)
		must(t, enc.Encode(page))
		outline, err := s.Outline(r.RunID)
		must(t, err)
		must(t, enc.Encode(outline))
	}
	return b.String()
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

// outlines is the files that hold the index.
func outlines(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, runsDir, "*", outlineFile))
	if err != nil || len(list) == 0 {
		t.Fatalf("outlines %v, %v", list, err)
	}
	return list
}

func TestIndexIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	files := outlines(t, dir)
	for _, c := range []struct {
		name, notice string
		spoil        func(whole []byte) []byte
	}{
		{"deleted", "", func([]byte) []byte { return nil }},
		{"garbage", "was damaged", func([]byte) []byte { return bytes.Repeat([]byte("garbage "), 4096) }},
		{"empty", "was damaged", func([]byte) []byte { return []byte{} }},
		{"cut in its head", "was damaged", func(b []byte) []byte { return b[:200] }},
		{"cut behind its head", "", func(b []byte) []byte { return b[:len(b)-10] }},
		{"head changed", "was damaged", func(b []byte) []byte { b[100] ^= 1; return b }},
		{"end changed", "", func(b []byte) []byte { b[len(b)-9] ^= 0x5a; return b }},
		{"of another version", "was damaged", func(b []byte) []byte { b[len(outlineMagic)-2]++; return b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range files {
				whole, err := os.ReadFile(f)
				must(t, err)
				if b := c.spoil(whole); b == nil {
					must(t, os.Remove(f))
				} else {
					must(t, os.WriteFile(f, b, 0o600))
				}
			}
			s := openStore(t, dir)
			if n := strings.Join(s.Notices(), "\n"); !strings.Contains(n, c.notice) || c.notice == "" && n != "" {
				t.Errorf("notices %q, want %q", n, c.notice)
			}
			if got := snapshot(t, s); got != want {
				t.Errorf("the index holds\n%s\nwant\n%s", got, want)
			}
			must(t, s.Close())
			s = openStore(t, dir)
			if n := s.Notices(); len(n) > 0 {
				t.Errorf("opened again: %q", n)
			}
		})
	}
}

// The database of earlier versions goes, and what was in it is in the outlines.
func TestStoreOfAnEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	want := fillStore(t, dir)
	for _, f := range outlines(t, dir) {
		must(t, os.Remove(f))
	}
	old := []string{"index.db", "index.db-wal", "index.db-shm", "index.lock"}
	for _, name := range old {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("SQLite format 3\x00"), 0o666))
	}
	s := openStore(t, dir)
	if got := snapshot(t, s); got != want || len(s.Notices()) > 0 {
		t.Errorf("the index holds\n%s\nwant\n%s\nnotices %q", got, want, s.Notices())
	}
	for _, name := range old {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// Nobody but its owner reads what a store keeps.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	fillStore(t, dir)
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
		return err
	}))
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
	if n := strings.Join(s.Notices(), "\n"); !strings.Contains(n, "rebuilt from the journal") {
		t.Errorf("notices %q", n)
	}
}

// A process that is killed between its journal and its outline leaves one that
// is of another journal, or none; the next to ask mends that.
func TestOutlineThatLags(t *testing.T) {
	dir := t.TempDir()
	fillStore(t, dir)
	s := openStore(t, dir)
	id, err := s.ResolveRun("latest")
	must(t, err)
	before, err := os.ReadFile(s.runPath(id, outlineFile))
	must(t, err)
	w, j, err := s.Resume(id)
	must(t, err)
	must(t, j.Close())
	if r, err := s.Run(id); err != nil || r.Status != statusRunning || r.Verdict != "" {
		t.Errorf("taken up: %+v, %v", r, err)
	}
	must(t, w.Append(Entry{Kind: KindResumed, Data: []byte("{}")}))
	must(t, w.Append(outcome(9)))
	must(t, w.Close())
	must(t, os.WriteFile(s.runPath(id, outlineFile), before, 0o600))
	for range 2 {
		if r, err := s.Run(id); err != nil || r.Status != statusInterrupted || r.Cases.Fail != 6 {
			t.Errorf("killed: %+v, %v", r, err)
		}
		s = openStore(t, dir)
	}
	must(t, os.RemoveAll(s.path(runsDir, id)))
	if _, err := s.Run(id); err == nil {
		t.Error("a run that is gone is listed")
	}
}
