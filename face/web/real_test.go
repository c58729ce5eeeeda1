package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/face/web"
	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/store"
)

// built is the folder of the program, once it was built.
var built string

var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "thresh-web-")
	if err != nil {
		return "", err
	}
	built = dir
	bin := filepath.Join(dir, "thresh")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", bin, "../../cmd/thresh").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building thresh: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	testproc.Ready(3)
	code := m.Run()
	endBrowser()
	if built != "" {
		_ = os.RemoveAll(built) // a temporary folder
	}
	os.Exit(code)
}

// program builds the program once, and returns a function that runs it in a
// folder.
func program(t *testing.T) func(dir string, codes []int, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go to build the program with")
	}
	bin, err := binary()
	must(t, err)
	return func(dir string, codes []int, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), bin, args...)
		c.Dir = dir
		var errs bytes.Buffer
		c.Stderr = &errs
		out, _ := c.Output() // the exit code says it
		if code := c.ProcessState.ExitCode(); !slices.Contains(codes, code) {
			t.Fatalf("thresh %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs.Bytes())
		}
		return string(out)
	}
}

// Every contract's own starter document is run, and every page of the run is
// looked at: what a contract shows comes from exhibits, so that none has a
// page of its own.
func TestPagesOfRealRuns(t *testing.T) {
	t.Parallel() // mostly waits
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("runs a document of every contract, and looks at each page three times: set THRESH_TEST_LONG=1")
	}
	doors, err := os.ReadDir(filepath.Join("..", "..", "contract"))
	must(t, err)
	thresh := program(t)
	dir := t.TempDir()
	var names []string
	for _, d := range doors {
		if d.Name() == "contracttest" || d.Name() == "system" || !d.IsDir() { // a system file is run when it is named
			continue
		}
		names = append(names, d.Name())
		thresh(dir, []int{0}, "init", d.Name(), d.Name())
		thresh(dir, []int{0, 1}, "run", d.Name(), "--quiet", "--store", "store", "--cases", "400", "--shrink", "40")
	}
	st := openStore(t, filepath.Join(dir, "store"))
	base, _ := serve(t, st, func(c *web.Config) { c.Contract = names })
	b := openBrowser(t, base)
	for _, name := range names {
		runs, err := st.Runs(store.RunQuery{Contract: name})
		must(t, err)
		if len(runs) != 1 {
			t.Fatalf("%d runs of %s", len(runs), name)
		}
		page, err := st.Findings(store.FindingQuery{RunID: runs[0].RunID, Limit: 1})
		must(t, err)
		for _, l := range looks {
			b.as(l)
			b.open(base + "/runs/" + runs[0].RunID)
			if !strings.Contains(b.eval("document.body.textContent"), runs[0].Campaigns[0]) {
				t.Errorf("the page of the run of %s does not name its campaign", name)
			}
			b.fits(name + "-" + l.name)
			if !l.dark && !l.phone { // the other looks are tried with pages of everything
				b.accessible(name + "-" + l.name)
			}
			b.shoot("real-" + name + "-" + l.name)
			for _, f := range page.Findings {
				b.open(base + "/runs/" + runs[0].RunID + "/findings/" + f.ID)
				b.fits(f.ID + "-" + l.name)
				if !l.dark && !l.phone {
					b.accessible(f.ID + "-" + l.name)
				}
				b.shoot("real-" + name + "-finding-" + l.name)
			}
		}
	}
	b.open(base + "/")
	if n := b.eval(`document.querySelectorAll('.spec').length`); n == "0" {
		t.Error("no trends of real runs")
	}
	b.shoot("real-runs")
}

// thresh run with pages serves the run, tells where, and ends with it where
// nobody sits before a terminal.
func TestRunWithPages(t *testing.T) {
	t.Parallel() // mostly waits
	thresh := program(t)
	dir := t.TempDir()
	thresh(dir, []int{0}, "init", "fuzzspec")
	thresh(dir, []int{0, 1}, "run", "fuzzspec.json", "--ui", "--quiet", "--cases", "50", "--report", "json=report.json")
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	must(t, err)
	var rec struct {
		Complete bool `json:"complete"`
	}
	must(t, json.Unmarshal(data, &rec))
	if !rec.Complete {
		t.Error("the run with pages is not complete")
	}
}
