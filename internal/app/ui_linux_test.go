package app_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
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
	return cmd, strings.TrimSpace(address), errs
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	res, err := http.Get(address)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(body)
}

// Pages are served until the user ends it, which is no failure, and promote
// findings as the verb does.
func TestUIServesAndPromotes(t *testing.T) {
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
	r, err := http.NewRequest(http.MethodPost, address+"runs/"+l.report().RunID+"/findings/"+f.ID+"/promote", nil)
	must(t, err)
	r.Header.Set("Origin", strings.TrimSuffix(address, "/"))
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	body, err := io.ReadAll(res.Body)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != 200 || !strings.Contains(string(body), "kept/"+f.ID+"/") {
		t.Errorf("promoting: %d %.300s", res.StatusCode, body)
	}
	if _, err := os.Stat(l.path("kept/" + f.ID)); err != nil {
		t.Error(err)
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v\n%s", err, errs)
	}
}

// An address that others reach asks for the token that is printed.
func TestUIBeyondThisMachineNeedsAToken(t *testing.T) {
	l := newLab(t, "true")
	expect(t, l.run("--quiet"), 0)
	_, address, _ := l.pages("--addr", "0.0.0.0:0")
	at, token, ok := strings.Cut(address, "?token=")
	if !ok || len(token) < 20 {
		t.Fatalf("address %s", address)
	}
	u, err := url.Parse(at)
	must(t, err)
	at = "http://127.0.0.1:" + u.Port() + "/"
	if code, _ := get(t, at); code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", code)
	}
	r, err := http.NewRequest(http.MethodGet, at+"api/v1/runs", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != 200 {
		t.Errorf("with the token: %d", res.StatusCode)
	}
}

func TestUIRefuses(t *testing.T) {
	l := newLab(t, "true")
	expect(t, l.stored("ui"), 2, "there is no store", "thresh run makes one")
	expect(t, l.run("--quiet"), 0)
	expect(t, l.stored("ui", "--addr", "8080"), 2, `--addr must be HOST:PORT, got "8080"`)
	expect(t, l.stored("ui", "--addr", "127.0.0.1:1", "extra"), 2)
	expect(t, l.stored("ui", "--addr", "192.0.2.1:0"), 3, "serve pages on 192.0.2.1:0")
}

// thresh run tells where its pages are, and ends when the run does where there
// is no terminal.
func TestRunServesItsPages(t *testing.T) {
	l := newLab(t, "true")
	expect(t, l.run("--ui", "--quiet"), 0, "pages: http://127.0.0.1:", "/runs/")
}
