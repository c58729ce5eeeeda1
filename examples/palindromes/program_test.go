package palindromes

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/campaign"
)

// program is the command of this module.
var program string

func TestMain(m *testing.M) { os.Exit(tests(m)) }

func tests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "palindromes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "palindromes")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/palindromes").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the command: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// host is a folder in which the command is run.
type host struct {
	t   *testing.T
	dir string
}

// run runs a command line, which is to end with a code, and returns what it
// printed on both streams.
func (h host) run(code int, args ...string) string {
	h.t.Helper()
	c := exec.Command(program, args...)
	c.Dir = h.dir
	out, err := c.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		h.t.Fatalf("%q: %v", args, err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		h.t.Fatalf("%q: exit code %d, want %d\n%s", args, got, code, out)
	}
	return string(out)
}

var findingID = regexp.MustCompile(`F-[0-9a-f]{10}`)

// A format that is written elsewhere has every verb of the command line.
func TestVerbs(t *testing.T) {
	h := host{t, t.TempDir()}
	if out := h.run(0, "init", "palindromes"); !strings.Contains(out, "words.md") {
		t.Errorf("init: %s", out)
	}
	if out := h.run(0, "check", "words.md"); !strings.Contains(out, "palindromes words.md: 2 cases") {
		t.Errorf("check: %s", out)
	}
	write(t, filepath.Join(h.dir, "bad.md"), version+"\ntwo words\n")
	if out := h.run(2, "check", "bad.md"); !strings.Contains(out, "bad.md:2:1: error: must be one word [palindromes.word]") {
		t.Errorf("check of a bad document: %s", out)
	}
	write(t, filepath.Join(h.dir, "words.md"), version+"\nlevel\nstaple\nnoon\nstep\n")
	out := h.run(1, "run", "words.md", "--quiet", "--report", "html=report.html", "--report", "junit=junit.xml", "--report", "text=-")
	id := findingID.FindString(out)
	if id == "" || !strings.Contains(out, "a word reads differently backwards") {
		t.Fatalf("run: %s", out)
	}
	for _, file := range []string{"report.html", "junit.xml"} {
		if info, err := os.Stat(filepath.Join(h.dir, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, x := range []struct {
		code int
		args []string
		want string
	}{
		{0, []string{"list"}, "words.md"},
		{0, []string{"show", id}, "Word"},
		{0, []string{"show", id}, "reproduce:   palindromes replay " + id},
		{2, []string{"schema", "palindromes"}, "the format palindromes has no JSON Schema"},
		{0, []string{"show", "latest#1"}, "case 1: fail"},
		{1, []string{"replay", id}, "shows again"},
		{0, []string{"shrink", id}, id},
		{0, []string{"report", "--format", "json"}, `"palindromes"`},
		{1, []string{"run", "words.md", "--quiet", "--cases", "2"}, "2 cases"},
		{1, []string{"run", "--resume", "latest", "--quiet", "--cases", "4"}, "4 cases"},
		{0, []string{"compare", "latest", "latest"}, "1 still failing"},
		{0, []string{"gc", "--keep", "1"}, "removed 1 run"},
		{0, []string{"palindromes", "complete", "lev", "no", "--odd"}, "level\nnon\n"},
		{2, []string{"palindromes", "complete", "--od"}, "did you mean --odd?"},
		{0, []string{"--help"}, "tools for authors of palindromes"},
	} {
		if out := h.run(x.code, x.args...); !strings.Contains(out, x.want) {
			t.Errorf("%q does not say %q:\n%s", x.args, x.want, out)
		}
	}
	if out := h.run(2, "promote", id); !strings.Contains(out, "need no regression test") {
		t.Errorf("promote of a format without a Promoter: %s", out)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// begin starts a command line that serves until the test ends.
func (h host) begin(args ...string) (in io.Writer, out *bufio.Reader) {
	h.t.Helper()
	c := exec.Command(program, args...)
	c.Dir = h.dir
	stdin, err := c.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	return stdin, bufio.NewReader(stdout)
}

// Its runs have pages.
func TestPages(t *testing.T) {
	h := host{t, t.TempDir()}
	write(t, filepath.Join(h.dir, "words.md"), version+"\nstaple\n")
	id := findingID.FindString(h.run(1, "run", "words.md", "--quiet"))
	_, out := h.begin("ui")
	address, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: 20 * time.Second, Jar: jar} // the address has a token, which becomes a cookie
	res, err := client.Get(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(page), "words.md") {
		t.Errorf("status %d, %v; the page of runs does not name words.md (finding %s)", res.StatusCode, err, id)
	}
}

// Coding agents check and run its documents.
func TestMCP(t *testing.T) {
	h := host{t, t.TempDir()}
	write(t, filepath.Join(h.dir, "words.md"), version+"\nlevel\nstaple\n")
	in, out := h.begin("mcp")
	ask := func(id int, method string, params any) string {
		t.Helper()
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			t.Fatal(err)
		}
		for {
			answer, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(answer, `"id":`+string(rune('0'+id))) {
				return answer
			}
		}
	}
	ask(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	call := func(id int, name string, arguments map[string]any) string {
		return ask(id, "tools/call", map[string]any{"name": name, "arguments": arguments})
	}
	if a := call(2, "check_spec", map[string]any{"path": "words.md"}); !strings.Contains(a, `palindromes`) {
		t.Errorf("check_spec: %s", a)
	}
	if a := call(3, "run_spec", map[string]any{"path": "words.md", "wait": true}); !strings.Contains(a, `"findings_count":1`) {
		t.Errorf("run_spec: %s", a)
	}
}

// A fleet runs its cases on a worker that is the same program.
func TestFleet(t *testing.T) {
	h := host{t, t.TempDir()}
	write(t, filepath.Join(h.dir, "words.md"), version+"\nlevel\nstaple\nnoon\nstep\n")
	c := exec.Command(program, "run", "words.md", "--fleet", "embedded", "--quiet")
	c.Dir = h.dir
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	c.Stdout = &printed
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	begun := false
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) > 3 && words[0] == "workers:" && !begun {
			begun = true
			h.begin(words[2:]...)
		}
	}
	err = c.Wait()
	if c.ProcessState.ExitCode() != 1 || !begun || !strings.Contains(printed.String(), "4 cases") {
		t.Errorf("%v, worker begun %t:\n%s", err, begun, printed.String())
	}
}

// What a Go program runs through the library, every verb reads, and the other
// way round.
func TestLibraryAndVerbsShareAStore(t *testing.T) {
	h := host{t, t.TempDir()}
	doc, store := filepath.Join(h.dir, "words.md"), filepath.Join(h.dir, ".thresh")
	write(t, doc, version+"\nlevel\nstaple\nnoon\nstep\n")
	job := thresh.Job{Paths: []string{doc}, Contracts: []campaign.Contract{Contract{}}, Store: store, Cases: 3}
	checked, err := thresh.Check(t.Context(), job)
	if err != nil || len(checked.Campaigns) != 1 || checked.Campaigns[0].Cases != 4 {
		t.Fatalf("check: %+v, %v", checked, err)
	}
	rec, err := thresh.Run(t.Context(), job)
	if err != nil || len(rec.Findings) != 1 || rec.Campaigns[0].Cases.Run != 3 {
		t.Fatalf("run: %+v, %v", rec, err)
	}
	id := rec.Findings[0].ID
	if out := h.run(1, "replay", id); !strings.Contains(out, "shows again") {
		t.Errorf("replay: %s", out)
	}
	if out := h.run(1, "run", "--resume", rec.RunID, "--cases", "4", "--quiet"); !strings.Contains(out, "4 cases") {
		t.Errorf("resume: %s", out)
	}
	if out := h.run(0, "report", rec.RunID); !strings.Contains(out, id) {
		t.Errorf("report: %s", out)
	}
	replayed, err := thresh.Replay(t.Context(), id, job)
	if err != nil || replayed.Rerun.Same != 1 {
		t.Errorf("replay by the library: %+v, %v", replayed, err)
	}
	shrunk, err := thresh.Shrink(t.Context(), id, job)
	if err != nil || !shrunk.Still {
		t.Errorf("shrink by the library: %+v, %v", shrunk, err)
	}
	if _, err := thresh.Promote(t.Context(), id, h.dir, job); err == nil || !strings.Contains(err.Error(), "regression test") {
		t.Errorf("promote by the library: %v", err)
	}
	job.Cases = 0
	again, err := thresh.Run(t.Context(), job)
	if err != nil || again.Campaigns[0].Cases.Run != 4 {
		t.Errorf("second run: %+v, %v", again, err)
	}
	if _, err := thresh.Run(t.Context(), thresh.Job{Paths: []string{filepath.Join(h.dir, "gone")}, Store: store}); err == nil {
		t.Error("a document that is not there was run")
	}
}
