package aflserver

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkAFLPersistent runs cases of a persistent program on one processor,
// edges included, in turns with afl-fuzz on the same program, and reports both
// rates.
func BenchmarkAFLPersistent(b *testing.B) {
	p := newPlace(b, build(b, "afl-clang-fast", "target.c", "-DSHARED", "-DPERSISTENT", "-DROUNDS=10000", "-DSTEADY"))
	fuzzer, err := exec.LookPath("afl-fuzz")
	if err != nil {
		b.Log(err)
	}
	pin(b)
	p.adopting()
	p.start()
	input := bytes.Repeat([]byte("x"), 256)
	edges := make([]uint32, 0, 1<<16)
	turn := func(n int) time.Duration {
		start := time.Now()
		for i := range n {
			input[1] = byte(i)
			if _, _, err := p.Run(input, plenty); err != nil {
				b.Fatal(err)
			}
			edges = p.Edges(edges[:0])
		}
		return time.Since(start)
	}
	b.ReportAllocs()
	b.ResetTimer()
	const turns = 3
	var spent time.Duration
	var others []float64
	for i := range turns {
		spent += turn(b.N / turns)
		if fuzzer != "" && b.N >= 10000 {
			b.StopTimer()
			others = append(others, aflFuzz(b, fuzzer, p.cfg.Path, i))
			b.StartTimer()
		}
	}
	b.StopTimer()
	rate := float64(b.N/turns*turns) / spent.Seconds()
	b.ReportMetric(rate, "cases/s")
	if len(others) == turns {
		other := (others[0] + others[1] + others[2]) / turns
		b.ReportMetric(other, "afl-fuzz/s")
		b.ReportMetric(rate/other, "times")
	}
}

// aflFuzz is the rate that afl-fuzz itself reports after two seconds.
func aflFuzz(b *testing.B, fuzzer, program string, seed int) float64 {
	b.Helper()
	dir := b.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.Mkdir(in, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in, "seed"), bytes.Repeat([]byte("x"), 256), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(fuzzer, "-V", "2", "-s", strconv.Itoa(seed+1), "-i", in, "-o", out, "--", program)
	cmd.Env = append(os.Environ(), "AFL_NO_UI=1", "AFL_NO_AFFINITY=1", "AFL_SKIP_CPUFREQ=1",
		"AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Skipf("afl-fuzz: %v\n%s", err, text)
	}
	stats, err := os.Open(filepath.Join(out, "default", "fuzzer_stats"))
	if err != nil {
		b.Fatal(err)
	}
	defer stats.Close()
	for lines := bufio.NewScanner(stats); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "execs_per_sec" {
			rate, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				b.Fatal(err)
			}
			return rate
		}
	}
	b.Fatal("afl-fuzz reports no rate")
	return 0
}

// pin keeps the benchmark and its programs on one processor.
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
