package fuzzspec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/face/cli"
)

// thresh runs a command line in this process.
func thresh(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(append([]string{"thresh"}, args...), cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
	return code, out.String(), errs.String()
}

// brief are the programs that are tried each time, one for each way to end; the
// others take minutes and are tried with THRESH_TEST_LONG=1.
var brief = []string{"null_deref", "int_overflow", "exit_code", "bad_json", "pipe_holder"}

// Every planted bug is found, reported once and by itself, minimized, and shows again when its
// reproduce command is run; nothing is left running.
func TestPlantedBugsAreFound(t *testing.T) {
	t.Parallel() // mostly waits
	if testing.Short() {
		t.Skip("runs thousands of processes; not with -short")
	}
	dir := t.TempDir()
	names := brief
	if os.Getenv("THRESH_TEST_LONG") != "" {
		names = nil // all
	}
	written, err := Write(t.Context(), dir, names...)
	if err != nil {
		t.Fatal(err)
	}
	classes := make(map[string]bool)
	for _, w := range written {
		t.Run(w.Name, func(t *testing.T) {
			if w.Skipped != "" {
				if os.Getenv("THRESH_CI") != "" && w.Name != "gzip" {
					t.Fatalf("cannot run here: %s", w.Skipped)
				}
				t.Skip(w.Skipped)
			}
			rec := runExample(t, dir, w)
			for _, f := range rec.Findings {
				classes[f.Kind+"/"+strings.Join(f.Cause, "/")+f.Signature] = true
			}
		})
	}
	t.Logf("%d distinct causes", len(classes))
}

func runExample(t *testing.T, dir string, w Written) campaign.Record {
	t.Helper()
	storeDir := filepath.Join(dir, w.Name, "store")
	report := filepath.Join(dir, w.Name, "report.json")
	args := []string{"run", w.Spec, "-j", "2", "--store", storeDir, "--report", "json=" + report, "--keep", "none", "--memory-limit", "512MiB", "--shrink", "200"}
	if w.Program != "" {
		args = append(args, "--allow-exec", w.Program)
	}
	code, _, stderr := thresh(t, append(args, w.Args...)...)
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	var rec campaign.Record
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	want := 1
	if len(w.Expect) == 0 {
		want = 0
	}
	if code != want || !rec.Complete {
		t.Errorf("exit %d, complete %t, want exit %d\n%s", code, rec.Complete, want, stderr)
	}
	for _, e := range w.Expect {
		var matching []string
		for _, f := range rec.Findings {
			if holds(f, e) {
				matching = append(matching, f.ID)
			}
		}
		if len(matching) == 0 {
			t.Errorf("nothing found that holds %q", e)
		}
	}
	if len(w.Expect) == 1 && len(rec.Findings) != 1 {
		t.Errorf("one bug was reported as %d findings", len(rec.Findings))
	}
	for _, f := range rec.Findings {
		t.Logf("%s %s %q: %d cases, flaky %t, minimized %+v", f.ID, f.Kind, f.Title, f.Cases, f.Flaky, f.Minimized)
		if f.Flaky {
			t.Errorf("%s %q is flaky: %+v", f.ID, f.Title, f.Rerun)
			continue
		}
		if f.Minimized == nil || !f.Minimized.Verified || f.Minimized.Size > f.Minimized.From {
			t.Errorf("%s %q was not made small: %+v", f.ID, f.Title, f.Minimized)
		}
		if code, out, errs := thresh(t, f.Reproduce[1:]...); code != 1 {
			t.Errorf("%v: exit %d, want 1\n%s%s", f.Reproduce, code, out, errs)
		}
	}
	if w.Program != "" {
		noneRunning(t, w.Program)
	}
	return rec
}

func holds(f campaign.Finding, words string) bool {
	text := strings.ToLower(f.Kind + " " + f.Title + " " + f.Signature + " " + strings.Join(f.Cause, " "))
	return slices.ContainsFunc(strings.Split(words, "|"), func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// noneRunning fails if a process of the program is alive.
func noneRunning(t *testing.T, program string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if exe, err := os.Readlink(l); err == nil && exe == program {
			t.Errorf("process %s of %s is still there", l, program)
		}
	}
}
