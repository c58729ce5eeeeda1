package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store/lock"
)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// manifest is of one campaign; tests tell runs apart by its name.
func manifest(name string) Manifest {
	return Manifest{
		Created:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Command:    []string{"thresh", "run", name + ".json"},
		Version:    "test",
		Specs:      []SpecRef{{Path: name + ".json", Contract: "fuzzspec"}},
		Settings:   json.RawMessage(`{"seed":1}`),
		Identities: []campaign.Identity{{Contract: "fuzzspec", Name: name, Digest: "d1"}},
	}
}

func outcome(i int64) Entry {
	e := Entry{Kind: KindOutcome, Case: campaign.Case{Index: i}, At: time.Duration(i) * time.Millisecond}
	e.Outcome.Elapsed = 1200 * time.Microsecond
	if i%10 == 9 {
		e.Outcome.Verdict, e.Outcome.Kind = campaign.VerdictFail, "crash"
	}
	return e
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeRun makes a whole run: n outcomes, a record with findings, an end.
func writeRun(t testing.TB, s *Store, m Manifest, n int64, findings ...campaign.Finding) campaign.Record {
	t.Helper()
	w, err := s.Begin(m)
	must(t, err)
	rec := campaign.Record{
		RunID: w.RunID(), Digest: "digest-" + m.Identities[0].Name, Verdict: "pass", Complete: true,
		Findings: findings, Warnings: []string{},
		Environment: campaign.Environment{Command: m.Command, Started: m.Created, Seconds: 2.5},
	}
	counts := campaign.Counts{Planned: n}
	for i := range n {
		e := outcome(i)
		counts.Add(e.Outcome.Verdict)
		must(t, w.Append(e))
	}
	if len(findings) > 0 {
		rec.Verdict = "fail"
	}
	for _, id := range m.Identities {
		rec.Campaigns = append(rec.Campaigns, campaign.CampaignRecord{
			Contract: id.Contract, Name: id.Name, Identity: id.Digest, Source: id.Name + ".json", Cases: counts,
		})
	}
	data, err := json.Marshal(rec)
	must(t, err)
	must(t, w.Append(Entry{Kind: KindEnd, Data: data, At: 2500 * time.Millisecond}))
	must(t, w.SaveRecord(rec, "done"))
	must(t, w.Close())
	return rec
}

func finding(id string, severity campaign.Severity) campaign.Finding {
	return campaign.Finding{
		ID: id, Fingerprint: "f00d", Contract: "fuzzspec", Campaign: "demo", Kind: "crash",
		Title: "crash in " + id, Severity: severity, Cases: 3, Samples: []campaign.Sample{}, Evidence: []campaign.Exhibit{},
	}
}

// entries reads a whole journal; data is copied.
func entries(t testing.TB, j *Journal) ([]Entry, error) {
	t.Helper()
	var list []Entry
	for e, err := range j.Entries() {
		if err != nil {
			return list, err
		}
		e.Data = bytes.Clone(e.Data)
		list = append(list, e)
	}
	return list, nil
}

func TestWriteAndRead(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "deep", ".thresh"))
	m := manifest("demo")
	rec := writeRun(t, s, m, 100, finding("F-1", campaign.SeverityHigh))

	j, err := s.OpenJournal(rec.RunID)
	must(t, err)
	defer j.Close()
	m.RunID = rec.RunID
	a, _ := json.Marshal(m)
	b, _ := json.Marshal(j.Manifest())
	if !bytes.Equal(a, b) {
		t.Errorf("manifest\n%s\nwant\n%s", b, a)
	}
	for range 2 { // it can be ranged over more than once
		list, err := entries(t, j)
		if err != nil || len(list) != 102 || j.Torn != 0 || j.Damage != "" {
			t.Fatalf("%d entries, torn %d, damage %q, %v", len(list), j.Torn, j.Damage, err)
		}
		if list[0].Kind != KindManifest || list[101].Kind != KindEnd || list[101].At != 2500*time.Millisecond {
			t.Errorf("first %v, last %+v", list[0].Kind, list[101])
		}
		if got, want := list[50], outcome(49); got.Case.Index != 49 || got.Outcome.Kind != want.Outcome.Kind ||
			got.Outcome.Elapsed != want.Outcome.Elapsed || got.At != want.At {
			t.Errorf("entry 50 is %+v", got)
		}
	}
	got, err := s.Record(rec.RunID)
	must(t, err)
	a, _ = json.Marshal(rec)
	b, _ = json.Marshal(got)
	if !bytes.Equal(a, b) {
		t.Errorf("record\n%s\nwant\n%s", b, a)
	}
	if size, err := s.Size(); err != nil || size < 1000 {
		t.Errorf("size %d, %v", size, err)
	}
}

// Equal runs in fresh stores have equal names, and equal journals.
func TestRunNamesAreDeterministic(t *testing.T) {
	var names [2][]string
	var journals [2][]byte
	for i := range names {
		s := openStore(t, t.TempDir())
		for _, m := range []Manifest{manifest("a"), manifest("a"), manifest("b")} {
			names[i] = append(names[i], writeRun(t, s, m, 20).RunID)
		}
		journals[i], _ = os.ReadFile(s.runPath(names[i][0], journalFile))
	}
	if !slices.Equal(names[0], names[1]) || !bytes.Equal(journals[0], journals[1]) {
		t.Errorf("names %v and %v", names[0], names[1])
	}
	a, b := names[0][0], names[0][1]
	if !strings.HasSuffix(a, "-1") || b != strings.TrimSuffix(a, "1")+"2" || names[0][2][:9] == a[:9] {
		t.Errorf("names %v", names[0])
	}
}

// A store that Open makes is nothing that git shows; a folder that was there may be one
// whose files are to be committed.
func TestNewStoreIsHidden(t *testing.T) {
	there := t.TempDir()
	fresh := filepath.Join(there, ".thresh")
	for dir, hidden := range map[string]bool{fresh: true, there: false} {
		s, err := Open(dir)
		must(t, err)
		must(t, s.Close())
		if _, err := os.Stat(filepath.Join(dir, ".gitignore")); (err == nil) != hidden {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o666))
	readOnly := filepath.Join(dir, "read-only")
	must(t, os.Mkdir(readOnly, 0o555))

	for _, c := range []struct{ name, dir, want string }{
		{"a file", file, "it is a file, not a folder"},
		{"below a file", filepath.Join(file, "x"), "not a directory"},
		{"read-only", filepath.Join(readOnly, ".thresh"), "permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "read-only" && os.Geteuid() == 0 {
				t.Skip("root may write to a read-only folder")
			}
			_, err := Open(c.dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.dir) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if diag.ExitCode(err) != diag.ExitEnvironment {
				t.Errorf("exit code %d", diag.ExitCode(err))
			}
		})
	}
}

func TestWriterUse(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	if err := w.Append(Entry{}); err == nil {
		t.Error("an entry without a kind was taken")
	}
	if err := w.SaveRecord(campaign.Record{}, "finished"); err == nil {
		t.Error("an unknown status was taken")
	}
	must(t, w.Append(outcome(0))) // a refused entry does not fail the writer
	must(t, w.Close())
	must(t, w.Close())
	if err := w.Append(outcome(1)); !errors.Is(err, errClosed) {
		t.Errorf("append after close: %v", err)
	}
	if err := w.Sync(); !errors.Is(err, errClosed) {
		t.Errorf("sync after close: %v", err)
	}
}

// Workers append at the same time; each one's entries keep their order.
func TestConcurrentAppend(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	const workers, each = 8, 5000
	errs := make(chan error)
	for k := range workers {
		go func() {
			var err error
			for i := int64(0); i < each && err == nil; i++ {
				e := outcome(i)
				e.Campaign = k
				err = w.Append(e)
			}
			errs <- err
		}()
	}
	for range workers {
		must(t, <-errs)
	}
	must(t, w.Close())
	j, err := s.OpenJournal(w.RunID())
	must(t, err)
	defer j.Close()
	var next [workers]int64
	for e, err := range j.Entries() {
		must(t, err)
		if e.Kind != KindOutcome {
			continue
		}
		if e.Case.Index != next[e.Campaign] {
			t.Fatalf("worker %d: case %d where %d was due", e.Campaign, e.Case.Index, next[e.Campaign])
		}
		next[e.Campaign]++
	}
	for k, n := range next {
		if n != each {
			t.Errorf("worker %d: %d of %d", k, n, each)
		}
	}
}

// What was appended reaches the file soon without a Sync, so that a kill loses
// little.
func TestAppendedEntriesReachTheFile(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	defer w.Close()
	must(t, w.Append(outcome(0)))
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		j, err := s.OpenJournal(w.RunID())
		must(t, err)
		list, err := entries(t, j)
		must(t, errors.Join(err, j.Close()))
		if len(list) == 2 {
			return
		}
	}
	t.Fatal("the entry did not reach the file")
}

func TestOneWriterPerRun(t *testing.T) {
	s := openStore(t, t.TempDir())
	w, err := s.Begin(manifest("demo"))
	must(t, err)
	_, _, err = s.Resume(w.RunID())
	var held *lock.HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() || diag.ExitCode(err) != diag.ExitEnvironment {
		t.Fatalf("resuming a live run: %v", err)
	}
	must(t, w.Close())
	w, j, err := s.Resume(w.RunID())
	must(t, err)
	must(t, errors.Join(j.Close(), w.Close()))
	for _, id := range []string{"", "r00000000-1", "../../etc"} {
		if _, _, err := s.Resume(id); diag.ExitCode(err) != diag.ExitRefused {
			t.Errorf("resume %q: %v", id, err)
		}
		if _, err := s.OpenJournal(id); diag.ExitCode(err) != diag.ExitRefused {
			t.Errorf("open the journal of %q: %v", id, err)
		}
	}
}

// SaveRecord is [Writer.Finish] without the entry in the journal, which is what
// the outline can be made again from.
func (w *Writer) SaveRecord(rec campaign.Record, status string) error {
	packed, _, err := w.packRecord(&rec)
	if err != nil {
		return err
	}
	return w.saveRecord(rec, status, packed)
}

// Size is the number of bytes that the store's files hold.
func (s *Store) Size() (bytes int64, err error) {
	if bytes, err = treeSize(s.root); err != nil {
		return 0, diag.Environment("measure the store %s: %w", s.dir, err)
	}
	return bytes, nil
}
