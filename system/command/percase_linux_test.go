package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// A plan whose cases have commands of their own: program, folder and files that
// are put there are those of the case, and the next case finds none of them.
func TestCommandPerCase(t *testing.T) {
	elsewhere := t.TempDir()
	n := 0
	plan := process.Plan{
		PerCase: true, Input: "stdin", Dirs: []string{"tmp"}, Stdin: true, Timeout: time.Minute, Executor: process.Spawn,
		Command: func(p process.Paths) process.Command {
			if n == 0 {
				return process.Command{} // before the first case nothing is known
			}
			temp := filepath.Join(p.RunDir, "tmp")
			if err := os.WriteFile(filepath.Join(temp, fmt.Sprint("file", n)), nil, 0o644); err != nil {
				t.Error(err)
			}
			c := process.Command{Path: "/bin/sh", Argv: []string{"sh", "-c", "pwd; ls " + temp + "; cat; exit " + fmt.Sprint(n)}, Env: []string{"PATH=/bin:/usr/bin"}}
			if n%2 == 1 {
				c.Dir = elsewhere
			}
			return c
		},
	}
	r, err := Open(context.Background(), plan, 0, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	for n = 1; n <= 3; n++ {
		res, err := r.Run(context.Background(), process.Case{RunID: "same", Input: []byte("input")})
		if err != nil {
			t.Fatal(err)
		}
		dir := res.Dir
		if n%2 == 1 {
			dir = elsewhere
		}
		want := fmt.Sprintf("%s\nfile%d\ninput", dir, n)
		if got := string(res.Stdout); got != want || res.ExitCode != n || strings.Contains(string(res.Stderr), "sh:") {
			t.Errorf("case %d: exit %d, printed %q, want %q (%s)", n, res.ExitCode, got, want, res.Stderr)
		}
	}
}
