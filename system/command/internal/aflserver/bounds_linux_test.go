package aflserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/testproc"
)

// crowd puts this thread, what it starts, and programs that never rest on one processor.
func crowd(t *testing.T) {
	t.Helper()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	runtime.LockOSThread()
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = unix.SchedSetaffinity(0, &all)
		runtime.UnlockOSThread()
	})
	for range 4 {
		cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// A case that waits for a processor has all of its time nevertheless, and one that waits
// for nothing no more than that.
func TestWaitingForProcessorIsNoTime(t *testing.T) {
	places := []*place{turning(t), newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED"))}
	if testproc.Long() {
		places = append(places, newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED", "-DPERSISTENT")))
	}
	for _, p := range places {
		t.Run("", func(t *testing.T) {
			crowd(t)
			p.start()
			p.run("x", plenty)
			if got, _ := p.run("c", 500*time.Millisecond); got != "exit 0" {
				t.Errorf("a case that has a fifth of a processor: %s", got)
			}
			if got, _ := p.run("h", 50*time.Millisecond); got != "timed out" {
				t.Errorf("a hanging case: %s", got)
			}
			p.Bound(0, 100*time.Millisecond)
			if got, _ := p.run("c", plenty); got != "timed out" {
				t.Errorf("a case that takes more of the processor than it may: %s", got)
			}
		})
	}
}

// starve gives a process, and what it starts, one millisecond of a processor each second.
func starve(t *testing.T, pid int) {
	t.Helper()
	for parent, quota := range map[string][][2]string{
		"/sys/fs/cgroup/cpu": {{"cpu.cfs_period_us", "1000000"}, {"cpu.cfs_quota_us", "1000"}},
		"/sys/fs/cgroup":     {{"cpu.max", "1000 1000000"}},
	} {
		dir := filepath.Join(parent, fmt.Sprint("thresh-test-", pid))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		var err error
		for _, file := range append(quota, [2]string{"cgroup.procs", strconv.Itoa(pid)}) {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, file[0]), []byte(file[1]), 0))
		}
		if err == nil {
			return
		}
	}
	t.Skip("control groups cannot be made here")
}

// A case that has no processor for many times its limit has all of its time, though the
// kernel counts its wait only when it runs again.
func TestStarvedCase(t *testing.T) {
	p := newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED"))
	p.start()
	starve(t, p.pid)
	t.Cleanup(func() { _ = p.Close() })
	for range 8 {
		if got, _ := p.run("x", 30*time.Millisecond); got != "exit 0" {
			t.Errorf("a case that hardly ever runs: %s", got)
		}
	}
}

// A case that ended by itself is not late, though we had no processor between hearing of
// its end and noting it.
func TestEndedCaseIsNotLate(t *testing.T) {
	for _, p := range []*place{newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED")), turning(t)} {
		p.start()
		p.Bound(0, time.Millisecond)
		if got, _ := p.run("a", plenty); got != "SIGABRT" {
			t.Fatalf("a case that crashes: %s", got)
		}
		p.inFlight.begin()
		p.inFlight.named(p.last)
		p.Server.start(plenty)
		time.Sleep(20 * time.Millisecond)
		if p.stop() {
			t.Error("a case that has ended becomes late")
		}
		p.inFlight.end()
		if got, _ := p.run("x", plenty); got != "exit 0" {
			t.Errorf("the case after it: %s", got)
		}
	}
}

// A case that has ended by itself before the kill takes effect has not timed out.
func TestKilledAfterItsEnd(t *testing.T) {
	p := newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED")).start()
	children := fmt.Sprintf("/proc/%d/task/%d/children", p.pid, p.pid)
	if _, err := os.Stat(children); err != nil {
		t.Skip("the kernel does not list the processes of a server")
	}
	for range 100 {
		unix.Kill(p.pid, unix.SIGSTOP)
		end := make(chan string)
		go func() {
			got, _ := p.run("x", plenty)
			end <- got
		}()
		// Time to ask for the case; its process gets no name until the lock is free again.
		time.Sleep(5 * time.Millisecond)
		p.inFlight.mu.Lock()
		unix.Kill(p.pid, unix.SIGCONT)
		over := false
		for start := time.Now(); !over && time.Since(start) < time.Second; {
			list, err := os.ReadFile(children)
			over = err == nil && len(list) == 0 && p.line.Said()
		}
		p.inFlight.late = true
		p.inFlight.mu.Unlock()
		got := <-end
		if !over {
			continue // it was asked for too late
		}
		if got != "exit 0" {
			t.Errorf("killed after its end: %s", got)
		}
		if got, _ := p.run("x", plenty); got != "exit 0" {
			t.Errorf("the case after it: %s", got)
		}
		return
	}
	t.Error("no case ends before its process is named")
}

// A program finds its stack at the same address whatever number its shared memory has.
func TestEnvironmentIsAsLong(t *testing.T) {
	lengths := map[int]bool{}
	for _, id := range []int{0, 32768, 1<<31 - 1} {
		m := &segment{id: id}
		s := &Server{edges: m, inputs: m, work: &Counter{m}, batch: m, comparisons: m, cmplog: m}
		lengths[len(strings.Join(s.environment(1), ""))] = true
	}
	if len(lengths) != 1 {
		t.Errorf("the environment is of lengths %v", lengths)
	}
}
