package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	st, err := store.Open(dir)
	must(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

// rich is a record with every kind of exhibit, in several languages: the one
// that the reports' own golden files are of.
func rich(t testing.TB) campaign.Record {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "report", "testdata", "rich.json.golden"))
	must(t, err)
	var rec campaign.Record
	must(t, json.Unmarshal(data, &rec))
	return rec
}

// hostile is what a target could say to hurt whoever reads it.
const hostile = "</script><img src=x onerror=\"window.struck=1\"><svg onload=window.struck=2>\u202egnp.exe\u200b{{.}}${1}"

// poisoned is a record in which a target has its say wherever it can.
func poisoned(t testing.TB) campaign.Record {
	rec := rich(t)
	rec.Warnings = append(rec.Warnings, hostile)
	for i := range rec.Findings {
		f := &rec.Findings[i]
		f.Title, f.Kind, f.Signature, f.Cause = hostile+f.Title, hostile, hostile, []string{hostile}
		for j := range f.Evidence {
			poison(&f.Evidence[j])
		}
	}
	for i := range rec.Campaigns {
		for j := range rec.Campaigns[i].Exhibits {
			poison(&rec.Campaigns[i].Exhibits[j])
		}
	}
	return rec
}

func poison(e *campaign.Exhibit) {
	e.Title += hostile
	switch {
	case e.Text != nil:
		e.Text.Body = hostile + e.Text.Body
	case e.Table != nil:
		e.Table.Rows[0][0] = hostile
	case e.Matrix != nil:
		e.Matrix.Rows[0], e.Matrix.Cells[0][0].Note = hostile, hostile
	case e.Diff != nil:
		e.Diff.Segments[0].Text = hostile
	case e.Timeline != nil:
		e.Timeline.Spans[0].Label, e.Timeline.Spans[0].Note = hostile, hostile
	case e.Graph != nil:
		e.Graph.Nodes[0].Label = hostile
	case e.Document != nil:
		e.Document.Body = "# " + hostile + "\n\n[a](javascript:window.struck=3) ![b](http://elsewhere.example/x.png) <img src=http://elsewhere.example/y.png>\n\n" + e.Document.Body
		e.Document.Blocks = nil
	}
}

// keep stores a record as a run that began so many minutes ago, and returns its
// name.
func keep(t testing.TB, st *store.Store, rec campaign.Record, ago int, status string) string {
	t.Helper()
	m := store.Manifest{Created: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC).Add(-time.Duration(ago) * time.Minute), Command: rec.Environment.Command, Version: "test"}
	for _, c := range rec.Campaigns {
		m.Identities = append(m.Identities, campaign.Identity{Contract: c.Contract, Name: c.Name, Digest: c.Identity})
	}
	w, err := st.Begin(m)
	must(t, err)
	rec.RunID, rec.Environment.Started = w.RunID(), m.Created
	for i := range rec.Findings {
		f := &rec.Findings[i]
		if f.Minimized != nil {
			f.Minimized.Blob, err = st.PutBlob(f.Minimized.Preview)
			must(t, err)
		}
		for j := range f.Samples {
			f.Samples[j].Blob, err = st.PutBlob(fmt.Appendf(nil, "input %d of %s", j, f.ID))
			must(t, err)
		}
	}
	must(t, w.Finish(rec, status, 0))
	must(t, w.Close())
	return rec.RunID
}

// history is several runs of the rich record's campaigns: findings come and
// go, and the score moves.
func history(t testing.TB, st *store.Store) (ids []string) {
	t.Helper()
	for i := range 9 {
		rec := rich(t)
		score := 0.62 + 0.04*float64(i%5)
		rec.Campaigns[1].Score = &score
		rec.Complete, rec.Stopped = true, ""
		switch {
		case i == 4:
			rec.Verdict, rec.Findings = "pass", rec.Findings[:0]
			for k := range rec.Campaigns {
				c := &rec.Campaigns[k].Cases
				c.Pass, c.Fail, c.Error = c.Run, 0, 0
			}
		case i%3 == 1:
			rec.Findings = rec.Findings[:2]
		}
		ids = append(ids, keep(t, st, rec, 1000-100*i, "done"))
	}
	return append(ids, keep(t, st, rich(t), 5, "interrupted"))
}

// uses answers for what pages ask of the program.
type uses struct {
	promoted chan string
	st       *store.Store
}

func (u uses) Since(run string) (*report.Since, error) { return app.New().SinceStored(u.st, run) }

func (u uses) Compare(a, b string) (store.Comparison, error) {
	return app.New().Compare(u.st, a, b, true)
}

func (u uses) Promote(_ context.Context, run, finding string) ([]string, error) {
	if finding == "F-c0ffee00" {
		return nil, diag.Refused("%s is not a test", finding)
	}
	u.promoted <- run + "/" + finding
	return []string{"regressions/" + finding + "/spec.json"}, nil
}

// Cases are those of one case.
func (uses) Cases(rec campaign.Record, format string) report.Cases {
	if format != "jsonl" {
		return nil
	}
	return func(yield func(report.Case, error) bool) {
		yield(report.Case{Index: 7, Name: "the case " + rec.RunID}, nil)
	}
}

func (uses) PromoteCommand(run string, f *campaign.Finding) []string {
	if f.Kind == campaign.KindNondeterminism {
		return nil
	}
	return []string{"thresh", "promote", run + "/" + f.ID}
}

// KeptCase is what the store has, and of case 12 evidence in words to beware of.
func (u uses) KeptCase(run, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error) {
	_, o, err := u.st.CaseOf(run, contract, name, index)
	if err != nil || index != 12 {
		return o, nil, err
	}
	return o, []campaign.Exhibit{campaign.TextExhibit("Reply", "kept <b>as text</b>")}, nil
}

// FindingID is what the case's signature says.
func (uses) FindingID(_, _ string, o *campaign.Outcome) string { return o.Signature }

// Shows agrees with FindingID.
func (uses) Shows(f *campaign.Finding, o *campaign.Outcome) bool { return o.Signature == f.ID }

func (uses) KnownEntry(f *campaign.Finding) string { return app.KnownEntry(f) }

// RunCase shows what was asked for, in words to beware of. What crashed crashes again.
func (uses) RunCase(_ context.Context, run, contract, name string, index int64) (campaign.Outcome, []campaign.Exhibit, error) {
	var o campaign.Outcome
	if contract == "fuzzspec" {
		o = campaign.Outcome{Verdict: campaign.VerdictFail, Signature: "F-1a2b3c4d"}
	}
	return o, []campaign.Exhibit{campaign.TextExhibit("Reply", fmt.Sprintf("%s %s %s %d %s", run, contract, name, index, hostile))}, nil
}

func (uses) ReplayCommand(run string, index int64) []string {
	return []string{"thresh", "replay", fmt.Sprintf("%s#%d", run, index)}
}
func (uses) ResumeCommand(run string) []string { return []string{"thresh", "run", "--resume", run} }

// someFleet is a run and two workers, one of them with a name to beware of.
func someFleet(run string) func() []web.Member {
	return func() []web.Member {
		return []web.Member{
			{Role: "worker", ID: "w-2", Host: hostile, Labels: []string{hostile}, Lanes: 4, Busy: 1, Cases: 120, Rate: 12.5, Leases: 3},
			{Role: "coordinator", ID: run, Host: "desk", Cases: 2120, Rate: 512.5, Leases: 19, InFlight: 8, Retries: 3, Stolen: 1},
			{Role: "worker", ID: "w-1", Host: "builder", Runs: []string{run}, Labels: []string{"gpu"}, Lanes: 4, Busy: 4, Cases: 2000, Rate: 500, Leases: 16},
		}
	}
}

// serve serves a store on a port of its own until the test is over, and
// returns the address without a slash at its end.
func serve(t testing.TB, st *store.Store, change ...func(*web.Config)) (string, uses) {
	t.Helper()
	u := uses{make(chan string, 8), st}
	cfg := web.Config{Store: st, Use: u, Version: "test", Contract: []string{"fuzzspec", "flakestorm", "fresnelfir", "spectest", "operator"}}
	for _, f := range change {
		f(&cfg)
	}
	s, err := web.New(cfg)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	return "http://" + l.Addr().String(), u
}

// answer is what a server said.
type answer struct {
	code   int
	header http.Header
	body   string
}

// post sends a form as a page of the server does, and follows no redirect.
func post(t testing.TB, address string, form url.Values) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	must(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+r.URL.Host)
	return send(t, r)
}

// sendForm sends a form with headers.
func sendForm(t testing.TB, address string, form url.Values, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return send(t, r)
}

// ask asks once, and follows no redirect.
func ask(t testing.TB, method, url string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	return send(t, r)
}

func send(t testing.TB, r *http.Request) answer {
	t.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(r)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return answer{res.StatusCode, res.Header, string(body)}
}
