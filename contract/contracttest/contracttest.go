// Package contracttest is the suite that every contract passes: the same digest for any number of
// workers, resume, replay, shrinking that keeps the cause, cancellation, every report format,
// faults reported with their place, and nothing vacuous. A contract's test calls [Run] with its own
// documents.
//
// It is a test suite, so it may look across layers.
package contracttest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// Fixture is the input of the suite for a contract.
type Fixture struct {
	Contract campaign.Contract
	// Spec is a document whose campaigns fail in some cases and pass in others, within seconds.
	Spec campaign.Spec
	// Findings is the number of its distinct findings.
	Findings int
	// UnknownKey is the document with an unknown key, which must be reported with its place.
	UnknownKey campaign.Spec
	Options    map[string][]string
}

// Run runs the suite.
func Run(t *testing.T, f Fixture) {
	t.Run("detect", f.detect)
	t.Run("faults are told with their place", f.faults)
	t.Run("options have distinct names and sound defaults", f.options)
	t.Run("formats have schemas and tables of keys", f.formats)
	t.Run("equal digests for any number of workers", f.workers)
	t.Run("interrupted and resumed", f.resume)
	t.Run("findings reproduce and stay what they are when small", f.findings)
	t.Run("nothing vacuous", f.vacuous)
	t.Run("starter", f.starter)
}

func (f Fixture) settings() campaign.Settings {
	options := make(map[string][]string)
	for k, v := range f.Options {
		options[k] = slices.Clone(v)
	}
	return campaign.Settings{Options: options, Read: os.ReadFile, List: listFiles, Digest: func(string) (string, error) { return "0", nil }}
}

// listFiles returns the names of the regular files in a folder.
func listFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (f Fixture) compile(t *testing.T) []campaign.Any {
	t.Helper()
	f.Spec.Name = cmp.Or(f.Spec.Name, f.Spec.Path)
	list, diags := f.Contract.Compile(t.Context(), f.Spec, f.settings())
	if diags.HasErrors() {
		t.Fatalf("compile: %v", diags)
	}
	if len(list) == 0 {
		t.Fatal("the document compiled to no campaign and no error")
	}
	return list
}

// session is one run in its own store.
type session struct {
	t     *testing.T
	f     Fixture
	dir   string
	store *store.Store
	runID string
}

func (f Fixture) session(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, f: f, dir: t.TempDir()}
	st, err := store.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s.store = st
	return s
}

func (s *session) run(ctx context.Context, opt run.Options) campaign.Record {
	s.t.Helper()
	job := run.Job{Campaigns: s.f.compile(s.t), Store: s.store}
	m := store.Manifest{Version: "test"}
	for _, c := range job.Campaigns {
		m.Identities = append(m.Identities, c.Identity())
		job.Sources = append(job.Sources, s.f.Spec.Path)
	}
	var err error
	if s.runID == "" {
		job.Writer, err = s.store.Begin(m)
	} else {
		job.Writer, job.Journal, err = s.store.Resume(s.runID)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.runID = job.Writer.RunID()
	if job.Journal != nil {
		defer job.Journal.Close()
	}
	opt.Reruns = max(opt.Reruns, 2)
	opt.Reproduce = []string{"thresh", "replay"}
	rec, err := run.Run(ctx, job, opt)
	if cerr := job.Writer.Close(); cerr != nil {
		s.t.Fatal(cerr)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

func (f Fixture) detect(t *testing.T) {
	if !f.Contract.Detect(f.Spec) {
		t.Error("the document is not detected")
	}
	if f.Contract.Detect(campaign.Spec{Path: f.Spec.Path, Data: []byte("neither this nor that\n")}) {
		t.Error("plain text is detected: detection goes by content, not by name")
	}
}

func (f Fixture) faults(t *testing.T) {
	list, diags := f.Contract.Compile(t.Context(), f.UnknownKey, f.settings())
	if len(diags) == 0 {
		t.Fatal("an unknown key passes in silence")
	}
	if diags.HasErrors() && list != nil {
		t.Error("campaigns were returned along with errors")
	}
	for _, d := range diags {
		if d.Code == "" || d.Message == "" || d.Pos.File != f.UnknownKey.Path || d.Pos.Line < 1 || d.Pos.Col < 1 {
			t.Errorf("diagnostic without code, message or place: %+v", d)
		}
	}
}

func (f Fixture) options(t *testing.T) {
	seen := make(map[string]bool)
	for _, o := range f.Contract.Options() {
		if seen[o.Name] || o.Name == "" || o.Usage == "" {
			t.Errorf("option %+v: twice, or without name or usage", o)
		}
		seen[o.Name] = true
		if len(o.Values) > 0 && !slices.Contains(o.Values, o.Default) {
			t.Errorf("option %s: default %q is not one of %q", o.Name, o.Default, o.Values)
		}
	}
}

func (f Fixture) formats(t *testing.T) {
	k, ok := f.Contract.(campaign.Formatted)
	if !ok {
		return
	}
	for _, format := range k.Formats() {
		if !json.Valid(format.Schema()) || !strings.Contains(format.Keys(), "\n|") {
			t.Errorf("format %s: schema %.40q, keys %.40q", format.Name, format.Schema(), format.Keys())
		}
	}
}

func (f Fixture) workers(t *testing.T) {
	alone, crew := f.session(t), f.session(t)
	one := alone.run(t.Context(), run.Options{Workers: 1, Shrink: 100})
	many := crew.run(t.Context(), run.Options{Workers: 7, Shrink: 100})
	if one.Verdict != "fail" || len(one.Findings) != f.Findings {
		for _, x := range one.Findings {
			t.Logf("found %s: %s %v (%d cases, first %d, flaky %t)", x.Kind, x.Title, x.Cause, x.Cases, x.First, x.Flaky)
		}
		t.Errorf("verdict %s with %d findings, want fail with %d", one.Verdict, len(one.Findings), f.Findings)
	}
	same(t, one, many)
	sameEvidence(t, alone, crew)
}

// sameEvidence compares the evidence of every case of a campaign that records all: each case that
// was not just skipped has some, and it is equal except for measurements.
func sameEvidence(t *testing.T, a, b *session) {
	t.Helper()
	x, y := a.kept(), b.kept()
	if len(x) != len(y) {
		t.Errorf("evidence of %d and of %d cases", len(x), len(y))
	}
	for at, text := range x {
		if y[at] != text {
			t.Errorf("case %d of campaign %d has other evidence in an equal run:\n%s\n%s", at[1], at[0], text, y[at])
		}
	}
}

// kept is the evidence of every case, by campaign and index.
func (s *session) kept() map[[2]int64]string {
	s.t.Helper()
	j, err := s.store.OpenJournal(s.runID)
	if err != nil {
		s.t.Fatal(err)
	}
	defer j.Close()
	all := make(map[[2]int64]string)
	for k, c := range s.f.compile(s.t) {
		if campaign.TraitsOf(c).Records != campaign.RecordAll {
			continue
		}
		for e := range run.Cases(j, k) {
			text := ""
			for _, x := range e.Outcome.Evidence {
				if x.Name != campaign.MeasuredAttachment {
					text += x.Name + " " + string(x.Data) + "\n"
				}
			}
			if text == "" && (e.Outcome.Verdict == campaign.VerdictPass || e.Outcome.Verdict == campaign.VerdictFail) {
				s.t.Errorf("nothing is kept of case %d, which came to %s", e.Case.Index, e.Outcome.Verdict)
			}
			all[[2]int64{int64(k), e.Case.Index}] = text
		}
	}
	return all
}

// same compares everything that equal runs have in common.
func same(t *testing.T, a, b campaign.Record) {
	t.Helper()
	a.Environment, b.Environment = campaign.Environment{}, campaign.Environment{}
	x, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(x, y) {
		return
	}
	lx, ly := strings.Split(string(x), "\n"), strings.Split(string(y), "\n")
	for i := range lx {
		if i >= len(ly) || lx[i] != ly[i] {
			t.Fatalf("equal runs differ at line %d:\n%s\n%s", i+1, lx[i], ly[min(i, len(ly)-1)])
		}
	}
	t.Fatal("equal runs differ in length")
}

func (f Fixture) resume(t *testing.T) {
	first := f.session(t)
	whole := first.run(t.Context(), run.Options{Workers: 2, Shrink: 100})
	total := int64(0)
	for _, c := range whole.Campaigns {
		total += c.Cases.Run
	}
	s := f.session(t)
	var rec campaign.Record
	for part := int64(1); part <= 20; part++ {
		ctx, cancel := context.WithCancel(t.Context())
		var failing atomic.Int64
		opt := run.Options{Workers: 2, Shrink: 100}
		if part < 4 {
			// Interrupted at a later case each time, while others are in flight.
			opt.Executed = func(n int64) {
				if failing.Add(1); n >= max(1, total*part/8) {
					cancel()
				}
			}
		}
		rec = s.run(ctx, opt)
		cancel()
		if rec.Complete {
			break
		}
		if rec.Stopped != run.StoppedInterrupted {
			t.Fatalf("stopped: %q, want interrupted", rec.Stopped)
		}
	}
	if !rec.Complete {
		t.Fatal("the run did not come to its end")
	}
	same(t, whole, rec)
	sameEvidence(t, first, s)
}

func (f Fixture) findings(t *testing.T) {
	s := f.session(t)
	rec := s.run(t.Context(), run.Options{Workers: 2, Shrink: 200})
	camps := f.compile(t)
	for _, x := range rec.Findings {
		i := slices.IndexFunc(camps, func(c campaign.Any) bool { return c.Identity().Name == x.Campaign })
		if i < 0 {
			t.Fatalf("finding %s is of no campaign", x.ID)
		}
		if x.Flaky {
			t.Errorf("%s %q is flaky: %+v", x.ID, x.Title, x.Rerun)
			continue
		}
		if len(x.Samples) == 0 || x.Samples[0].Case.Index != x.First {
			t.Errorf("%s: samples do not begin with the first case", x.ID)
		}
		if m := x.Minimized; m != nil && (!m.Verified || m.Size > m.From) {
			t.Errorf("%s: minimized %d -> %d, verified %t", x.ID, m.From, m.Size, m.Verified)
		}
		s.replay(camps[i], x)
	}
	for _, format := range report.Formats() {
		var first, second bytes.Buffer
		if err := format.Write(&first, rec, report.Options{Blob: s.store.Blob}); err != nil {
			t.Errorf("report %s: %v", format.Name, err)
		}
		stored, err := s.store.Record(s.runID)
		if err != nil {
			t.Fatal(err)
		}
		if err := format.Write(&second, stored, report.Options{Blob: s.store.Blob}); err != nil {
			t.Errorf("report %s: %v", format.Name, err)
		}
		empty := first.Len() == 0 && format.Name != "hits" && format.Name != "attempts" // those list only cases
		if empty || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("report %s of the stored record differs from that of the run", format.Name)
		}
	}
}

// replay runs the smallest reproducer of a finding as a user would.
func (s *session) replay(c campaign.Any, x campaign.Finding) {
	s.t.Helper()
	at := x.Samples[0].Case
	blob := x.Samples[0].Blob
	if x.Minimized != nil {
		blob = x.Minimized.Blob
	}
	if blob != "" {
		data, err := s.store.Blob(blob)
		if err != nil {
			s.t.Fatal(err)
		}
		at.Payload = append([]byte{}, data...)
	}
	j, err := s.store.OpenJournal(s.runID)
	if err != nil {
		s.t.Fatal(err)
	}
	defer j.Close()
	state, err := run.FirstState(c, 0, j)
	if err != nil {
		s.t.Fatal(err)
	}
	exec, err := campaign.Solo(s.t.Context(), c, campaign.Lane{Of: 1, Cold: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer exec.Close()
	o, err := exec.Execute(s.t.Context(), state, at)
	if err != nil {
		s.t.Fatal(err)
	}
	if !triage.Shows(x.Contract, x.Fingerprint, &o) {
		s.t.Errorf("%s %q does not reproduce: %s %q", x.ID, x.Title, o.Verdict, o.Title)
	}
}

func (f Fixture) vacuous(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := f.session(t).run(ctx, run.Options{Workers: 1})
	if rec.Verdict == "pass" || rec.Complete {
		t.Errorf("a run of no case has verdict %s, complete %t", rec.Verdict, rec.Complete)
	}
}

func (f Fixture) starter(t *testing.T) {
	dir := t.TempDir()
	files := f.Contract.Starter(dir)
	if len(files) == 0 {
		t.Fatal("there is no starter")
	}
	for _, x := range files {
		mode := os.FileMode(0o644)
		if x.Exec {
			mode = 0o755
		}
		name := filepath.Join(dir, filepath.FromSlash(x.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, x.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
	spec := campaign.Spec{Path: filepath.Join(dir, files[0].Name), Data: files[0].Data}
	if !f.Contract.Detect(spec) {
		t.Error("the starter is not detected")
	}
	if _, diags := f.Contract.Compile(t.Context(), spec, f.settings()); len(diags) > 0 {
		t.Errorf("the starter gives rise to diagnostics: %v", diags)
	}
}
