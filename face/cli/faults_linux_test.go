package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSeedsThatAreNoFiles(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, "exit 0")
	must(t, syscall.Mkfifo(l.path("pipe"), 0o600))
	for path, says := range map[string]string{
		l.path("missing"): "seed.path: ",
		l.dir:             "which is a directory",
		l.path("pipe"):    "which is a named pipe",
		"/dev/zero":       "which is a device",
		"/proc/self/mem":  "must be a file that can be read", // also for root
	} {
		l.document(edits{"seed.path": path})
		expect(t, l.run(), 2, "spec.json:", "seed.path: must", says)
		if r := l.one(); r.code == 0 {
			t.Errorf("one case of %s was run", path)
		}
	}
	if _, err := os.Stat(l.path("store")); err == nil {
		t.Error("a refused document left a store")
	}
	for path, cases := range map[string]string{"/dev/null": "", l.path("empty"): ""} {
		l.write("empty", cases)
		l.document(edits{"seed.path": path})
		expect(t, l.run(), 0, "must be a file with content, got an empty one", "20 cases")
	}
	// The seed goes while it runs: what was read at first is kept.
	l.program(`rm -f "$LAB/seed.bin"; exit 1`)
	l.document(nil)
	expect(t, l.run(), 1, "20 cases")
	expect(t, l.stored("replay", l.report().Findings[0].ID), 1)
}

func TestDocumentsThatAreNone(t *testing.T) {
	l := newLab(t, "exit 0")
	store := []string{"--store", l.path("store")}
	must(t, os.Mkdir(l.path("empty"), 0o755))
	l.write("binary.json", "\x7fELF\x00\x01\x02\xff\xfe{")
	l.write("cut.json", l.read("spec.json")[:200])
	l.write("large.json", "")
	must(t, os.Truncate(l.path("large.json"), 100<<20))
	for name, says := range map[string]string{
		"empty": "holds no document", "binary.json": "not a document of a known format", "cut.json": "cut.json:",
		"large.json": "larger than 64 MiB", "missing.json": "no such file", "": "needs at least one PATH",
	} {
		args := []string{"run"}
		if name != "" {
			args = append(args, l.path(name))
		}
		expect(t, call(append(args, store...)...), 2, says)
	}
	for _, verb := range []string{"validate", "run-one"} {
		for _, name := range []string{"binary.json", "empty", "missing.json"} {
			if r := call("fuzzspec", verb, "--spec", l.path(name)); r.code != 2 && !(r.code == 1 && verb == "run-one") || r.err == "" {
				t.Errorf("%s %s: exit code %d: %s", verb, name, r.code, r.err)
			}
		}
	}
	// One bad document among good ones: nothing is run.
	expect(t, call(append([]string{"run", l.path("spec.json"), l.path("cut.json")}, store...)...), 2)
	if _, err := os.Stat(l.path("store")); err == nil {
		t.Error("refused documents left a store")
	}
}

func TestStoreThatIsNone(t *testing.T) {
	l := newLab(t, "exit 0")
	l.write("file", "something of the user's")
	for _, store := range []string{l.path("file"), l.path("file/below"), "/proc/thresh/store"} {
		expect(t, l.run("--store", store), 3, store)
		if r := call("list", "--store", store); r.code != 2 && r.code != 3 {
			t.Errorf("list of %s: exit code %d: %s", store, r.code, r.text())
		}
	}
	equal(t, "the file", l.read("file"), "something of the user's")
	expect(t, l.run(), 0)
	expect(t, call("run", "--resume", "r00000000-9", "--store", l.path("store")), 2, "r00000000-9")
}

func TestWorkRootThatIsAFile(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, "exit 3")
	l.write("work", "something of the user's")
	expect(t, l.run(), 3, "keep run", "--resume")
	equal(t, "the file", l.read("work"), "something of the user's")
	must(t, os.Remove(l.path("work")))
	expect(t, l.resume(), 1, "20 cases")
	l.whole(l.path("work/runs"))
}

func TestProgramThatVanishes(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `case $LLMFUZZ_RUN_ID in
		*_case_000007) [ -e "$LAB/stay" ] || rm -f "$LAB/mine" ;;
		*45) exit 9 ;; # after the program went
	esac
	exit 0`)
	shell, err := os.ReadFile("/bin/sh")
	must(t, err)
	install := func() {
		t.Helper()
		must(t, os.WriteFile(l.path("mine"), shell, 0o755))
	}
	// Enough cases for some to be left when the program goes.
	l.document(edits{"target.command": []string{l.path("mine"), l.path("target.sh"), "<input_path>"}, "mutations.cases": 300})
	args := []string{"--allow-exec", l.path("mine"), "--executor", "spawn"}
	install()
	l.write("stay", "")
	expect(t, l.run(append(args, "--store", l.path("calm"))...), 1)
	want := l.report().Digest
	must(t, os.Remove(l.path("stay")))
	for _, workers := range []string{"1", "8"} {
		expect(t, l.run(append(args, "-j", workers)...), 3, l.path("mine")+" can no longer be started", "thresh run --resume")
		if rec := l.report(); rec.Complete || rec.Stopped != "environment" {
			t.Errorf("stopped %q, complete %t", rec.Stopped, rec.Complete)
		}
		expect(t, l.resume("-j", workers), 2, "mine changed since run") // it is still gone
		l.write("stay", "")
		install()
		expect(t, l.resume("-j", workers), 1)
		equal(t, "digest after mending", l.report().Digest, want)
		must(t, os.Remove(l.path("stay")))
	}
	// Gone before the first case.
	must(t, os.Remove(l.path("mine")))
	expect(t, l.run(args...), 2, "target.command[0]", l.path("mine"))
}

func TestStandardOutputThatIsFull(t *testing.T) {
	l := newLab(t, "exit 0")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must(t, err)
	defer full.Close()
	cmd := child(t, "thresh", "run", l.path("spec.json"), "--store", l.path("store"), "--report", "html="+l.path("no/such/folder.html"))
	var errs strings.Builder
	cmd.Stderr = &errs
	err = cmd.Run()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(errs.String(), "no/such/folder.html") {
		t.Errorf("report into a folder that is not there: %v: %s", err, errs.String())
	}
	cmd = child(t, "thresh", "show", "latest", "--store", l.path("store"))
	errs.Reset()
	cmd.Stdout, cmd.Stderr = full, &errs
	err = cmd.Run()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("standard output that is full: %v: %s", err, errs.String())
	}
}

// TestTornJournal cuts the journal of a killed run at many places, and breaks
// a byte in its middle.
func TestTornJournal(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `printf . >"$LAB/ticks"; `+crasher)
	ticks := l.ticker()
	l.document(edits{"mutations.cases": 200})
	expect(t, l.run("--store", l.path("calm")), 1)
	want, findings := l.report().Digest, len(l.report().Findings)
	spec := l.path("spec.json")
	if !killAfter(t, child(t, "thresh", "run", spec, "-j", "1", "--store", l.path("killed"), "--executor", "spawn"), ticks, 150) {
		t.Fatal("the process ended before it could be killed")
	}
	list, err := filepath.Glob(l.path("killed/runs/*/journal"))
	if err != nil || len(list) != 1 {
		t.Fatalf("journals %v, %v", list, err)
	}
	whole, err := os.ReadFile(list[0])
	must(t, err)
	try := func(what string, data []byte, says string) {
		t.Helper()
		must(t, os.RemoveAll(l.path("store")))
		must(t, os.CopyFS(l.path("store"), os.DirFS(l.path("killed"))))
		name := filepath.Join(l.path("store"), strings.TrimPrefix(list[0], l.path("killed")))
		must(t, os.WriteFile(name, data, 0o644))
		r := l.resume()
		expect(t, r, 1, says)
		if rec := l.report(); rec.Digest != want || len(rec.Findings) != findings {
			t.Errorf("%s: digest %s and %d findings, want %s and %d", what, rec.Digest, len(rec.Findings), want, findings)
		}
	}
	step := 61
	if os.Getenv("THRESH_TEST_LONG") != "" {
		step = 13
	}
	for cut := 0; cut < 240 && cut < len(whole)/2; cut += step {
		try(fmt.Sprintf("%d bytes cut", cut), whole[:len(whole)-cut], "")
	}
	broken := append([]byte(nil), whole...)
	broken[len(broken)*2/3] ^= 0x40
	try("a byte broken", broken, "damaged")
	// Without its beginning a journal says nothing; the run is not gone on with,
	// and what there is stays.
	must(t, os.WriteFile(filepath.Join(l.path("store"), strings.TrimPrefix(list[0], l.path("killed"))), whole[:20], 0o644))
	if r := l.resume(); r.code != 3 && r.code != 2 {
		t.Errorf("a journal of 20 bytes: exit code %d: %s", r.code, r.text())
	}
}

func TestTwoProcessesOnOneStore(t *testing.T) {
	l := newLab(t, crasher)
	var texts [2]strings.Builder
	args := []string{"run", l.path("spec.json"), "-j", "2", "--store", l.path("store"), "--keep", "none"}
	a, b := child(t, "thresh", args...), child(t, "thresh", args...)
	a.Stderr, b.Stderr = &texts[0], &texts[1]
	must(t, a.Start())
	must(t, b.Start())
	_, _ = a.Wait(), b.Wait()
	for i, cmd := range []*exec.Cmd{a, b} {
		if code := cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("exit code %d: %s", code, texts[i].String())
		}
	}
	digests := make(map[string]bool)
	for _, run := range []string{"latest", "latest~1"} {
		expect(t, l.stored("report", run, "--format", "json", "-o", l.path("report.json")), 0)
		rec := l.report()
		digests[rec.Digest] = true
		equal(t, "cases of "+run, rec.Campaigns[0].Cases.Run, 20)
		equal(t, run+" complete", rec.Complete, true)
	}
	if len(digests) != 1 {
		t.Errorf("digests %v", digests)
	}
}

func TestRunThatIsStillWritten(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *_case_*) printf . >"$LAB/ticks"; read x <"$LAB/gate" ;; esac`)
	ticks := l.ticker()
	must(t, syscall.Mkfifo(l.path("gate"), 0o600))
	cmd := child(t, "thresh", "run", l.path("spec.json"), "-j", "1", "--store", l.path("store"), "--executor", "spawn")
	must(t, cmd.Start())
	_, err := ticks.Read(make([]byte, 1))
	must(t, err)
	expect(t, l.resume(), 3, "is still being written", fmt.Sprintf("process %d", cmd.Process.Pid))
	expect(t, l.stored("list"), 0, "running")
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	l.dying()
	l.program("exit 0")
	expect(t, l.resume(), 0, "20 cases")
}
