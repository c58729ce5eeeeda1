package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// tornRun is a run of ten outcomes, the bytes of its journal and where its
// last three records end.
func tornRun(t *testing.T, s *Store) (id string, file []byte, ends []int) {
	t.Helper()
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	id = w.RunID()
	size := func() int {
		must(t, w.Sync())
		fi, err := os.Stat(s.runPath(id, journalFile))
		must(t, err)
		return int(fi.Size())
	}
	for i := range int64(10) {
		must(t, w.Append(outcome(i)))
		if i >= 7 {
			ends = append(ends, size())
		}
	}
	must(t, w.Close())
	file, err = os.ReadFile(s.runPath(id, journalFile))
	must(t, err)
	return id, file, ends
}

// whole11 says in what a journal is not that of ten cases, in an unbroken chain.
func whole11(t *testing.T, s *Store, id string) string {
	t.Helper()
	j, err := s.OpenJournal(id)
	must(t, err)
	defer j.Close()
	list, err := entries(t, j)
	if len(list) != 11 || err != nil || j.Torn != 0 || list[10].Case.Index != 9 {
		return fmt.Sprintf("%d entries, torn %d, %v", len(list), j.Torn, err)
	}
	if groups, err := j.CheckChain(); err != nil || groups < 2 {
		return fmt.Sprintf("a chain of %d groups, %v", groups, err)
	}
	return ""
}

func TestResumeTornAtEveryByte(t *testing.T) {
	s := openStore(t, t.TempDir())
	id, file, ends := tornRun(t, s)
	path := s.runPath(id, journalFile)
	for size := ends[0]; size < len(file); size++ {
		must(t, os.WriteFile(path, file[:size], 0o666))
		whole := 0
		for whole < len(ends) && ends[whole] <= size {
			whole++
		}
		want, torn := 8+whole, int64(size-ends[whole-1]) // manifest and 7, and so many more
		if link := int64(39); torn >= link {
			torn -= link // the hash of what is before the group is whole
		}

		j, err := s.OpenJournal(id)
		must(t, err)
		list, err := entries(t, j)
		if len(list) != want || j.Torn != torn || err != nil {
			t.Fatalf("cut at %d, read only: %d entries, torn %d, %v; want %d, %d", size, len(list), j.Torn, err, want, torn)
		}
		j.Close()
		if fi, _ := os.Stat(path); fi.Size() != int64(size) {
			t.Fatalf("cut at %d: reading changed the file", size)
		}

		w, j, err := s.Resume(id)
		must(t, err)
		if list, err = entries(t, j); len(list) != want || j.Torn != torn || err != nil {
			t.Fatalf("cut at %d, resumed: %d entries, torn %d, %v; want %d, %d", size, len(list), j.Torn, err, want, torn)
		}
		// What is cut is written again, and the file is as if never torn.
		for i := int64(7 + whole); i < 10; i++ {
			must(t, w.Append(outcome(i)))
		}
		must(t, errors.Join(w.Close(), j.Close()))
		if why := whole11(t, s, id); why != "" {
			t.Fatalf("cut at %d: written on, %s", size, why)
		}
	}
}

func TestDamagedJournal(t *testing.T) {
	s := openStore(t, t.TempDir())
	id, file, ends := tornRun(t, s)
	path := s.runPath(id, journalFile)
	bad := bytes.Clone(file)
	bad[ends[0]+3] ^= 0xff // within the record of case 8
	must(t, os.WriteFile(path, bad, 0o666))

	j, err := s.OpenJournal(id)
	must(t, err)
	list, err := entries(t, j)
	if len(list) != 9 || err == nil || !strings.Contains(err.Error(), "damaged at offset") || j.Damage == "" || j.Torn != 0 {
		t.Fatalf("%d entries, damage %q, torn %d, %v", len(list), j.Damage, j.Torn, err)
	}
	j.Close()

	w, j, err := s.Resume(id)
	must(t, err)
	if list, err = entries(t, j); len(list) != 9 || err == nil || j.Damage == "" {
		t.Fatalf("resumed: %d entries, damage %q, %v", len(list), j.Damage, err)
	}
	for i := int64(8); i < 10; i++ {
		must(t, w.Append(outcome(i)))
	}
	must(t, errors.Join(w.Close(), j.Close()))
	if why := whole11(t, s, id); why != "" {
		t.Errorf("written on, %s", why)
	}
	aside, _ := filepath.Glob(s.runPath(id, "lost-*"))
	if len(aside) != 1 {
		t.Fatalf("set aside: %v", aside)
	}
	if lost, _ := os.ReadFile(aside[0]); !bytes.Equal(lost, bad[ends[0]:]) {
		t.Error("what was set aside is not what was cut")
	}
}

// A run whose manifest cannot be read is reported and kept, and hinders no other.
func TestUnreadableJournal(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	id, file, _ := tornRun(t, s)
	good := writeRun(t, s, manifest("good"), 5)
	s.Close()
	file[30] ^= 1
	must(t, os.WriteFile(s.runPath(id, journalFile), file, 0o666))
	if _, err := os.Stat(s.runPath(id, outlineFile)); err == nil {
		t.Fatal("a run that nobody asked for has an outline")
	}

	s = openStore(t, dir)
	if n := strings.Join(s.Notices(), "\n"); !strings.Contains(n, id) {
		t.Errorf("notices %q do not name the run", n)
	}
	runs, err := s.Runs(RunQuery{})
	if err != nil || len(runs) != 1 || runs[0].RunID != good.RunID {
		t.Errorf("runs %+v, %v", runs, err)
	}
	if _, _, err := s.Resume(id); err == nil || !strings.Contains(err.Error(), "no whole manifest") {
		t.Errorf("resume: %v", err)
	}
	if _, err := s.GC(0, false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.runPath(id, journalFile)); err != nil {
		t.Errorf("the collector removed what it cannot read: %v", err)
	}
}

// A run that was killed shows what its journal holds: only the attempt that
// counts, and findings as they were last settled.
func TestPartialRecord(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	add := func(es ...Entry) {
		t.Helper()
		for _, e := range es {
			must(t, w.Append(e))
		}
	}
	add(outcome(0), outcome(9), Entry{Kind: KindRedo, Data: []byte(`{"reason":"x"}`)})
	for _, i := range []int64{0, 1, 19} {
		e := outcome(i)
		e.Attempt = 1
		add(e)
	}
	add(Entry{Kind: KindFinding, Data: []byte(`{"provisional":{"title":"early"}}`)},
		Entry{Kind: KindFinding, Data: []byte(`{"settled":{"id":"F-7","contract":"fuzzspec","campaign":"demo","title":"old"}}`)},
		Entry{Kind: KindFinding, Data: []byte(`{"settled":{"id":"F-7","contract":"fuzzspec","campaign":"demo","title":"new"}}`)},
		Entry{Kind: KindWarning, Data: []byte(`"mind the gap"`)})
	must(t, w.Sync())

	live, err := s.Record(w.RunID())
	if err != nil || live.Stopped != "running" {
		t.Errorf("live: stopped %q, %v", live.Stopped, err)
	}
	must(t, w.Close())
	rec, err := s.Record(w.RunID())
	must(t, err)
	if c := rec.Campaigns[0].Cases; c != (campaign.Counts{Run: 3, Pass: 2, Fail: 1}) {
		t.Errorf("counts %+v", c)
	}
	if rec.Verdict != "fail" || rec.Complete || rec.Stopped != "interrupted" {
		t.Errorf("verdict %q, complete %v, stopped %q", rec.Verdict, rec.Complete, rec.Stopped)
	}
	if len(rec.Findings) != 1 || rec.Findings[0].Title != "new" {
		t.Errorf("findings %+v", rec.Findings)
	}
	if w := strings.Join(rec.Warnings, "\n"); !strings.Contains(w, "mind the gap") || !strings.Contains(w, "did not finish") {
		t.Errorf("warnings %q", w)
	}
	runs, err := s.Runs(RunQuery{})
	if err != nil || len(runs) != 1 || runs[0].Status != "interrupted" || runs[0].Cases.Run != 3 || runs[0].Findings != 1 {
		t.Errorf("runs %+v, %v", runs, err)
	}
}
