package web_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// storyLooks are the screens that a verdict is read on.
var storyLooks = []look{
	{"390-light", 390, 844, false, true},
	{"390-dark", 390, 844, true, true},
	{"1280-light", 1280, 900, false, false},
	{"1280-dark", 1280, 900, true, false},
	{"1920-light", 1920, 1080, false, false},
	{"1920-dark", 1920, 1080, true, false},
}

// starters is a folder with a document of each format that finds something, by
// the formats' names.
func starters(t *testing.T) (dir string, formats []string) {
	t.Helper()
	thresh := program(t)
	dir = t.TempDir()
	formats = []string{"fuzzspec", "operator", "flakestorm", "fresnelfir", "spectest"}
	for _, name := range formats {
		thresh(dir, []int{0}, "init", name, name)
	}
	greeting := filepath.Join(dir, "spectest", "greeting.spec.md")
	text, err := os.ReadFile(greeting)
	must(t, err)
	must(t, os.WriteFile(greeting, append(text, "\n```yaml spec-test\nid: GREET-9\ntitle: it fails\ntype: cli.run\nharness: {entrypoint: echo}\nargv: [x]\nexit_code: 3\n```\n"...), 0o600))
	return dir, formats
}

// Of each format, the first card's sentence, its mark and its reproduce line stand
// within the first 900 pixels, on the page of a run and in the single file.
func TestVerdictIsSeenAtOnce(t *testing.T) {
	t.Parallel() // mostly waits
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("runs a document of every format twice: set THRESH_TEST_LONG=1")
	}
	thresh := program(t)
	dir, formats := starters(t)
	for _, name := range formats {
		for i := range 2 { // the second has something to compare with
			if i > 0 {
				first, err := os.ReadFile(filepath.Join(dir, name+".html"))
				must(t, err)
				if !bytes.Contains(first, []byte(`<span class="mark" data-mark="first run">first run</span>`)) {
					t.Errorf("%s: a finding of the first run has no mark", name)
				}
			}
			thresh(dir, []int{1}, "run", name, "--quiet", "--store", "store", "--cases", "400", "--shrink", "40", "--report", "html="+name+".html")
		}
	}
	const long = "요청과-응답-בדיקה-with-a-very-long-file-name-that-goes-on-and-on-🧪.spec.md"
	must(t, os.Rename(filepath.Join(dir, "spectest", "greeting.spec.md"), filepath.Join(dir, "spectest", long)))
	st := openStore(t, filepath.Join(dir, "store"))
	newest := make(map[string]string)
	for _, name := range formats {
		runs, err := st.Runs(store.RunQuery{Contract: name})
		must(t, err)
		newest[name] = runs[0].RunID
	}
	for name, args := range map[string][]string{"long": {"spectest"}, "all": formats} { // one run of a long name, and one of all documents
		thresh(dir, []int{1}, slices.Concat([]string{"run", "--quiet", "--store", "store", "--cases", "100", "--shrink", "10", "--report", "html=" + name + ".html"}, args)...)
		runs, err := st.Runs(store.RunQuery{})
		must(t, err)
		newest[name] = runs[0].RunID
	}
	base, _ := serve(t, st)
	b, file := openBrowser(t, base), openBrowser(t, base)
	const end = `Math.ceil(Math.max(...['h3', '.mark', '.command'].map(s => document.querySelector('[data-card] ' + s).getBoundingClientRect().bottom)) + scrollY)`
	for name, id := range newest {
		for _, l := range among(storyLooks) {
			for where, at := range map[string]struct {
				b       *browser
				address string
			}{"page": {b, base + "/runs/" + id}, "report": {file, "file://" + filepath.Join(dir, name+".html")}} {
				full := fmt.Sprintf("%s-%s-%s", where, name, l.name)
				at.b.as(l)
				at.b.open(at.address)
				if n, err := strconv.Atoi(at.b.eval(end)); err != nil || n > 900 {
					t.Errorf("%s: the first card's command ends at %d pixels", full, n)
				}
				at.b.fits(full)
				at.b.shows(full)
				if l.name == "390-dark" || l.name == "1920-light" { // other tests look at 1280
					at.b.accessible(full)
				}
				at.b.shoot("story-" + full)
			}
		}
	}
}

// A run that was killed says how many of its cases failed and how to go on.
func TestKilledRunSaysWhatIsKnown(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := rich(t)
	rec.Findings, rec.Campaigns = rec.Findings[:0], rec.Campaigns[:1]
	rec.Complete, rec.Stopped = false, "interrupted"
	rec.Campaigns[0].Cases.Fail = 39
	id := keep(t, st, rec, 5, "interrupted")
	base, _ := serve(t, st)
	page := ask(t, "GET", base+"/runs/"+id).body
	for _, want := range []string{"39 failing cases so far, not yet grouped into findings", "thresh run --resume " + id, "Not grouped into findings yet."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if list := ask(t, "GET", base+"/").body; !strings.Contains(list, `<td class="num">39 failing</td>`) {
		t.Error("the list of runs counts findings that nobody has grouped")
	}
}

// The page of a big run stays small.
func TestBigRunHasASmallPage(t *testing.T) {
	st := openStore(t, t.TempDir())
	id := big(t, st, 100_000, 1000, func(f *campaign.Finding) { f.Group = f.Fingerprint[max(0, len(f.Fingerprint)-2):] })
	base, _ := serve(t, openStore(t, st.Dir()))
	_ = ask(t, "GET", base+"/runs/"+id)
	began := time.Now()
	a := ask(t, "GET", base+"/runs/"+id)
	t.Logf("%d bytes in %s", len(a.body), time.Since(began))
	if a.code != 200 || len(a.body) > 200<<10 {
		t.Errorf("%d, %d bytes", a.code, len(a.body))
	}
}

// What one cause broke is one card on one page, however many findings it has, and each of
// them can still be found.
func TestOneCauseIsOneCard(t *testing.T) {
	st := openStore(t, t.TempDir())
	w, err := st.Begin(store.Manifest{Command: []string{"thresh", "run", "a.md"}, Version: "test", Identities: []campaign.Identity{{Contract: "c", Name: "n", Digest: "d"}}})
	must(t, err)
	rec := campaign.Record{
		RunID: w.RunID(), Verdict: "fail", Complete: true, Warnings: []string{},
		Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Identity: "d", Cases: campaign.Counts{Planned: 300, Run: 300, Fail: 300}}},
	}
	for i := range 300 {
		f := campaign.Finding{ID: fmt.Sprintf("F-%010x", i), Contract: "c", Campaign: "n", Kind: "crash", Title: fmt.Sprintf("order %d fell", i), Group: "g", Samples: []campaign.Sample{}, Evidence: []campaign.Exhibit{}}
		if i == 299 {
			f.Group = ""
		}
		rec.Findings = append(rec.Findings, f)
	}
	must(t, w.Finish(rec, "done", 0))
	must(t, w.Close())
	base, _ := serve(t, openStore(t, st.Dir()))
	run := base + "/runs/" + w.RunID()
	for address, want := range map[string]struct {
		cards int
		text  []string
	}{
		run:                   {2, []string{"300 findings, 2 causes", "1 cause, 299 findings", ">order 0 fell<", ">order 10 fell<", "?group=g", ">288 more<", ">order 299 fell<", "1–2 of 2"}},
		run + "?q=order+250":  {1, []string{">order 250 fell<"}},
		run + "?group=g":      {50, []string{">order 49 fell<", "1–50 of 299", "offset=50"}},
		run + "?offset=1":     {1, []string{">order 299 fell<", "2–2 of 2"}},
		run + "?severity=low": {0, []string{"No finding matches."}},
	} {
		a := ask(t, "GET", address)
		if got := strings.Count(a.body, `<article class="finding`); got != want.cards {
			t.Errorf("%s: %d cards, want %d", address, got, want.cards)
		}
		for _, text := range want.text {
			if !strings.Contains(a.body, text) {
				t.Errorf("%s: no %q", address, text)
			}
		}
	}
	if a := ask(t, "GET", base+"/api/v1/runs/"+w.RunID()+"/findings?limit=20"); strings.Count(a.body, `"id":`) != 20 || !strings.Contains(a.body, `"total":300`) {
		t.Error("the API pages by findings: " + a.body)
	}
}

// The list below a trend has its runs: neither those of another document of that name nor
// those that were asked for something else.
func TestTrendListsItsRuns(t *testing.T) {
	st := openStore(t, t.TempDir())
	run := func(source, digest string) string {
		w, err := st.Begin(store.Manifest{Command: []string{"thresh", "run", source}, Version: "test", Identities: []campaign.Identity{{Contract: "c", Name: "starter", Digest: digest}}})
		must(t, err)
		c := campaign.CampaignRecord{Contract: "c", Name: "starter", Identity: digest, Source: source, Cases: campaign.Counts{Planned: 9, Run: 9, Pass: 9}}
		must(t, w.Finish(campaign.Record{RunID: w.RunID(), Verdict: "pass", Complete: true, Warnings: []string{}, Campaigns: []campaign.CampaignRecord{c}}, "done", 0))
		must(t, w.Close())
		return w.RunID()
	}
	other, before, first, second := run("b/doc.yaml", "d1"), run("a/doc.yaml", "d2"), run("a/doc.yaml", "d3"), run("a/doc.yaml", "d3")
	base, _ := serve(t, openStore(t, st.Dir()))
	for address, want := range map[string][]string{
		"/?contract=c&campaign=starter":                              {other, before, first, second},
		"/?contract=c&campaign=starter&source=a/doc.yaml":            {first, second},
		"/?contract=c&campaign=starter&source=b/doc.yaml":            {other},
		"/?contract=c&campaign=starter&source=a/doc.yaml&q=" + first: {first},
	} {
		a := ask(t, "GET", base+address)
		for _, id := range []string{other, before, first, second} {
			if got := strings.Contains(a.body, `<tr data-row id="`+id+`"`); got != slices.Contains(want, id) {
				t.Errorf("%s lists %s: %t", address, id, got)
			}
		}
	}
	if a := ask(t, "GET", base+"/?contract=c&campaign=starter&source=a/doc.yaml&limit=1"); !strings.Contains(a.body, "source=a%2Fdoc.yaml") || !strings.Contains(a.body, "1–1 of 2") {
		t.Error("the next page of the list is not of the trend")
	}
}

// The whole way from a run to a promoted finding goes without a mouse.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	ids := history(t, st)
	base, u := serve(t, st)
	b := openBrowser(t, base)
	press := func(name, text string, code int) {
		t.Helper()
		for _, way := range []string{"keyDown", "keyUp"} {
			params := map[string]any{"type": way, "key": name, "code": name, "windowsVirtualKeyCode": code}
			if way == "keyDown" {
				params["text"] = text
			}
			b.send("Input.dispatchKeyEvent", params, nil)
		}
	}
	b.open(base + "/runs/" + ids[len(ids)-2])
	b.do(`window.copied = ''; Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}}); document.querySelector('[data-agent]').click()`)
	b.until(`window.copied !== ''`)
	if text := b.eval(`window.copied`); !strings.Contains(text, "thresh replay") || strings.Contains(text, "Promote") || strings.Contains(text, "Open in the editor") {
		t.Errorf("a coding agent is given %s", text)
	}
	b.open(base + "/")
	b.key("j")
	b.until(`document.activeElement.matches('[data-row] a')`)
	press("Enter", "\r", 13)
	b.until(`location.pathname.startsWith('/runs/') && document.querySelector('[data-card]')`)
	b.key("j")
	b.until(`document.activeElement.matches('[data-card] a')`)
	press("Enter", "\r", 13)
	b.until(`location.pathname.includes('/findings/')`)
	for i := 0; i < 40 && b.eval(`document.activeElement.textContent`) != "Promote"; i++ {
		press("Tab", "", 9)
	}
	press("Enter", "\r", 13)
	b.until(`document.activeElement.id === 'done'`)
	if got := <-u.promoted; got == "" {
		t.Error("nothing was promoted")
	}
	b.key("u")
	b.until(`location.pathname === '/runs/` + ids[len(ids)-1] + `'`)
	if at := b.eval(`document.querySelector('[data-row].at')?.id ?? ''`); at == "" {
		t.Error("up from a finding leads to no finding of the run")
	}
}

// "New only" lists what the head of the page counts, and a filter that every
// finding meets, or none, is not offered.
func TestNewOnlyAgreesWithTheHead(t *testing.T) {
	st := openStore(t, t.TempDir())
	run := func(ids ...string) string {
		w, err := st.Begin(store.Manifest{Command: []string{"thresh", "run", "a.md"}, Version: "test", Identities: []campaign.Identity{{Contract: "c", Name: "n", Digest: "d"}}})
		must(t, err)
		rec := campaign.Record{RunID: w.RunID(), Verdict: "fail", Complete: true, Warnings: []string{}, Campaigns: []campaign.CampaignRecord{{Contract: "c", Name: "n", Identity: "d", Source: "a.md", Cases: campaign.Counts{Planned: 9, Run: 9, Fail: 9}}}}
		for _, id := range ids {
			rec.Findings = append(rec.Findings, campaign.Finding{ID: id, Contract: "c", Campaign: "n", Kind: "crash", Title: "fell " + id, Severity: campaign.SeverityLow, Samples: []campaign.Sample{}, Evidence: []campaign.Exhibit{}})
		}
		must(t, w.Finish(rec, "done", 0))
		must(t, w.Close())
		return w.RunID()
	}
	_, _, last := run("F-0000000001", "F-0000000002"), run("F-0000000002"), run("F-0000000001", "F-0000000002", "F-0000000003", "F-0000000004")
	base, _ := serve(t, openStore(t, st.Dir()))
	page := ask(t, "GET", base+"/runs/"+last+"?new=true").body
	if got := strings.Count(page, `<article class="finding`); got != 3 || !strings.Contains(page, ": 3 new, 0 fixed, 1 still failing") || !strings.Contains(page, `name="new"`) {
		t.Errorf("%d findings are listed as new\n%s", got, page)
	}
	for _, name := range []string{"flaky", "severity"} {
		if strings.Contains(page, `name="`+name+`"`) {
			t.Errorf("a filter is offered that changes nothing: %s", name)
		}
	}
}
