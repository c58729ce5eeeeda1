package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// readDeath reads a file of testdata/deaths: a comment on its origin, how the
// program ended, what it printed, and the cause that is expected.
func readDeath(t testing.TB, name string) (d Death, given, cause string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	given, cause, _ = strings.Cut(string(b), "-- cause --\n")
	head, rest, ok := strings.Cut(given, "-- stderr --\n")
	if !ok {
		t.Fatalf("%s: no -- stderr --", name)
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "exit":
			d.ExitCode, err = strconv.Atoi(value)
		case "signal":
			d.Signal, err = strconv.Atoi(value)
		case "timeout":
			d.TimedOut, err = strconv.ParseBool(value)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
	}
	stderr, stdout, _ := strings.Cut(rest, "-- stdout --\n")
	d.Stderr, d.Stdout = []byte(stderr), []byte(stdout)
	return d, given, cause
}

func (c Cause) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "class: %s\nkind: %s\nseverity: %s\ntitle: %s\nmessage: %s\n", c.Class, c.Kind, c.Severity, c.Title, c.Message)
	if c.Uncaught {
		b.WriteString("uncaught: true\n")
	}
	for _, f := range c.Frames {
		fmt.Fprintf(&b, "frame: %s\n", f)
	}
	for _, l := range c.Layers {
		fmt.Fprintf(&b, "layer: %s\n", l)
	}
	return b.String()
}

func deaths(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/deaths/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	return names
}

func TestReports(t *testing.T) {
	for _, name := range deaths(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			d, given, want := readDeath(t, name)
			got := Analyze(d).String()
			if golden.Update() {
				out := []byte(given + "-- cause --\n" + got)
				if err := os.WriteFile(name, out, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("cause of %s\ngot:\n%s\nwant:\n%s", name, got, want)
			}
			d.CoreDumped = !d.CoreDumped
			if again := Analyze(d).String(); again != got {
				t.Errorf("a core dump changes the cause:\n%s", again)
			}
		})
	}
}
