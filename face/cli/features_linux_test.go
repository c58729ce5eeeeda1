package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/face/cli"
)

// crasher fails for inputs that do not begin with an A.
const crasher = `read x <"$1"; case "$x" in A*) exit 0 ;; esac; echo "bad start" >&2; exit 3`

func TestC1_ReplayShrinkPromote(t *testing.T) {
	l := newLab(t, crasher)
	expect(t, l.run("--shrink", "0"), 1)
	f := l.report().Findings[0]
	expect(t, l.stored("replay", f.ID), 1, "shows again")
	expect(t, l.stored("replay", fmt.Sprintf("latest#%d", firstCase(t, l))), 1, "fail")
	expect(t, l.stored("shrink", f.ID, "--budget", "100"), 0, "bytes in")
	expect(t, l.stored("show", f.ID), 0, f.ID, "minimized")
	expect(t, l.stored("promote", f.ID, "--to", l.path("regressions")), 0, f.ID)
	regression := l.path("regressions/" + f.ID)
	expect(t, call("run", regression, "--store", l.path("store2")), 1)
	l.program("exit 0")
	expect(t, l.stored("replay", f.ID), 0, "no longer shows")
	expect(t, call("run", regression, "--store", l.path("store2")), 0)
}

// firstCase is the index of the first failing case.
func firstCase(t *testing.T, l *lab) int64 {
	t.Helper()
	return int64(l.object("report.json")["findings"].([]any)[0].(map[string]any)["first_case"].(float64))
}

func TestC1_Workers(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, crasher)
	l.document(edits{"mutations.cases": 100})
	var want string
	for _, workers := range []string{"1", "2", "8"} {
		expect(t, l.run("-j", workers, "--store", l.path("store"+workers)), 1)
		got := strings.ReplaceAll(withoutEnvironment(t, l.path("report.json")), "store"+workers, "store")
		if want == "" {
			want = got
		}
		equal(t, "report with "+workers+" workers", got, want)
	}
}

// withoutEnvironment is a JSON report without what differs between equal runs.
func withoutEnvironment(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	var rec map[string]any
	must(t, json.Unmarshal(data, &rec))
	delete(rec, "environment")
	data, err = json.MarshalIndent(rec, "", " ")
	must(t, err)
	return string(data)
}

func TestC1_Budgets(t *testing.T) {
	l := newLab(t, "exit 0")
	expect(t, l.run("--cases", "5"), 0, "5 cases")
	r := l.run("--time", "1ns")
	if rec := l.report(); rec.Complete || rec.Stopped != "time" {
		t.Errorf("stopped %q, complete %t", rec.Stopped, rec.Complete)
	}
	expect(t, r, 3) // nothing was run, so nothing was shown to hold
	expect(t, l.resume(), 0)
	equal(t, "cases", l.report().Campaigns[0].Cases.Run, 20)
	l.program("exit 1")
	expect(t, l.run("--fail-fast"), 1)
	equal(t, "cases", l.report().Campaigns[0].Cases.Run, 1)
}

func TestC1_DeepMutators(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `LC_ALL=C grep -q -a -e SESAME -e SECONDSEED "$1" || exit 0; exit 5`)
	l.write("words.dict", "open=\"SESAME\"\n")
	l.write("corpus/other.bin", "SECONDSEED SECONDSEED SECONDSEED")
	l.document(edits{"mutations.cases": 60, "mutations.max_ops_per_case": 4})
	digests := make(map[string]bool)
	for _, workers := range []string{"1", "8"} {
		r := l.run("--mutators", "deep", "--dict", l.path("words.dict"), "--corpus", l.path("corpus"), "-j", workers)
		expect(t, r, 1, "exit status 5")
		digests[l.report().Digest] = true
	}
	equal(t, "distinct digests", len(digests), 1)
	expect(t, l.run("--dict", l.path("words.dict")), 2, "--mutators deep")
}

func TestC1_Delivery(t *testing.T) {
	l := newLab(t, `read x; case "$LLMFUZZ_INPUT_PATH $x" in *.csv" "?*) exit 0 ;; esac; exit 9`)
	l.document(edits{"target.command": []string{"/bin/sh", l.path("target.sh")}, "seed.media_type": "text/csv; charset=utf-8"})
	expect(t, l.run(), 0, "20 cases")
	expect(t, l.run("--input", "file"), 1)
}

func TestC1_Limits(t *testing.T) {
	l := newLab(t, `[ "$(ulimit -v)" = 65536 ] && [ "$(ulimit -f)" = 2048 ]`)
	expect(t, l.run("--memory-limit", "64MiB", "--file-limit", "1MiB"), 0, "20 cases")
	l.program(`case $LLMFUZZ_RUN_ID in *_case_*) while :; do echo "line after line after line after line"; done ;; esac`)
	l.document(edits{"mutations.cases": 2})
	expect(t, l.run("--file-limit", "256KiB", "--shrink", "0"), 1)
	equal(t, "kind", l.report().Findings[0].Kind, "flood")
}

func TestC1_FlakyIsLabelled(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *_case_000003)
		[ -e "$LAB/met" ] || { : >"$LAB/met"; exit 4; } ;; esac`)
	expect(t, l.run("--executor", "spawn"), 1, "flaky")
	equal(t, "findings", len(l.report().Findings), 1)
	equal(t, "flaky", l.report().Findings[0].Flaky, true)
	expect(t, l.stored("promote", l.report().Findings[0].ID, "--to", l.path("kept")), 0, "re-runs, so the test may pass although the bug is there")
}

func TestC1_Reports(t *testing.T) {
	l := newLab(t, crasher)
	formats := map[string]string{"text": "F-", "json": `"findings"`, "junit": "<testsuite", "sarif": `"2.1.0"`, "tap": "TAP version 14", "html": "<html"}
	var args []string
	for name := range formats {
		args = append(args, "--report", name+"="+l.path("report."+name))
	}
	expect(t, l.run(args...), 1)
	for name, has := range formats {
		if text := l.read("report." + name); !strings.Contains(text, has) {
			t.Errorf("the %s report has no %s", name, has)
		}
		expect(t, l.stored("report", "--format", name, "-o", l.path("again."+name)), 0)
		if name != "text" && l.read("again."+name) != l.read("report."+name) {
			t.Errorf("the %s report made again differs", name)
		}
	}
}

func TestC1_ExitCodes(t *testing.T) {
	l := newLab(t, "exit 0")
	expect(t, l.run(), 0, "PASS")
	l.program(crasher)
	expect(t, l.run(), 1, "FAIL")
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE"), 0)
	expect(t, l.campaign("--cases", "20", "--stop-on", "NONE", "--fail-on", "FAIL"), 1)
	expect(t, l.run("--no-such-flag"), 2)
	l.document(edits{"mutations.cases": "many"})
	expect(t, l.run(), 2, "mutations.cases")
}

// gate lets the program go on when a text was written to it.
type gate struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wants string
	open  func()
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.text.Write(p)
	if g.open != nil && strings.Contains(g.text.String(), g.wants) {
		g.open()
		g.open = nil
	}
	return len(p), nil
}

func TestC1_Progress(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *_case_*) read x <"$LAB/ticks" ;; esac`)
	ticks := l.ticker()
	l.document(edits{"mutations.cases": 1})
	errs := &gate{wants: "0/1", open: func() { _, _ = ticks.WriteString("go\n") }}
	var out bytes.Buffer
	code := cli.Main([]string{"thresh", "run", l.path("spec.json"), "--store", l.path("store"), "--executor", "spawn"}, cli.Stdio{
		In: strings.NewReader(""), Out: &out, Err: errs, Getenv: func(string) string { return "" }, ErrTTY: true, Width: 120,
	})
	if text := errs.text.String(); code != 0 || !strings.Contains(text, "\r\x1b[K") || !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("exit code %d; standard error %q; standard output %q", code, text, out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("escape sequences on a standard output that is not a terminal: %q", out.String())
	}
}

func TestC1_Retention(t *testing.T) {
	l := newLab(t, crasher)
	kept := func() int {
		list, err := filepath.Glob(l.path("work/runs/*"))
		must(t, err)
		must(t, os.RemoveAll(l.path("work")))
		return len(list)
	}
	expect(t, l.run(), 1)
	failed := l.report().Campaigns[0].Cases.Fail
	equal(t, "kept by default", kept(), failed)
	expect(t, l.run("--keep", "none"), 1)
	equal(t, "kept of none", kept(), 0)
	expect(t, l.run("--keep", "all"), 1)
	equal(t, "kept of all", kept(), 20)
}
