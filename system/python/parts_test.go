//go:build unix

package python

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// The warm interpreter has this process's environment, but for what would make it behave unlike
// a program's, and the order of its sets does not change from run to run.
func TestHostEnvironment(t *testing.T) {
	for _, x := range []struct{ given, want []string }{
		{nil, []string{"PYTHONHASHSEED=0"}},
		{[]string{"A=b=c", "PYTHONSTARTUP=x", "PYTHONPATH=y", "PYTHONINSPECT=1"}, []string{"A=b=c", "PYTHONPATH=y", "PYTHONHASHSEED=0"}},
		{[]string{"PYTHONHASHSEED=7", "A="}, []string{"PYTHONHASHSEED=7", "A="}},
		{[]string{"PYTHONHASHSEED=random"}, []string{"PYTHONHASHSEED=random", "PYTHONHASHSEED=0"}},
		{[]string{"PYTHONHASHSEED="}, []string{"PYTHONHASHSEED=", "PYTHONHASHSEED=0"}},
		{[]string{"A=7"}, []string{"A=7", "PYTHONHASHSEED=0"}},
	} {
		if got := hostEnvironment(x.given, ""); !slices.Equal(got, append(x.want, bindNow)) {
			t.Errorf("%q: %q", x.given, got)
		}
	}
	// A hash seed that is asked for is the last, which counts.
	if got := hostEnvironment([]string{"PYTHONHASHSEED=7"}, "3"); !slices.Equal(got, []string{"PYTHONHASHSEED=7", "PYTHONHASHSEED=3", bindNow}) {
		t.Errorf("%q", got)
	}
}

// Versions are compared by their numbers.
func TestOlderVersion(t *testing.T) {
	for version, want := range map[string]bool{"3.8": false, "3.8.0": false, "3.10.1": false, "4.0": false, "3.7.9": true, "2.9": true, "3": true, "": true} {
		if got := olderVersion(version, "3.8"); got != want {
			t.Errorf("%q: older than 3.8: %t", version, got)
		}
	}
}

// The interpreter is the first that is set; only a stale virtual environment is passed over.
func TestWhichInterpreter(t *testing.T) {
	dir := t.TempDir()
	program := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set, named, venv, found := program("set"), program("named"), program("venv/bin/python"), program("path/python3")
	t.Setenv("PATH", filepath.Dir(found))
	for _, x := range []struct{ setting, variable, venv, want string }{
		{set, named, filepath.Join(dir, "venv"), set},
		{"", named, filepath.Join(dir, "venv"), named},
		{"", "", filepath.Join(dir, "venv"), venv},
		{"", "", filepath.Join(dir, "stale"), found},
		{"", "", "", found},
		{"none", named, "", "cannot find the Python interpreter none (from the setting python): "},
		{"", "none", "", "cannot find the Python interpreter none (from THRESH_PYTHON): "},
	} {
		t.Setenv("THRESH_PYTHON", x.variable)
		t.Setenv("VIRTUAL_ENV", x.venv)
		got, err := Interpreter(x.setting)
		if err != nil {
			got = err.Error()[:min(len(x.want), len(err.Error()))]
		}
		if got != x.want || (err != nil) != (diag.Hint(err) != "") {
			t.Errorf("%+v: %s, %v", x, got, err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("THRESH_PYTHON", "")
	if got, err := Interpreter(""); err == nil || !strings.Contains(err.Error(), "python3 (from PATH)") {
		t.Errorf("%s, %v", got, err)
	}
}

// Packages that cannot be installed are said with the last of what pip says, and leave nothing;
// what is installed is what the file held, whatever it holds now.
func TestPackagesThatAreNotThere(t *testing.T) {
	interpreter, file := filepath.Join(t.TempDir(), "python3"), filepath.Join(t.TempDir(), "requirements.txt")
	const broken = `#!/bin/sh
case "$2 $3" in
venv*) mkdir -p "$3/bin" && exec cp "$0" "$3/bin/python" ;;
*) for file; do :; done; printf 'one\ntwo\n%s\n' "$file"; cat "$file"; exit 1 ;;
esac
`
	if err := os.WriteFile(interpreter, []byte(broken), 0o700); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("THRESH_CACHE", cache)
	for _, now := range []string{"", "other", "mine"} {
		if now != "" {
			if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dir, err := Environment(t.Context(), interpreter, file, "mine", nil)
		if err == nil {
			t.Fatalf("%s: %s", now, dir)
		}
		said, begins := strings.CutPrefix(err.Error(), "installing the packages of "+file+": exit status 1: two; ")
		read, ends := strings.CutSuffix(said, "; mine")
		// The file itself may name others beside it.
		if own := strings.HasPrefix(read, cache); dir != "" || !begins || !ends || own != (now != "mine") || !own && read != file {
			t.Errorf("%s: %s, %v", now, dir, err)
		}
	}
	if list, err := os.ReadDir(filepath.Join(cache, "python")); err != nil || len(list) != 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	t.Setenv("THRESH_CACHE", file)
	if dir, err := Environment(t.Context(), interpreter, file, "mine", nil); err == nil || dir != "" || !strings.Contains(err.Error(), "installing the packages of "+file+": mkdir ") {
		t.Errorf("%s, %v", dir, err)
	}
	if dir, err := Environment(t.Context(), "/no/such/python", file, "mine", nil); err == nil || dir != "" {
		t.Errorf("%s, %v", dir, err)
	}
}

// An environment that another process has made meanwhile is as good; one that cannot be given
// its name is none. Without a setting it is in the user's cache folder.
func TestEnvironmentsOfOthers(t *testing.T) {
	const meanwhile = `#!/bin/sh
case "$2 $3" in
venv*) mkdir -p "$3/bin" && exec cp "$0" "$3/bin/python" ;;
*) own=${0%%/bin/python}; %s ;;
esac
`
	home := t.TempDir()
	t.Setenv("THRESH_CACHE", "")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for does, want := range map[string]string{`ln -s another "${own%-*}"`: "", `rm -r "${own%/*}"`: "installing the packages of requirements.txt: symlink "} {
		interpreter := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(interpreter, []byte(strings.NewReplacer("%%", "%", "%s", does).Replace(meanwhile)), 0o700); err != nil {
			t.Fatal(err)
		}
		dir, err := Environment(t.Context(), interpreter, "requirements.txt", "mine", nil)
		if want != "" {
			if err == nil || dir != "" || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %s, %v", does, dir, err)
			}
			continue
		}
		if to, e := os.Readlink(dir); err != nil || e != nil || to != "another" || filepath.Dir(dir) != filepath.Join(cache, "thresh", "python") {
			t.Errorf("%s: %s to %s, %v, %v", does, dir, to, err, e)
		}
	}
	t.Setenv("HOME", "")
	if dir, err := Environment(t.Context(), "sh", "requirements.txt", "mine", nil); err == nil || dir != "" || diag.ExitCode(err) != diag.ExitEnvironment || !strings.HasPrefix(err.Error(), "find a folder for the packages of requirements.txt: ") {
		t.Errorf("%s, %v", dir, err)
	}
}

// A frame is taken once it is whole, however it comes; what is none is refused.
func TestFramesOfALink(t *testing.T) {
	l := &link{}
	for i, c := range []byte("00000002{}0000000a[12345678]") {
		l.buf = append(l.buf, c)
		frame, err := l.take()
		want := map[int]string{9: "{}", 27: "[12345678]"}[i]
		if err != nil || string(frame) != want {
			t.Fatalf("after %d bytes: %q, %v", i+1, frame, err)
		}
	}
	l.buf = []byte("00000000")
	if frame, err := l.take(); frame == nil || len(frame) != 0 || err != nil {
		t.Errorf("an empty one: %q, %v", frame, err)
	}
	for text, wrong := range map[string]bool{"0400000": false, "04000000": false, "04000001": true, "0000000g": true, "-0000001": true} {
		l.buf = []byte(text)
		if frame, err := l.take(); frame != nil || (err != nil) != wrong {
			t.Errorf("%s: %q, %v", text, frame, err)
		}
	}
	for d, want := range map[time.Duration]int{-time.Second: 0, 0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, math.MaxInt64 - time.Second: 1 << 30} {
		if got := milliseconds(d); got != want {
			t.Errorf("%s: %d, want %d", d, got, want)
		}
	}
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ours)
	near, far := &link{fd: ours}, &link{fd: theirs}
	if err := unix.SetNonblock(theirs, true); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 100_000)
	if err := near.send(long, time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for frame := []byte(nil); frame == nil; frame, err = far.take() {
		if err = errors.Join(err, far.fill()); err != nil {
			t.Fatal(err)
		}
	}
	if err := near.write([]byte("1"), time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := far.fill(); err != nil || string(far.buf) != "1" {
		t.Errorf("one byte: %q, %v", far.buf, err)
	}
	if err := near.send(strings.Repeat("a", 8<<20), time.Now()); !errors.Is(err, unix.ETIMEDOUT) {
		t.Errorf("nobody reads: %v", err)
	}
	if err := near.send(func() {}, time.Now()); err == nil || !strings.Contains(err.Error(), "write a frame: ") {
		t.Error(err)
	}
	unix.Close(theirs)
	if err := near.write([]byte("1"), time.Now()); !errors.Is(err, errClosed) {
		t.Errorf("nobody is there: %v", err)
	}
	if err := near.send(1, time.Now()); err != nil {
		t.Errorf("nobody is there, which the next read sees: %v", err)
	}
	if err := near.fill(); !errors.Is(err, errClosed) {
		t.Errorf("nobody is there: %v", err)
	}
}

// Of what is written, the beginning is kept up to its limit.
func TestStreams(t *testing.T) {
	for _, x := range []struct {
		limit  int64
		frozen bool
		text   string
		want   string
		over   bool
	}{
		{5, false, "four", "four", false}, {5, false, "fives", "fives", false}, {5, false, "sixsix", "sixsi", true}, {5, true, "four", "", false}, {5, false, "1", "1", false},
		{100_000, false, strings.Repeat("a", 40_000), strings.Repeat("a", 40_000), false}, {35_000, false, strings.Repeat("a", 40_000), strings.Repeat("a", 35_000), true},
	} {
		var ends [2]int
		if err := pipe(ends[:]); err != nil {
			t.Fatal(err)
		}
		if err := unix.SetNonblock(ends[0], true); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(ends[1], []byte(x.text)); err != nil {
			t.Fatal(err)
		}
		o := &stream{fd: ends[0], limit: x.limit, frozen: x.frozen}
		o.read()
		if string(o.buf) != x.want || o.over != x.over || o.fd < 0 {
			t.Errorf("%d bytes of %d: %d are kept, over: %t", len(x.text), x.limit, len(o.buf), o.over)
		}
		unix.Close(ends[1])
		o.read()
		if o.fd != -1 || string(o.buf) != x.want {
			t.Errorf("at the end: descriptor %d, %d bytes", o.fd, len(o.buf))
		}
		o.read() // of nothing
	}
	// Of what never ends, what no pipe holds is read at a time.
	file, err := newFolderIn(t).anonymous()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(4 << 20); err != nil {
		t.Fatal(err)
	}
	o := &stream{fd: int(file.Fd()), limit: 4 << 20}
	if o.read(); len(o.buf) != 1<<20+64<<10 || o.over || o.fd < 0 {
		t.Errorf("%d bytes at a time, over: %t", len(o.buf), o.over)
	}
	b := &bounded{}
	for _, n := range []int{4000, 100, 100} {
		if m, err := b.Write([]byte(strings.Repeat("a", n))); m != n || err != nil {
			t.Errorf("%d, %v", m, err)
		}
	}
	if got := len(b.String()); got != 4096 {
		t.Errorf("%d bytes are kept", got)
	}
}

// A host that goes is replaced once for a case, which is said; one that goes again is an error.
func TestHostsThatGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "python3")
	script := "#!" + python(t) + `
import socket, time
link = socket.socket(fileno=3)
link.shutdown(socket.SHUT_RD) # before the note: what is ordered later fails
link.sendall(b'00000013{"python":"3.11.1"}')
time.sleep(60)
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := newLane(t.Context(), path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if got := l.notes(); len(got) != 2 || got[0] != "Python 3.11.1 ()" || !strings.Contains(got[1], "cannot adopt orphans") {
		t.Errorf("%q", got)
	}
	if s, err := l.open(t.Context(), "", 0, nil); s != nil || !errors.Is(err, errHost) {
		t.Errorf("%v, %v", s, err)
	}
	if got := l.notes(); !slices.Equal(got, []string{"the Python host was replaced 1 time"}) {
		t.Errorf("%q", got)
	}
	if err := os.Rename(path, path+".gone"); err != nil {
		t.Fatal(err)
	}
	if s, err := l.open(t.Context(), "", 0, nil); s != nil || err == nil || !strings.Contains(err.Error(), "start "+path) {
		t.Errorf("%v, %v", s, err)
	}
	if err := os.Rename(path+".gone", path); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.open(over, "", 0, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Ends are said in words, and faults of the system in Python's.
func TestWordsForEnds(t *testing.T) {
	for want, end := range map[string]*ending{
		"it ended the host that had started it": {status: 9, host: true},
		"signal 9 (killed)":                     {status: 9},
		"exit status 3":                         {status: 3 << 8},
	} {
		if got := describe(end); got != want {
			t.Errorf("%+v: %s", end, got)
		}
	}
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOENT: "FileNotFoundError", syscall.ENOTDIR: "NotADirectoryError", syscall.EISDIR: "IsADirectoryError", syscall.EEXIST: "FileExistsError", syscall.EACCES: "OSError",
	} {
		f := osFault(&os.PathError{Op: "open", Path: "x", Err: errno})
		if f.Class != want || !f.Is(want) || !f.Is("OSError") || !f.Is("Exception") || f.Message != "open x: "+errno.Error() {
			t.Errorf("%v: %+v", errno, f)
		}
	}
	if got := hostLimits(process.Limits{AddressSpace: 1, FileSize: 2, Processes: -1}); len(got) != 2 || got["memory"] != 1 || got["file"] != 2 {
		t.Errorf("%v", got)
	}
	if got := hostLimits(process.Limits{Processes: 1}); len(got) != 1 || got["processes"] != 1 {
		t.Errorf("%v", got)
	}
}

// A generator's state is what it was, with or without the number that it has in hand.
func TestStatesOfGenerators(t *testing.T) {
	words := make([]uint32, stateWords)
	for i := range words {
		words[i] = uint32(i * 7919)
	}
	half := 0.5
	for _, gauss := range []*float64{nil, &half} {
		state := encodeState(words, gauss)
		got, g, err := decodeState(state)
		if err != nil || !slices.Equal(got, words) || (g == nil) != (gauss == nil) || g != nil && *g != half {
			t.Errorf("%v, %v", g, err)
		}
		if _, _, err := decodeState(state[1:]); err == nil || !strings.Contains(err.Error(), "must have 2500 or 2508") {
			t.Error(err)
		}
	}
}

// An exception is a refusal if the operation declares it, and a crash otherwise.
func TestAnswersOfSystems(t *testing.T) {
	fault := &pyhost.Fault{Class: "shop.Broke", Bases: []string{"shop.Broke", "ValueError"}, Message: "no money", Traceback: "Traceback: ..."}
	for _, x := range []struct {
		op    sut.Operation
		frame systemFrame
		end   sut.End
		why   string
		value string
		said  string
	}{
		{sut.Operation{}, systemFrame{Value: []byte("7")}, sut.Answered, "", "7", ""},
		{sut.Operation{}, systemFrame{}, sut.Answered, "", "null", ""},
		{sut.Operation{}, systemFrame{Fault: fault}, sut.Crashed, "shop.Broke: no money", "", "Traceback: ..."},
		{sut.Operation{Rejects: []string{"ValueError"}}, systemFrame{Fault: fault}, sut.Refused, "shop.Broke: no money", "", ""},
		{sut.Operation{Rejects: []string{"KeyError", "Broke"}}, systemFrame{Fault: fault}, sut.Refused, "shop.Broke: no money", "", ""},
		{sut.Operation{Rejects: []string{"roke"}}, systemFrame{Fault: fault}, sut.Crashed, "shop.Broke: no money", "", "Traceback: ..."},
		{sut.Operation{}, systemFrame{Fault: &pyhost.Fault{Class: "E"}}, sut.Crashed, "E", "", ""},
	} {
		o := sut.Observation{End: sut.Answered}
		new(callable).readAnswer(&o, &x.op, &x.frame)
		if o.End != x.end || o.Why != x.why || string(o.Value) != x.value || string(o.Output) != x.value || string(o.Printed) != x.said {
			t.Errorf("%+v: %+v", x.op, o)
		}
	}
}

// What costs an agent or the operators a process is counted in the notes.
func TestNotesOfReplacements(t *testing.T) {
	a := &agent{lane: &lane{}}
	if got := a.Notes(); got != nil {
		t.Errorf("%q", got)
	}
	a.hung = 1
	if got := a.Notes(); !slices.Equal(got, []string{"the agent's process was replaced 1 time because it did not answer or ended itself"}) {
		t.Errorf("%q", got)
	}
	o := &operators{lane: &lane{}, lost: map[pyhost.CallEnd]int{pyhost.NoMemory: 1, pyhost.Hung: 2, pyhost.Died: 0}}
	const why = "the process of the Python operators was replaced "
	if got := o.Notes(); !slices.Equal(got, []string{why + `2 times because of a call that ended as "` + string(pyhost.Hung) + `"`, why + `1 time because of a call that ended as "` + string(pyhost.NoMemory) + `"`}) {
		t.Errorf("%q", got)
	}
}

// The files of a case stay within its folder.
func TestFilesOfCases(t *testing.T) {
	dir := t.TempDir()
	if err := setUp(dir, []pyhost.SetupFile{{Path: "a/b/c.txt", Text: "x"}, {Path: "d", Text: ""}}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a/b/c.txt")); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	for _, path := range []string{"../x", "/x", ".."} {
		if err := setUp(dir, []pyhost.SetupFile{{Path: path}}); err == nil || !strings.Contains(err.Error(), "leaves the temporary folder") {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]error{"d/e": syscall.ENOTDIR, "a": syscall.EISDIR} {
		if err := setUp(dir, []pyhost.SetupFile{{Path: path}}); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	mask := syscall.Umask(0)
	err := setUp(dir, []pyhost.SetupFile{{Path: "n/m"}})
	syscall.Umask(mask)
	for path, want := range map[string]os.FileMode{"n": 0o755 | os.ModeDir, "n/m": 0o644} {
		if info, e := os.Stat(filepath.Join(dir, path)); err != nil || e != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, %v", path, info, err, e)
		}
	}
	f := newFolderIn(t)
	for range 2 {
		at, err := f.fresh()
		if err != nil {
			t.Fatal(err)
		}
		if list, err := os.ReadDir(at); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
		if err := os.WriteFile(filepath.Join(at, "left"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := f.anonymous()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := os.Stat(file.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s has a name: %v", file.Name(), err)
	}
}

func newFolderIn(t *testing.T) folder {
	t.Helper()
	f, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// A class whose objects cannot be made says why, at its first call and at each fresh start; one
// whose process ends on the way is no other.
func TestObjectsThatCannotBeMade(t *testing.T) {
	const text = `
import os

class Raises:
    def __init__(self):
        raise ValueError("no home")
    def look(self):
        return 1

class Exits:
    def __init__(self):
        os._exit(3)
    def look(self):
        return 1

class Works:
    def __init__(self):
        self.n = 0
    def look(self):
        self.n += 1
        return self.n
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "made.py"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	python(t)
	for name, want := range map[string]string{
		"Raises": "made.py:6: ValueError: no home", "Exits": "ProcessEnded: the process ended: exit status 3", "Works": "",
	} {
		p := &sut.Plan{Name: "x", Kind: sut.Python, Dir: dir, Entry: "made.py:" + name}
		x, err := OpenSystem(t.Context(), system.Site{Plan: p})
		if err != nil {
			t.Fatal(err)
		}
		c := x.(*callable)
		if o, err := c.Call(t.Context(), sut.Call{Operation: "look", Timeout: patience}); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) || want == "" && string(o.Value) != "1" {
			t.Errorf("%s: %+v, %v, want %s", name, o, err, want)
		}
		for range 2 {
			if o, err := c.Fresh(t.Context(), patience); err != nil || (o.End == sut.Crashed) != (want != "") || !strings.HasSuffix(o.Why, want) {
				t.Errorf("%s: %+v, %v, want %s", name, o, err, want)
			}
		}
		if want == "" {
			if o, err := c.Call(t.Context(), sut.Call{Operation: "look", Timeout: patience}); err != nil || string(o.Value) != "1" {
				t.Errorf("%s is not fresh: %+v, %v", name, o, err)
			}
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		c.drop()
		if o, err := c.Call(over, sut.Call{Operation: "look", Timeout: patience}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, after the end of the run: %+v, %v", name, o, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What was opened is closed with its owner: no file is left.
func TestDescriptorsOfOwners(t *testing.T) {
	dir := code(t)
	count := func() int {
		list, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	owners := map[string]func() error{
		"a system": func() error {
			x, err := OpenSystem(t.Context(), system.Site{Plan: &sut.Plan{Kind: sut.Python, Dir: dir, Entry: "agents.py:plain"}})
			if err != nil {
				return err
			}
			o, err := x.Call(t.Context(), sut.Call{Operation: "plain", Positional: []json.RawMessage{[]byte(`"hi"`)}, Timeout: patience})
			if o.End != sut.Answered {
				t.Errorf("%+v", o)
			}
			return errors.Join(err, x.Close())
		},
		"an agent": func() error {
			a, err := OpenAgent(t.Context(), agentPlan(t, "agents:plain"))
			if err != nil {
				return err
			}
			_, err = a.Call(t.Context(), pyhost.AgentCall{Input: []byte(`"hi"`), Timeout: patience})
			return errors.Join(err, a.Close())
		},
		"operators": func() error {
			o, err := OpenOperators(t.Context(), pyhost.OperatorSet{Files: []string{filepath.Join(dir, "bad/op_wild.py")}, LoadLimit: patience, CallLimit: patience})
			if err != nil {
				return err
			}
			err = o.Apply(t.Context(), wild("fine", "die", "fine"), func(int, *pyhost.OperatorReply) error { return nil })
			return errors.Join(err, o.Close())
		},
		"commands": func() error {
			c, err := OpenCommander(t.Context(), "")
			if err != nil {
				return err
			}
			_, err = c.Run(t.Context(), pyhost.Command{Entrypoint: "hostile:main", Argv: []string{"kill_parent"}, SearchPath: []string{dir}, Timeout: patience})
			return errors.Join(err, c.Close())
		},
		"a host that is none": func() error {
			if a, err := OpenCommander(t.Context(), "true"); err == nil {
				return a.Close()
			}
			return nil
		},
	}
	for name, once := range owners {
		if err := once(); err != nil { // what is opened once and for all
			t.Fatal(name, ": ", err)
		}
		before := count()
		if err := once(); err != nil {
			t.Fatal(name, ": ", err)
		}
		if n := count(); n > before {
			t.Errorf("%s: %d files are open, %d were before", name, n, before)
		}
	}
}
