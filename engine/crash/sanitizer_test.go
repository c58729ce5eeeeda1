package crash

import (
	"slices"
	"strings"
	"testing"
)

// How grave a sanitizer's report is depends on what it reports, and a program
// that stopped itself is described by its own words where it had any.
func TestSanitizerReports(t *testing.T) {
	const stack = "    #0 0x1 in parse /src/a.c:7\n"
	for report, want := range map[string]Cause{
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x1\n==7==The signal is caused by a WRITE memory access.\n" + stack:                                                                                                                            {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x1\n==7==The signal is caused by a READ memory access.\n" + stack:                                                                                                                             {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n==7==The signal is caused by a WRITE memory access.\n==7==Hint: address points to the zero page.\n" + stack:                                                                               {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n==7==Hint: address points to the zero page.\n==7==The signal is caused by a WRITE memory access.\n" + stack:                                                                               {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: ABRT on unknown address 0x1\n" + stack:                                                                                                                                                                                 {Class: ClassSanitizer, Severity: SeverityMedium},
		"a: a.c:7: parse: Assertion `n > 0' failed.\n==7==ERROR: AddressSanitizer: ABRT on unknown address 0x1\n" + stack:                                                                                                                                     {Class: ClassAssert, Severity: SeverityMedium},
		"==7== ERROR: libFuzzer: deadly signal\n" + stack:                                                                                                                                                                                                     {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nREAD of size 1 at 0x1 thread T0\n" + stack:                                                                                                                 {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nREAD of size 1 at 0x1 thread T0\n" + stack:                                                                                                                {Class: ClassSanitizer, Severity: SeverityHigh},
		"==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nWRITE of size 1 at 0x1 thread T0\n" + stack:                                                                                                               {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: attempting double-free on 0x1 in thread T0:\n" + stack:                                                                                                                                                                 {Class: ClassSanitizer, Severity: SeverityCritical},
		"==7==ERROR: AddressSanitizer: requested allocation size 0xffff (0x1 after adjustments for alignment, red zones etc.) exceeds maximum supported size of 0x10000000000 (thread T0)\n" + stack + "SUMMARY: AddressSanitizer: allocation-size-too-big\n": {Class: ClassSanitizer, Severity: SeverityMedium},
		"==7==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 8 byte(s) in 1 object(s) allocated from:\n" + stack:                                                                                                                               {Class: ClassSanitizer, Severity: SeverityLow},
	} {
		got := Analyze(Death{ExitCode: 1, Stderr: []byte(report)})
		if got.Class != want.Class || got.Severity != want.Severity {
			t.Errorf("%s\n%s of severity %s, want %s of %s", report, got.Class, got.Severity, want.Class, want.Severity)
		}
		if len(got.Frames) == 0 || got.Frames[0] == "" {
			t.Errorf("%s\nhas no frames", report)
		}
	}
}

// The minimal runtime of UndefinedBehaviorSanitizer prints a word, with an address that each run changes.
func TestMinimalRuntime(t *testing.T) {
	for report, want := range map[string]string{
		"0\nubsan: mul-overflow\n1\n": "sanitizer undefined: mul-overflow medium", "ubsan: out-of-bounds by 0x000055d3c6a1b2c3\nubsan: mul-overflow\n": "sanitizer undefined: out-of-bounds high",
		"ubsan: all is well\n": "none exit 0 low", "x ubsan: mul-overflow\n": "none exit 0 low",
	} {
		c := Analyze(Death{Stderr: []byte(report)})
		if got := c.Class + " " + c.Kind + " " + c.Severity; got != want || strings.Contains(strings.Join(c.Layers, " "), "55d3") {
			t.Errorf("%q: %s, %v, want %s", report, got, c.Layers, want)
		}
	}
}

// Two lines of a function are two causes, or two offsets where no line is known; where a
// cycle or a race is noticed is chance.
func TestLinesOfOneFunction(t *testing.T) {
	for _, c := range []struct {
		report, one, other string
		differ             bool
	}{
		{"asan", "in parse /src/a.c:7:3", "in parse /src/a.c:9:3", true},
		{"asan", "in parse /src/a.c:7:3", "in parse /src/a.c:7:30", false},
		{"asan", "in memcpy /libc/memcpy.c:7\n    #1 0x1 in parse /src/a.c:7:3", "in memcpy /libc/memcpy.c:9\n    #1 0x1 in parse /src/a.c:7:3", false},
		{"asan", "in memcpy (/src/a+0x9)\n    #1 0x1 in parse /src/a.c:7:3", "in memcpy (/src/a+0x9)\n    #1 0x1 in parse /src/a.c:9:3", true},
		{"asan", "in parse (/src/a+0x17) (BuildId: 1)", "in parse (/src/a+0x19) (BuildId: 1)", true},
		{"asan", "in parse (/src/a+0x17)\n    #1 0x1 in main (/src/a+0x29)", "in parse (/src/a+0x17)\n    #1 0x1 in main (/src/a+0x31)", false},
		{"asan", "in memcpy (/src/a+0x9)\n    #1 0x1 in parse (/src/a+0x17)", "in memcpy (/src/a+0x9)\n    #1 0x1 in parse (/src/a+0x19)", true},
		{"asan", "in parse (/lib/libc.so.6+0x17)", "in parse (/lib/libc.so.6+0x19)", false},
		{"asan", "in parse a.c", "in expand a.c", true},
		{"asan", "in parse a.c\n", "in parse b.c\n", false},
		{"asan", "(/src/a+0x17) (BuildId: 1)", "(/src/a+0x19) (BuildId: 1)", true},
		{"summary", "/src/a.c:7:3 in parse", "/src/a.c:9:3 in parse", true},
		{"summary", "(/src/a+0x17) in parse", "(/src/a+0x19) in parse", true},
		{"summary", "(/src/a+0x17) (BuildId: 1) in parse", "(/src/a+0x17) (BuildId: 2) in parse", false},
		{"cycle", "in parse /src/a.c:7:3", "in parse /src/a.c:9:3", false},
		{"race", "parse /src/a.c:7 (a+0x17)", "parse /src/a.c:9 (a+0x19)", false},
		{"undefined", "in parse /src/a.c:7:3", "in parse /src/a.c:9:3", true},
		{"valgrind", "parse (a.c:7)", "parse (a.c:9)", true},
		{"valgrind", "parse (in /src/a)", "parse (in /src/a)", false},
		{"valgrind", "parse (in /src/a)\n==7==    by 0x2: main (in /src/a)", "parse (in /src/a)\n==7==    by 0x3: main (in /src/a)", false},
		{"gdb", "in parse (p=0x0) at a.c:7", "in parse (p=0x0) at a.c:9", true},
		{"own", "in parse /src/a.c:7", "in parse /src/a.c:9", true},
	} {
		layers := func(frame string) []string {
			_, line, _ := strings.Cut(frame, "a.c:")
			line, _, _ = strings.Cut(line, ":")
			report := map[string]string{
				"asan":      "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3 sp 0x4\nREAD of size 1 at 0x1 thread T0\n    #0 0x1 ",
				"summary":   "SUMMARY: AddressSanitizer: heap-buffer-overflow ",
				"cycle":     "==7==ERROR: AddressSanitizer: stack-overflow on address 0x1 (pc 0x2 bp 0x3 sp 0x4 T0)\n    #0 0x1 ",
				"race":      "WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x1 by thread T1:\n    #0 ",
				"undefined": "a.c:" + line + ":3: runtime error: division by zero\n    #0 0x1 ",
				"valgrind":  "==7== Invalid read of size 1\n==7==    at 0x1: ",
				"gdb":       "Program received signal SIGSEGV, Segmentation fault.\n#0  0x1 ",
				"own":       "what a handler of the program's says:\n#0 0x1 ",
			}[c.report] + frame + "\n"
			return Analyze(Death{ExitCode: 1, Stderr: []byte(report)}).Layers
		}
		one, other := layers(c.one), layers(c.other)
		if !slices.Contains(append(one, other...), "parse") && !strings.HasPrefix(c.one, "(") {
			t.Errorf("%s: %v, %v", c.report, one, other)
		}
		if slices.Equal(one, other) == c.differ {
			t.Errorf("%s, %s and %s: %v, %v", c.report, c.one, c.other, one, other)
		}
	}
}

// Reports are named by what they report, whatever words of a tool are around it.
func TestKindsOfSanitizerReports(t *testing.T) {
	for what, want := range map[string]string{
		"AddressSanitizer: attempting double-free on 0x1 in thread T0:":                            "double-free",
		"AddressSanitizer: attempting free on address which was not malloc()-ed: 0x1 in thread T0": "bad-free",
		"AddressSanitizer: requested allocation size 0xffff exceeds maximum supported size":        "allocation-size-too-big",
		"AddressSanitizer: allocator is out of memory trying to allocate 0x10 bytes":               "out-of-memory",
		"AddressSanitizer: SEGV on unknown address 0x1 (pc 0x2)":                                   "SEGV",
		"AddressSanitizer: stack-overflow on address 0x1":                                          "stack-overflow",
		"LeakSanitizer: detected memory leaks":                                                     "memory leak",
		"ThreadSanitizer: data race (pid=7)":                                                       "data race",
		"libFuzzer: out-of-memory (used: 2049Mb; limit: 2048Mb)":                                   "out-of-memory",
		"libFuzzer: deadly signal":                                                                 "deadly signal",
		"libFuzzer: timeout after 25 seconds":                                                      "timeout after <n> seconds",
	} {
		_, said, _ := strings.Cut(what, ": ")
		if got := sanitizerKind(said); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}
