package crash

import "testing"

// A report on standard output counts if the program failed and there is none on
// standard error: what a program prints and goes on from is its output.
func TestReportsOnStandardOutput(t *testing.T) {
	const (
		goTrace   = "panic: bad tag\n\ngoroutine 1 [running]:\nmain.parse(...)\n\t/src/tool.go:3\nmain.main()\n\t/src/tool.go:9 +0x1d\n"
		traceback = "Traceback (most recent call last):\n  File \"tool.py\", line 3, in <module>\n    parse()\nValueError: bad tag\n"
	)
	for _, c := range []struct {
		name  string
		death Death
		class string
		kind  string
	}{
		{"exit 0", Death{Stdout: []byte(goTrace)}, ClassNone, ""},
		{"exit 1", Death{ExitCode: 1, Stdout: []byte(goTrace)}, ClassPanic, "go panic at tool.go:3"},
		{"a signal", Death{Signal: 6, Stdout: []byte(goTrace)}, ClassPanic, "go panic at tool.go:3"},
		{"words beside it", Death{ExitCode: 1, Stdout: []byte(goTrace), Stderr: []byte("tool: failed\n")}, ClassPanic, "go panic at tool.go:3"},
		{"standard error first", Death{ExitCode: 1, Stdout: []byte(goTrace), Stderr: []byte(traceback)}, ClassException, "ValueError"},
		{"nothing", Death{ExitCode: 1}, ClassExit, ""},
	} {
		got := Analyze(c.death)
		if got.Class != c.class || c.kind != "" && got.Kind != c.kind {
			t.Errorf("%s: %s %q, want %s %q", c.name, got.Class, got.Kind, c.class, c.kind)
		}
	}
}
