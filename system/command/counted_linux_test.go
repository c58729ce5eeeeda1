package command

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/coverage"
	"golang.org/x/sys/unix"
)

// counted compiles a program of testdata as thresh fuzzspec cc does.
func counted(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("clang is not installed")
	}
	path := filepath.Join(t.TempDir(), "program")
	code, err := coverage.Compile(context.Background(), false, append([]string{"-O1", "-o", path}, args...), nil, os.Stdout, os.Stderr)
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	return path
}

const budget = 100_000

// A case ends at its budget of edges, by whatever executor, and after the same
// edges each time; what takes no edges ends by the clock.
func TestCountedProgram(t *testing.T) {
	t.Parallel() // mostly waits
	for _, flags := range [][]string{{"testdata/counted.c"}, {"-DPERSISTENT", "testdata/counted.c"}} {
		t.Run(fmt.Sprint(flags[0]), func(t *testing.T) {
			path := counted(t, flags...)
			open := func() process.Runner {
				return openWith(t, process.Auto, path, func(p *process.Plan) {
					p.Coverage, p.Calibrate, p.Timeout = true, []byte("ok"), 20*time.Second
					p.Limits.FileSize = 1 << 20
					if flags[0] == "-DPERSISTENT" {
						p.Stdin = true
					}
				})
			}
			runners := []process.Runner{open(), open()}
			run := func(r process.Runner, c process.Case) process.Result {
				t.Helper()
				c.Index, c.Budget = max(c.Index, 1000), max(c.Budget, budget)
				res, err := r.Run(context.Background(), c)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			var first []string
			for i, r := range runners {
				var all []string
				for k, input := range []string{"axx", "h", "axx", "c", "l", "axx", "w", "h", "x"} {
					res := run(r, process.Case{Input: []byte(input)})
					if k == 6 && flags[0] == "-DPERSISTENT" {
						continue // how much it writes before is the file's matter
					}
					all = append(all, fmt.Sprint(input, " ", res.Status, " ", res.Signal, " ", res.Work, res.Edges))
				}
				if i == 0 {
					first = all
				} else if !slices.Equal(all, first) {
					t.Errorf("another runner gives\n%q\nwant\n%q", all, first)
				}
			}
			if first[0] != first[2] || first[0] != first[5] {
				t.Errorf("equal cases differ: %q", first)
			}
			r := runners[0]
			for _, c := range []struct {
				input   string
				budget  uint64
				confirm bool
				want    process.Status
				work    uint64
			}{
				{"h", budget, false, process.OverBudget, budget}, {"h", 3 * budget, false, process.OverBudget, 3 * budget},
				{"l", budget, false, process.OverBudget, budget}, {"l", 1 << 40, false, process.Signaled, 0},
				{"l", 1 << 40, true, process.Signaled, 0}, {"h", budget, true, process.OverBudget, budget},
				{"c", budget, false, process.Signaled, 0}, {"s", budget, false, process.SetAside, 0}, {"w", budget, false, process.Exited, 0},
			} {
				res := run(r, process.Case{Input: []byte(c.input), Budget: c.budget, Confirm: c.confirm})
				if res.Status != c.want || c.work > 0 && res.Work != c.work {
					t.Errorf("%+v: %s after %d edges", c, res.Status, res.Work)
				}
				if res.Status == process.SetAside && len(res.Edges) > 0 {
					t.Errorf("%+v: %d edges are seen", c, len(res.Edges))
				}
			}
		})
	}
}

// Cases that one process does together come to the same as one by one, whatever one of
// them does: those before it do not change, and what it does is its own.
func TestBatch(t *testing.T) {
	t.Parallel() // mostly waits
	path := counted(t, "-DPERSISTENT", "testdata/counted.c")
	usual := strings.Repeat("axx x axxx z p1 xx z px x h axx b xxx l x x c c xaxa p ", 6)
	inputs := strings.Fields(usual + "w axx x f xx s x " + usual)
	var want []string
	together := 0
	for _, most := range []int{1, 7, 64} {
		r := openWith(t, process.Auto, path, func(p *process.Plan) {
			p.Coverage, p.Calibrate, p.Stdin, p.Limits.FileSize = true, []byte("ok"), true, 1<<20
		})
		var got []string
		late := false // the last batch ended in a case that hangs
		note := func(i int, res process.Result) error {
			if inputs[i] == "z" && res.Status != process.Exited {
				t.Errorf("at most %d at once: case %d sees the input of another", most, i)
			}
			if inputs[i] == "w" { // how much it writes before is the file's matter
				res.Work, res.Edges = 0, nil
			}
			got = append(got, fmt.Sprintf("%d %s: %s %d %d %q %t %d %d%v", i, inputs[i], res.Status, res.ExitCode, res.Signal, res.Stdout, res.NoOutputs, res.Leftovers, res.Work, res.Edges))
			return nil
		}
		for i := 0; i < len(inputs); {
			var cases []process.Case
			for k := i; k < min(i+most, len(inputs)); k++ {
				cases = append(cases, process.Case{Index: int64(k%1000 + 1000), Input: []byte(inputs[k]), Budget: budget})
			}
			began := time.Now()
			n, err := r.(process.Batcher).RunBatch(context.Background(), cases, func(k int, res process.Result) error { return note(i+k, res) })
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); inputs[i] == "s" && late && took > leastWait/2 {
				t.Errorf("at most %d at once: a case that has hung in one batch is waited for in the next, for %s", most, took)
			}
			late = time.Since(began) > leastWait/2
			together += n
			if i += n; n == 0 {
				res, err := r.Run(context.Background(), cases[0])
				if err != nil {
					t.Fatal(err)
				}
				note(i, res)
				i++
			}
		}
		if want == nil {
			want = got
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("at most %d at once: %s, one by one %s", most, got[i], want[i])
			}
		}
	}
	if together < len(inputs)/2 {
		t.Errorf("%d of %d cases were done together", together, 2*len(inputs))
	}
}

// Where cases are many, fewer of them are cross-checked; the first ones always are.
func TestCheckedCases(t *testing.T) {
	for coverage, every := range map[bool]int64{false: checkedEvery, true: coverageEvery} {
		l := &lane{plan: &process.Plan{Coverage: coverage}}
		for index, want := range map[int64]bool{0: true, checkedFirst - 1: true, checkedFirst: false, every: true, every + 1: false, 3 * every: true, every / 2: false} {
			if l.checked(index) != want {
				t.Errorf("coverage %t, case %d: checked %t", coverage, index, !want)
			}
		}
	}
}

// Time ends a case soon, but never before its budget would.
func TestCountedLimit(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct{ short, usual, full, want time.Duration }{
		{50 * ms, ms, 10 * time.Second, 250 * ms},
		{400 * ms, 40 * ms, 10 * time.Second, time.Second},
		{50 * ms, ms, 100 * ms, 100 * ms},
		{10 * time.Second, 2 * time.Second, 10 * time.Second, 10 * time.Second}, // slow to begin with
	} {
		if got := countedLimit(c.short, c.usual, c.full); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What a program writes as it is listened to is not left for the next case; and one
// that writes something else each time is still measured.
func TestCountedOutput(t *testing.T) {
	t.Parallel() // mostly waits
	source := filepath.Join(t.TempDir(), "print.c")
	text := `#include <stdio.h>
#include <unistd.h>
int main(int c, char **v) {
  char b[64] = {0};
  FILE *f = fopen(v[1], "rb");
  if (f) fread(b, 1, 63, f);
  if (b[0] == 'x') b[0] = 'y';
  printf("%s", b);
  if (PID) printf("%d", getpid());
  return b[1] == '!';
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-DPID=0", "-DPID=1"} {
		path := counted(t, flag, source)
		r := openWith(t, process.Auto, path, func(p *process.Plan) { p.Coverage, p.Calibrate = true, []byte("long output") })
		if flag == "-DPID=0" {
			known := func() []int { return slices.Clone(r.(*lane).fast.(*aflExecutor).reaper.known) }
			before := known()
			for range 2 { // the second time its server has died
				if list, err := r.(process.Comparer).Compare(context.Background(), process.Case{Input: []byte("long output")}); err != nil || len(list) == 0 {
					t.Errorf("%d comparisons, %v", len(list), err)
				}
				for _, pid := range known() {
					if !slices.Contains(before, pid) {
						unix.Kill(pid, unix.SIGKILL)
					}
				}
			}
		}
		for i := range int64(40) { // the first ones are cross-checked
			res, err := r.Run(context.Background(), process.Case{Index: i, Input: []byte("s"), Budget: budget})
			if err != nil || len(res.Edges) == 0 || flag == "-DPID=0" && string(res.Stdout) != "s" {
				t.Fatalf("%s, case %d: %q, %d edges, %v", flag, i, res.Stdout, len(res.Edges), err)
			}
		}
		if said := strings.Contains(strings.Join(r.Notes(), "\n"), "output differs from run to run"); said != (flag == "-DPID=1") {
			t.Errorf("%s: %q", flag, r.Notes())
		}
	}
}

// Edges are counted by instructions, and what is compared by calls that leave registers
// alone: a program that has numbers in many of them gets the same results. What it and
// its children took is known however they end.
func TestCountedInline(t *testing.T) {
	t.Parallel() // mostly waits
	source := filepath.Join(t.TempDir(), "mix.c")
	text := `#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define MIX(name) static __attribute__((noinline)) double name(const unsigned char *b, int n) { \
  int p = 1, q = 2, r = 3, s = 4, t = 5, u = 6, v = 7, w = 8, x = 9, y = 10; \
  double a = 1, c = 2, d = 3, e = 4, g = 5, h = 6, i = 7, j = 8; \
  for (int rounds = 0; rounds < 20000; rounds++) \
    for (int k = 0; k < n; k++) { \
      if (b[k] + p % 100 == 1000 + k) q += 3; else a += c * 0.5; \
      if (a > 1e6) { a -= 1e6; d += e; p ^= q; } else r += b[k]; \
      if (d - g > 1000) { g += h; s += t; } else { h = h * 0.5 + i; u ^= r; } \
      if ((s & 7) == 3) { i = i * 0.25 + j; t += u & 3; } else { j = j * 0.5 + a; s++; } \
      v += w ^ k; w += x & u; x ^= y + r; if (x % 7 != v % 7) y += v; else w++; \
      if (c > 100) c *= 0.5; else c += d * 0.001; \
    } \
  return p + q + r + s + t + u + v + w + x + y + a + c + d + e + g + h + i + j; \
}
MIX(counted)
__attribute__((no_sanitize("coverage"))) MIX(plain)
int main(int argc, char **argv) {
  unsigned char b[64] = {0};
  FILE *f = fopen(argv[1], "rb");
  volatile int n = f ? (int)fread(b, 1, 64, f) : 0;
  int p = 0;
  if (counted(b, n) != plain(b, n) && !memcmp(b, "WRONG", 5)) p++;
  if (b[0] == 'q') _exit(0);
  if (b[0] == 'f') {
    if (!fork()) { for (int k = 0; k < 40; k++) if (b[k] == 'z') p++; _exit(p); }
    wait(0);
  }
  return 0;
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := counted(t, "-O3", source)
	object := filepath.Join(t.TempDir(), "mix.o")
	if code, err := coverage.Compile(context.Background(), false, []string{"-O2", "-c", "-o", object, source}, nil, os.Stdout, os.Stderr); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if symbols, err := f.Symbols(); err != nil || runtime.GOARCH == "amd64" && slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__sanitizer_cov_trace_pc_guard" }) {
		t.Errorf("edges are counted by calls, %v", err)
	}
	open := func() process.Runner {
		return openWith(t, process.Auto, path, func(p *process.Plan) { p.Coverage, p.Calibrate = true, []byte("ok") })
	}
	edges := map[string]int{}
	r := open()
	for _, input := range []string{"axmix", "qxmix", "fxmix"} {
		res, err := r.Run(context.Background(), process.Case{Index: 1000, Input: []byte(input), Budget: 1 << 40})
		if err != nil || res.Work < 20000*4 {
			t.Fatalf("%s: %d edges, %v", input, res.Work, err)
		}
		edges[input] = len(res.Edges)
		list, err := r.(process.Comparer).Compare(context.Background(), process.Case{Input: []byte(input), Budget: 1 << 40})
		if err != nil || len(list) == 0 {
			t.Errorf("%d comparisons, %v", len(list), err)
		}
		for _, c := range list {
			if string(c.A)+string(c.B) == input+"WRONG" {
				t.Errorf("%s: other results when it is listened to", input)
			}
		}
	}
	if edges["axmix"] == 0 || edges["qxmix"] < edges["axmix"] || edges["fxmix"] <= edges["axmix"] {
		t.Errorf("edges: %v", edges)
	}
}

// A harness gets a main, and other sanitizers beside it; AFL++'s tools run it.
func TestHarness(t *testing.T) {
	t.Parallel() // mostly waits
	source := filepath.Join(t.TempDir(), "harness.c")
	text := "#include <stdint.h>\n#include <stddef.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { volatile char b[4] = {0}; if (n > 1 && d[0] == 'x') b[d[1]] = 1; return 0; }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := counted(t, "-fsanitize=fuzzer,address", source)
	r := openWith(t, process.Auto, path, func(p *process.Plan) { p.Coverage, p.Calibrate = true, []byte("ok") })
	for input, want := range map[string]string{"x\x01": "exit status 0", "x\x05": "exit status 1", "": "exit status 0"} {
		for _, confirm := range []bool{false, true} {
			res, err := r.Run(context.Background(), process.Case{Index: 1000, Input: []byte(input), Budget: budget, Confirm: confirm})
			if err != nil || ending(res) != want {
				t.Errorf("%q: %s, %v; want %s\n%s", input, ending(res), err, want, res.Stderr)
			}
			if !confirm && want == "exit status 0" && (len(res.Edges) == 0 || res.Work == 0) {
				t.Errorf("%q: no edges", input)
			}
		}
	}
	if _, err := exec.LookPath("afl-showmap"); err != nil {
		t.Skip("afl-showmap is not installed")
	}
	dir := t.TempDir()
	cmd := exec.Command("afl-showmap", "-q", "-o", "map", "--", path, source) // it makes no file whose path begins with /dev
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "AFL_NO_FORKSRV=", "ASAN_OPTIONS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("afl-showmap: %v\n%s", err, text)
	}
	if m, err := os.ReadFile(filepath.Join(dir, "map")); err != nil || len(m) == 0 {
		t.Errorf("afl-showmap sees no edge: %v", err)
	}
}
