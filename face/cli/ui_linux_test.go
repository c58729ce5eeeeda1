package cli_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// pages starts thresh ui and returns the address that it prints.
func (l *lab) pages(args ...string) (cmd *exec.Cmd, address string, errs *bytes.Buffer) {
	l.t.Helper()
	cmd = child(l.t, "thresh", append([]string{"ui", "--store", l.path("store")}, args...)...)
	cmd.Dir = l.dir
	errs = &bytes.Buffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	must(l.t, err)
	must(l.t, cmd.Start())
	l.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		l.t.Fatalf("no address: %v\n%s", err, errs)
	}
	address, ok := strings.CutSuffix(strings.TrimSpace(address), "?token="+pagesToken)
	if !ok {
		l.t.Fatalf("the address has no token: %s", address)
	}
	return cmd, address, errs
}

// ask asks pages with their token.
func ask(t *testing.T, method, address string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+pagesToken)
	if method != http.MethodGet {
		r.Header.Set("Origin", "http://"+r.URL.Host)
	}
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	return res
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	res := ask(t, http.MethodGet, address)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body)
}

// Pages are served until the user ends it, which is not a failure, and promote
// findings as the verb does.
func TestUIServesAndPromotes(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `head -c 1 "$1" | grep -q A || kill -SEGV $$`)
	expect(t, l.run("--quiet"), 1)
	cmd, address, errs := l.pages("--promote-to", "kept")
	if code, body := get(t, address); code != 200 || !strings.Contains(body, "lab") {
		t.Errorf("the list of runs: %d", code)
	}
	f := l.report().Findings[0]
	if code, body := get(t, address+"findings/"+f.ID); code != 200 || !strings.Contains(body, "thresh replay --store "+l.path("store")+" "+f.ID) {
		t.Errorf("the finding: %d", code)
	}
	res := ask(t, http.MethodPost, address+"runs/"+l.report().RunID+"/findings/"+f.ID+"/promote")
	body, err := io.ReadAll(res.Body)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != 200 || !strings.Contains(string(body), "kept/"+f.ID+"/") {
		t.Errorf("promoting: %d %.300s", res.StatusCode, body)
	}
	if _, err := os.Stat(l.path("kept/" + f.ID)); err != nil {
		t.Error(err)
	}
	must(t, cmd.Process.Signal(syscall.SIGHUP)) // the terminal was closed
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v\n%s", err, errs)
	}
}

// Pages can run cases: every address asks for the token that is printed, and a
// browser that came by it needs it once.
func TestUINeedsAToken(t *testing.T) {
	l := newLab(t, "true")
	expect(t, l.run("--quiet"), 0)
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		_, address, _ := l.pages("--addr", addr)
		u, err := url.Parse(address)
		must(t, err)
		at := "http://127.0.0.1:" + u.Port() + "/"
		res, err := http.Get(at)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d", addr, res.StatusCode)
		}
		if code, _ := get(t, at+"api/v1/runs"); code != 200 {
			t.Errorf("%s with the token: %d", addr, code)
		}
		jar, err := cookiejar.New(nil)
		must(t, err)
		browser := http.Client{Jar: jar}
		for _, page := range []string{"?token=" + pagesToken, "api/v1/runs"} {
			res, err := browser.Get(at + page)
			must(t, err)
			must(t, res.Body.Close())
			if res.StatusCode != 200 {
				t.Errorf("%s in a browser, %s: %d", addr, page, res.StatusCode)
			}
		}
	}
}

// In a folder without a store the first page says what to do.
func TestUIOfAFreshFolder(t *testing.T) {
	l := newLab(t, "true")
	_, address, _ := l.pages()
	if code, body := get(t, address); code != 200 || !strings.Contains(body, "No runs yet") || !strings.Contains(body, "thresh run") {
		t.Errorf("the list of runs: %d\n%s", code, body)
	}
}

func TestUIRefuses(t *testing.T) {
	l := newLab(t, "true")
	expect(t, l.run("--quiet"), 0)
	expect(t, l.stored("ui", "--addr", "8080"), 2, `--addr must be HOST:PORT, got "8080"`)
	expect(t, l.stored("ui", "--addr", "127.0.0.1:1", "extra"), 2)
	short := child(t, "thresh", "ui", "--store", l.path("store"))
	short.Env = append(short.Env, "THRESH_UI_TOKEN=fifteen-letters")
	if out, _ := short.CombinedOutput(); short.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "a token needs at least 16") {
		t.Errorf("a short token: %s", out)
	}
	expect(t, l.stored("ui", "--addr", "192.0.2.1:0"), 3, "serve pages on 192.0.2.1:0")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	expect(t, l.stored("ui", "--addr", taken.Addr().String()), 3, "address already in use", "--addr 127.0.0.1:0 takes a free port")
}

// thresh run tells where its pages are, and ends when the run does where there
// is not a terminal.
func TestRunServesItsPages(t *testing.T) {
	l := newLab(t, "true")
	expect(t, l.run("--ui", "--quiet"), 0, "pages: http://127.0.0.1:", "/runs/")
}
