package web_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/face/web"
)

const deskToken = "a-token-of-some-length"

// desktop starts thresh ui in a folder and returns its address with the token.
func desktop(t *testing.T, dir string) (base, address string) {
	t.Helper()
	bin, err := binary()
	must(t, err)
	c := exec.CommandContext(t.Context(), bin, "ui")
	c.Dir, c.Env = dir, append(os.Environ(), "THRESH_UI_TOKEN="+deskToken)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() }) // it serves until then
	buf := make([]byte, 4096)
	n, err := out.Read(buf)
	must(t, err)
	address = strings.TrimSpace(string(buf[:n]))
	base, _, _ = strings.Cut(address, "/?")
	return base, address
}

// From an empty store to a mended document, without a shell: choose, be told
// what is wrong, mend, run, see.
func TestStartFromThePage(t *testing.T) {
	t.Parallel() // mostly waits
	thresh := program(t)
	dir := t.TempDir()
	thresh(dir, []int{0}, "init", "spectest", "specs")
	doc := filepath.Join(dir, "specs", "greeting.spec.md")
	must(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("```console run\n$ echo hi\nhi\n```\n"), 0o600))
	base, address := desktop(t, dir)
	b := openBrowser(t, base)
	b.as(looks[0])
	b.open(address)
	b.do(`document.querySelector('a[href="/documents"]').click()`)
	b.until(`document.querySelector('[data-row] a')`)
	b.accessible("documents")
	if named := b.eval(`document.querySelector('h2 ~ .list').textContent`); !strings.Contains(named, "README.md") || strings.Contains(named, "greeting") {
		t.Errorf("only when chosen: %s", named)
	}
	b.fits("documents")
	b.shoot("documents")
	b.do(`document.querySelector('[data-row] a').click()`)
	b.until(`document.querySelector('[data-desk] [data-answer]').textContent.includes('Ready to run')`)
	b.accessible("document")
	b.shoot("document")

	// What check says changes with the text.
	b.do(`{const t = document.querySelector('textarea'); t.value = t.value.replace('exit_code:', 'exit_kode:'); t.dispatchEvent(new Event('input', {bubbles: true}))}`)
	b.until(`document.querySelector('[data-answer]').textContent.includes('exit_kode')`)
	b.shoot("document-refused")
	if text, err := os.ReadFile(doc); err != nil || strings.Contains(string(text), "exit_kode") {
		t.Errorf("checking wrote the file: %v", err)
	}

	// A value is edited and the document run: the run's page follows.
	b.do(`{const t = document.querySelector('textarea'); t.value = t.value.replace('exit_kode:', 'exit_code:').replace('exit_code: 0', 'exit_code: 3')}`)
	b.do(`document.querySelector('[data-desk] button[value=run]').click()`)
	b.until(`location.pathname.startsWith('/runs/') && document.querySelector('main').dataset.status === 'done'`)
	if n := b.eval(`document.querySelectorAll('[data-card]').length`); n == "0" {
		t.Errorf("the edited value breaks nothing: %s", b.eval(`document.body.innerText`))
	}
	b.accessible("run-from-page")
	b.shoot("run-from-page")
	if text, err := os.ReadFile(doc); err != nil || !strings.Contains(string(text), "exit_code: 3") || strings.Contains(string(text), "\r") {
		t.Errorf("the file was not saved as it was typed: %v\n%s", err, text)
	}

	// Somebody else's change is not overwritten, and nothing outside is reached.
	head := []string{"Authorization", "Bearer " + deskToken, "Origin", base, "Content-Type", "application/x-www-form-urlencoded"}
	form := func(v url.Values) answer { return sendForm(t, base+"/document", v, head...) }
	if a := form(url.Values{"path": {"specs/greeting.spec.md"}, "do": {"save"}, "version": {"0"}, "text": {"x"}}); a.code != 409 {
		t.Errorf("a text over a newer one: %d %s", a.code, a.body)
	}
	must(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "outside.md"), []byte("x"), 0o600))
	for _, p := range []string{"../outside.md", "/etc/passwd"} {
		if a := ask(t, "GET", base+"/document?path="+url.QueryEscape(p), head...); a.code != 404 {
			t.Errorf("%s: %d", p, a.code)
		}
		if a := form(url.Values{"path": {p}, "do": {"run"}}); a.code != 404 {
			t.Errorf("running %s: %d", p, a.code)
		}
	}
}

// A run that was begun on a page is stopped there, and can be gone on with.
func TestStopFromThePage(t *testing.T) {
	t.Parallel() // mostly waits
	thresh := program(t)
	dir := t.TempDir()
	thresh(dir, []int{0}, "init", "fuzzspec", "fuzz")
	must(t, os.WriteFile(filepath.Join(dir, "fuzz", "divide.sh"), []byte("sleep 0.2\necho '{}' > \"$2/out.json\"\n"), 0o600))
	base, address := desktop(t, dir)
	b := openBrowser(t, base)
	b.open(address)
	b.open(base + "/document?path=fuzz/fuzzspec.json")
	if said := b.eval(`document.body.innerText`); !strings.Contains(said, "Ready to run") || strings.Contains(said, "warning") || !strings.Contains(said, "Thresh 0.") {
		t.Errorf("the page of a starter says %s", said)
	}
	b.do(`document.querySelector('[data-desk] button[value=run]').click()`)
	b.until(`document.querySelector('main').dataset.status === 'running' && document.querySelector('form[action$="/stop"]')`)
	b.shoot("live")
	b.do(`document.querySelector('form[action$="/stop"] button').click()`)
	b.until(`document.querySelector('main').dataset.status === 'interrupted' && document.querySelector('.resume')`)
	b.shoot("stopped")
}

// A run is made again with its own settings, so that the two can be compared; so is a
// document that is edited from its page.
func TestRunAgainAsBefore(t *testing.T) {
	t.Parallel() // mostly waits
	thresh := program(t)
	dir := t.TempDir()
	thresh(dir, []int{0}, "init", "fuzzspec", "fuzz")
	thresh(dir, []int{0, 1}, "run", "fuzz/fuzzspec.json", "-q", "--seed", "5", "--cases", "40", "--ok-exit", "2")
	base, address := desktop(t, dir)
	b := openBrowser(t, base)
	b.open(address)
	for i, way := range []string{`document.querySelector('.again a').click()`, `document.querySelector('.again button').click()`} {
		b.open(base + "/runs/latest")
		b.do(way)
		if i == 0 {
			b.until(`document.querySelector('[data-desk]')?.textContent.includes('--seed=5 --cases=40 --ok-exit=2')`)
			b.do(`document.querySelector('[data-desk] button[value=run]').click()`)
		}
		b.until(fmt.Sprintf(`location.pathname.endsWith('-%d') && document.querySelector('main').dataset.status === 'done'`, i+2))
		if said := b.eval(`document.body.innerText`); !strings.Contains(said, "Since r") || !strings.Contains(said, "thresh run fuzz/fuzzspec.json --seed=5 --cases=40 --ok-exit=2") {
			t.Errorf("the page of the run says %s", said)
		}
	}
}

// Without documents of their own, pages offer none.
func TestNoDesk(t *testing.T) {
	base, _ := serve(t, openStore(t, t.TempDir()), func(c *web.Config) { c.Desk = nil })
	if a := ask(t, "GET", base+"/documents"); a.code != 404 {
		t.Errorf("documents without a folder: %d", a.code)
	}
}
