package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Where screenshots go, and where axe-core lies if not in node_modules of the
// module's folder.
const (
	shotsVariable = "THRESH_SHOTS"
	axeVariable   = "THRESH_AXE"
)

// patience is how long a page may take on a machine that has much else to do.
const patience = 60 * time.Second

// browser is one tab of a headless Chromium. What must never happen on any
// page fails the test: a request to anywhere else, a violation of the policy,
// an uncaught error.
type browser struct {
	t    testing.TB
	ctx  context.Context
	mu   sync.Mutex
	home string // host of the only server that may be asked
	bad  []string
}

// chromium starts the one browser that all tests share, each with cookies and
// tabs of its own. end is called when they are over.
var chromium = sync.OnceValues(func() (context.Context, error) {
	exe := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			exe = p
			break
		}
	}
	if exe == "" {
		return nil, errors.New("no Chromium is installed (chromium, google-chrome)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(exe), chromedp.WSURLReadTimeout(patience))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	actx, acancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(actx, chromedp.WithErrorf(func(string, ...any) {})) // events of newer versions are no errors
	endBrowser = func() { cancel(); acancel() }
	_, err := chromedp.Run(ctx, chromedp.Navigate("about:blank"))
	return ctx, err
})

// endBrowser ends what chromium started.
var endBrowser = func() {}

// openBrowser skips the test where there is no Chromium.
func openBrowser(t testing.TB, base string) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	shared, err := chromium()
	if shared == nil {
		t.Skip(err)
	}
	must(t, err)
	ctx, cancel := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	if u, err := url.Parse(base); err == nil {
		b.home = u.Host
	}
	must(t, chromedp.Listen(ctx, b.hear))
	command(b, network.Enable, network.EnableParams{})
	command(b, cdplog.Enable, cdp.Empty{})
	command(b, runtime.Enable, cdp.Empty{})
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, what := range b.bad {
			t.Error(what)
		}
	})
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != b.home && u.Scheme != "file" && u.Scheme != "data" && u.Scheme != "about" {
			b.bad = append(b.bad, "asked elsewhere: "+e.Request.URL)
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || strings.Contains(e.Entry.Text, "Content Security Policy") {
			b.bad = append(b.bad, fmt.Sprintf("the browser says: %s (%s)", e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		b.bad = append(b.bad, "uncaught: "+e.ExceptionDetails.Text)
	}
}

// command sends a command of the protocol.
func command[P, R any](b *browser, c cdp.Command[P, R], params P) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, c, params); err != nil {
		b.t.Fatalf("in the browser: %v", err)
	}
}

// do does something in the tab.
func do[T any](b *browser, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatalf("in the browser: %v", err)
	}
	return v
}

func (b *browser) open(address string) {
	b.t.Helper()
	do(b, chromedp.Navigate(address))
}

// expect404 opens a page that is not there, of which the browser complains.
func (b *browser) expect404(address string) {
	b.t.Helper()
	b.open(address)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = slices.DeleteFunc(b.bad, func(s string) bool { return strings.Contains(s, "404") })
}

// eval returns what an expression of the page comes to, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	return do(b, chromedp.Evaluate[string]("(async()=>String(await ("+expression+")))()", chromedp.EvalAwaitPromise))
}

// do makes the page do something.
func (b *browser) do(script string) {
	b.t.Helper()
	do(b, chromedp.Evaluate[chromedp.Void]("{"+script+"}"))
}

// key presses a key, and keys some, one after the other.
func (b *browser) key(name string) {
	b.t.Helper()
	do(b, chromedp.KeyEvent(name))
}

func (b *browser) keys(text string) {
	b.t.Helper()
	for _, r := range text {
		b.key(string(r))
	}
}

// until waits for an expression of the page to become true, also over pages
// that are loaded meanwhile.
func (b *browser) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(0)))
		if err == nil {
			return
		}
		if ctx.Err() != nil { // else another page was loaded meanwhile
			b.t.Fatalf("waiting for %s: %v\n%s", expression, err, b.eval("document.body.innerText"))
		}
	}
}

// look is how a page is looked at.
type look struct {
	name          string
	width, height int64
	dark, phone   bool
}

var looks = []look{
	{"light", 1280, 900, false, false},
	{"dark", 1280, 900, true, false},
	{"phone", 390, 844, false, true},
}

func (b *browser) as(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.phone})
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// shoot keeps a picture of the whole page where somebody asked for it.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv(shotsVariable)
	if dir == "" {
		return
	}
	must(b.t, os.MkdirAll(dir, 0o755))
	png := do(b, chromedp.FullScreenshot(100))
	must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// fits fails the test if a page is wider than the screen: nobody scrolls a
// page sideways.
func (b *browser) fits(name string) {
	b.t.Helper()
	if wide := b.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide != "0" {
		b.t.Errorf("%s: %s pixels wider than the screen: %s", name, wide, b.eval(`[...document.querySelectorAll('body *')].filter(e => {
			const r = e.getBoundingClientRect();
			for (let p = e.parentElement; p; p = p.parentElement) { if (getComputedStyle(p).overflowX !== 'visible') { return false; } }
			return r.right > innerWidth + 1 && r.width > 0;
		}).slice(0, 5).map(e => e.tagName + '.' + e.className)`))
	}
}

// axe is the source of axe-core; "" if it is not installed.
var axe = sync.OnceValue(func() string {
	for _, p := range []string{os.Getenv(axeVariable), filepath.Join("..", "..", "node_modules", "axe-core", "axe.min.js")} {
		if data, err := os.ReadFile(p); err == nil {
			return string(data)
		}
	}
	return ""
})

// accessible fails the test for what axe-core calls serious or critical: by all
// of its rules, or by those that are named.
func (b *browser) accessible(name string, rules ...string) {
	b.t.Helper()
	if axe() == "" {
		b.t.Logf("%s is not checked by axe-core, which is not installed (npm install axe-core)", name)
		return
	}
	do(b, chromedp.Evaluate[chromedp.Void](axe()))
	only, err := json.Marshal(rules)
	must(b.t, err)
	if found := b.eval(`axe.run(document, {resultTypes: ['violations'], ...(` + string(only) + ` && {runOnly: ` + string(only) + `})}).then(r => r.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
		.map(v => v.id + ': ' + v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 200)).join(' | ')).join('\n'))`); found != "" {
		b.t.Errorf("%s: %s", name, found)
	}
}
