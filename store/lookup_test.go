package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// aged is a manifest whose run is so many minutes younger than the others'.
func aged(name string, minutes int) Manifest {
	m := manifest(name)
	m.Created = m.Created.Add(time.Duration(minutes) * time.Minute)
	return m
}

func TestRecordByName(t *testing.T) {
	s := openStore(t, t.TempDir())
	if _, err := s.Record("latest"); err == nil || !strings.Contains(err.Error(), "has 0 runs") {
		t.Errorf("latest in an empty store: %v", err)
	}
	a1 := writeRun(t, s, aged("a", 1), 1).RunID
	b1 := writeRun(t, s, aged("b", 2), 1).RunID
	a2 := writeRun(t, s, aged("a", 3), 1).RunID
	for _, c := range []struct{ ref, want, err, hint string }{
		{ref: a1, want: a1},
		{ref: b1[:4], want: b1},
		{ref: "latest", want: a2},
		{ref: "latest~1", want: b1},
		{ref: "latest~2", want: a1},
		{ref: "latest~3", err: "there is no run latest~3", hint: ""},
		{ref: "latest~x", err: `there is no run "latest~x"`, hint: "there is " + a2},
		{ref: a1[:5], err: fmt.Sprintf("%q matches %s, %s", a1[:5], a2, a1), hint: "add characters"},
		{ref: a1[:9] + "-7", err: "there is no run", hint: "did you mean r"},
		{ref: "", err: `there is no run ""`},
	} {
		rec, err := s.Record(c.ref)
		if c.err == "" {
			if err != nil || rec.RunID != c.want {
				t.Errorf("%q: run %s, %v; want %s", c.ref, rec.RunID, err, c.want)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(diag.Hint(err), c.hint) || diag.ExitCode(err) != diag.ExitRefused {
			t.Errorf("%q: error %v, hint %q, exit code %d; want %q, %q", c.ref, err, diag.Hint(err), diag.ExitCode(err), c.err, c.hint)
		}
	}
}

func TestFindingByID(t *testing.T) {
	s := openStore(t, t.TempDir())
	old := writeRun(t, s, aged("a", 1), 1, finding("F-aaa1", 3), finding("F-bbb2", 2)).RunID
	young := writeRun(t, s, aged("a", 2), 1, finding("F-aaa1", 3), finding("F-aab3", 1)).RunID
	for _, c := range []struct{ ref, run, id, err string }{
		{ref: "F-aaa1", run: young, id: "F-aaa1"},
		{ref: "F-b", run: old, id: "F-bbb2"},
		{ref: old + "/F-aaa1", run: old, id: "F-aaa1"},
		{ref: "latest~1/F-a", run: old, id: "F-aaa1"},
		{ref: "F-aa", err: "matches F-aaa1, F-aab3"},
		{ref: old + "/F-aab3", err: "there is no finding"},
		{ref: "F-zzz", err: "there is no finding"},
		{ref: "", err: "there is no finding"},
		{ref: "nope/F-aaa1", err: `there is no run "nope"`},
	} {
		rec, f, err := s.Finding(c.ref)
		if c.err == "" {
			if err != nil || rec.RunID != c.run || f.ID != c.id {
				t.Errorf("%q: %s in %s, %v; want %s in %s", c.ref, f.ID, rec.RunID, err, c.id, c.run)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.err) || diag.ExitCode(err) != diag.ExitRefused {
			t.Errorf("%q: %v; want %q", c.ref, err, c.err)
		}
	}
}

func TestRuns(t *testing.T) {
	s := openStore(t, t.TempDir())
	var ids []string
	for i := range 12 { // of one minute, so that the number decides
		ids = append(ids, writeRun(t, s, manifest("same"), int64(i)).RunID)
	}
	slices.Reverse(ids)
	m := aged("50%_off", 5)
	m.Identities = append(m.Identities, campaign.Identity{Contract: "spectest", Name: "doc"}, campaign.Identity{Contract: "fuzzspec", Name: "third"})
	odd := writeRun(t, s, m, 4, finding("F-1", 4)).RunID
	ids = append([]string{odd}, ids...)

	for _, c := range []struct {
		name string
		q    RunQuery
		want []string
	}{
		{"all", RunQuery{}, ids},
		{"a page", RunQuery{Limit: 3, Offset: 2}, ids[2:5]},
		{"behind the end", RunQuery{Offset: 50}, nil},
		{"contract", RunQuery{Contract: "spectest"}, ids[:1]},
		{"verdict", RunQuery{Verdict: "fail"}, ids[:1]},
		{"both, none", RunQuery{Contract: "spectest", Verdict: "pass"}, nil},
		{"text of a name", RunQuery{Text: "0%_O"}, ids[:1]},
		{"text of a title", RunQuery{Text: "CRASH in"}, ids[:1]},
		{"text of the command", RunQuery{Text: "same.json", Limit: 1}, ids[1:2]},
		{"a sign that is not a wildcard", RunQuery{Text: "s_me"}, nil},
	} {
		runs, err := s.Runs(c.q)
		must(t, err)
		var got []string
		for _, r := range runs {
			got = append(got, r.RunID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	runs, err := s.Runs(RunQuery{Limit: 1})
	must(t, err)
	r := runs[0]
	if !slices.Equal(r.Contracts, []string{"fuzzspec", "spectest"}) || !slices.Equal(r.Campaigns, []string{"50%_off", "doc", "third"}) ||
		r.Cases.Run != 12 || r.Findings != 1 || r.Seconds != 2.5 || !r.Created.Equal(m.Created) || !slices.Equal(r.Command, m.Command) {
		t.Errorf("summary %+v", r)
	}
}
