package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

type build struct{ name, line string }

// builds are ways to build a program, in which its crashes are the same.
var builds = []build{
	{"O0, debugging information", "gcc -O0 -g"},
	{"O0, clang, static, stripped", "clang -O0 -static -s"},
	{"O2, PIE, debugging information", "gcc -O2 -g -pie -fPIE"},
	{"O3, stripped", "gcc -O3 -s"},
	{"O2, static, stripped", "gcc -O2 -static -s"},
	{"O1, static", "gcc -O1 -static"},
	{"O2, musl", "musl-gcc -O2"},
	{"O2, clang", "clang -O2"},
	{"O2, musl, static", "musl-gcc -O2 -static"},
	{"O2, musl, static, stripped", "musl-gcc -O2 -static -s"},
	{"O2, stack protector, fortified", "gcc -O2 -fstack-protector-all -D_FORTIFY_SOURCE=2"},
}

// A program with fifteen ways to crash in as many functions is built in many
// ways: each way is told from the others and from itself never, whatever else
// stands in the input, with names and without.
func TestCrashesToldApart(t *testing.T) {
	apart(t, builds, "testdata/bugs.c", 'A', 'P', 1, 5, 77)
}

// One line may have several bugs, which debugging information tells apart by their columns.
func TestBugsOfOneLine(t *testing.T) {
	apart(t, []build{{"O0, debugging information", "gcc -O0 -g -w"}, {"O2, clang, debugging information", "clang -O2 -g -w"}, {"O1, stripped", "gcc -O1 -s -w"}, {"O2, debugging information", "gcc -O2 -g -w"}},
		"testdata/line.c", 'A', 'E', 1, 9, 77)
}

// A function that writes over its stack may crash in a caller, or anywhere; one that
// releases what it must not, in many ways; one that reads at an address of the
// input's, where that is mapped or not. Each is one bug.
func TestDamageIsOneBug(t *testing.T) {
	apart(t, builds, "testdata/smash.c", 'A', 'F', 1, 5, 12, 77, 140)
}

// A function that spares what it returns to, but not the registers that it saved for
// its callers, is one bug whatever these then do.
func TestSavedRegistersAreOneBug(t *testing.T) {
	apart(t, []build{
		{"O2, debugging information", "gcc -O2 -g"},
		{"O1, clang", "clang -O1"},
		{"O2, stripped", "gcc -O2 -s"},
	}, "testdata/kept.c", 'A', 'A', 1, 12, 77, 140)
}

// What the C++ library does on behalf of the program, in headers that became part of
// it or in itself, is not what distinguishes its bugs, and is not what they are called by.
func TestLibrariesArePassedOver(t *testing.T) {
	apart(t, []build{
		{"O0, debugging information", "g++ -O0 -g"},
		{"O2, debugging information", "g++ -O2 -g"},
		{"O0", "g++ -O0"},
		{"O2, static", "g++ -O2 -static"},
		{"O2, static, stripped", "g++ -O2 -static -s"},
		{"O1, clang, stripped", "clang++ -O1 -s"},
	}, "testdata/library.cc", 'A', 'N', 1, 77)
}

// A write beyond a block is one bug, by whichever check of the C library's allocator it ends.
func TestDamageOfTheHeapIsOneBug(t *testing.T) {
	apart(t, []build{{"O0, debugging information", "gcc -O0 -g"}, {"O1, stripped", "clang -O1 -s"}, {"O2", "gcc -O2"}, {"O2, static, stripped", "gcc -O2 -static -s"}},
		"testdata/spill.c", 'A', 'A', 1, 3, 5, 9, 77)
}

func apart(t *testing.T, builds []build, source string, from, to byte, variants ...byte) {
	for i, build := range builds {
		t.Run(build.name, func(t *testing.T) {
			if i%3 > 0 && os.Getenv("THRESH_TEST_LONG") == "" {
				t.Skip("one build of three is enough: set THRESH_TEST_LONG=1 for all")
			}
			t.Parallel()
			program := compile(t, build.line, source)
			identities := map[string]byte{}
			r := tracing(t, program)
			for bug := from; bug <= to; bug++ {
				print := ""
				for _, rest := range variants {
					c, err := r.Trace(context.Background(), process.Case{RunID: "case", Input: slices.Concat([]byte{bug, rest}, bytes.Repeat([]byte{'x' ^ rest}, int(rest)))})
					if err != nil || c == nil {
						t.Fatalf("%c %d: %v: %v", bug, rest, c, err)
					}
					got := fmt.Sprint(cmp.Or(c.Fault, c.Kind), c.Layers)
					if print != "" && got != print {
						t.Errorf("%c is two bugs:\n%s\n%s", bug, print, got)
					}
					print = got
				}
				t.Logf("%c %s", bug, print)
				if strings.Contains(print, "std::") || strings.Contains(print, ".h:") || strings.Contains(print, "[operator") || strings.Contains(print, "puts") {
					t.Errorf("%c is known by the library: %s", bug, print)
				}
				if other, ok := identities[print]; ok {
					t.Errorf("%c and %c are one bug: %s", other, bug, print)
				}
				identities[print] = bug
			}
		})
	}
}

// What is no crash of the program's own has no stack: a signal from elsewhere, a
// clean end, a fault that the program handles. Nothing of a look is seen in the
// case after it.
func TestLooksThatShowNothing(t *testing.T) {
	r := tracing(t, "/bin/sh")
	for _, script := range []string{"kill -SEGV $$", "echo loud; exit 3", "echo loud >&2", "sleep 0"} {
		c, err := r.Trace(context.Background(), process.Case{RunID: "case", Input: []byte(script)})
		if err != nil || c != nil {
			t.Errorf("%s: %v, %v", script, c, err)
		}
		res, err := r.(process.Runner).Run(context.Background(), process.Case{RunID: "case", Input: []byte("true"), Confirm: true})
		if err != nil || len(res.Stdout) > 0 || len(res.Stderr) > 0 || res.ExitCode != 0 {
			t.Errorf("after %s: %q, exit %d, %v", script, res.Stdout, res.ExitCode, err)
		}
	}
}

// A look has the time of a case, and says so if that was not enough: the crash is then
// known by its signal alone.
func TestALookHasTheTimeOfACase(t *testing.T) {
	r := tracing(t, "/bin/sh").(*lane)
	r.spawn.(*spawner).plan.Timeout = 100 * time.Millisecond
	if c, err := r.Trace(context.Background(), process.Case{RunID: "case", Input: []byte("sleep 60")}); c != nil || !errors.Is(err, errSlowLook) {
		t.Errorf("%v, %v", c, err)
	}
	if notes := strings.Join(r.Notes(), "\n"); !strings.Contains(notes, "reached its time limit") {
		t.Error(notes)
	}
	r.spawn.(*spawner).untraceable = true
	if c, err := r.Trace(context.Background(), process.Case{RunID: "case", Input: []byte("kill -SEGV $$")}); c != nil || err != errNoTrace {
		t.Errorf("where the kernel refuses it: %v, %v", c, err)
	}
}

// A second look that is interrupted is an error, as a first one is.
func TestSecondLookIsInterrupted(t *testing.T) {
	r := tracing(t, compile(t, "gcc -O1 -fno-stack-protector", "testdata/twice.c"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	folder := t.TempDir()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(folder, "second")); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	c, err := r.Trace(ctx, process.Case{RunID: "case", Input: []byte(folder)})
	if c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", c, err)
	}
}

// compile builds a program and returns its path; without the compiler the test
// is skipped.
func compile(t *testing.T, line string, sources ...string) string {
	t.Helper()
	words := strings.Fields(line)
	if _, err := exec.LookPath(words[0]); err != nil {
		if os.Getenv("THRESH_CI") != "" && words[0] != "musl-gcc" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	out := filepath.Join(t.TempDir(), "program")
	b, err := exec.Command(words[0], slices.Concat(words[1:], sources, []string{"-o", out})...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, b)
	}
	return out
}

// tracing opens a runner that gives a program its input as a file.
func tracing(t *testing.T, program string) process.Tracer {
	t.Helper()
	plan := process.Plan{
		Input: "input/case.bin", OutDir: "out", Timeout: 20 * time.Second, Executor: process.Spawn, Limits: process.Limits{Processes: 512},
		Command: func(p process.Paths) process.Command {
			return process.Command{Path: program, Argv: []string{program, p.InputPath}}
		},
	}
	r, err := Open(context.Background(), plan, 0, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.(process.Tracer).Trace(context.Background(), process.Case{RunID: "case"}); errors.Is(err, errNoTrace) {
		t.Skip(err)
	}
	return r.(process.Tracer)
}

// A program that writes beyond its global variables overwrites those of the runtime that
// thresh fuzzspec cc links in: that it fails there later is one bug of the program.
func TestOverwrittenCounters(t *testing.T) {
	source := filepath.Join(t.TempDir(), "beyond.c")
	if err := os.WriteFile(source, []byte("#include <string.h>\nchar name[8];\nint main(void) { memset(name, 'A', 200); return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := tracing(t, counted(t, "-w", "-fno-builtin", source)).Trace(context.Background(), process.Case{RunID: "case"})
	if err != nil || c == nil || !strings.HasPrefix(c.Kind, "memory behind the program's global variables") || !c.Vague || c.Hint != process.Exploitable {
		t.Errorf("%+v, %v", c, err)
	}
}
