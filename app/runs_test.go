package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
)

// said is an error with its hint and the exit code that it leads to.
func said(err error) string {
	if err == nil {
		return "done"
	}
	text := fmt.Sprintf("%d %s", diag.ExitCode(err), err)
	if hint := diag.Hint(err); hint != "" {
		text += " (" + hint + ")"
	}
	return text
}

// A run that stopped goes on to the digest of one that did not, and what cannot go on says why.
func TestStoppedRunsGoOn(t *testing.T) {
	dir, a, st := office(t)
	page := filepath.Join(dir, "page.spec.md")
	whole, err := a.Run(t.Context(), Job{Paths: []string{page}, Store: filepath.Join(dir, "whole")})
	if err != nil || whole.Campaigns[0].Cases.Run != 3 {
		t.Fatal(err, whole)
	}
	begun := ""
	job := Job{Paths: []string{page}, Store: st.Dir(), Workers: 1, FailFast: true, Begun: func(_ context.Context, b Begun) error { begun = b.RunID; return nil }}
	half, err := a.Run(t.Context(), job)
	if err != nil || half.Campaigns[0].Cases.Run != 2 || half.Complete || half.RunID != begun {
		t.Fatal(err, half, begun)
	}
	rec, err := New().Resume(t.Context(), half.RunID, Job{Store: st.Dir()})
	if err != nil || rec.RunID != half.RunID || rec.Digest != whole.Digest || !rec.Complete || len(rec.Findings) != 2 {
		t.Fatal(err, rec)
	}
	for _, x := range []struct {
		ref  string
		app  *App
		want string
	}{
		{"nothing", a, "no run"},
		{rec.RunID, New(), "done"},
	} {
		if _, err := x.app.Resume(t.Context(), x.ref, Job{Store: st.Dir()}); !strings.Contains(said(err), x.want) {
			t.Errorf("%s: %s", x.ref, said(err))
		}
	}

	// Of another version, in another folder, or of a format that is not there.
	job.Begun = nil
	half, err = a.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	other := New()
	for i, c := range other.Contracts {
		if c.Name() == "spectest" {
			other.Contracts[i] = otherwise{c}
		}
	}
	if _, err := other.Resume(t.Context(), half.RunID, Job{Store: st.Dir()}); !strings.Contains(said(err), "2 run "+half.RunID+" was started by a version that plans cases differently; start a new run") {
		t.Error(said(err))
	}
	other.Contracts = other.Contracts[:1]
	if _, err := other.Resume(t.Context(), half.RunID, Job{Store: st.Dir()}); !strings.Contains(said(err), "is of format spectest, which this version does not know") {
		t.Error(said(err))
	}
	// Refused, it can still go on.
	if rec, err = New().Resume(t.Context(), half.RunID, Job{Store: st.Dir()}); err != nil || rec.Digest != whole.Digest {
		t.Error(err, rec)
	}

	job.Begun = func(context.Context, Begun) error { return errors.New("no terminal") }
	if _, err := a.Run(t.Context(), job); said(err) == "done" || !strings.Contains(said(err), "no terminal") {
		t.Error(said(err))
	}
	if _, err := a.Run(t.Context(), Job{}); said(err) != "2 nothing to run: give the path of a document" {
		t.Error(said(err))
	}
	if _, err := a.Run(t.Context(), Job{Paths: []string{page}, Store: st.Dir(), Options: map[string][]string{"zzz": {"1"}}}); !strings.Contains(said(err), `there is no option "zzz"`) {
		t.Error(said(err))
	}
}

// otherwise plans the cases of documents in another way.
type otherwise struct{ campaign.Contract }

func (o otherwise) Compile(ctx context.Context, spec campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	all, list := o.Contract.Compile(ctx, spec, set)
	for i, x := range all {
		id := x.Identity()
		id.Digest += "0"
		all[i] = renamed{x, id}
	}
	return all, list
}

// An empty folder is an error, or a warning if it was asked for.
func TestEmptyFolders(t *testing.T) {
	dir, a, st := office(t)
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	var warned diag.List
	a.Warn = func(list diag.List) { warned = append(warned, list...) }
	job := Job{Paths: []string{empty, filepath.Join(dir, "page.spec.md"), filepath.Join(dir, "none.md")}, Store: st.Dir(), AllowEmpty: true}
	_, err := a.Run(t.Context(), job)
	var list diag.List
	if !errors.As(err, &list) || len(list) != 1 || list[0].Pos.File != job.Paths[2] || len(warned) != 1 || warned[0].Level != diag.Warning || warned[0].Pos.File != empty {
		t.Error(err, warned)
	}
	job.Paths, job.AllowEmpty = job.Paths[:1], false
	if _, err := a.Run(t.Context(), job); !errors.As(err, &list) || len(list) != 1 || !strings.Contains(list[0].Message, "the folder holds no document") {
		t.Error(err)
	}
	job.AllowEmpty = true
	if rec, err := a.Run(t.Context(), job); err != nil || rec.Verdict != "pass" {
		t.Error(err, rec.Verdict)
	}
}

// What is read of a run that was stored: its cases, their outcomes, the state after them, what
// it was compiled of, and what it has to do with earlier ones.
func TestStoredRuns(t *testing.T) {
	dir, a, st := office(t)
	page := filepath.Join(dir, "page.spec.md")
	rec, err := a.Run(t.Context(), Job{Paths: []string{page}, Store: st.Dir(), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.OpenStored(st.Dir(), "r00000000-1"); err == nil {
		t.Error("a run of nobody is opened")
	}
	if _, err := a.OpenStored(filepath.Join(dir, "nowhere"), rec.RunID); err == nil {
		t.Error("a store that is not there is opened")
	}
	s, err := a.OpenStored(st.Dir(), rec.RunID)
	if err != nil {
		t.Fatal(err)
	}
	camps, err := s.Campaigns(t.Context())
	if err != nil || len(camps) != 1 {
		t.Fatal(camps, err)
	}
	var outcomes, cases []string
	for c := range s.Outcomes(0) {
		outcomes = append(outcomes, fmt.Sprint(c.Case.Index, c.Outcome.Verdict))
		if since := c.At.Sub(rec.Environment.Started); since < -time.Minute || since > time.Hour {
			t.Error(c.At)
		}
	}
	for c := range s.Cases(0) {
		if cases = append(cases, fmt.Sprint(c.Case.Index, c.Outcome.Verdict)); len(cases) == 2 {
			break
		}
	}
	if fmt.Sprint(outcomes, cases) != "[0 pass 1 fail 2 fail] [0 pass 1 fail]" {
		t.Error(outcomes, cases)
	}
	state, err := s.State(camps[0], 0)
	if _, more := camps[0].Round(state); more || err != nil {
		t.Error("the state is not that after the run:", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	// An earlier run of the same cases is gone on with, unless something changed.
	b := NewBundle()
	docs, _, err := a.Documents([]string{page}, campaign.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compile(t.Context(), docs, b.Fill(campaign.Settings{Options: map[string][]string{}}))
	if err != nil {
		t.Fatal(err)
	}
	any, none := func(map[string][]string) bool { return true }, func(map[string][]string) bool { return false }
	earlier := func(c campaign.Any, b *Bundle, passes func(map[string][]string) bool) string {
		id, changed, err := a.Earlier(st.Dir(), docs[0], c, b, passes)
		return fmt.Sprintf("%q %q %v", id, changed, err)
	}
	if got, want := earlier(c.Campaigns[0], b, any), fmt.Sprintf("%q %q <nil>", rec.RunID, ""); got != want {
		t.Error(got)
	}
	if got := earlier(c.Campaigns[0], b, none); got != `"" "" <nil>` {
		t.Error(got)
	}
	id := c.Campaigns[0].Identity()
	id.Digest += "0"
	if got := earlier(renamed{c.Campaigns[0], id}, b, any); got != `"" "" <nil>` {
		t.Error(got)
	}
	j, err := st.OpenJournal(rec.RunID)
	if err != nil {
		t.Fatal(err)
	}
	m := j.Manifest()
	j.Close()
	m.Files, m.Digests = map[string]string{"a": "0", "b": "1"}, map[string]string{"p": "2", "q": "3"}
	for _, x := range []struct{ files, digests, want string }{
		{"c", "r", ""}, {"b", "r", "b"}, {"b a", "p", "a"}, {"c", "q p", "p"}, {"", "q", "q"},
	} {
		b := NewBundle()
		for _, f := range strings.Fields(x.files) {
			b.files[f] = []byte("x")
		}
		for _, f := range strings.Fields(x.digests) {
			b.digests[f] = "x"
		}
		if got := b.Changed(m); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
	m.Digests["p"] = "x"
	b = NewBundle()
	b.digests["p"] = "x"
	if got := b.Changed(m); got != "" {
		t.Error(got)
	}

	// The documents are run as they were compiled, as a new run and as one that goes on.
	c.Sources = []string{page}
	set := NewBundle().Fill(campaign.Settings{Options: map[string][]string{}})
	again, err := a.RunCompiled(t.Context(), c, b, set, "", Job{Store: st.Dir(), Cases: 1})
	if err != nil || again.RunID == rec.RunID || again.Campaigns[0].Cases.Run != 1 {
		t.Fatal(err, again)
	}
	again2, err := a.RunCompiled(t.Context(), c, b, set, again.RunID, Job{Store: st.Dir()})
	if err != nil || again2.RunID != again.RunID || again2.Digest != rec.Digest {
		t.Error(err, again2)
	}
	since, err := a.SinceStored(st, again.RunID)
	if err != nil || since.Nearest != rec.RunID || since.Why != "run "+rec.RunID+" had no --cases" {
		t.Errorf("%+v %v", since, err)
	}
	if _, err := a.SinceStored(st, "r00000000-1"); err == nil {
		t.Error("a run of nobody is compared")
	}
	if _, err := a.Baseline(filepath.Join(dir, "nowhere"), "x"); !strings.Contains(said(err), "2 x is neither a file nor a run: ") || !strings.Contains(said(err), "(a baseline is a stored run, or the file of a report of format json)") {
		t.Error(said(err))
	}

	// Each case by itself.
	camp := rec.Campaigns[0]
	o, shown, err := a.KeptCase(st, rec.RunID, camp.Contract, camp.Name, 1)
	if err != nil || o.Verdict != campaign.VerdictFail || FindingID(camp.Contract, camp.Name, &o) != rec.Findings[0].ID || !Shows(&rec.Findings[0], &o) || Shows(&rec.Findings[1], &o) {
		t.Error(err, o, shown)
	}
	for _, wrong := range [][2]string{{rec.RunID, "other"}, {"r00000000-1", camp.Name}} {
		if _, _, err := a.KeptCase(st, wrong[0], camp.Contract, wrong[1], 1); err == nil {
			t.Error(wrong, "is there")
		}
		if _, _, err := a.RunCase(t.Context(), st, wrong[0], camp.Contract, wrong[1], 1, ""); err == nil {
			t.Error(wrong, "is run")
		}
	}
	for what, want := range map[string]string{
		rec.RunID: "2 spectest cases cannot be written out as files", "r00000000-1": "no run", rec.Findings[1].ID: "cannot be written out", "F-0000000000": "no finding",
	} {
		if _, err := a.Materialize(t.Context(), st, what, 0); !strings.Contains(said(err), want) {
			t.Errorf("%s: %s", what, said(err))
		}
	}
	if _, err := a.Materialize(t.Context(), st, rec.Findings[1].ID, 1); said(err) != "2 a finding's files are those of its first case, 2; for case 1 name the run, "+again.RunID {
		t.Error(said(err))
	}
	if _, err := a.Promote(t.Context(), st, rec.Findings[0].ID, dir); !strings.Contains(said(err), "2 ") {
		t.Error(said(err))
	}
	for part, want := range map[string]string{"minimized": "2 finding ID has no minimized input (thresh shrink ID)", "input": "2 finding ID keeps no input", "all": `2 the part of a finding must be minimized or input, got "all"`} {
		if _, err := a.Raw(st, rec.Findings[0].ID, part); strings.ReplaceAll(said(err), rec.Findings[0].ID, "ID") != want {
			t.Errorf("%s: %s", part, said(err))
		}
	}
	var lines []string
	for _, format := range []string{"jsonl", "junit", "attempts", "text"} {
		cases := New().Cases(st, rec, format)
		if cases == nil {
			lines = append(lines, format+" lists none")
			continue
		}
		for c, err := range cases {
			if lines = append(lines, fmt.Sprint(format, " ", c.Index, c.Name, c.Verdict, c.Title != "", len(c.Evidence) > 0, err)); c.Index == 1 {
				break
			}
		}
	}
	if got := strings.Join(lines, ", "); got != "jsonl 0HELD_1pass false false <nil>, jsonl 1MISSED_1fail true false <nil>, junit 0HELD_1pass false false <nil>, junit 1MISSED_1fail true false <nil>, attempts lists none, text lists none" {
		t.Error(got)
	}
}

// A case that killed a run is tried by itself in a process of its own.
func TestTrialsOfCases(t *testing.T) {
	dir, a, st := office(t)
	rec, err := a.Run(t.Context(), Job{Paths: []string{filepath.Join(dir, "page.spec.md")}, Store: st.Dir(), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		k     int
		index int64
		input string
		want  string
	}{
		{0, 1, "", "done"}, {0, -1, "", "done"}, {1, 0, "", "2 run " + rec.RunID + " has no campaign 1"}, {-1, 0, "", "2 run " + rec.RunID + " has no campaign -1"},
		{0, 7, "", "2 "}, {0, 1, "sha256-none", "reading the input of case 1"},
	} {
		if err := a.Try(t.Context(), st, rec.RunID, x.k, x.index, x.input); !strings.Contains(said(err), x.want) {
			t.Errorf("%+v: %s", x, said(err))
		}
	}
	if err := a.Try(t.Context(), st, "r00000000-1", 0, 0, ""); err == nil {
		t.Error("a run of nobody is tried")
	}

	var called []string
	script := "exit 3"
	self := func(args ...string) *exec.Cmd {
		called = append(called, strings.Join(args, " "))
		return exec.Command("sh", "-c", script)
	}
	try := trial(self)
	for _, x := range []struct {
		script string
		t      run.Trial
		killed bool
		args   string
	}{
		{"exit 0", run.Trial{Case: campaign.Case{Index: 4}}, false, "--campaign 0 --case 4 RUN"},
		{"exit 3", run.Trial{Campaign: 2, Start: true}, false, "--campaign 2 RUN"},
		{"kill -9 $$", run.Trial{Case: campaign.Case{Index: 5, Payload: []byte("x")}}, true, "--campaign 0 --case 5 --input BLOB RUN"},
		{"test $" + trialVariable + " = 1 && kill -9 $$", run.Trial{}, true, "--campaign 0 --case 0 RUN"},
	} {
		script, called, x.t.Store, x.t.RunID = x.script, nil, st, rec.RunID
		killed, err := try(t.Context(), x.t)
		args := strings.ReplaceAll(strings.Join(called, ""), rec.RunID, "RUN")
		if at := strings.Index(args, "--input "); at > 0 {
			blob := strings.Fields(args[at:])[1]
			if data, err := st.Blob(blob); string(data) != "x" || err != nil {
				t.Errorf("%s: %q %v", blob, data, err)
			}
			args = strings.Replace(args, blob, "BLOB", 1)
		}
		if want := TryVerb + " --store " + st.Dir() + " " + x.args; killed != x.killed || err != nil || args != want {
			t.Errorf("%s: %v %v %s, want %s", x.script, killed, err, args, want)
		}
	}
	script = "sleep 60"
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if killed, err := try(ctx, run.Trial{Store: st, RunID: rec.RunID}); killed || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(killed, err)
	}
	t.Setenv(trialVariable, "1")
	if trial(self) != nil || trial(nil) != nil {
		t.Error("a trial tries cases in further processes")
	}
}

// A run with workers elsewhere ends as one without.
func TestRunsOfAFleet(t *testing.T) {
	dir, a, st := office(t)
	page := filepath.Join(dir, "page.spec.md")
	alone, err := a.Run(t.Context(), Job{Paths: []string{page}, Store: filepath.Join(dir, "alone")})
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	if err := MakeKeys(key); err != nil {
		t.Fatal(err)
	}
	if err := MakeKeys(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	// Workers begin once the run says how; one of them trusts another key alone.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var notes []string
	ends := make(chan error, 2)
	a.Note = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, line)
		if words := strings.Fields(line); words[0] == "workers:" {
			for _, trust := range []string{key, filepath.Join(dir, "other")} {
				w := New()
				w.Getenv = func(string) string { return words[6] }
				go func() {
					ends <- w.Work(ctx, ctx, WorkerJob{FleetAccess: FleetAccess{URL: words[4]}, Lanes: 2, Trust: trust + ".pub", Labels: []string{"quick"}})
				}()
			}
		}
	}
	var watch *FleetWatcher
	job := Job{Paths: []string{page}, Store: st.Dir(), Fleet: &FleetJob{FleetAccess: FleetAccess{URL: "embedded:127.0.0.1:0"}, Sign: key, Require: []string{"quick"}, Patience: time.Minute}}
	job.Begun = func(_ context.Context, b Begun) (err error) {
		watch, err = b.Watch()
		return err
	}
	rec, err := a.Run(t.Context(), job)
	if err != nil || !rec.Complete || rec.Digest != alone.Digest || rec.Environment.Workers != 64 {
		t.Fatal(err, rec)
	}
	watch.Close()
	stop()
	for range 2 {
		if err := <-ends; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	words := strings.Fields(notes[0])
	if got := strings.Join(words[:4], " ") + " " + strings.Join(words[7:], " "); got != "workers: thresh worker --fleet --trust "+key+".pub" || !strings.HasPrefix(words[4], "nats://127.0.0.1:") {
		t.Error(got)
	}

	none := filepath.Join(dir, "none")
	for want, f := range map[string]FleetJob{
		"none":                      {Sign: none},
		"none/":                     {Keys: none},
		"a token needs at least 16": {FleetAccess: FleetAccess{URL: "nats://127.0.0.1:1", Token: "short"}},
		"3 reach the fleet's server at nats://127.0.0.1:1": {FleetAccess: FleetAccess{URL: "nats://127.0.0.1:1", Token: "a token of the fleet"}},
	} {
		job.Fleet = &f
		if _, err := a.Run(t.Context(), job); !strings.Contains(said(err), want) {
			t.Errorf("%s: %s", want, said(err))
		}
		w := WorkerJob{FleetAccess: f.FleetAccess, Trust: f.Sign, Keys: f.Keys}
		if strings.HasPrefix(want, "3 reach") {
			continue // a worker waits
		}
		if err := a.Work(t.Context(), t.Context(), w); !strings.Contains(said(err), want) {
			t.Errorf("%s: %s", want, said(err))
		}
	}
	if _, _, err := a.WatchFleet(t.Context(), FleetAccess{URL: "nats://127.0.0.1:1"}, "watcher"); !strings.Contains(said(err), "reach the fleet's server") {
		t.Error(said(err))
	}
}
