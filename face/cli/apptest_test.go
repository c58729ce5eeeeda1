package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/face/cli"
	"github.com/thresh-dev/thresh/internal/clitest"
)

// The test binary runs itself as another process: as thresh, with the command
// line it is given, or to do one of the jobs below in its own surroundings.
const childJob = "THRESH_APP_TEST_JOB"

// jobs are what another process can be asked to do.
var jobs = map[string]func(args []string) int{
	"thresh": func(args []string) int {
		return cli.Main(append([]string{"thresh"}, args...), cli.System())
	},
}

// tests are those of this package, with what they leave removed at the end.
type tests struct{ *testing.M }

// serverDir is the folder of a server that tests have built; "": they have built none.
var serverDir string

func (t tests) Run() int {
	defer func() { _ = os.RemoveAll(serverDir) }()
	return t.M.Run()
}

func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(jobs[job](os.Args[1:]))
	}
	clitest.Main(tests{m})
}

// child is a process that does a job.
func child(t testing.TB, job string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), childJob+"="+job, "THRESH_UI_TOKEN="+pagesToken)
	return cmd
}

// pagesToken is the token of pages that children serve.
const pagesToken = "token-of-the-pages-in-tests"

// result is what a command line came to.
type result struct {
	code     int
	out, err string
}

// text is all that the user sees.
func (r result) text() string { return r.out + r.err }

// call runs a command line in this process.
func call(args ...string) result {
	var out, errs bytes.Buffer
	code := cli.Main(append([]string{"thresh"}, args...), cli.Stdio{
		In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" },
	})
	return result{code, out.String(), errs.String()}
}

// lab is a folder with a program under test, a seed and a document, and a store.
type lab struct {
	t      testing.TB
	dir    string
	marker string // stands in the command line of every process that the program may leave
}

var labs atomic.Int64

// newLab makes a lab whose program is a shell script; it finds its input in $1,
// its folder for outputs in $2 and the lab in $LAB. MARK in the script is
// replaced by a number that no other process has in its command line.
func newLab(t testing.TB, script string) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir(), marker: fmt.Sprintf("8%07d%05d", os.Getpid(), labs.Add(1))}
	t.Cleanup(l.deserted)
	l.program(script)
	l.write("seed.bin", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	l.document(nil)
	return l
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func (l *lab) write(name, content string) {
	l.t.Helper()
	must(l.t, os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
	must(l.t, os.WriteFile(l.path(name), []byte(content), 0o644))
}

func (l *lab) read(name string) string {
	l.t.Helper()
	data, err := os.ReadFile(l.path(name))
	must(l.t, err)
	return string(data)
}

// program replaces the program under test.
func (l *lab) program(script string) {
	l.t.Helper()
	l.write("target.sh", "LAB='"+l.dir+"'\n"+strings.ReplaceAll(script, "MARK", l.marker)+"\n")
}

// edits are values to put into a document by their dotted path; nil takes one
// away.
type edits map[string]any

// document writes spec.json: 20 cases of the seed, with the edits made to it.
func (l *lab) document(e edits) {
	l.t.Helper()
	doc := map[string]any{
		"schema_version": "llmfuzz.fuzzspec.v1", "campaign_id": "lab",
		"target": map[string]any{
			"agent_id": "tester", "work_root_base": l.path("work"), "timeout_s": 20,
			"command": []string{"/bin/sh", l.path("target.sh"), "<input_path>", "<out_dir>"},
		},
		"seed":      map[string]any{"path": l.path("seed.bin")},
		"mutations": map[string]any{"cases": 20, "rng_seed": 1, "max_ops_per_case": 2},
		"execution": map[string]any{},
		"outputs":   map[string]any{"out_dir": "runs/<run_id>/out", "eval_dir": "runs/<run_id>/eval"},
	}
	for path, v := range e {
		at := doc
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			at = at[k].(map[string]any)
		}
		if last := keys[len(keys)-1]; v == nil {
			delete(at, last)
		} else {
			at[last] = v
		}
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	must(l.t, err)
	l.write("spec.json", string(data))
}

// run runs thresh run on the document, with a JSON report in report.json.
func (l *lab) run(args ...string) result {
	return call(append([]string{"run", l.path("spec.json"), "-j", "2", "--shrink", "30", "--store", l.path("store"), "--report", "json=" + l.path("report.json")}, args...)...)
}

// resume goes on with the newest run.
func (l *lab) resume(args ...string) result {
	return call(append([]string{"run", "--resume", "latest", "-j", "2", "--shrink", "30", "--store", l.path("store"), "--report", "json=" + l.path("report.json")}, args...)...)
}

// stored runs a verb on the lab's store.
func (l *lab) stored(args ...string) result {
	return call(append(args, "--store", l.path("store"))...)
}

// campaign runs thresh fuzzspec campaign, executing the cases.
func (l *lab) campaign(args ...string) result {
	return call(append([]string{"fuzzspec", "campaign", "--spec", l.path("spec.json"), "--exec", "-j", "2", "--shrink", "30", "--campaign-id", "c"}, args...)...)
}

// one runs thresh fuzzspec run on one case and keeps its folder as "one".
func (l *lab) one(args ...string) result {
	return call(append([]string{"fuzzspec", "run", "--spec", l.path("spec.json"), "--run-id", "one", "--case-index", "0"}, args...)...)
}

// record is the part of a JSON report that tests look at.
type record struct {
	RunID, Digest, Verdict, Stopped string
	Complete                        bool
	Warnings                        []string
	Campaigns                       []struct {
		Cases struct{ Planned, Run, Pass, Fail, Error int64 }
	}
	Findings []struct {
		ID, Kind, Title, Severity string
		Cases                     int64
		Flaky                     bool
		Minimized                 *struct {
			Size, From int64
			Verified   bool
		}
	}
}

// report is the JSON report of the last run.
func (l *lab) report() record {
	l.t.Helper()
	var r record
	must(l.t, json.Unmarshal([]byte(strings.ReplaceAll(l.read("report.json"), `"run_id"`, `"runid"`)), &r))
	return r
}

// object reads a JSON file of the lab.
func (l *lab) object(name string) map[string]any {
	l.t.Helper()
	var o map[string]any
	must(l.t, json.Unmarshal([]byte(l.read(name)), &o))
	return o
}

// lines reads a file of the lab that has one JSON object a line.
func (l *lab) lines(name string) []map[string]any {
	l.t.Helper()
	var list []map[string]any
	for line := range strings.Lines(l.read(name)) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			l.t.Fatalf("%s: line %q: %v", name, line, err)
		}
		list = append(list, o)
	}
	return list
}

// summary is the campaign's summary.json.
func (l *lab) summary() map[string]any {
	l.t.Helper()
	return l.object("work/llmfuzz/campaigns/c/summary.json")
}

// survivors is the processes that the program under test has left running.
func (l *lab) survivors() map[int]string {
	found := make(map[int]string)
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		l.t.Error(err)
	}
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(l.marker)) && !bytes.Contains(text, []byte(l.dir)) {
			continue // ended meanwhile, or another's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			found[pid] = string(text)
		}
	}
	return found
}

// deserted fails the test if a process that the program started still runs.
func (l *lab) deserted() {
	for pid, text := range l.survivors() {
		l.t.Errorf("left running: process %d: %q", pid, text)
	}
}

// whole fails the test if a folder of a case is there in part.
func (l *lab) whole(runs string) {
	l.t.Helper()
	entries, err := os.ReadDir(runs)
	if err != nil && !os.IsNotExist(err) {
		l.t.Error(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			l.t.Errorf("left behind: %s", e.Name())
		}
		for _, name := range []string{"context.json", "eval/failure_record.json", "exec/exec.json", "input/original.pdf", "llmfuzz/eval.json"} {
			if _, err := os.Stat(filepath.Join(runs, e.Name(), name)); err != nil {
				l.t.Error(err)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect fails the test unless the command line ended with the code and told
// every one of the texts.
func expect(t testing.TB, r result, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, s := range texts {
		if !strings.Contains(r.text(), s) {
			t.Errorf("says nothing of %q", s)
		}
	}
	if t.Failed() {
		t.Fatalf("standard output:\n%s\nstandard error:\n%s", r.out, r.err)
	}
}

// equal compares two values by how they print.
func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}
