package crash

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mangle changes in a report what another run of the same failure changes:
// addresses, process ids, folders, clocks and excerpts of the input. The
// captures have 17 for every number that comes from the input.
func mangle(s string, r *rand.Rand) string {
	address := regexp.MustCompile(`(^|[^+0-9a-zA-Z])0x[0-9a-f]{3,}`)
	s = address.ReplaceAllStringFunc(s, func(m string) string {
		i := strings.Index(m, "0x")
		if strings.HasPrefix(m, "[0x") && len(m) == len("[0x00035") {
			return m // Mono's offsets into the code of a function
		}
		return m[:i] + fmt.Sprintf("0x%012x", r.Uint64N(1<<47)|1<<40)
	})
	pid := fmt.Sprint(1000 + r.IntN(1<<20))
	s = regexp.MustCompile(`==\d+==`).ReplaceAllString(s, "=="+pid+"==")
	s = regexp.MustCompile(`(pid=|tid=|' \()\d+`).ReplaceAllString(s, "${1}"+pid)
	s = regexp.MustCompile(`line 1: \d+ Aborted`).ReplaceAllString(s, "line 1: "+pid+" Aborted")
	// Go's own folder is where its library is.
	s = regexp.MustCompile(`(^|[^o])/src/`).ReplaceAllString(s, fmt.Sprintf("${1}/home/u%d/build.%d/", r.IntN(100), r.IntN(1e6)))
	// Not a place in the source, which is that of the failure.
	s = regexp.MustCompile(`(\.[a-z]+:)17\b`).ReplaceAllString(s, "${1}@")
	s = regexp.MustCompile(`\b17\b|(rec|ab|worker-|k|z|x)17`).ReplaceAllString(s, "${1}"+fmt.Sprint(100+r.IntN(1e6)))
	s = regexp.MustCompile(`(\.[a-z]+:)@`).ReplaceAllString(s, "${1}17")
	return strings.ReplaceAll(s, "qqqqq", strings.Repeat("w", r.IntN(9)))
}

func TestSameCauseSameLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range deaths(t) {
		d, _, _ := readDeath(t, name)
		want := Analyze(d)
		for range 5 {
			m := d
			m.Stderr = []byte(mangle(string(d.Stderr), r))
			m.Stdout = []byte(mangle(string(d.Stdout), r))
			got := Analyze(m)
			if !slices.Equal(got.Layers, want.Layers) || got.Title != want.Title {
				t.Errorf("%s: a second run of the failure has another cause\n%q\n%q\n%s", name, want.Layers, got.Layers, m.Stderr)
				break
			}
		}
	}
}

// What a program prints before its end does not change the cause of a report.
func TestChatterDoesNotCount(t *testing.T) {
	chatter := "loading 12 plug-ins from /opt/x\nprocessed 4711 records\nwarning: slow disk\n\n"
	for _, name := range deaths(t) {
		d, _, _ := readDeath(t, name)
		want := Analyze(d)
		if len(want.Frames) == 0 || d.TimedOut {
			continue
		}
		for _, n := range []int{1, 5000} { // the second pushes the report to the end of what is read
			m := d
			m.Stderr = append([]byte(strings.Repeat(chatter, n)), d.Stderr...)
			if got := Analyze(m); !slices.Equal(got.Layers, want.Layers) {
				t.Errorf("%s: chatter changes the cause\n%q\n%q", name, want.Layers, got.Layers)
			}
		}
	}
}

func TestDifferentCausesDiffer(t *testing.T) {
	for _, c := range []struct {
		what string
		a, b Death
	}{
		{"signals without words", Death{Signal: 11}, Death{Signal: 6}},
		{"exit codes without words", Death{ExitCode: 1}, Death{ExitCode: 2}},
		{"exit and signal", Death{ExitCode: 11}, Death{Signal: 11}},
		{"a child's signals", Death{ExitCode: 139}, Death{ExitCode: 134}},
		{"a hang and a kill", Death{TimedOut: true}, Death{Signal: 9}},
		{"a hang and a flood", Death{TimedOut: true}, Death{OutputLimit: true}},
		{"messages", Death{ExitCode: 1, Stderr: []byte("x: bad length 3\n")}, Death{ExitCode: 1, Stderr: []byte("x: bad checksum 3\n")}},
		{"one message, two codes", Death{ExitCode: 1, Stderr: []byte("x: bad\n")}, Death{ExitCode: 2, Stderr: []byte("x: bad\n")}},
	} {
		if a, b := Analyze(c.a), Analyze(c.b); slices.Equal(a.Layers, b.Layers) {
			t.Errorf("%s: both %q", c.what, a.Layers)
		}
	}
}

func TestTimeoutIgnoresOutput(t *testing.T) {
	a := Analyze(Death{TimedOut: true, Signal: 9, Stderr: []byte("pass 1\npass 2\nTraceback (most recent call last):\nValueError: x\n")})
	b := Analyze(Death{TimedOut: true, Signal: 9})
	if a.String() != b.String() {
		t.Errorf("what was printed before the kill is chance, but counts:\n%s%s", a, b)
	}
}

// What shells print about a dead child is not the child's message.
func TestHintsArePassedOver(t *testing.T) {
	for _, s := range []string{"Segmentation fault (core dumped)\n", "bash: line 1:  123 Aborted                 ./x\n", "note: run with X=1\n", "----\n\n"} {
		if c := Analyze(Death{Signal: 11, Stderr: []byte(s)}); c.Message != "" {
			t.Errorf("%q gives the message %q", s, c.Message)
		}
	}
}

// Two exceptions of one type in one function are two, in every language that
// says where it raised them; one is one, whatever the message.
func TestLinesTellExceptionsApart(t *testing.T) {
	for name, report := range map[string]string{
		"Python": "Traceback (most recent call last):\n  File \"/src/tool.py\", line 30, in main\n    parse(b)\n  File \"/src/tool.py\", line LINE, in parse\n    int(b)\n  File \"/usr/lib/python3.11/json/decoder.py\", line 337, in decode\n    x\nValueError: MESSAGE\n",
		"Java":   "Exception in thread \"main\" java.lang.IllegalStateException: MESSAGE\n\tat java.base/java.util.Objects.checkIndex(Objects.java:361)\n\tat a.Tool.parse(Tool.java:LINE)\n\tat a.Tool.main(Tool.java:3)\n",
		"Node":   "/src/tool.js:LINE\n  x\n  ^\n\nTypeError: MESSAGE\n    at JSON.parse (<anonymous>)\n    at parse (/src/tool.js:LINE:7)\n    at Object.<anonymous> (/src/tool.js:40:1)\n    at node:internal/main/run:1:2\n\nNode.js v20.1.0\n",
		"Ruby":   "tool.rb:LINE:in `parse': MESSAGE (NoMethodError)\n\tfrom tool.rb:40:in `main'\n",
		".NET":   "Unhandled exception. System.FormatException: MESSAGE\n   at System.Number.Parse(String s)\n   at Tool.Parse(String s) in /src/Tool.cs:line LINE\n   at Tool.Main() in /src/Tool.cs:line 40\n",
		"Go":     "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.parse({0xc000012345, 0x3, 0x3})\n\t/src/main.go:LINE +0x1d\nmain.main()\n\t/src/main.go:40 +0x2b\nexit status 2\n",
		"Rust":   "thread 'main' panicked at src/main.rs:LINE:9:\nindex out of bounds: the len is 3 but the index is 5\nstack backtrace:\n   0: rust_begin_unwind\n   1: core::panicking::panic_fmt\n   2: tool::parse\n   3: tool::main\n",
	} {
		cause := func(line, message string) []string {
			return Analyze(Death{ExitCode: 1, Stderr: []byte(strings.NewReplacer("LINE", line, "MESSAGE", message).Replace(report))}).Layers
		}
		a := cause("12", "abc")
		if b := cause("14", "abc"); slices.Equal(a, b) {
			t.Errorf("%s: two places are one: %q", name, a)
		}
		for _, message := range []string{"other words", strings.Repeat("[", 9000)} {
			if b := cause("12", message); !slices.Equal(a, b) {
				t.Errorf("%s: one place is two: %q %q", name, a, b)
			}
		}
	}
}

// Who calls the function of a harness differs from one way to run it to the other.
func TestCallersOfAHarnessDoNotCount(t *testing.T) {
	report := func(callers string) []string {
		return Analyze(Death{ExitCode: 1, Stderr: []byte("==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x1 bp 0x2 sp 0x3 T0)\n" +
			"==7==The signal is caused by a READ memory access.\n" +
			"    #0 0x51 in take /src/h.c:4:9\n    #1 0x52 in LLVMFuzzerTestOneInput /src/h.c:9:1\n" + callers)}).Layers
	}
	cold := report("    #2 0x53 in fuzzer::Fuzzer::ExecuteCallback(unsigned char const*, unsigned long) (/src/h+0x5)\n    #3 0x54 in main (/src/h+0x6)\n")
	hosted := report("    #2 0x63 in hosted_driver (/proc/7/fd/3+0x7)\n    #3 0x64 in serve_main -\n")
	if !slices.Equal(cold, hosted) || !slices.Contains(cold, "take") {
		t.Errorf("%q\n%q", cold, hosted)
	}
}
