package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

// Memory is bounded for all processes of a case together, and with what they
// keep in files in memory, in a sandbox and without one.
func TestMemoryOfAllTogether(t *testing.T) {
	t.Parallel() // mostly waits
	limit := func(sandbox, together bool) func(*process.Plan) {
		return func(p *process.Plan) {
			p.Sandbox, p.Limits.Together, p.Limits.AddressSpace, p.Limits.FileSize = sandbox, together, 128<<20, 1<<30
			p.Calibrate = []byte("print x") // an accelerator is used where there may be one
		}
	}
	shared, err := os.MkdirTemp("/dev/shm", "thresh-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(shared)
	free := openBench(t, limit(false, false))
	feast, files := "feast 8 40", "fill 250"
	for _, input := range []string{feast, files} {
		if res := free.run(input); res.ExitCode != 0 || res.Status != process.Exited {
			t.Fatalf("%s without a bound: %v %d %s", input, res.Status, res.ExitCode, res.Stderr)
		}
	}
	for _, sandbox := range []bool{true, false} {
		b := openBench(t, limit(sandbox, true))
		if notes := strings.Join(b.lane.Notes(), "\n"); !strings.Contains(notes, "128 MiB of memory together") && sandbox {
			t.Skip("this system grants no control group: ", notes)
		}
		for range 2 { // what one case took is free for the next
			for _, input := range []string{feast, files, "fill 250 " + shared} {
				if res := b.run(input); res.ExitCode == 0 && res.Status == process.Exited {
					t.Errorf("sandbox %t: %s goes through", sandbox, input)
				}
			}
			if res := b.run("feast 2 20"); res.ExitCode != 0 || res.Status != process.Exited {
				t.Errorf("sandbox %t: two children of 20 MiB: %v %d %s", sandbox, res.Status, res.ExitCode, res.Stderr)
			}
		}
		if sandbox {
			if res := b.run("bomb"); res.Leftovers > sandboxProcesses {
				t.Errorf("%d processes were left", res.Leftovers)
			}
		}
		dirs := b.state().group.dirs
		if err := b.lane.Close(); err != nil {
			t.Error(err)
		}
		for _, dir := range dirs {
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s is left", dir)
			}
		}
	}
}

// A case has all of its memory and processes, whatever an earlier one left behind that
// ended well: files in memory, by a child or by itself, and processes that went into
// sessions of their own.
func TestCasesBeginAlike(t *testing.T) {
	if racing {
		t.Skip("programs with the race detector take more memory than these cases may")
	}
	t.Parallel() // mostly waits
	shared, err := os.MkdirTemp("/dev/shm", "thresh-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(shared)
	const sleepers = "shell i=0; while [ $i -lt 30 ]; do (setsid sleep 300 >/dev/null 2>&1 &); i=$((i+1)); done"
	for _, executor := range []process.Executor{process.Spawn, process.Zygote} {
		for _, sandbox := range []bool{true, false} {
			if executor != process.Spawn && sandbox {
				continue // there is none in a sandbox
			}
			b := openBench(t, func(p *process.Plan) {
				p.Sandbox, p.Limits.Together, p.Limits.AddressSpace, p.Limits.FileSize = sandbox, true, 128<<20, 1<<30
				p.Limits.Processes, p.Executor, p.Calibrate = 45, executor, []byte("print x")
			})
			if b.state().group == nil {
				t.Skip("this system grants no control group: ", b.lane.Notes())
			}
			must := func(input string, left int) {
				t.Helper()
				if res := b.run(input); ending(res) != "exit status 0" || res.Leftovers != left {
					t.Errorf("%s, sandbox %t: %s: %s, %d left running\n%s", executor, sandbox, input, ending(res), res.Leftovers, res.Stderr)
				}
			}
			for _, input := range []string{"fill 96", "fill 96 " + shared, "shell (head -c 100663296 /dev/zero >" + shared + "/child)"} {
				if sandbox && strings.Contains(input, shared) {
					continue // it cannot write there
				}
				must(input, 0)
				must("feast 2 40", 0)
				for _, f := range []string{"child", "0", "95"} {
					os.Remove(filepath.Join(shared, f))
				}
			}
			for range 2 { // both at once would be too many
				must(sleepers, 30)
			}
			must("feast 2 40", 0)
			if n := len(b.state().retired); executor == process.Spawn && n > 0 {
				t.Errorf("%d control groups that nobody is in are left", n)
			}
			dirs := []string{}
			for _, g := range append(b.state().retired, b.state().group) {
				dirs = append(dirs, g.dirs...)
			}
			if err := b.lane.Close(); err != nil {
				t.Error(err)
			}
			for _, dir := range dirs {
				if _, err := os.Stat(dir); err == nil {
					t.Errorf("%s is left", dir)
				}
			}
		}
	}
}

// What a process in persistent mode keeps from case to case is its own, and no reason to
// start it anew.
func TestPersistentProcessKeepsItsMemory(t *testing.T) {
	t.Parallel() // mostly waits
	source, program := filepath.Join(t.TempDir(), "keeps.c"), filepath.Join(t.TempDir(), "keeps")
	if err := os.WriteFile(source, []byte(`#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	while (__AFL_LOOP(1000)) {
		char b[9] = "";
		FILE *f = fopen(argv[1], "r");
		fread(b, 1, 8, f), fclose(f);
		if (*b == 'k') memset(malloc(16 << 20), 1, 16 << 20);
		printf("%d", getpid()), fflush(stdout);
	}
}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("afl-clang-fast", "-O0", "-w", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, text)
	}
	r := openWith(t, process.AFL, program, func(p *process.Plan) {
		p.Coverage, p.Limits.Together, p.Limits.AddressSpace = true, true, 256<<20
	})
	seen := map[string]bool{}
	for _, input := range []string{"keep", "a", "b", "keep", "c"} {
		res, err := r.Run(context.Background(), process.Case{Index: 1000, Input: []byte(input)})
		if err != nil || ending(res) != "exit status 0" {
			t.Fatalf("%s: %s, %v", input, ending(res), err)
		}
		seen[string(res.Stdout)] = true
	}
	if len(seen) != 1 || seen[""] {
		t.Errorf("processes: %v", seen)
	}
}

// A program in a sandbox writes to its own file system, which no other
// program sees, has a size, and goes with the sandbox.
func TestOwnFileSystem(t *testing.T) {
	b := openBench(t, func(p *process.Plan) { p.Sandbox, p.Limits.Written, p.Limits.FileSize = true, 40<<20, 1<<30 })
	f := b.state().folder
	if f.view == "" {
		t.Skip("this system grants no file system: ", b.lane.Notes())
	}
	if res := b.run("fill 3"); res.ExitCode != 0 || res.Status != process.Exited {
		t.Fatalf("%v %d %s", res.Status, res.ExitCode, res.Stderr)
	} else if files, err := os.ReadDir(filepath.Join(res.Dir, "out")); err != nil || len(files) != 3 {
		t.Errorf("the program's files: %v, %v", files, err)
	}
	if entries, err := os.ReadDir(f.Path); err != nil || len(entries) > 0 {
		t.Errorf("outside are %v, %v", entries, err)
	}
	res := b.run("fill 200 hang")
	var fs unix.Statfs_t
	if err := unix.Fstatfs(f.topFD, &fs); err != nil {
		t.Fatal(err)
	}
	if size, used := fs.Blocks*uint64(fs.Bsize), (fs.Blocks-fs.Bfree)*uint64(fs.Bsize); size != 80<<20 || used > size {
		t.Errorf("%d of %d bytes are used, want at most 80 MiB", used, size)
	}
	if res.ExitCode == 0 && res.Status == process.Exited {
		t.Error("200 MiB go through")
	}
}

// What the kernel gets as a number must not move, as a stack does.
func TestLaunchpadsAreOnTheHeap(t *testing.T) {
	if testing.AllocsPerRun(10, func() {
		if newLaunchpad().block == 0 {
			t.Fatal("no launchpad")
		}
	}) < 1 {
		t.Error("a launchpad is on the stack")
	}
}

// A bound that no program can be executed in ends the case, not this process.
func TestNoRoomForAnything(t *testing.T) {
	for _, sandbox := range []bool{false, true} {
		b := openBench(t, func(p *process.Plan) { p.Sandbox, p.Limits.Together, p.Limits.AddressSpace = sandbox, true, 64 })
		for range 2 {
			if res := b.run("eat 16"); res.Status == process.Exited && res.ExitCode == 0 && b.state().group != nil {
				t.Errorf("sandbox %t: 16 MiB of 64 bytes", sandbox)
			}
		}
	}
}

// The doctor says of a sandbox what a lane in one says.
func TestContainmentIsWhatALaneGets(t *testing.T) {
	granted, refused, err := Containment()
	if err != nil || len(granted) == 0 {
		t.Fatalf("%q, %q, %v", granted, refused, err)
	}
	b := openBench(t, func(p *process.Plan) {
		p.Sandbox, p.Limits.AddressSpace, p.Command = true, 4<<30, commandOf("/bin/true")
	})
	var said string
	for _, n := range b.lane.Notes() {
		if text, ok := strings.CutPrefix(n, "sandbox: "); ok && !strings.HasPrefix(text, "the kernel refused") {
			said = text
		}
	}
	if strings.Join(granted, ", ") != said {
		t.Errorf("the doctor says %q, a lane %q", granted, said)
	}
	if strings.Contains(said, "at most 0") || strings.Contains(said, "process ids (namespace)") && !strings.Contains(said+fmt.Sprint(refused), "bound on process ids") && !strings.Contains(said, fmt.Sprintf("at most %d process ids", sandboxProcesses)) {
		t.Errorf("bounds: %q, refused %q", said, refused)
	}
}
