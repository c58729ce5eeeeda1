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
)

// Where screenshots go, and where axe-core lies if not in node_modules of the
// module's folder.
const (
	shotsVariable = "THRESH_SHOTS"
	axeVariable   = "THRESH_AXE"
)

// patience is how long a page may take on a machine that has much else to do.
const patience = 3 * time.Minute

// browser is one tab of a headless Chromium. What must never happen on any
// page fails the test: a request to anywhere else, a violation of the policy,
// an uncaught error.
type browser struct {
	t       testing.TB
	tools   *devtools
	session string
	mu      sync.Mutex
	home    string          // host of the only server that may be asked
	loaded  map[string]bool // loaders that are done
	bad     []string
}

// chromium starts the one browser that all tests share, each with cookies and
// tabs of its own.
var chromium = sync.OnceValues(func() (*devtools, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if exe, err := exec.LookPath(name); err == nil {
			d, err := startChromium(exe)
			if err == nil {
				endBrowser = d.end
			}
			return d, err
		}
	}
	return nil, nil
})

// endBrowser ends what chromium started.
var endBrowser = func() {}

// openBrowser skips the test where there is no Chromium.
func openBrowser(t testing.TB, base string) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	tools, err := chromium()
	must(t, err)
	if tools == nil {
		t.Skip("no Chromium is installed (chromium, google-chrome)")
	}
	b := &browser{t: t, tools: tools, loaded: make(map[string]bool)}
	if u, err := url.Parse(base); err == nil {
		b.home = u.Host
	}
	var made struct{ BrowserContextID, TargetID, SessionID string }
	b.send("Target.createBrowserContext", nil, &made)
	own := map[string]any{"browserContextId": made.BrowserContextID}
	b.send("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": made.BrowserContextID}, &made)
	b.send("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	b.session = made.SessionID
	tools.listen(b.session, b.hear)
	t.Cleanup(func() {
		tools.listen(b.session, nil)
		b.session = ""
		b.send("Target.disposeBrowserContext", own, nil)
	})
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.send(domain+".enable", nil, nil)
	}
	b.send("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, what := range b.bad {
			t.Error(what)
		}
	})
	return b
}

func (b *browser) hear(e event) {
	var p struct {
		LoaderID, Name   string
		Request          struct{ URL string }
		Entry            struct{ Level, Text, URL string }
		ExceptionDetails struct{ Text string }
	}
	if json.Unmarshal(e.Params, &p) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Method {
	case "Page.lifecycleEvent":
		if p.Name == "load" {
			b.loaded[p.LoaderID] = true
		}
	case "Network.requestWillBeSent":
		u, err := url.Parse(p.Request.URL)
		if err != nil || u.Host != b.home && u.Scheme != "file" && u.Scheme != "data" && u.Scheme != "about" {
			b.bad = append(b.bad, "asked elsewhere: "+p.Request.URL)
		}
	case "Log.entryAdded":
		if p.Entry.Level == "error" || strings.Contains(p.Entry.Text, "Content Security Policy") {
			b.bad = append(b.bad, fmt.Sprintf("the browser says: %s (%s)", p.Entry.Text, p.Entry.URL))
		}
	case "Runtime.exceptionThrown":
		b.bad = append(b.bad, "uncaught: "+p.ExceptionDetails.Text)
	}
}

// send sends a command of the protocol.
func (b *browser) send(method string, params map[string]any, result any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.tools.call(ctx, b.session, method, params, result); err != nil {
		b.t.Fatalf("in the browser: %v", err)
	}
}

// run evaluates an expression in the tab.
func (b *browser) run(ctx context.Context, expression string) (text string, err error) {
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err = b.tools.call(ctx, b.session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if x := r.ExceptionDetails; err == nil && x != nil {
		err = errors.New(x.Text + " " + x.Exception.Description)
	}
	return fmt.Sprint(r.Result.Value), err
}

func (b *browser) evaluate(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	text, err := b.run(ctx, expression)
	if err != nil {
		b.t.Fatalf("in the browser: %v", err)
	}
	return text
}

// within waits for a condition.
func within(holds func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

func (b *browser) open(address string) {
	b.t.Helper()
	var made struct{ LoaderID, ErrorText string }
	b.send("Page.navigate", map[string]any{"url": address}, &made)
	if made.ErrorText != "" {
		b.t.Fatalf("open %s: %s", address, made.ErrorText)
	}
	if !within(func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.loaded[made.LoaderID]
	}) {
		b.t.Fatalf("%s is not loaded", address)
	}
}

// expectError opens a page with an error's status, of which the browser complains.
func (b *browser) expectError(address string) {
	b.t.Helper()
	b.open(address)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = slices.DeleteFunc(b.bad, func(s string) bool { return strings.Contains(s, "the server responded with a status of 4") })
}

// eval returns what an expression of the page comes to, as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	return b.evaluate("(async()=>String(await (" + expression + ")))()")
}

// do makes the page do something.
func (b *browser) do(script string) {
	b.t.Helper()
	b.evaluate("{" + script + "; undefined}")
}

// key presses a key, and keys some, one after the other.
func (b *browser) key(name string) {
	b.t.Helper()
	for _, way := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": way, "key": name}
		if way == "keyDown" {
			params["text"] = name
		}
		b.send("Input.dispatchKeyEvent", params, nil)
	}
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
	var err error
	if !within(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var text string
		text, err = b.run(ctx, "document.readyState === 'complete' && Boolean("+expression+")") // fails while another page is loaded
		return err == nil && text == "true"
	}) {
		b.t.Fatalf("waiting for %s: %v\n%s", expression, err, b.eval("document.body.innerText"))
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

// among is all of them where there is time, else the first.
func among(looks []look) []look {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		return looks[:1]
	}
	return looks
}

func (b *browser) as(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.send("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.width, "height": l.height, "deviceScaleFactor": 1, "mobile": l.phone}, nil)
	b.send("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// shoot keeps a picture of the whole page where somebody asked for it.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv(shotsVariable)
	if dir == "" {
		return
	}
	must(b.t, os.MkdirAll(dir, 0o755))
	var page struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	b.send("Page.getLayoutMetrics", nil, &page)
	b.picture(dir, name, page.CSSContentSize.Width, page.CSSContentSize.Height)
}

// picture keeps a picture of the beginning of the page.
func (b *browser) picture(dir, name string, width, height float64) {
	b.t.Helper()
	clip := map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
	var picture struct{ Data []byte }
	b.send("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": clip, "format": "webp", "quality": 70}, &picture)
	must(b.t, os.WriteFile(filepath.Join(dir, name+".webp"), picture.Data, 0o644))
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

// shows fails the test if the row that decides a finding is cut off in its card.
func (b *browser) shows(name string) {
	b.t.Helper()
	if cut := b.eval(`[...document.querySelectorAll('.finding > .exhibit > .scroll tr.focus')].filter(e =>
		e.getBoundingClientRect().bottom > e.closest('.scroll').getBoundingClientRect().bottom + 1).map(e => e.textContent).join('; ')`); cut != "" {
		b.t.Errorf("%s: one must scroll in a card to see: %s", name, cut)
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

// accessible fails the test for what axe-core finds: by all of its rules, or by
// those that are named.
func (b *browser) accessible(name string, rules ...string) {
	b.t.Helper()
	if axe() == "" {
		b.t.Logf("%s is not checked by axe-core, which is not installed (npm install axe-core)", name)
		return
	}
	b.evaluate(axe() + "; undefined")
	only, err := json.Marshal(rules)
	must(b.t, err)
	if found := b.eval(`axe.run(document, {resultTypes: ['violations'], ...(` + string(only) + ` && {runOnly: ` + string(only) + `})}).then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + ' ' + n.failureSummary.slice(0, 200)).join(' | ')).join('\n'))`); found != "" {
		b.t.Errorf("%s: %s", name, found)
	}
}
