package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/systemtest"
)

var self = systemtest.Subject{Open: Open, Executor: process.Spawn}

// bench is a lane in a test.
type bench struct {
	*testing.T
	lane *lane
	n    int64
}

func openBench(t *testing.T, change func(*process.Plan)) *bench {
	t.Helper()
	plan := self.Plan()
	if change != nil {
		change(&plan)
	}
	r, err := Open(context.Background(), plan, 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{T: t, lane: r.(*lane)}
}

func (b *bench) run(input string) process.Result {
	b.Helper()
	b.n++
	res, err := b.lane.Run(context.Background(), process.Case{Index: b.n, RunID: "0123", Input: []byte(input)})
	if err != nil {
		b.Fatalf("%s: %v", input, err)
	}
	return res
}

func (b *bench) state() *laneState { return b.lane.spawn.(*spawner).laneState }

// mustPrint runs an input and compares standard output.
func (b *bench) mustPrint(input, want string) {
	b.Helper()
	if res := b.run(input); string(res.Stdout) != want {
		b.Errorf("%s: printed %q, want %q (stderr %q)", input, res.Stdout, want, res.Stderr)
	}
}

func TestFloodIsCut(t *testing.T) {
	b := openBench(t, func(p *process.Plan) { p.Limits.Output = 1000 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := b.run("flood 1024")
	runtime.ReadMemStats(&after)
	if !res.OutputLimit || len(res.Stdout) != 1000 || res.StdoutSize != defaultFileSize {
		t.Errorf("limit %v, kept %d of %d", res.OutputLimit, len(res.Stdout), res.StdoutSize)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("a flood of output made us allocate %d bytes", grown)
	}
	b.mustPrint("print after", "after")

	b = openBench(t, func(p *process.Plan) { p.Limits.FileSize = 1 << 20 })
	if res := b.run("flood 2"); !res.OutputLimit || res.StdoutSize != 1<<20 {
		t.Errorf("limit %v at %d", res.OutputLimit, res.StdoutSize)
	}
}

// Many files of an allowed size are bounded together, whether the program ends
// by itself or goes on; what it does within the bound is its own matter.
func TestSumOfFilesIsBounded(t *testing.T) {
	b := openBench(t, func(p *process.Plan) { p.Limits.Written, p.Timeout = 20<<20, time.Minute })
	for input, want := range map[string]bool{"fill 40": true, "fill 40 hang": true, "fill 10": false, "flood 30": true, "flood 10": false} {
		began := time.Now()
		if res := b.run(input); res.OutputLimit != want || time.Since(began) > 30*time.Second {
			t.Errorf("%s: limit %t after %s, %s", input, res.OutputLimit, time.Since(began), ending(res))
		}
	}
	b = openBench(t, nil)
	if res := b.run("fill 40"); res.OutputLimit || res.Status != process.Exited {
		t.Errorf("without a limit: %t, %s", res.OutputLimit, ending(res))
	}
}

func TestTreeIsPutRight(t *testing.T) {
	outside := t.TempDir()
	kept := filepath.Join(outside, "kept")
	if err := os.WriteFile(kept, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := openBench(t, func(p *process.Plan) { p.Dirs = []string{"logs/today"} })
	b.run("exit 0")
	fresh := string(b.run("list").Stdout)
	if !strings.Contains(fresh, "logs/today d") {
		t.Fatalf("no folders:\n%s", fresh)
	}
	for _, input := range []string{"mess " + outside, "unlink", "rename", "chmod", "link", "grow", "file x"} {
		if res := b.run(input); res.ExitCode != 0 {
			t.Errorf("%s: exit %d: %s", input, res.ExitCode, res.Stderr)
		}
		b.mustPrint("list", fresh)
		b.mustPrint("print whole", "whole")
	}
	if got, err := os.ReadFile(kept); err != nil || string(got) != "kept" {
		t.Errorf("a file outside was touched: %q, %v", got, err)
	}
}

func TestNothingIsInherited(t *testing.T) {
	name := filepath.Join(t.TempDir(), "leak")
	leak, err := syscall.Open(name, syscall.O_CREAT|syscall.O_RDWR, 0o600) // without CLOEXEC, as an ill-bred parent leaves it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	b := openBench(t, nil)
	open := strings.Split(string(b.run("descriptors").Stdout), "\n")
	if len(open) < 3 || open[0] != "/dev/null" || !strings.Contains(open[1], "stdout") || !strings.Contains(open[2], "stderr") {
		t.Errorf("standard descriptors: %q", open)
	}
	for _, to := range open {
		if to == name || strings.Contains(to, "thresh-") {
			t.Errorf("%s was inherited", to)
		}
	}
}

// A port that was found free while a program is started is nobody's.
func TestFreePortsAreNotInherited(t *testing.T) {
	b := openBench(t, nil)
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	go func() {
		defer stop()
		for ctx.Err() == nil {
			port, err := program.FreePort(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
				c.Close()
				t.Errorf("something listens at port %s", port)
				return
			}
		}
	}()
	for ctx.Err() == nil {
		b.run("descriptors")
	}
}

func TestEnvironmentAndRunID(t *testing.T) {
	b := openBench(t, nil)
	for _, id := range []string{"0123456789abcdef", "fedcba9876543210", "short", probeID} {
		res, err := b.lane.Run(context.Background(), process.Case{RunID: id, Input: []byte("environment")})
		if want := "RUN_ID=" + id + "\n" + systemtest.Variable + "=obey\n"; err != nil || !strings.HasPrefix(string(res.Stdout), want) {
			t.Errorf("run id %s: environment %q, %v", id, res.Stdout, err)
		}
	}
}

func TestStdin(t *testing.T) {
	b := openBench(t, func(p *process.Plan) { p.Stdin = true })
	b.mustPrint("stdin\nrest", "stdin\nrest")
	b.mustPrint("stdin\nagain", "stdin\nagain")
	b.mustPrint("unlink", "")
	b.mustPrint("stdin\nanew", "stdin\nanew")
	b = openBench(t, nil)
	b.mustPrint("stdin\nrest", "")
}

func TestForkBombIsContained(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	for _, sandbox := range []bool{false, true} {
		t.Run(fmt.Sprintf("sandbox=%v", sandbox), func(t *testing.T) {
			b := openBench(t, func(p *process.Plan) {
				p.Timeout, p.Sandbox = 100*time.Millisecond, sandbox
				p.Limits.Processes = 200
			})
			if res := b.run("bomb"); res.Status != process.TimedOut {
				t.Errorf("a fork bomb: %v", res.Status)
			}
			if left := bombs(); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			if res, err := b.lane.Run(context.Background(), process.Case{Input: []byte("print calm"), Confirm: true}); err != nil || res.Leftovers != 0 {
				t.Errorf("after the bomb: %v, %v", res, err)
			}
		})
	}
}

// bombs lists the living parts of a fork bomb.
func bombs() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if pid, err := strconv.Atoi(e.Name()); err == nil && strings.HasPrefix(string(env), systemtest.Variable+"=bomb") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestMemoryHog(t *testing.T) {
	cc := systemtest.Build(t, hogSource(t), "cc")
	b := openBench(t, func(p *process.Plan) {
		p.Limits.AddressSpace = 64 << 20
		p.Command = commandOf(cc)
	})
	if res := b.run("x"); res.ExitCode != 7 {
		t.Errorf("%v, exit %d: the limit on address space did not hold", res.Status, res.ExitCode)
	}
	// Go programs reserve more than they use.
	b = openBench(t, func(p *process.Plan) { p.Limits.AddressSpace = 64 << 20 })
	b.mustPrint("eat 8", "8")
	if notes := strings.Join(b.lane.Notes(), "\n"); !strings.Contains(notes, "is a Go program") {
		t.Errorf("notes do not tell:\n%s", notes)
	}
}

func hogSource(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "hog.c")
	code := "#include <stdlib.h>\n#include <string.h>\nint main(){for(int i=0;i<200;i++){char*p=malloc(1<<20);if(!p)return 7;memset(p,1,1<<20);}return 0;}\n"
	if err := os.WriteFile(name, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func commandOf(path string) func(process.Paths) process.Command {
	return func(p process.Paths) process.Command {
		return process.Command{Path: path, Argv: []string{path, p.InputPath}}
	}
}

func TestProgramThatCannotRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		full := filepath.Join(dir, name)
		if err := os.WriteFile(full, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return full
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "missing"), "cannot be run"},
		{dir, "not a regular file"},
		{write("plain", "x", 0o644), "may not be executed"},
	} {
		plan := self.Plan()
		plan.Command = commandOf(c.path)
		if _, err := Open(context.Background(), plan, 0, 1, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{write("garbage", "no program", 0o755), "is not a program that this system can run"},
		{write("script", "#!/nowhere/to/be/found\n", 0o755), "interpreter"},
	} {
		b := openBench(t, func(p *process.Plan) { p.Command = commandOf(c.path) })
		if _, err := b.lane.Run(context.Background(), process.Case{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	vanishing := write("vanishing", "#!/bin/sh\nexit 3\n", 0o755)
	b := openBench(t, func(p *process.Plan) { p.Command = commandOf(vanishing) })
	if res := b.run("x"); res.ExitCode != 3 {
		t.Fatalf("exit %d", res.ExitCode)
	}
	os.Remove(vanishing)
	if _, err := b.lane.Run(context.Background(), process.Case{}); err == nil || !strings.Contains(err.Error(), "no longer exists") || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a program that vanished: %v", err)
	}
}

func TestBusyProgramIsRetried(t *testing.T) {
	truth, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("no /bin/true")
	}
	name := filepath.Join(t.TempDir(), "busy")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(truth); err != nil {
		t.Fatal(err)
	}
	b := openBench(t, func(p *process.Plan) { p.Command = commandOf(name) })
	if _, err := b.lane.Run(context.Background(), process.Case{}); !errors.Is(err, syscall.ETXTBSY) {
		t.Errorf("a program open for writing: %v", err)
	}
	timer := time.AfterFunc(10*time.Millisecond, func() { f.Close() })
	defer timer.Stop()
	if res := b.run("x"); res.ExitCode != 0 {
		t.Errorf("exit %d", res.ExitCode)
	}
}

func TestLanesSideBySide(t *testing.T) {
	const lanes, cases = 4, 40
	var wg sync.WaitGroup
	for i := range lanes {
		wg.Go(func() {
			r, err := Open(context.Background(), self.Plan(), i, lanes, false)
			if err != nil {
				t.Error(err)
				return
			}
			for k := range cases {
				input, want, left := fmt.Sprintf("print %d-%d", i, k), fmt.Sprintf("%d-%d", i, k), 0
				if k%4 == 0 {
					input, want, left = "linger orphan", "", 1
				}
				res, err := r.Run(context.Background(), process.Case{Index: int64(k), Input: []byte(input)})
				if err != nil {
					t.Error(err)
					break
				}
				if left == 0 && string(res.Stdout) != want || res.Leftovers != left {
					t.Errorf("lane %d: %s: %q, %d leftovers", i, input, res.Stdout, res.Leftovers)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestBooksAreChecked(t *testing.T) {
	r, err := Open(context.Background(), self.Plan(), 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	r.(*lane).spawn.(*spawner).laneState.started++
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "1 processes were started but the end of 0 was seen") {
		t.Errorf("Close: %v", err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	r, err := Open(context.Background(), self.Plan(), 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	top := r.(*lane).spawn.(*spawner).folder.Path
	other, err := Open(context.Background(), self.Plan(), 1, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(top); err != nil {
		t.Errorf("a folder in use was removed: %v", err)
	}
	for _, r := range []process.Runner{r, other} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(top); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

func TestForkExecWay(t *testing.T) {
	b := openBench(t, nil)
	b.lane.spawn = newSpawner(b.state(), false)
	b.mustPrint("print portable", "portable")
	if res := b.run("exit 3"); res.ExitCode != 3 {
		t.Errorf("exit %d", res.ExitCode)
	}
	if res := b.run("linger late"); res.Leftovers != 1 {
		t.Errorf("%d leftovers", res.Leftovers)
	}
	b.state().image.path = append([]byte("/nowhere"), 0)
	b.state().image.command.Path = "/nowhere/x"
	if _, err := b.lane.Run(context.Background(), process.Case{RunID: "0123"}); err == nil || !strings.Contains(err.Error(), "no longer exists") {
		t.Errorf("a program that vanished: %v", err)
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*process.Plan)
		want   string
	}{
		{func(p *process.Plan) { p.Command = nil }, "no command"},
		{func(p *process.Plan) { p.Timeout = 0 }, "timeout"},
		{func(p *process.Plan) { p.Input = "" }, "no input file"},
		{func(p *process.Plan) { p.Input = "../x" }, "inside the run folder"},
		{func(p *process.Plan) { p.Dirs = []string{"/etc"} }, "inside the run folder"},
		{func(p *process.Plan) { p.Executor = "warp" }, "no executor"},
		{func(p *process.Plan) { p.Coverage = true }, "cannot measure coverage"},
		{func(p *process.Plan) { p.Executor = process.Zygote; p.Sandbox = true }, "sandbox"},
		{func(p *process.Plan) { p.Executor = process.AFL; p.PerCase = true }, "differs from case to case"},
		{func(p *process.Plan) { p.Executor, p.Command = process.AFL, commandOf("/bin/sh") }, "afl-cc"},
		{func(p *process.Plan) { p.Executor = process.Auto; p.Coverage = true }, "coverage cannot be measured"},
	} {
		plan := self.Plan()
		c.change(&plan)
		if _, err := Open(context.Background(), plan, 0, 1, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}
