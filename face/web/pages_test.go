package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// Every page, as it is looked at: nothing is asked elsewhere, nothing violates
// the policy, nothing is wider than the screen, and axe-core finds nothing.
func TestPagesInEveryLook(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	ids := history(t, st)
	last, interrupted := ids[len(ids)-2], ids[len(ids)-1]
	base, _ := serve(t, st, func(c *web.Config) { c.Fleet = someFleet(last) })
	b := openBrowser(t, base)
	for _, l := range among(storyLooks) {
		b.as(l)
		for _, p := range []struct{ name, path string }{
			{"runs", "/"},
			{"runs-filtered", "/?verdict=fail&q=pdf"},
			{"run", "/runs/" + last},
			{"interrupted", "/runs/" + interrupted},
			{"finding-crash", "/runs/" + last + "/findings/F-1a2b3c4d"},
			{"finding-agent", "/runs/" + last + "/findings/F-3d90aa12"},
			{"compare", "/compare?a=" + ids[3] + "&b=" + last},
			{"trend", "/?contract=flakestorm&campaign=support-agent"},
			{"trends", "/?trends=all"},
			{"runs-none", "/?q=no-such-run"},
			{"run-filtered", "/runs/" + last + "?severity=high"},
			{"compare-none", "/compare"},
			{"bad-request", "/runs/" + last + "/cases/x"},
			{"case", "/runs/" + last + "/cases/12?contract=flakestorm&campaign=support-agent"},
			{"fleet", "/fleet"},
			{"missing", "/runs/latest~99"},
		} {
			name := p.name + "-" + l.name
			if p.name == "missing" || p.name == "bad-request" {
				b.expectError(base + p.path)
			} else {
				b.open(base + p.path)
			}
			b.fits(name)
			if l.dark { // of which all but the colours is as in light
				b.accessible(name, "color-contrast")
			} else {
				b.accessible(name)
			}
			b.shoot(name)
		}
	}
}

// A target that has its say wherever it can is shown as text, everywhere.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	rec := poisoned(t)
	id := keep(t, st, rec, 1, "done")
	other := keep(t, st, rec, 2, "done")
	base, _ := serve(t, st, func(c *web.Config) { c.Fleet = someFleet(id) })
	b := openBrowser(t, base)
	b.as(looks[0])
	paths := []string{"/", "/fleet", "/runs/" + id, "/compare?a=" + other + "&b=" + id, "/?q=" + url.QueryEscape(hostile), "/runs/" + id + "?q=" + url.QueryEscape(hostile)}
	for _, f := range rec.Findings {
		paths = append(paths, "/runs/"+id+"/findings/"+f.ID)
	}
	for _, p := range paths {
		b.open(base + p)
		b.do(`document.querySelectorAll('details').forEach(d => { d.open = true; })`)
		if struck := b.eval("window.struck"); struck != "undefined" {
			t.Errorf("%s: the target's text was run: %s", p, struck)
		}
		if n := b.eval(`document.querySelectorAll('img, iframe, object, embed, [onload], [onerror]').length`); n != "0" {
			t.Errorf("%s: %s elements of the target's", p, n)
		}
		if n := b.eval(`[...document.querySelectorAll('a[href], area, form')].filter(e => !(e.href ?? e.action).startsWith(location.origin)).map(e => e.outerHTML)`); n != "" {
			t.Errorf("%s leads elsewhere: %s", p, n)
		}
		if raw := ask(t, "GET", base+p).body; !strings.Contains(p, "?q=") && strings.ContainsAny(raw, "\u202e\u200b") {
			t.Errorf("%s: characters that cannot be seen reach the page", p)
		}
	}
	b.shoot("hostile-finding")
}

// The lists can be walked and searched without a mouse and without a new page.
func TestKeysAndSearch(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	ids := history(t, st)
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	b.open(base + "/")
	b.key("j")
	b.key("j")
	b.key("k")
	b.key("j")
	b.until(`document.activeElement.textContent === '` + ids[len(ids)-2] + `'`)
	b.key("?")
	b.until(`document.getElementById('help').open`)
	b.accessible("help")
	b.shoot("help-light")
	b.key("?")
	b.until(`!document.getElementById('help').open`)
	b.key("/")
	b.until(`document.activeElement.name === 'q'`)
	b.do(`document.activeElement.value = ''`) // the protocol types what a key handler has taken
	b.keys("-5")
	b.until(`document.querySelectorAll('[data-row]').length === 1 && location.search === '?q=-5'`)
	if row := b.eval(`document.querySelector('[data-row]').innerText`); !strings.Contains(row, "pass") || !strings.Contains(row, "43,350") {
		t.Errorf("the line that was found: %q", row)
	}
	b.do(`document.activeElement.blur()`)
	b.key("j")
	b.do(`document.activeElement.click()`)
	b.until(`location.pathname === '/runs/` + ids[4] + `'`)
	b.open(base + "/runs/" + ids[8])
	b.key("/")
	b.do(`document.activeElement.value = ''`)
	b.keys("xref")
	b.until(`document.querySelectorAll('[data-row]').length === 1`)
	b.open(base + "/runs/" + ids[8] + b.eval("location.search")) // the address says what is searched for
	b.until(`document.querySelectorAll('[data-row]').length === 1`)
	b.do(`document.querySelector('[data-row] a').click()`)
	b.until(`location.pathname.endsWith('/findings/F-1a2b3c4d')`)
	b.key("u")
	b.until(`location.pathname === '/runs/` + ids[8] + `'`)
}

// Colours are those of the system until the user chooses others, which then hold on every page
// from its first line on.
func TestTheme(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	id := keep(t, st, rich(t), 1, "done")
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	dark, light := "rgb(17, 21, 26)", "rgb(255, 255, 255)"
	ground := func(want string) {
		t.Helper()
		b.until(`getComputedStyle(document.documentElement).backgroundColor === '` + want + `'`)
	}
	b.as(looks[1])
	b.open(base + "/")
	ground(dark)
	b.as(looks[0])
	ground(light)
	// The first choice takes its time on the way to the server; the second is the one that stays.
	b.do(`let late = 300; const send = window.fetch; window.kept = 0;
		window.fetch = (...a) => { const wait = late; late = 0; return new Promise(go => setTimeout(go, wait)).then(() => send(...a)).finally(() => window.kept++); }`)
	b.key("t") // light
	b.key("t") // dark
	ground(dark)
	b.until(`window.kept === 2`)
	b.until(`fetch(location.href).then(r => r.text()).then(t => t.includes('<html lang="en" data-theme="dark">') && t.includes('content="dark"'))`)
	b.open(base + "/runs/" + id)
	ground(dark)
	b.accessible("chosen dark")
	// Without scripts the button does it, and leads back.
	a := post(t, base+"/theme", url.Values{"theme": {"light"}, "back": {"/runs/" + id + "?severity=high"}})
	if a.code != http.StatusSeeOther || a.header.Get("Location") != "/runs/"+id+"?severity=high" || !strings.HasPrefix(a.header.Get("Set-Cookie"), "thresh-theme=light; Path=/;") {
		t.Errorf("the form: %d to %q with %q", a.code, a.header.Get("Location"), a.header.Get("Set-Cookie"))
	}
	for _, away := range []string{"//evil.example/x", "http://evil.example/x", "\\\\evil.example/x", "javascript:window.struck=1", "%zz"} {
		if a := post(t, base+"/theme", url.Values{"theme": {"dark"}, "back": {away}}); a.code != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/") || strings.HasPrefix(a.header.Get("Location"), "//") {
			t.Errorf("%q leads to %q", away, a.header.Get("Location"))
		}
	}
	if a := post(t, base+"/theme", url.Values{"theme": {"pink"}}); a.code != http.StatusBadRequest || !strings.Contains(a.body, "auto, light, dark") {
		t.Errorf("no theme: %d", a.code)
	}
}

// A cell of a matrix leads to the finding that shows it, or to what is known of
// its case.
func TestCellsLeadOn(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	w, err := st.Begin(store.Manifest{Command: []string{"thresh", "run"}, Identities: []campaign.Identity{{Contract: "flakestorm", Name: "support-agent", Digest: "d"}}})
	must(t, err)
	for i := range int64(20) {
		o := campaign.Outcome{}
		if i == 13 {
			o = campaign.Outcome{Verdict: campaign.VerdictFail, Signature: "F-3d90aa12"}
		}
		must(t, w.Append(store.Entry{Kind: store.KindOutcome, Case: campaign.Case{Index: i}, Outcome: o}))
	}
	rec := rich(t)
	rec.RunID, rec.Campaigns = w.RunID(), rec.Campaigns[1:2]
	must(t, w.Finish(rec, "done", 0))
	must(t, w.Close())
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	b.open(base + "/runs/" + rec.RunID)
	b.do(`[...document.querySelectorAll('.heat a')].find(a => a.textContent.includes('0 of 12')).click()`)
	b.until(`location.pathname.endsWith('/findings/F-3d90aa12')`)
	b.open(base + "/runs/" + rec.RunID)
	b.do(`[...document.querySelectorAll('.heat a')].find(a => a.textContent.includes('3 of 8')).click()`)
	b.until(`location.pathname.endsWith('/cases/12') && document.body.textContent.includes('thresh replay \'` + rec.RunID + `#12')`)
	if text := b.eval("document.querySelector('pre.text').textContent"); !strings.Contains(text, "kept <b>as text</b>") {
		t.Errorf("what was kept of the case: %s", text)
	}
	b.shoot("case")
	b.do(`document.querySelector('button.act').click()`)
	b.until(`document.body.textContent.includes('run again just now') && document.querySelector('pre.text').textContent.startsWith('` + rec.RunID + ` flakestorm support-agent 12 </script><img')`)
	if struck := b.eval("window.struck"); struck != "undefined" {
		t.Errorf("the target's text was run: %s", struck)
	}
	if page := ask(t, "GET", base+"/runs/"+rec.RunID+"/cases/13?contract=flakestorm&campaign=support-agent").body; !strings.Contains(page, ` It belongs to finding <a href="/runs/`+rec.RunID+`/findings/F-3d90aa12"><bdi>F-3d90aa12</bdi></a>, which began with case 7`) {
		t.Errorf("a case does not lead to the finding that another case shows: %s", page)
	}
	for path, code := range map[string]int{"/cases/99": 404, "/cases/x": 400, "/cases/-1": 400, "/cases/12?verdict=x": 400} {
		if !strings.Contains(path, "?") {
			path += "?contract=flakestorm&campaign=support-agent"
		}
		if a := ask(t, "GET", base+"/runs/"+rec.RunID+path); a.code != code {
			t.Errorf("%s: %d, want %d", path, a.code, code)
		}
	}
}

// What no run of the campaign had before is called new, and can be asked for.
func TestNewFindings(t *testing.T) {
	st := openStore(t, t.TempDir())
	first := rich(t)
	first.Findings = first.Findings[:2]
	before, after := keep(t, st, first, 10, "done"), keep(t, st, rich(t), 5, "done")
	base, _ := serve(t, st)
	for run, want := range map[string]int{before: 0, after: 2} {
		var page store.FindingPage
		must(t, json.Unmarshal([]byte(ask(t, "GET", base+"/api/v1/runs/"+run+"/findings?new=true").body), &page))
		if page.Total != want || len(page.Findings) != want || want > 0 && !page.Findings[0].New {
			t.Errorf("%d of %s are new: %+v", page.Total, run, page.Findings)
		}
		if n := strings.Count(ask(t, "GET", base+"/runs/"+run).body, `<span class="mark" data-mark="new">new</span>`); n != want {
			t.Errorf("%d are called new on the page of %s", n, run)
		}
	}
}

// A finding is promoted by a button, which another site cannot press.
func TestPromoteInThePage(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	id := keep(t, st, rich(t), 1, "done")
	base, u := serve(t, st)
	b := openBrowser(t, base)
	b.open(base + "/runs/" + id + "/findings/F-1a2b3c4d")
	b.do(`document.querySelector('button.act').click()`)
	b.until(`document.querySelector('.done')?.textContent.includes('regressions/F-1a2b3c4d/spec.json')`)
	if got := <-u.promoted; got != id+"/F-1a2b3c4d" {
		t.Errorf("promoted %s", got)
	}
}

// Replay now says whether the finding shows again, takes the focus there, and leads back.
func TestReplayNow(t *testing.T) {
	t.Parallel() // mostly waits
	st := openStore(t, t.TempDir())
	id := keep(t, st, rich(t), 1, "done")
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	for finding, word := range map[string]string{"F-1a2b3c4d": "Shows again:", "F-3d90aa12": "Does not show:"} {
		at := "/runs/" + id + "/findings/" + finding
		b.open(base + at)
		b.do(`[...document.querySelectorAll('.acts button')].find(x => x.textContent === 'Replay now').click()`)
		b.until(`location.pathname.includes('/cases/') && document.activeElement.id === 'done' && document.activeElement.textContent.startsWith('` + word + `')`)
		b.accessible("replayed " + finding)
		b.do(`document.activeElement.blur(); document.dispatchEvent(new KeyboardEvent('keydown', {key: 'u', bubbles: true}))`)
		b.until(`location.pathname === '` + at + `'`)
	}
}

// What accepts a finding goes beside its document, wherever the run was started.
func TestAcceptBesideTheDocument(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := rich(t)
	for i := range rec.Campaigns {
		rec.Campaigns[i].Source = "specs/" + rec.Campaigns[i].Contract + "/doc.md"
	}
	id := keep(t, st, rec, 1, "done")
	base, _ := serve(t, st, func(c *web.Config) { c.KnownFile = app.KnownFile })
	for _, f := range rec.Findings[:2] {
		if page := ask(t, "GET", base+"/runs/"+id+"/findings/"+f.ID).body; !strings.Contains(page, "add it to <code>specs/"+f.Contract+"/thresh.known.yaml</code>") {
			t.Errorf("%s is accepted elsewhere: %.300s", f.ID, page[strings.Index(page, "To accept"):])
		}
	}
}

// Promote is offered only where a regression test can be made.
func TestPromoteWhereItWorks(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := rich(t)
	rec.Findings[0].Kind = campaign.KindNondeterminism
	id := keep(t, st, rec, 1, "done")
	base, _ := serve(t, st)
	for k, want := range []bool{false, true} {
		page := ask(t, "GET", base+"/runs/"+id+"/findings/"+rec.Findings[k].ID).body
		if got := strings.Contains(page, "/promote#done"); got != want || strings.Contains(page, "thresh promote") != want {
			t.Errorf("finding %d: Promote is offered: %v", k, got)
		}
	}
}

// The single-file report tells the whole story from a disk, without scripts.
func TestFrozenReportWithoutScripts(t *testing.T) {
	t.Parallel() // mostly waits
	f, err := report.ByName("html")
	must(t, err)
	file := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	must(t, err)
	must(t, f.Write(out, poisoned(t), report.Options{}))
	must(t, out.Close())
	b := openBrowser(t, "")
	b.send("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	for _, l := range among(looks) {
		b.as(l)
		b.open("file://" + file)
		b.fits("report-" + l.name)
		b.shoot("report-" + l.name)
	}
	// Text that is not unfolded is there for whoever unfolds it.
	for _, want := range []string{"4 findings", "thresh replay F-1a2b3c4d", "heap-buffer-overflow", "Held, by fault and golden prompt", "您的订单已发货。", "Ping", "status is 404", "tool timeout"} {
		if text := b.eval("document.body.textContent"); !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}
