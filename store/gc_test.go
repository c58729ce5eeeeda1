package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/blob"
)

// putBlob keeps text and makes the blob look so old.
func putBlob(t *testing.T, s *Store, text string, age time.Duration) string {
	t.Helper()
	id, err := s.PutBlob([]byte(text))
	must(t, err)
	then := time.Now().Add(-age)
	must(t, os.Chtimes(filepath.Join(s.root, blobsDir, id[:2], id+".zst"), then, then))
	return id
}

// ageBlobs makes all blobs look so old.
func ageBlobs(t *testing.T, dir string, age time.Duration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, blobsDir, "??", "*.zst"))
	must(t, err)
	then := time.Now().Add(-age)
	for _, f := range files {
		must(t, os.Chtimes(f, then, then))
	}
}

// withBlob is a finding that keeps a sample in a blob.
func withBlob(id, sample string) campaign.Finding {
	f := finding(id, campaign.SeverityHigh)
	f.Samples = []campaign.Sample{{Blob: sample}}
	f.Minimized = &campaign.Minimal{Blob: sample}
	return f
}

func TestGC(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	// Three runs, oldest first; each keeps its document, one sample, and a
	// content that all share.
	var runs, specs, samples []string
	shared := putBlob(t, s, "shared", 0)
	for i := range 3 {
		specs = append(specs, putBlob(t, s, fmt.Sprint("spec ", i), 0))
		samples = append(samples, putBlob(t, s, fmt.Sprint("sample ", i), 0))
		m := aged("demo", i)
		m.Specs[0].Blob = specs[i]
		m.Files = map[string]string{"seed": shared}
		runs = append(runs, writeRun(t, s, m, 5, withBlob("F-1", samples[i])).RunID)
	}
	evidence := putBlob(t, s, "evidence that a live run's journal alone mentions", 0)
	stray := putBlob(t, s, "mentioned by nothing", 0)
	live, err := s.Begin(aged("live", -10)) // the oldest of all
	must(t, err)
	defer live.Close()
	must(t, live.Append(Entry{Kind: KindFinding, Data: []byte(`{"provisional":{"evidence":{"stderr":"` + evidence + `"}}}`)}))
	must(t, live.Sync())
	ageBlobs(t, dir, 2*time.Hour)
	young := putBlob(t, s, "young, mentioned by nothing yet", 0)

	size, err := s.Size()
	must(t, err)
	dry, err := s.GC(1, true)
	must(t, err)
	if after, _ := s.Size(); after != size {
		t.Errorf("a dry collection changed the store from %d to %d bytes", size, after)
	}
	res, err := s.GC(1, false)
	must(t, err)
	if fmt.Sprint(res) != fmt.Sprint(dry) {
		t.Errorf("done %+v\n dry %+v", res, dry)
	}
	if !slices.Equal(res.Runs, runs[:2]) || !slices.Equal(res.Locked, []string{live.RunID()}) || res.Kept != 2 {
		t.Errorf("removed %v, locked %v, kept %d", res.Runs, res.Locked, res.Kept)
	}
	// Two documents, two samples, two records and the stray one.
	if res.Blobs != 7 || res.Bytes <= 0 {
		t.Errorf("%d blobs, %d bytes freed", res.Blobs, res.Bytes)
	}
	for _, c := range []struct {
		what, id string
		want     bool
	}{
		{"the document of the kept run", specs[2], true},
		{"the sample of the kept run", samples[2], true},
		{"what all runs share", shared, true},
		{"the evidence of the live run", evidence, true},
		{"a young blob", young, true},
		{"the document of a removed run", specs[0], false},
		{"the sample of a removed run", samples[1], false},
		{"an old blob that nothing mentions", stray, false},
	} {
		if got := s.blobs.Has(c.id); got != c.want {
			t.Errorf("%s is there: %v", c.what, got)
		}
	}
	list, err := s.Runs(RunQuery{})
	if err != nil || len(list) != 2 || list[0].RunID != runs[2] {
		t.Errorf("runs left: %+v, %v", list, err)
	}
	if _, err := s.Record(runs[0]); diag.ExitCode(err) != diag.ExitRefused {
		t.Errorf("a removed run's record: %v", err)
	}
	if rec, err := s.Record(runs[2]); err != nil || len(rec.Findings) != 1 {
		t.Errorf("the kept run's record: %v", err)
	}
	if _, err := s.GC(-1, false); diag.ExitCode(err) != diag.ExitRefused {
		t.Errorf("keep -1: %v", err)
	}
}

// A young blob goes with its run only if nobody can be about to mention it.
func TestGCOfYoungBlobs(t *testing.T) {
	for _, c := range []struct {
		name      string
		otherOpen bool
		wrote     bool
		want      bool
	}{
		{name: "alone", want: false},
		{name: "another has the store open", otherOpen: true, want: true},
		{name: "this process has put something", wrote: true, want: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			id := putBlob(t, s, "sample", 0)
			writeRun(t, s, manifest("demo"), 1, withBlob("F-1", id))
			stray := putBlob(t, s, "not mentioned by the removed run", 0)
			must(t, s.Close())

			s = openStore(t, dir)
			if c.otherOpen {
				openStore(t, dir)
			}
			if c.wrote {
				putBlob(t, s, "else", 0)
			}
			res, err := s.GC(0, false)
			must(t, err)
			if len(res.Runs) != 1 || s.blobs.Has(id) != c.want {
				t.Errorf("removed %v, its blob is there: %v", res.Runs, s.blobs.Has(id))
			}
			if !s.blobs.Has(stray) {
				t.Error("a young blob that no removed run mentions is gone")
			}
			if _, err := Open(dir); err != nil {
				t.Errorf("open after the collection: %v", err)
			}
		})
	}
}

func TestGCRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	keep := writeRun(t, s, manifest("demo"), 1).RunID
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{unbornRun + "dead", removedRun + "r-1", unbornRun + "live"} {
		path := s.path(runsDir, name)
		must(t, os.Mkdir(path, 0o777))
		must(t, os.WriteFile(filepath.Join(path, journalFile), []byte("something"), 0o666))
		if !strings.HasSuffix(name, "live") {
			must(t, os.Chtimes(path, old, old))
		}
	}
	res, err := s.GC(5, false)
	must(t, err)
	if res.Bytes != 18 || res.Blobs != 0 || len(res.Runs) != 0 {
		t.Errorf("result %+v", res)
	}
	left, _ := os.ReadDir(s.path(runsDir))
	if len(left) != 2 || left[0].Name() != unbornRun+"live" || left[1].Name() != keep {
		t.Errorf("left: %v", left)
	}
}

// Names of blobs are found wherever they stand in a file.
func TestMentions(t *testing.T) {
	id := blob.ID([]byte("x"))
	dir := t.TempDir()
	for _, before := range []int{0, 1, 63, 256<<10 - 64, 256<<10 - 63, 256<<10 - 1, 256 << 10, 600_000} {
		for _, fill := range []string{"\n", "a"} { // the second looks like part of a name
			path := filepath.Join(dir, "file")
			must(t, os.WriteFile(path, []byte(strings.Repeat(fill, before)+id+fill), 0o666))
			m := mentions{id: 0, blob.ID([]byte("y")): 0}
			must(t, m.searchFile(path, mentionedByKept))
			if m[id] != mentionedByKept || len(m) != 2 {
				t.Errorf("behind %d bytes of %q: %v", before, fill, m)
			}
		}
	}
}
