package command

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/process"
)

// Harnesses that other tools built give coverage as they are, and are run on the
// input's file though no argument names it.
func TestHarnessesOfOthers(t *testing.T) {
	t.Parallel() // mostly waits
	for _, c := range []struct{ name, compiler, flags, note string }{
		{"AFL++", "afl-clang-fast", "-fsanitize=fuzzer", "persistent mode"},
		{"libFuzzer", "clang", "-fsanitize=fuzzer", "persistent mode"},
		{"libFuzzer, not PIE", "clang", "-fsanitize=fuzzer -no-pie", "persistent mode"},
		{"guards and ASan", "clang", "-DMAIN -fsanitize-coverage=trace-pc-guard -fsanitize=address", "fork server"},
		{"guards, and who takes them", "clang", "-DMAIN -fsanitize-coverage=trace-pc-guard -w testdata/guards.c", "fork server"},
		{"sanitizer coverage", "clang", "-DMAIN -fsanitize-coverage=inline-8bit-counters", "fork server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.name, ", ") && !testproc.Long() {
				t.Skip("a harness as the one before it, built otherwise: set THRESH_TEST_LONG=1")
			}
			path := filepath.Join(t.TempDir(), "program")
			args := append(strings.Fields(c.flags), "-O1", "-o", path, "testdata/harness.c")
			if text, err := exec.Command(c.compiler, args...).CombinedOutput(); err != nil {
				t.Skipf("%s: %v\n%s", c.compiler, err, text)
			}
			r := openWith(t, process.Auto, path, func(p *process.Plan) {
				p.Coverage, p.Calibrate, p.Timeout, p.Stdin = true, []byte("ok"), 5*time.Second, true
				command := p.Command
				p.Command = func(at process.Paths) process.Command {
					cmd := command(at)
					cmd.Argv = cmd.Argv[:1]
					return cmd
				}
			})
			run := func(input string, confirm bool) process.Result {
				t.Helper()
				res, err := r.Run(context.Background(), process.Case{Index: 1000, Input: []byte(input), Confirm: confirm})
				if err != nil {
					t.Fatal(err)
				}
				res.Edges = slices.Clone(res.Edges)
				return res
			}
			one, three, again := run("a(", false), run("(((", false), run("a(", false)
			if len(one.Edges) == 0 || slices.Equal(one.Edges, three.Edges) || !slices.Equal(one.Edges, again.Edges) {
				t.Errorf("edges %x, %x, and of the first again %x", one.Edges, three.Edges, again.Edges)
			}
			for _, confirm := range []bool{false, true} {
				if res := run("c", confirm); ending(res) != "signal 6" {
					t.Errorf("confirm %t: %s\n%s", confirm, ending(res), res.Stderr)
				}
				if res := run("x", confirm); ending(res) != "exit status 0" || len(res.Stdout) > 0 {
					t.Errorf("confirm %t: %s\n%s", confirm, ending(res), res.Stdout)
				}
			}
			if res := run("h", false); res.Status != process.SetAside {
				t.Errorf("a case that hangs: %s", res.Status)
			}
			if res := run("a(", false); !slices.Equal(res.Edges, one.Edges) {
				t.Errorf("after a hang: edges %x, before %x", res.Edges, one.Edges)
			}
			if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("notes: %s", notes)
			}
		})
	}
}

// What cannot be hosted is refused with the reason and the way out.
func TestHarnessRefused(t *testing.T) {
	t.Parallel() // mostly waits
	for flags, want := range map[string]string{
		"-fsanitize=fuzzer -s": "stripped; compile it with thresh fuzzspec cc",
		"-DMAIN -fsanitize-coverage=inline-8bit-counters -static":                "statically",
		"-DMAIN -fsanitize-coverage=trace-pc-guard -w -static testdata/guards.c": "statically",
	} {
		path := filepath.Join(t.TempDir(), "program")
		args := append(strings.Fields(flags), "-o", path, "testdata/harness.c")
		if text, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
			t.Logf("clang %s: %v\n%s", flags, err, text)
			continue
		}
		plan := process.Plan{
			Command: func(process.Paths) process.Command { return process.Command{Path: path, Argv: []string{path}} },
			Input:   "in", Timeout: time.Second, Executor: process.Auto, Coverage: true, Calibrate: []byte("ok"),
		}
		r, err := Open(context.Background(), plan, 0, 1, false)
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flags, err, want)
		}
	}
}
