package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/store"
)

// begin begins a run of two campaigns, which goes on until its writer is
// closed.
func begin(t testing.TB, st *store.Store) *store.Writer {
	t.Helper()
	w, err := st.Begin(store.Manifest{
		Created: time.Now(), Command: []string{"thresh", "run", "a.json", "b.json"}, Version: "test",
		Identities: []campaign.Identity{{Contract: "fuzzspec", Name: "first", Digest: "d1"}, {Contract: "spectest", Name: "둘째", Digest: "d2"}},
	})
	must(t, err)
	return w
}

// cases appends outcomes and how far the run is then.
func cases(t testing.TB, w *store.Writer, from, to int64) {
	t.Helper()
	for i := from; i < to; i++ {
		e := store.Entry{Kind: store.KindOutcome, Case: campaign.Case{Index: i}}
		if i%10 == 0 {
			e.Outcome = campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Title: "it fell"}
		}
		must(t, w.Append(e))
	}
	data, err := json.Marshal(store.Progress{
		ProgressPoint: campaign.ProgressPoint{Seconds: 1, Cases: to, Findings: 3}, Phase: "running", Campaign: "first", Index: 1, Of: 2,
		Done: to, Planned: 1000, Workers: 4, Rate: 123,
	})
	must(t, err)
	must(t, w.Append(store.Entry{Kind: store.KindProgress, Data: data, At: time.Duration(to) * 20 * time.Millisecond}))
	must(t, w.Sync())
}

func settle(t testing.TB, w *store.Writer, f campaign.Finding) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"settled": f})
	must(t, err)
	must(t, w.Append(store.Entry{Kind: store.KindFinding, Data: data}))
	must(t, w.Sync())
}

// meet has a run meet a finding that it has not confirmed.
func meet(t testing.TB, w *store.Writer, f campaign.Finding) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"provisional": map[string]any{
		"id": f.ID, "fingerprint": f.Fingerprint, "case": 7, "title": f.Title, "kind": f.Kind, "severity": f.Severity,
		"evidence": map[string]string{"stderr": "0123"},
	}})
	must(t, err)
	must(t, w.Append(store.Entry{Kind: store.KindFinding, Data: data}))
	must(t, w.Sync())
}

func fault(id string) campaign.Finding {
	return campaign.Finding{
		ID: id, Fingerprint: "f" + id, Contract: "fuzzspec", Campaign: "first", Kind: "crash", Title: hostile + id, Severity: campaign.SeverityHigh,
		Cases: 2, Samples: []campaign.Sample{}, Evidence: []campaign.Exhibit{campaign.TextExhibit("Reply", hostile)}, Reproduce: []string{"thresh", "replay", id},
	}
}

// events reads states from a stream until one is as wanted.
func events(t testing.TB, address string, wanted func(web.State) bool) web.State {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	must(t, err)
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var s web.State
		must(t, json.Unmarshal([]byte(data), &s))
		if wanted(s) {
			return s
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return web.State{}
}

func TestStateOfALiveRun(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	base, _ := serve(t, openStore(t, st.Dir())) // as from another process
	w := begin(t, st)
	cases(t, w, 0, 400)
	api := base + "/api/v1/runs/" + w.RunID()
	s := events(t, api+"/events", func(s web.State) bool { return s.Cases.Run == 400 })
	if s.Status != "running" || s.Cases.Fail != 40 || s.Cases.Planned != 1000 || s.Findings != 0 || s.Phase != "running" || s.Rate != 123 || s.ETA == nil {
		t.Errorf("state %+v", s)
	}
	go cases(t, w, 400, 700)
	events(t, api+"/events", func(s web.State) bool { return s.Cases.Run == 700 })
	must(t, w.Append(store.Entry{Kind: store.KindOutcome, Case: campaign.Case{Index: 701}})) // and its progress is not noted yet
	must(t, w.Sync())
	if s := events(t, api+"/events", func(s web.State) bool { return s.Cases.Run == 701 }); s.Done != 701 {
		t.Errorf("the progress of a live run counts %d cases, its figures 701", s.Done)
	}
	closing, err := json.Marshal(store.Progress{Phase: "running again", Campaign: "first", Index: 1, Of: 2, Done: 701, Workers: 4, Rate: 7})
	must(t, err)
	must(t, w.Append(store.Entry{Kind: store.KindProgress, Data: closing, At: 20 * time.Second}))
	must(t, w.Sync())
	if s := events(t, api+"/events", func(s web.State) bool { return s.Phase == "running again" }); s.Rate != 7 || s.Done != 701 || s.Planned != 0 || s.ETA != nil {
		t.Errorf("while cases are run again: %+v", s)
	}
	meet(t, w, fault("F-11"))
	meet(t, w, fault("F-12"))
	events(t, api+"/events", func(s web.State) bool { return s.Findings == 2 && s.Settled == 0 })
	var page store.FindingPage
	must(t, json.Unmarshal([]byte(ask(t, "GET", api+"/findings").body), &page))
	if page.Total != 2 || !page.Findings[0].Unconfirmed || page.Findings[0].First != 7 || page.Findings[0].Severity != campaign.SeverityHigh {
		t.Errorf("findings that were met: %+v", page)
	}
	if a := ask(t, "GET", base+"/runs/"+w.RunID()); !strings.Contains(a.body, ">2 findings so far<") {
		t.Error("the headline of a live run counts other findings than its cards")
	}
	settle(t, w, fault("F-11"))
	events(t, api+"/events", func(s web.State) bool { return s.Settled == 1 && s.Findings == 2 })
	page = store.FindingPage{}
	must(t, json.Unmarshal([]byte(ask(t, "GET", api+"/findings?q=F-11").body), &page))
	if page.Total != 1 || page.Findings[0].ID != "F-11" || page.Findings[0].New || page.Findings[0].Unconfirmed {
		t.Errorf("findings of the live run, the first of its campaign: %+v", page)
	}
	if a := ask(t, "GET", base+"/runs/"+w.RunID()+"/findings/F-11"); a.code != 200 || !strings.Contains(a.body, "thresh replay F-11") {
		t.Errorf("the finding's page: %d", a.code)
	}
	must(t, w.Close()) // as if it had been killed: there is no end in the journal
	if s := events(t, api+"/events", func(s web.State) bool { return s.Status != "running" }); s.Status != "interrupted" {
		t.Errorf("status %q after the writer's death", s.Status)
	}
	killed := ask(t, "GET", base+"/runs/"+w.RunID()).body
	for _, want := range []string{
		"thresh run --resume " + w.RunID(), "70 failing cases so far, 1 finding not confirmed yet; resuming the run does that.",
		`<span class="mark" data-mark="unconfirmed">unconfirmed</span>`, "thresh replay " + "&#39;" + w.RunID() + "#7&#39;", "met in case 7", `<span class="headline">2 findings, 1 unconfirmed</span>`,
	} {
		if !strings.Contains(killed, want) {
			t.Errorf("the page of a killed run lacks %q", want)
		}
	}
}

// While a run goes on, what no earlier run of its campaign had is called new
// already, and can be asked for.
func TestNewFindingsOfALiveRun(t *testing.T) {
	st := openStore(t, t.TempDir())
	base, _ := serve(t, st)
	rec := rich(t)
	rec.Campaigns, rec.Findings = rec.Campaigns[:1], []campaign.Finding{fault("F-11")}
	rec.Campaigns[0].Contract, rec.Campaigns[0].Name, rec.Campaigns[0].Identity = "fuzzspec", "first", "d1"
	keep(t, st, rec, 5, "done")
	w := begin(t, st)
	cases(t, w, 0, 100)
	settle(t, w, fault("F-11"))
	settle(t, w, fault("F-12"))
	settle(t, w, fault("F-13"))
	api := base + "/api/v1/runs/" + w.RunID()
	events(t, api+"/events", func(s web.State) bool { return s.Settled == 3 })
	for query, want := range map[string]string{
		"":                         "3 F-11:false F-12:true F-13:true",
		"?offset=2":                "3 F-13:true",
		"?new=true":                "2 F-12:true F-13:true",
		"?new=true&limit=1":        "2 F-12:true",
		"?new=true&offset=9":       "2",
		"?new=true&q=f-13":         "1 F-13:true",
		"?new=true&severity=note":  "0",
		"?new=true&campaign=other": "0",
	} {
		var page store.FindingPage
		must(t, json.Unmarshal([]byte(ask(t, "GET", api+"/findings"+query).body), &page))
		got := fmt.Sprint(page.Total)
		for _, f := range page.Findings {
			got += fmt.Sprintf(" %s:%v", f.ID, f.New)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if n := strings.Count(ask(t, "GET", base+"/runs/"+w.RunID()).body, `<span class="mark" data-mark="new">new</span>`); n != 2 {
		t.Errorf("%d are called new on the page", n)
	}
	must(t, w.Close())
}

// The numbers of an open page move by themselves, survive a reload, and make
// way for the record when the run ends.
func TestLivePage(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	b.as(looks[0])
	w := begin(t, st)
	b.open(base + "/runs/" + w.RunID())
	cases(t, w, 0, 400)
	b.until(`document.querySelector('[data-live=cases]').textContent === '400' && document.querySelectorAll('.share rect').length === 2`)
	b.shoot("live-light")
	b.accessible("live")
	cases(t, w, 400, 730)
	b.until(`document.querySelector('[data-live=cases]').textContent === '730' && document.querySelector('[data-live=eta]').textContent.includes('730 of 1,000')`)
	if v := b.eval(`document.querySelector('progress').value`); v != "0.73" {
		t.Errorf("the bar stands at %s", v)
	}
	b.open(base + "/runs/" + w.RunID())
	b.until(`document.querySelector('[data-live="c0-1"]').textContent === '73'`)
	course := `document.querySelector('.charts path.stroke').getAttribute('d')`
	before := b.eval(course)
	cases(t, w, 730, 900)
	b.until(course + " !== '" + before + "'")
	meet(t, w, fault("F-12"))
	b.until(`document.querySelector('#F-12 .mark[data-mark=unconfirmed]') && document.querySelector('[data-live=findings]').textContent === '1' && document.querySelector('[data-live=findings-label]').textContent === 'finding, 1 unconfirmed'`)
	b.until(`document.querySelector('.headline').textContent === '1 finding so far'`)
	b.accessible("live, with a card")
	settle(t, w, fault("F-12"))
	b.until(`!document.querySelector('.mark-unconfirmed') && document.querySelector('[data-live=findings-label]').textContent === 'finding'`)
	b.until(`document.querySelector('[data-row] a')?.textContent.includes('F-12')`)
	if struck := b.eval("window.struck"); struck != "undefined" {
		t.Errorf("the target's text was run: %s", struck)
	}
	if text := b.eval(`document.querySelector('[data-row] a').textContent`); !strings.Contains(text, `<img src=x onerror=`) || !strings.Contains(text, `\u202e`) {
		t.Errorf("the title is not shown as it is: %q", text)
	}
	rec := rich(t)
	rec.RunID, rec.Verdict = w.RunID(), "fail"
	must(t, w.Finish(rec, "done", 0))
	must(t, w.Close())
	b.until(`document.querySelector('main').dataset.status === 'done' && document.querySelector('.verdict').textContent.includes('fail')`)
}

// The list of runs learns of a run that begins.
func TestListLearnsOfNewRuns(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	keep(t, st, rich(t), 10, "done")
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	b.open(base + "/")
	w := begin(t, st)
	cases(t, w, 0, 250)
	b.until(`document.querySelectorAll('[data-row]').length === 2 && document.querySelector('[data-row]').innerText.includes('250')`)
	must(t, w.Close())
	b.until(`document.querySelector('[data-row]').innerText.includes('interrupted')`)
}
