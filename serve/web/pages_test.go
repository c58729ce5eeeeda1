package web_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/thresh-dev/thresh/report"
)

// Every page, as it is looked at: nothing is asked elsewhere, nothing violates
// the policy, nothing is wider than the screen, and axe-core finds nothing
// serious.
func TestPagesInEveryLook(t *testing.T) {
	st := openStore(t, t.TempDir())
	ids := history(t, st)
	last, interrupted := ids[len(ids)-2], ids[len(ids)-1]
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	for _, l := range looks {
		b.as(l)
		for _, p := range []struct{ name, path string }{
			{"runs", "/"},
			{"runs-filtered", "/?verdict=fail&q=pdf"},
			{"run", "/runs/" + last},
			{"interrupted", "/runs/" + interrupted},
			{"finding-crash", "/runs/" + last + "/findings/F-1a2b3c4d"},
			{"finding-agent", "/runs/" + last + "/findings/F-3d90aa12"},
			{"compare", "/compare?a=" + ids[3] + "&b=" + last},
			{"missing", "/runs/latest~99"},
		} {
			name := p.name + "-" + l.name
			if p.name == "missing" {
				b.expect404(base + p.path)
			} else {
				b.open(base + p.path)
			}
			b.fits(name)
			b.accessible(name)
			b.shoot(name)
		}
	}
}

// A target that has its say wherever it can is shown as text, everywhere.
func TestHostileTextIsText(t *testing.T) {
	st := openStore(t, t.TempDir())
	rec := poisoned(t)
	id := keep(t, st, rec, 1, "done")
	other := keep(t, st, rec, 2, "done")
	base, _ := serve(t, st)
	b := openBrowser(t, base)
	b.as(looks[0])
	paths := []string{"/", "/runs/" + id, "/compare?a=" + other + "&b=" + id, "/?q=" + url.QueryEscape(hostile), "/runs/" + id + "?q=" + url.QueryEscape(hostile)}
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

// A finding is promoted by a button, which another site cannot press.
func TestPromoteInThePage(t *testing.T) {
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

// The single-file report tells the whole story from a disk, without scripts.
func TestFrozenReportWithoutScripts(t *testing.T) {
	f, err := report.ByName("html")
	must(t, err)
	file := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	must(t, err)
	must(t, f.Write(out, poisoned(t), report.Options{}))
	must(t, out.Close())
	b := openBrowser(t, "")
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	for _, l := range looks {
		b.as(l)
		b.open("file://" + file)
		b.fits("report-" + l.name)
		b.shoot("report-" + l.name)
	}
	// Text that is not unfolded is there for whoever unfolds it.
	for _, want := range []string{"4 findings", "thresh replay F-1a2b3c4d", "heap-buffer-overflow", "Held, by fault and golden prompt", "您的订单已发货。", "Ping", "status is 404", "tool timeout"} {
		if text := do(b, chromedp.TextContent("body")); !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}
