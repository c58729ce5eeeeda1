package cli_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKilledAgainAndAgain kills the whole process at two points, with
// THRESH_TEST_LONG at twenty and with one worker too, all through the cases, the confirming and the
// shrinking, and lets it go on each time. The end must be that of a run that was
// never disturbed.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel() // mostly waits
	l := newLab(t, `printf . >"$LAB/ticks"
		read x <"$1"
		case "$x" in
			A*AAAA) exit 0 ;;
			A*) echo "odd end" >&2; exit 3 ;;
			B*) kill -SEGV $$ ;;
		esac
		echo "[1" >"$2/a.json"`)
	ticks := l.ticker()
	l.document(edits{"mutations.cases": 250, "mutations.max_ops_per_case": 3, "mutations.rng_seed": 7})
	kills, crews := 2, []string{"8"}
	if os.Getenv("THRESH_TEST_LONG") != "" {
		kills, crews = 20, []string{"1", "8"}
	}
	start := func(home string, workers string, args ...string) (argv []string) {
		must(t, os.MkdirAll(l.path(home), 0o755))
		return append([]string{"-j", workers, "--shrink", "20", "--report", "json=report.json"}, args...)
	}
	run := func(home, workers string, n int, args ...string) (killed bool) {
		t.Helper()
		cmd := child(t, "thresh", append([]string{"run"}, start(home, workers, args...)...)...)
		cmd.Dir = l.path(home)
		var text strings.Builder
		cmd.Stderr = &text
		if n > 0 {
			return killAfter(t, cmd, ticks, n)
		}
		must(t, cmd.Start())
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 {
			t.Fatalf("exit code %d: %s", code, text.String())
		}
		return false
	}
	run("calm", "2", 0, l.path("spec.json"))
	want := withoutEnvironment(t, l.path("calm/report.json"))
	folders := l.names("work/runs")
	past := map[string]int{"1": 2, "8": 17}
	for _, workers := range crews {
		must(t, os.RemoveAll(l.path("work")))
		random := rand.New(rand.NewPCG(20, uint64(len(workers))))
		home := "killed" + workers
		args := []string{l.path("spec.json")}
		for done := 0; done < kills; {
			// Past the cases that the last kill met, once more: who dies twice at one is left out.
			if !run(home, workers, past[workers]+random.IntN(20), args...) {
				t.Fatalf("-j %s: the run ended after %d kills; more cases are needed", workers, done)
			}
			done++
			l.dying()
			// A process that died before its run began has nothing to go on with.
			if list, _ := filepath.Glob(l.path(home + "/.thresh/runs/r*")); len(list) > 0 {
				args = []string{"--resume", "latest"}
			}
		}
		run(home, workers, 0, args...)
		equal(t, "report with -j "+workers, withoutEnvironment(t, l.path(home+"/report.json")), want)
		equal(t, "run folders with -j "+workers, l.names("work/runs"), folders)
		l.whole(l.path("work/runs"))
	}
}

// names is the names in a folder of the lab.
func (l *lab) names(name string) []string {
	l.t.Helper()
	entries, err := os.ReadDir(l.path(name))
	must(l.t, err)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// TestSeedOfAGigabyte runs one case of a sparse seed. The process may hold the
// seed, the case and what the store packs, and no more.
func TestSeedOfAGigabyte(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("takes some gigabytes of memory and a quarter of a minute: set THRESH_TEST_LONG=1")
	}
	l := newLab(t, "exit 0")
	const size = 1 << 30
	must(t, os.Truncate(l.path("seed.bin"), size))
	l.document(edits{"mutations.cases": 1, "target.timeout_s": 600})
	cmd := child(t, "thresh", "run", l.path("spec.json"), "-j", "1", "--store", l.path("store"), "--executor", "spawn", "--keep", "none")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 case") {
		t.Fatalf("%v: %s", err, out)
	}
	const most = 2*size + size/2
	if rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; rss > most {
		t.Errorf("%d MiB of memory were used, at most %d should be", rss>>20, most>>20)
	}
}
