package command

import (
	"os"
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
