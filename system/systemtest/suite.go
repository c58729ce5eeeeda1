//go:build unix

package systemtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
)

// Subject is the opener that the suite tests.
type Subject struct {
	Open     process.Opener
	Path     string // the program; "": the test binary itself
	Executor process.Executor
}

// Plan returns the suite's plan. The program's input is input/case.txt.
func (s Subject) Plan() process.Plan {
	path, env := s.Path, []string(nil)
	if path == "" {
		path, _ = os.Executable()
		env = environment("obey")
	}
	return process.Plan{
		Command: func(p process.Paths) process.Command {
			return process.Command{Path: path, Argv: []string{path, p.InputPath},
				Env: append([]string{"RUN_ID=" + p.RunID}, env...)}
		},
		Input: "input/case.txt", OutDir: "out",
		Timeout: 20 * time.Second, Executor: s.Executor,
	}
}

// Build compiles the C program with a compiler and returns its path. It skips the test if the
// compiler is missing or does not work.
func Build(t *testing.T, source string, compiler ...string) string {
	t.Helper()
	cc, err := exec.LookPath(compiler[0])
	if err != nil {
		t.Skipf("there is no %s here", compiler[0])
	}
	bin := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(cc, append(compiler[1:], "-o", bin, source)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s does not work here: %v\n%s", compiler[0], err, out)
	}
	return bin
}

// session is an open runner in a test.
type session struct {
	*testing.T
	runner process.Runner
	next   int64
}

func (s Subject) session(t *testing.T, plan process.Plan) *session {
	t.Helper()
	r, err := s.Open(context.Background(), plan, 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return &session{T: t, runner: r}
}

func (s *session) run(input string) process.Result {
	s.Helper()
	res, err := s.runner.Run(context.Background(), process.Case{Index: s.next, RunID: "0123456789abcdef", Input: []byte(input)})
	s.next++
	if err != nil {
		s.Fatalf("%s: %v", input, err)
	}
	return res
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Run("ends", s.ends)
	t.Run("output", s.output)
	t.Run("files", s.files)
	t.Run("timeout", s.timeout)
	t.Run("leftovers", s.leftovers)
	t.Run("cancel", s.cancel)
	t.Run("confirm", s.confirm)
}

func (s Subject) ends(t *testing.T) {
	x := s.session(t, s.Plan())
	for _, c := range []struct {
		input        string
		status       process.Status
		code, signal int
	}{
		{"exit 0", process.Exited, 0, 0},
		{"exit 3", process.Exited, 3, 0},
		{"exit 255", process.Exited, 255, 0},
		{"signal 9", process.Signaled, 0, 9},
		{"signal 1", process.Signaled, 0, 1},
		{"exit 0", process.Exited, 0, 0},
	} {
		res := x.run(c.input)
		if res.Status != c.status || res.ExitCode != c.code || res.Signal != c.signal {
			t.Errorf("%s: %v, code %d, signal %d", c.input, res.Status, res.ExitCode, res.Signal)
		}
		if res.Elapsed <= 0 || res.Started.IsZero() {
			t.Errorf("%s: no times", c.input)
		}
	}
}

func (s Subject) output(t *testing.T) {
	plan := s.Plan()
	plan.Limits.Output = 10
	x := s.session(t, plan)
	for _, c := range []struct{ input, out, err string }{
		{"print hello", "hello", ""},
		{"error bad", "", "bad"},
		{"exit 0", "", ""},
		{"print 0123456789abcdef", "0123456789", ""},
		{"print x", "x", ""},
	} {
		res := x.run(c.input)
		if string(res.Stdout) != c.out || string(res.Stderr) != c.err {
			t.Errorf("%s: stdout %q, stderr %q", c.input, res.Stdout, res.Stderr)
		}
		if strings.HasPrefix(c.input, "print ") && res.StdoutSize != int64(len(c.input)-len("print ")) {
			t.Errorf("%s: size %d", c.input, res.StdoutSize)
		}
	}
}

func (s Subject) files(t *testing.T) {
	x := s.session(t, s.Plan())
	for range 2 {
		res := x.run("file content")
		got, err := os.ReadFile(filepath.Join(res.Dir, "out", "result.txt"))
		if err != nil || string(got) != "content" {
			t.Errorf("output file: %q, %v", got, err)
		}
		res = x.run("exit 0")
		if entries, err := os.ReadDir(filepath.Join(res.Dir, "out")); err != nil || len(entries) > 0 {
			t.Errorf("the output folder is not clean: %v, %v", entries, err)
		}
		if res := x.run("unlink"); res.ExitCode != 0 {
			t.Errorf("unlink: exit %d", res.ExitCode)
		}
		if res := x.run("print still"); string(res.Stdout) != "still" {
			t.Errorf("after the input was removed: %q", res.Stdout)
		}
	}
}

func (s Subject) timeout(t *testing.T) {
	plan := s.Plan()
	plan.Timeout = 300 * time.Millisecond
	x := s.session(t, plan)
	if res := x.run("hang"); res.Status != process.TimedOut || string(res.Stdout) != "partial" {
		t.Errorf("%v, stdout %q", res.Status, res.Stdout)
	}
	if res := x.run("exit 4"); res.Status != process.Exited || res.ExitCode != 4 {
		t.Errorf("the case after a hang: %v, code %d", res.Status, res.ExitCode)
	}

	plan = s.Plan()
	plan.Calibrate = []byte("exit 0")
	x = s.session(t, plan)
	// Longer than the calibrated limit, shorter than the plan's.
	if res := x.run("nap 2000"); res.Status != process.Exited {
		t.Errorf("a slow case: %v", res.Status)
	}
}

func (s Subject) leftovers(t *testing.T) {
	x := s.session(t, s.Plan())
	x.next = 1001 // avoid a cross-check, because the process ids in the output differ
	for _, kind := range []string{"plain", "session", "orphan"} {
		for range 2 {
			res := x.run("linger " + kind)
			if res.Status != process.Exited || res.Leftovers < 1 {
				t.Errorf("%s: %v, %d leftovers", kind, res.Status, res.Leftovers)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(res.Stdout)))
			if err != nil {
				t.Fatalf("%s: stdout %q", kind, res.Stdout)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("%s: process %d is still there (%v)", kind, pid, err)
			}
		}
	}
	if res := x.run("exit 0"); res.Leftovers != 0 {
		t.Errorf("%d leftovers of nothing", res.Leftovers)
	}
}

func (s Subject) cancel(t *testing.T) {
	plan := s.Plan()
	plan.Timeout = time.Hour
	r, err := s.Open(context.Background(), plan, 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(200*time.Millisecond, cancel)
	defer timer.Stop()
	if _, err := r.Run(ctx, process.Case{Index: 1000, Input: []byte("hang")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled case: %v", err)
	}
	if _, err := r.Run(ctx, process.Case{Index: 1001, Input: []byte("exit 0")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a case after cancellation: %v", err)
	}
	res, err := r.Run(context.Background(), process.Case{Index: 1002, Input: []byte("exit 5")})
	if err != nil || res.ExitCode != 5 {
		t.Errorf("the runner after cancellation: %d, %v", res.ExitCode, err)
	}
}

func (s Subject) confirm(t *testing.T) {
	r, err := s.Open(context.Background(), s.Plan(), 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res, err := r.Run(context.Background(), process.Case{Index: 1000, Input: []byte("exit 5"), Confirm: true})
	if err != nil || res.ExitCode != 5 || res.Executor != process.Spawn {
		t.Errorf("a case to confirm: %d by %s, %v", res.ExitCode, res.Executor, err)
	}
	if s.Executor != process.Spawn {
		res, err = r.Run(context.Background(), process.Case{Index: 1001, Input: []byte("exit 5")})
		if err != nil || res.ExitCode != 5 || res.Executor != s.Executor {
			t.Errorf("a case to accelerate: %d by %s, %v", res.ExitCode, res.Executor, err)
		}
	}
	if len(r.Notes()) == 0 {
		t.Error("no notes")
	}
}
