package zygote

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/testproc"
)

// Spawned processes must not see descriptors that the tests were started with.
func TestMain(m *testing.M) {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	testproc.Ready(4)
	os.Exit(m.Run())
}

// build compiles a program of testdata and returns its path.
func build(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("no compiler: %v", err)
	}
	path := filepath.Join(t.TempDir(), "program")
	argv := append([]string{"-O1", "-w", "-o", path, filepath.Join("testdata", source)}, flags...)
	if out, err := exec.Command(compiler, argv...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return path
}

// tool is the path of an installed program.
func tool(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/bin"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// bench is a place to run cases of one program, warm or cold.
type bench struct {
	t        testing.TB
	cfg      Config
	in       *os.File // the input file
	out, err *os.File
}

// newBench sets a program up. The word @@ in argv stands for the input file.
func newBench(t testing.TB, stdin bool, path string, args ...string) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t}
	open := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	b.in, b.out, b.err = open("input"), open("stdout"), open("stderr")
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	argv := []string{path}
	for _, a := range args {
		if a == "@@" {
			a = b.in.Name()
		}
		argv = append(argv, a)
	}
	b.cfg = Config{
		Path: path, Argv: argv, Env: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "MARK=mark"}, Dir: dir,
		Files: [3]int{int(null.Fd()), int(b.out.Fd()), int(b.err.Fd())}, Timeout: 20 * time.Second,
	}
	if stdin {
		b.cfg.Stdin, b.cfg.Files[0] = true, int(b.in.Fd())
	} else {
		b.cfg.InputPath = b.in.Name()
	}
	b.feed([]byte("{}"))
	return b
}

func (b *bench) feed(input []byte) {
	b.t.Helper()
	_, werr := b.in.WriteAt(input, 0)
	terr := b.in.Truncate(int64(len(input)))
	_, serr := b.in.Seek(0, 0)
	if err := errors.Join(werr, terr, serr); err != nil {
		b.t.Fatal(err)
	}
}

// result is all that tells one case from another.
type result struct {
	status      syscall.WaitStatus
	out, errout string
}

func (r result) String() string {
	return fmt.Sprintf("status %#x, stdout %q, stderr %q", r.status, r.out, r.errout)
}

func (b *bench) finish(pid int) result {
	b.t.Helper()
	var r result
	for {
		_, err := syscall.Wait4(pid, &r.status, 0, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			b.t.Fatalf("wait for case: %v", err)
		}
	}
	drain := func(f *os.File) string {
		data, err := os.ReadFile(f.Name())
		_, serr := f.Seek(0, 0)
		if err := errors.Join(err, f.Truncate(0), serr); err != nil {
			b.t.Fatal(err)
		}
		return string(data)
	}
	r.out, r.errout = drain(b.out), drain(b.err)
	return r
}

func (b *bench) warm(s *Server, input []byte) result {
	b.t.Helper()
	b.feed(input)
	pid, err := s.Fork()
	if err != nil {
		b.t.Fatalf("Fork: %v", err)
	}
	return b.finish(pid)
}

func (b *bench) cold(input []byte) result {
	b.t.Helper()
	b.feed(input)
	pid, err := syscall.ForkExec(b.cfg.Path, b.cfg.Argv, &syscall.ProcAttr{
		Dir: b.cfg.Dir, Env: b.cfg.Env,
		Files: []uintptr{uintptr(b.cfg.Files[0]), uintptr(b.cfg.Files[1]), uintptr(b.cfg.Files[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		b.t.Fatalf("spawn: %v", err)
	}
	for _, l := range b.cfg.Limits {
		if err := l.Apply(pid); err != nil {
			b.t.Fatal(err)
		}
	}
	return b.finish(pid)
}

func (b *bench) start() *Server {
	b.t.Helper()
	s, err := Start(b.cfg)
	if err != nil {
		b.t.Fatalf("Start: %v", err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

// Reason says why the program is not held at a later point; "" if it is held
// at the latest.
func (s *Server) Reason() string { return s.reason }
