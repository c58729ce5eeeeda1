package crash

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func checkCause(t testing.TB, c Cause) {
	t.Helper()
	if c.Class == "" || c.Title == "" || c.Severity == "" || len(c.Layers) == 0 || c.Layers[0] != c.Class {
		t.Fatalf("incomplete: %s", c)
	}
	if len(c.Frames) > maxFrames || utf8.RuneCountInString(c.Title) > 160 || len(c.Layers) > 5+layerFrames {
		t.Fatalf("too large: %s", c)
	}
	for _, l := range append(slices.Clone(c.Layers), c.Title) {
		if l == "" || strings.Contains(l, "\n") {
			t.Fatalf("layer or title %q", l)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, name := range deaths(f) {
		d, _, _ := readDeath(f, name)
		f.Add(d.ExitCode, d.Signal, d.Stderr, d.Stdout)
	}
	f.Fuzz(func(t *testing.T, exit, signal int, stderr, stdout []byte) {
		d := Death{ExitCode: exit, Signal: signal, Stderr: stderr, Stdout: stdout}
		c := Analyze(d)
		checkCause(t, c)
		if again := Analyze(d); again.String() != c.String() {
			t.Fatalf("not deterministic:\n%s%s", c, again)
		}
	})
}

// Hostile output costs time in proportion to its size: each of these megabytes
// would take minutes if a reader rescanned the text at every line.
func hostile() map[string][]byte {
	out := map[string][]byte{}
	for _, unit := range []string{"panic: x\n", "Caused by: x y\n\tat a(b)\n", "\tat a(b)\n", "fatal error: \n", "thread '' panicked\n", "==1==ERROR: x: \n",
		"==1==    at 0x1: f (x)\n", "#0 \n#1 \n", "Traceback (most recent call last):\n", "  File \"x\", line 1, in f\n", "x: runtime error: \n", "    at f (x:1)\n",
		"[cause]: X: y\n    at f (x:1)\n", "*** \n", "x: Assertion `\n", "a at b line 1.\n", "SUMMARY: x\n", "'", "`", "\"", "<", "(", "/", "tmp", "\x1b[", "\xff", "0", "usage: \n"} {
		out[unit] = bytes.Repeat([]byte(unit), 1<<20/len(unit))
	}
	return out
}

func TestHostileOutput(t *testing.T) {
	for unit, b := range hostile() {
		c := Analyze(Death{ExitCode: 1, Stderr: b, Stdout: b})
		checkCause(t, c)
		if len(Mask(string(b))) > 4*maxMessage {
			t.Errorf("%q: a long message", unit)
		}
	}
}

func BenchmarkAnalyze(b *testing.B) {
	for _, name := range []string{"asan_gcc_heap_over", "go_index", "python_json", "exit_usage", "exit_silent"} {
		d, _, _ := readDeath(b, "testdata/deaths/"+name+".txt")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyze(d)
			}
		})
	}
	chatter := Death{ExitCode: 1, Stderr: bytes.Repeat([]byte("processed 4711 records in 0.12 s\n"), 1<<20/33)}
	b.Run("megabyte", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Analyze(chatter)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	s := "tool: /tmp/run-17/in.bin: line 12: bad tag 'qqq' at 0x7ffe1234 (2026-11-21T03:50:03Z)"
	b.ReportAllocs()
	for b.Loop() {
		Mask(s)
	}
}
