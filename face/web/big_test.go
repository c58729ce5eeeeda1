package web_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// big is a run of very many cases and findings, each with evidence of its own;
// the journal has all of it.
func big(t testing.TB, st *store.Store, cases int64, findings int, change ...func(*campaign.Finding)) string {
	t.Helper()
	w, err := st.Begin(store.Manifest{Command: []string{"thresh", "run", "big.json"}, Version: "test", Identities: []campaign.Identity{{Contract: "fuzzspec", Name: "big", Digest: "d"}}})
	must(t, err)
	counts := campaign.Counts{Planned: cases}
	for i := range cases {
		e := store.Entry{Kind: store.KindOutcome, Case: campaign.Case{Index: i}}
		if i%100 == 0 {
			e.Outcome = campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Title: "it fell"}
		}
		counts.Add(e.Outcome.Verdict)
		must(t, w.Append(e))
	}
	rec := campaign.Record{
		RunID: w.RunID(), Verdict: "fail", Complete: true, Warnings: []string{},
		Campaigns:   []campaign.CampaignRecord{{Contract: "fuzzspec", Name: "big", Identity: "d", Source: "big.json", Cases: counts}},
		Environment: campaign.Environment{Command: []string{"thresh", "run", "big.json"}, Seconds: 600, Workers: 8, Rate: 1666},
	}
	log := strings.Repeat("    #0 0x55d1 in parse src/parse.c:214:9\n", 100)
	for i := range findings {
		rec.Findings = append(rec.Findings, campaign.Finding{
			ID: fmt.Sprintf("F-%010x", i*7919), Fingerprint: fmt.Sprint(i), Contract: "fuzzspec", Campaign: "big", Kind: "crash",
			Title: fmt.Sprintf("crash %d in parse", i), Severity: campaign.Severity(i % 5), Cases: int64(i + 1), Samples: []campaign.Sample{},
			Reproduce: []string{"thresh", "replay", fmt.Sprint(i)}, Evidence: []campaign.Exhibit{campaign.TextExhibit("stderr", fmt.Sprint(i, "\n", log))},
		})
		for _, with := range change {
			with(&rec.Findings[i])
		}
	}
	must(t, w.Finish(rec, "done", 0))
	must(t, w.Close())
	return w.RunID()
}

// heap is what is in use once nothing is left to collect, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What a page takes of memory does not grow with the run.
func TestMemoryIsFlat(t *testing.T) {
	st := openStore(t, t.TempDir())
	id := big(t, st, 5_000, 1000)
	base, _ := serve(t, openStore(t, st.Dir()))
	look := func() {
		for _, p := range []string{"/", "/runs/" + id, "/runs/" + id + "?q=999", "/runs/" + id + "?offset=900", "/runs/" + id + "/findings/F-0000001eef", "/metrics"} {
			if a := ask(t, "GET", base+p); a.code != 200 || len(a.body) > 400<<10 {
				t.Fatalf("%s: %d, %d bytes", p, a.code, len(a.body))
			}
		}
	}
	look()
	before := heap()
	for range 10 {
		look()
	}
	if after := heap(); after > before+8<<20 {
		t.Errorf("%d bytes before 60 pages, %d after", before, after)
	}
}

// BenchmarkBigRun is of a run of a million cases and ten thousand findings: how
// long the server takes for each page, and the browser for its first paint.
func BenchmarkBigRun(b *testing.B) {
	st := openStore(b, b.TempDir())
	id := big(b, st, 1_000_000, 10_000)
	base, _ := serve(b, openStore(b, st.Dir()))
	empty := heap()
	for _, p := range []struct{ name, path string }{
		{"runs", "/"},
		{"run", "/runs/" + id},
		{"last", "/runs/" + id + "?offset=9950"},
		{"search", "/api/v1/runs/" + id + "/findings?q=9999"},
		{"finding", "/runs/" + id + "/findings/F-0000001eef"},
		{"compare", "/compare?a=" + id + "&b=" + id},
	} {
		b.Run(p.name, func(b *testing.B) {
			for b.Loop() {
				if a := ask(b, http.MethodGet, base+p.path); a.code != 200 {
					b.Fatalf("%s: %d", p.path, a.code)
				}
			}
			b.ReportMetric(float64(heap()-min(heap(), empty))/1e6, "MB-held")
		})
	}
	b.Run("paint", func(b *testing.B) {
		tab := openBrowser(b, base)
		sum := 0.0
		n := 0
		for b.Loop() {
			tab.open(base + "/runs/" + id)
			tab.until(`performance.getEntriesByName('first-contentful-paint').length > 0`)
			ms, err := strconv.ParseFloat(tab.eval(`performance.getEntriesByName('first-contentful-paint')[0].startTime`), 64)
			must(b, err)
			sum += ms
			n++
		}
		b.ReportMetric(sum/float64(n), "ms-to-first-paint")
	})
}
