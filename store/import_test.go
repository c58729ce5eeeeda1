package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// A run that was copied from another store is there with all that it keeps.
func TestImport(t *testing.T) {
	from, to := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	sample := putBlob(t, from, "sample", 0)
	m := manifest("demo")
	low := finding("F-low", campaign.SeverityLow)
	low.First = 7
	rec := writeRun(t, from, m, 12, low, withBlob("F-high", sample))
	must(t, to.Import(from, rec.RunID))
	must(t, to.Import(from, rec.RunID)) // it is there
	must(t, from.Import(from, rec.RunID))
	if data, err := to.Blob(sample); err != nil || string(data) != "sample" {
		t.Errorf("the sample: %q, %v", data, err)
	}
	got, err := to.Record(rec.RunID)
	must(t, err)
	want, err := from.Record(rec.RunID)
	must(t, err)
	if a, b := marshal(t, got), marshal(t, want); a != b {
		t.Errorf("the record: %s\nwant %s", a, b)
	}
	for _, c := range []struct {
		contract, name string
		index          int64
		want           string
	}{{"fuzzspec", "demo", 7, "F-low"}, {"fuzzspec", "demo", 0, "F-high"}, {"fuzzspec", "demo", 1, ""}, {"other", "demo", 7, ""}, {"fuzzspec", "x", 7, ""}} {
		if id, err := to.FindingOfCase(rec.RunID, c.contract, c.name, c.index); err != nil || id != c.want {
			t.Errorf("the finding of case %d of %s %s: %q, %v; want %q", c.index, c.contract, c.name, id, err, c.want)
		}
	}
	if id, err := to.FindingOfCase("nothing", "fuzzspec", "demo", 7); id != "" || err != nil {
		t.Errorf("the finding of a run that is not there: %q, %v", id, err)
	}

	// Files of a run that is being written are left out, and the name of a half copy too.
	names, err := os.ReadDir(to.path(runsDir))
	must(t, err)
	if len(names) != 1 || names[0].Name() != rec.RunID {
		t.Errorf("the folder of runs: %v", names)
	}
	if _, err := os.Stat(to.runPath(rec.RunID, runLock)); err == nil {
		t.Error("a lock was copied")
	}

	must(t, os.WriteFile(to.runPath(rec.RunID, journalFile), []byte("other"), 0o600))
	err = to.Import(from, rec.RunID)
	if diag.ExitCode(err) != diag.ExitRefused || !strings.Contains(err.Error(), "with different outcomes") || diag.Hint(err) != "give each job its part with --shard I/N, or its own --seed" {
		t.Errorf("other outcomes: %v", err)
	}
	err = to.Import(from, "nothing")
	if diag.ExitCode(err) != diag.ExitEnvironment || !strings.HasPrefix(err.Error(), "read run nothing of the store ") {
		t.Errorf("no such run: %v", err)
	}
	w, err := from.Begin(manifest("live"))
	must(t, err)
	err = to.Import(from, w.RunID())
	if diag.ExitCode(err) != diag.ExitEnvironment || !strings.Contains(err.Error(), "is still being written") {
		t.Errorf("a live run: %v", err)
	}
	must(t, w.Close())
	must(t, os.Remove(blobFile(from, sample)))
	must(t, os.WriteFile(blobFile(from, sample), []byte("damaged"), 0o600))
	other := openStore(t, t.TempDir())
	if err := other.Import(from, rec.RunID); diag.ExitCode(err) != diag.ExitEnvironment || !strings.HasPrefix(err.Error(), "copy run ") {
		t.Errorf("a damaged blob: %v", err)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return string(data)
}

// What lists say of a run is what its journal says, and a damaged blob is named.
func TestCheckOutline(t *testing.T) {
	s := openStore(t, t.TempDir())
	sample := putBlob(t, s, "sample", 0)
	putBlob(t, s, "of another run", 0)
	rec := writeRun(t, s, manifest("demo"), 12, finding("F-low", campaign.SeverityLow), withBlob("F-high", sample))
	id := rec.RunID
	must(t, s.CheckOutline(id))
	_, err := s.Findings(FindingQuery{RunID: id})
	must(t, err)
	must(t, s.CheckOutline(id))
	path := s.runPath(id, outlineFile)
	whole, err := os.ReadFile(path)
	must(t, err)

	o, err := readOutline(openFile(t, path), &s.pack)
	must(t, err)
	h := *o.head
	h.Titles = slices.Clone(h.Titles)
	h.Titles[0] = "another title"
	lying := strings.Replace(string(whole), marshal(t, o.head), marshal(t, h), 1)
	for what, c := range map[string]struct{ data, want string }{
		"nothing":     {"", "damaged"},
		"a torn head": {string(whole[:len(outlineMagic)+20]), "damaged"},
		"no parts":    {string(whole[:int(o.at)]), "differs from the journal"},
		"a title":     {lying, "damaged"},
	} {
		must(t, os.WriteFile(path, []byte(c.data), 0o600))
		if err := s.CheckOutline(id); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "delete "+path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.Remove(path))
	must(t, s.CheckOutline(id))

	// One of another journal is made again, and so says nothing.
	must(t, os.WriteFile(path, whole, 0o600))
	j, err := os.OpenFile(s.runPath(id, journalFile), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = j.WriteString("more")
	must(t, err)
	must(t, j.Close())
	must(t, s.CheckOutline(id))

	if problems, err := s.Damaged(id); err != nil || len(problems) > 0 {
		t.Errorf("nothing is damaged: %v, %v", problems, err)
	}
	for _, text := range []string{"sample", "of another run"} {
		blob := blobFile(s, putBlob(t, s, text, 0))
		must(t, os.Chmod(blob, 0o600))
		must(t, os.WriteFile(blob, []byte("damaged"), 0o600))
	}
	if problems, err := s.Damaged(id); err != nil || len(problems) != 1 || !strings.HasPrefix(problems[0], "blob "+sample+" is damaged: ") {
		t.Errorf("the sample is damaged: %v, %v", problems, err)
	}
}

func openFile(t *testing.T, path string) *os.File {
	f, err := os.Open(filepath.Clean(path))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// A run that goes on lists what it met but has not confirmed, until that is settled, its
// campaign ends or its attempt does not count.
func TestWhatALiveRunMet(t *testing.T) {
	m := manifest("a")
	m.Identities = append(m.Identities, campaign.Identity{Contract: "fuzzspec", Name: "b", Digest: "d2"})
	p := partial{man: m, brief: true}
	met := func(k int, id, fingerprint string) {
		p.add(Entry{Kind: KindFinding, Campaign: k, Data: []byte(`{"provisional":{"id":"` + id + `","fingerprint":"` + fingerprint + `","case":4,"title":"t","kind":"crash","severity":"high"}}`)})
	}
	settled := func(k int, id, fingerprint string) {
		f := finding(id, campaign.SeverityHigh)
		f.Fingerprint, f.Campaign = fingerprint, m.Identities[k].Name
		p.add(Entry{Kind: KindFinding, Campaign: k, Data: []byte(`{"settled":` + marshal(t, f) + `}`)})
	}
	var got []string
	show := func() {
		line := ""
		for _, f := range p.met {
			line += f.ID + "/" + f.Campaign + "/" + f.Title + "/" + f.Severity.String() + " "
		}
		line += "|"
		for _, f := range p.findings {
			line += " " + f.ID
		}
		got = append(got, line)
	}
	met(0, "", "f1")
	met(0, "F-1", "f1")
	met(0, "F-2", "f2")
	met(1, "F-1b", "f1")
	show()
	settled(0, "F-2", "f2")
	met(0, "F-2", "f2")
	show()
	p.add(Entry{Kind: KindOutcome, Campaign: 0})
	show()
	p.add(Entry{Kind: KindOutcome, Campaign: 1})
	show()
	p.add(Entry{Kind: KindRedo, Campaign: 0})
	show()
	p.add(Entry{Kind: KindOutcome, Campaign: 2})
	show()
	want := []string{"f1/a/t/high F-2/a/t/high F-1b/b/t/high |", "f1/a/t/high F-1b/b/t/high | F-2", "f1/a/t/high F-1b/b/t/high | F-2", "F-1b/b/t/high | F-2", "|", "|"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p = partial{man: m}
	met(0, "F-1", "f1")
	if len(p.met)+len(p.findings) > 0 {
		t.Errorf("a whole record has what was only met: %v %v", p.met, p.findings)
	}
	// Cases that close a campaign count until it goes on.
	for kind, want := range map[Kind]campaign.Counts{KindClosing: {Run: 3, Pass: 3, Closing: 2}, KindOutcome: {Run: 2, Pass: 2}} {
		p = partial{man: m}
		for _, k := range []Kind{KindOutcome, KindClosing, kind} {
			p.add(Entry{Kind: k})
		}
		if got := p.record(false).Campaigns[0].Cases; got != want {
			t.Errorf("%v at the end: %+v, want %+v", kind, got, want)
		}
	}
}

func blobFile(s *Store, id string) string { return filepath.Join(s.root, blobsDir, id[:2], id+".zst") }
