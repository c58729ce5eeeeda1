package zygote

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkZygoteFork makes and reaps cases of a program on one processor, in
// turns with a bare loop that spawns it, and reports both rates.
func BenchmarkZygoteFork(b *testing.B) {
	b.Run("static", func(b *testing.B) {
		compare(b, newBench(b, false, build(b, "gcc", "reader.c", "-static", "-O2"), "@@"), "hello")
	})
	b.Run("dynamic", func(b *testing.B) {
		compare(b, newBench(b, false, build(b, "gcc", "reader.c", "-O2"), "@@"), "hello")
	})
	b.Run("jq", func(b *testing.B) {
		compare(b, newBench(b, false, tool(b, "jq"), "-c", ".", "@@"), `{"a":[1,2,{"b":null}]}`)
	})
}

func compare(b *testing.B, place *bench, input string) {
	place.feed([]byte(input))
	null := place.cfg.Files[0]
	place.cfg.Files = [3]int{null, null, null}
	pin(b)
	s := place.start()
	attr := &syscall.ProcAttr{
		Dir: place.cfg.Dir, Env: place.cfg.Env, Files: []uintptr{uintptr(null), uintptr(null), uintptr(null)},
		Sys: &syscall.SysProcAttr{Setsid: true},
	}
	reap := func(pid int, err error) {
		var ws syscall.WaitStatus
		if err == nil {
			_, err = syscall.Wait4(pid, &ws, 0, nil)
		}
		if err != nil || !ws.Exited() {
			b.Fatalf("case: %v, %#x", err, ws)
		}
	}
	const turn = 20
	var forked, spawned time.Duration
	cold := 0
	for done := 0; done < b.N; {
		n := min(turn, b.N-done)
		start := time.Now()
		for range n {
			reap(s.Fork())
		}
		done += n
		forked += time.Since(start)
		b.StopTimer()
		start = time.Now()
		for range min(n, 5) {
			reap(syscall.ForkExec(place.cfg.Path, place.cfg.Argv, attr))
			cold++
		}
		spawned += time.Since(start)
		b.StartTimer()
	}
	warmRate, coldRate := float64(b.N)/forked.Seconds(), float64(cold)/spawned.Seconds()
	b.ReportMetric(warmRate, "forked/s")
	b.ReportMetric(coldRate, "spawned/s")
	b.ReportMetric(warmRate/coldRate, "times")
}

// pin keeps the benchmark and its cases on one processor.
func pin(b *testing.B) {
	runtime.LockOSThread()
	var old, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		b.Fatal(err)
	}
	for cpu := range 1024 {
		if old.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		b.Skipf("cannot pin: %v", err)
	}
	b.Cleanup(func() {
		unix.SchedSetaffinity(0, &old)
		runtime.UnlockOSThread()
	})
}
