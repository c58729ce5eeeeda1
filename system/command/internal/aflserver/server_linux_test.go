package aflserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func build(t testing.TB, compiler, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("no compiler: %v", err)
	}
	path := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(compiler, append([]string{"-O1", "-w", "-o", path, filepath.Join("testdata", source)}, flags...)...)
	cmd.Env = append(os.Environ(), "AFL_QUIET=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return path
}

// place is where the cases of a program run: a file for input, which is also
// standard input, and one for output.
type place struct {
	t   testing.TB
	cfg Config
	in  *os.File
	out *os.File
	*Server
}

func newPlace(t testing.TB, path string, args ...string) *place {
	t.Helper()
	p := &place{t: t}
	open := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(t.TempDir(), name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	p.in, p.out = open("input"), open("output")
	features, err := Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{path}
	for _, a := range args {
		if a == "@@" {
			a = p.in.Name()
		}
		argv = append(argv, a)
	}
	p.cfg = Config{
		Path: path, Argv: argv, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin", "AFL_QUIET=1", "__AFL_PERSISTENT=stale"},
		Files: [3]int{int(p.in.Fd()), int(p.out.Fd()), int(p.out.Fd())}, Stdin: len(args) == 0,
		Features: features,
	}
	return p
}

func (p *place) start() *place {
	p.t.Helper()
	s, err := Start(p.cfg)
	if err != nil {
		p.t.Fatalf("Start: %v", err)
	}
	p.Server = s
	p.t.Cleanup(func() { s.Close() })
	return p
}

func (p *place) feed(in []byte) {
	if p.SharedInput() {
		return
	}
	_, werr := p.in.WriteAt(in, 0)
	if err := errors.Join(werr, p.in.Truncate(int64(len(in)))); err != nil {
		p.t.Error(err)
	}
}

// run runs a case and returns how it ended, in words, and its edges.
func (p *place) run(in string, timeout time.Duration) (string, []uint32) {
	p.t.Helper()
	p.feed([]byte(in))
	ws, timedOut, err := p.Run([]byte(in), timeout)
	switch {
	case err != nil:
		return err.Error(), nil
	case timedOut:
		return "timed out", p.Edges(nil)
	case ws.Signaled():
		return unix.SignalName(ws.Signal()), p.Edges(nil)
	}
	return fmt.Sprint("exit ", ws.ExitStatus()), p.Edges(nil)
}

const plenty = 20 * time.Second

// modes are the ways in which a program can be compiled for its fork server.
var modes = []struct {
	name     string
	flags    []string
	args     []string
	features Features
	shared   bool
}{
	{"file", nil, []string{"@@"}, Features{Instrumented: true, Cmplog: true}, false},
	{"stdin", nil, nil, Features{Instrumented: true, Cmplog: true}, false},
	{"static", []string{"-static"}, []string{"@@"}, Features{Instrumented: true, Cmplog: true}, false},
	{"shared", []string{"-DSHARED"}, nil, Features{Instrumented: true, Cmplog: true}, true},
	{"deferred", []string{"-DDEFERRED"}, []string{"@@"}, Features{Instrumented: true, Cmplog: true, Deferred: true}, false},
	{"persistent stdin", []string{"-DPERSISTENT"}, nil, Features{Instrumented: true, Cmplog: true, Persistent: true}, false},
	{"persistent shared", []string{"-DPERSISTENT", "-DSHARED"}, nil, Features{Instrumented: true, Cmplog: true, Persistent: true}, true},
	{"persistent deferred shared", []string{"-DPERSISTENT", "-DSHARED", "-DDEFERRED"}, nil,
		Features{Instrumented: true, Cmplog: true, Persistent: true, Deferred: true}, true},
}

func TestModes(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, build(t, "afl-clang-fast", "target.c", m.flags...), m.args...)
			if p.cfg.Features != m.features {
				t.Errorf("Detect says %+v, want %+v", p.cfg.Features, m.features)
			}
			p.start()
			if p.SharedInput() != m.shared || p.Persistent() != m.features.Persistent {
				t.Errorf("shared input %v, persistent %v", p.SharedInput(), p.Persistent())
			}
			if p.mapSize < 8 || p.mapSize > 1<<16 {
				t.Errorf("map of %d entries", p.mapSize)
			}
			exit := func(n int) string { // a persistent case has no status of its own
				if p.Persistent() {
					n = 0
				}
				return fmt.Sprint("exit ", n)
			}
			seen := map[string][]uint32{}
			for round := range 40 { // more cases than a persistent process takes
				for _, c := range []struct{ in, want string }{
					{"x", exit(0)}, {"l", exit(0)}, {"7", exit(7)}, {"a", "SIGABRT"}, {"", exit(0)},
				} {
					if c.in == "a" && round%10 != 3 {
						continue
					}
					got, edges := p.run(c.in, plenty)
					if got != c.want {
						t.Fatalf("input %q, round %d: %s, want %s", c.in, round, got, c.want)
					}
					if old, ok := seen[c.in]; ok && !slices.Equal(old, edges) {
						t.Fatalf("input %q, round %d: edges %x, before %x", c.in, round, edges, old)
					}
					if !slices.IsSorted(edges) || len(edges) == 0 {
						t.Fatalf("input %q: edges %x", c.in, edges)
					}
					seen[c.in] = edges
				}
			}
			if slices.Equal(seen["x"], seen["l"]) || slices.Equal(seen["x"], seen["a"]) {
				t.Error("different paths give the same edges")
			}
			if !slices.ContainsFunc(seen["l"], func(e uint32) bool { return e&0xff == 16 || e&0xff == 8 }) {
				t.Errorf("twenty turns of a loop give edges %x", seen["l"])
			}
			if got, _ := p.run("h", 50*time.Millisecond); got != "timed out" {
				t.Errorf("a hanging case: %s", got)
			}
			if got, edges := p.run("x", plenty); got != exit(0) || !slices.Equal(edges, seen["x"]) {
				t.Errorf("after a hanging case: %s, edges %x, before %x", got, edges, seen["x"])
			}
		})
	}
}

// A case that is killed takes the processes that it has started with it.
func TestTimeoutKillsDescendants(t *testing.T) {
	p := newPlace(t, build(t, "afl-clang-fast", "target.c"), "@@").start()
	if got, _ := p.run("f", 50*time.Millisecond); got != "timed out" {
		t.Fatalf("case: %s", got)
	}
	if p.killMembers() {
		t.Error("a process was left behind")
	}
	if got, _ := p.run("3", plenty); got != "exit 3" {
		t.Errorf("next case: %s", got)
	}
}

func TestKill(t *testing.T) {
	for _, p := range []*place{
		newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED")),
		newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED", "-DPERSISTENT")),
		turning(t),
	} {
		p.start()
		p.Kill() // nothing is in flight
		if got, _ := p.run("x", plenty); got != "exit 0" {
			t.Fatalf("case: %s", got)
		}
		stop := make(chan struct{})
		var killer sync.WaitGroup
		killer.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					p.Kill()
				}
			}
		})
		_, _, err := p.Run([]byte("h"), plenty)
		close(stop)
		killer.Wait()
		if !errors.Is(err, ErrKilled) {
			t.Errorf("killed case: %v", err)
		}
		if got, _ := p.run("x", plenty); got != "exit 0" {
			t.Errorf("next case: %s", got)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, m := range []struct {
		flags []string
		want  string
	}{
		{nil, "cpu 5 fsize 65536\n"},
		{[]string{"-DPERSISTENT"}, "cpu 7 fsize 65536\n"},
	} {
		p := newPlace(t, build(t, "afl-clang-fast", "target.c", m.flags...))
		p.cfg.Limits = []Rlimit{
			{Resource: unix.RLIMIT_CPU, Cur: 5, Max: 6},
			{Resource: unix.RLIMIT_FSIZE, Cur: 1 << 16, Max: 1 << 16},
		}
		p.start()
		for range 2 {
			if got, _ := p.run("i", plenty); got != "exit 0" {
				t.Fatalf("case: %s", got)
			}
			text, err := os.ReadFile(p.out.Name())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasSuffix(text, []byte(m.want)) {
				t.Errorf("%v: the case sees %q, want %q", m.flags, text, m.want)
			}
		}
	}
}

// The newer dialect, with a map that does not fit into what is offered first.
func TestNewDialect(t *testing.T) {
	for _, size := range []int{300_000, firstMapSize + 5} {
		p := newPlace(t, build(t, "gcc", "newserver.c", fmt.Sprint("-DMAP=", size))).start()
		if p.mapSize != size || !p.SharedInput() || p.Persistent() {
			t.Errorf("map %d, shared %v, persistent %v", p.mapSize, p.SharedInput(), p.Persistent())
		}
		for range 2 {
			got, edges := p.run("bacca\x00", plenty)
			want := []uint32{97_000<<8 | 2, 98_000<<8 | 1, 99_000<<8 | 2}
			if got != "exit 6" || !slices.Equal(edges, want) {
				t.Errorf("%s, edges %v, want %v", got, edges, want)
			}
		}
		long := strings.Repeat("z", defaultMaxInput)
		if got, _ := p.run(long, plenty); got != "exit 0" {
			t.Errorf("long input: %s", got)
		}
		if got, _ := p.run(long+"z", plenty); !strings.Contains(got, "shared memory holds 1048576") {
			t.Errorf("too long an input: %s", got)
		}
	}
}

func TestServerDies(t *testing.T) {
	p := newPlace(t, build(t, "gcc", "newserver.c", "-DDIE=2")).start()
	for i, want := range []error{nil, nil, ErrServerDied, ErrServerDied} {
		if _, _, err := p.Run([]byte("x"), plenty); !errors.Is(err, want) {
			t.Errorf("case %d: %v, want %v", i, err, want)
		}
	}
}

func TestStartRefused(t *testing.T) {
	for _, c := range []struct{ name, compiler, source, flag, want string }{
		{"not instrumented", "gcc", "plain.c", "-O1", "it was not compiled with thresh fuzzspec cc or afl-cc"},
		{"coverage only", "clang", "plain.c", "-fsanitize-coverage=trace-pc-guard", "it has coverage calls but no fork server; compile it with thresh fuzzspec cc"},
		{"error", "gcc", "newserver.c", "-DFAIL=8", "the fork server does not start: it cannot attach the shared memory"},
		{"unknown error", "gcc", "newserver.c", "-DFAIL=999", "the fork server does not start: error 999"},
		{"version", "gcc", "newserver.c", "-DVERSION=2", "the fork server speaks version 2 of its protocol; up to 1 is known"},
		{"mute", "gcc", "newserver.c", "-DMUTE=1", "its fork server does not answer within 200ms"},
		{"ends", "gcc", "newserver.c", "-DMUTE=0", "it ends (exit status 5) before its fork server is up"},
		{"huge map", "gcc", "newserver.c", "-DMAP=0x7fffffff", "the program needs an edge map of 2147483647 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, build(t, c.compiler, c.source, c.flag))
			p.cfg.Timeout = 200 * time.Millisecond
			s, err := Start(p.cfg)
			if err == nil {
				s.Close()
				t.Fatal("Start succeeded")
			}
			if err.Error() != c.want {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

// Shared memory is marked for removal from the start, so that no end of this
// process, however sudden, leaves any.
func TestSharedMemoryIsMarked(t *testing.T) {
	const markedForRemoval = 0o1000 // SHM_DEST
	p := newPlace(t, build(t, "gcc", "newserver.c")).start()
	for _, seg := range []*segment{p.edges, p.inputs} {
		var ds unix.SysvShmDesc
		if _, err := unix.SysvShmCtl(seg.id, unix.IPC_STAT, &ds); err != nil {
			t.Fatal(err)
		}
		if ds.Perm.Mode&markedForRemoval == 0 {
			t.Errorf("segment %d stays when its users are gone", seg.id)
		}
	}
	id := p.edges.id
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var ds unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &ds); err == nil {
		t.Error("the segment is still there after Close")
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	p := newPlace(t, build(t, "afl-clang-fast", "target.c", "-DSHARED", "-DPERSISTENT")).start()
	in := []byte("l")
	edges := make([]uint32, 0, 1<<16)
	if n := testing.AllocsPerRun(200, func() {
		if _, _, err := p.Run(in, plenty); err != nil {
			t.Fatal(err)
		}
		edges = p.Edges(edges[:0])
	}); n > 0 {
		t.Errorf("%v allocations a case", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	program := build(t, "gcc", "newserver.c")
	var all sync.WaitGroup
	for lane := range 4 {
		p := newPlace(t, program).start()
		all.Go(func() {
			in := bytes.Repeat([]byte{byte(1 + lane)}, 1+lane)
			for range 100 {
				ws, _, err := p.Run(in, plenty)
				if err != nil || ws != syscall.WaitStatus((lane+1)<<8) {
					t.Errorf("lane %d: %v, status %#x", lane, err, ws)
					return
				}
				if e := p.Edges(nil); len(e) != 1 || e[0]>>8 != uint32(1000*(lane+1)) {
					t.Errorf("lane %d: edges %v", lane, e)
					return
				}
			}
		})
	}
	all.Wait()
}
