package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testproc"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// What a plan leaves out has a bound nevertheless, and what cannot be bounded is said.
func TestLimitsOfAPlan(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		limits process.Limits
		path   string
		want   map[int]uint64
		note   string
	}{
		{"none", process.Limits{}, sh, map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 128 << 20}, "no limit on file size was given; 128 MiB per file applies, captured output included"},
		{"much output", process.Limits{Output: 100 << 20}, sh, map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 200 << 20}, "200 MiB per file"},
		{"small files", process.Limits{FileSize: 5, Output: 100 << 20}, sh, map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 5}, ""},
		{"processes and memory", process.Limits{FileSize: 5, Processes: 9, AddressSpace: 64 << 20}, sh,
			map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 5, unix.RLIMIT_NPROC: 9, unix.RLIMIT_AS: 64 << 20}, ""},
		{"memory of a Go program", process.Limits{FileSize: 5, AddressSpace: 64 << 20}, self,
			map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 5}, "the limit on address space is not applied: the program is a Go program"},
	} {
		list, notes, err := limits(c.limits, c.path, nil)
		got := map[int]uint64{}
		for _, l := range list {
			got[l.Resource] = l.Cur
			var own unix.Rlimit
			if err := unix.Getrlimit(l.Resource, &own); err != nil || l.Max > own.Max || l.Cur > l.Max {
				t.Errorf("%s: limit %d is %d of %d, our own %d, %v", c.name, l.Resource, l.Cur, l.Max, own.Max, err)
			}
		}
		notes = slices.DeleteFunc(notes, func(n string) bool { return strings.HasPrefix(n, "the limit on processes does not bind root") })
		if said := strings.Join(notes, "\n"); err != nil || !maps.Equal(got, c.want) || !strings.Contains(said, c.note) || (said == "") != (c.note == "") {
			t.Errorf("%s: %v, want %v; %q, %v", c.name, got, c.want, said, err)
		}
	}
	if _, _, err := limits(process.Limits{AddressSpace: 1}, filepath.Join(t.TempDir(), "none"), nil); err == nil || !strings.HasPrefix(err.Error(), "look into ") {
		t.Errorf("a program that there is not: %v", err)
	}
}

// Programs that reserve far more memory than they use are known by what is in them, wherever
// it is, and scripts by what runs them.
func TestProgramsThatReserveMemory(t *testing.T) {
	dir := t.TempDir()
	n := 0
	write := func(text string) string {
		n++
		name := filepath.Join(dir, fmt.Sprint("program", n))
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return name
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	asan := write("\x7fELF " + strings.Repeat("x", 100) + "__asan_init\x00")
	plain := write("\x7fELF nothing")
	const chunk = 1 << 20
	for _, c := range []struct{ name, path, want string }{
		{"a Go program", self, "is a Go program"},
		{"AddressSanitizer", asan, "is built with AddressSanitizer"},
		{"HWAddressSanitizer", write("__hwasan_init"), "is built with HWAddressSanitizer"},
		{"MemorySanitizer", write("__msan_init"), "is built with MemorySanitizer"},
		{"ThreadSanitizer", write("__tsan_init"), "is built with ThreadSanitizer"},
		{"LeakSanitizer", write("__lsan_init"), "is built with LeakSanitizer"},
		{"two of them", write("__lsan_init __asan_init"), "is built with AddressSanitizer"},
		{"nothing of it", plain, ""},
		{"nothing at all", write(""), ""},
		{"across two parts", write(strings.Repeat("x", chunk-5) + "__asan_init"), "is built with AddressSanitizer"},
		{"across later parts", write(strings.Repeat("x", 2*chunk-64-6) + "__tsan_init" + strings.Repeat("x", chunk)), "is built with ThreadSanitizer"},
		{"exactly one part", write(strings.Repeat("x", chunk-11) + "__asan_init"), "is built with AddressSanitizer"},
		{"a script of it", write("#!" + asan + "\necho\n"), "is run by " + asan + ", which is built with AddressSanitizer"},
		{"with an option", write("#! " + asan + " -x\n"), "is run by " + asan + ", which is built with AddressSanitizer"},
		{"without an end", write("#!" + asan), "is run by " + asan + ", which is built with AddressSanitizer"},
		{"a script of another", write("#!" + plain + "\n__asan_init\n"), ""},
		{"a script of nothing", write("#!\n__asan_init\n"), ""},
		{"a script of what there is not", write("#!" + dir + "/none\n"), ""},
		{"a long first line", write("#!" + asan + strings.Repeat(" ", 300) + "\n"), "is run by " + asan + ", which is built with AddressSanitizer"},
		{"a mark that does not come first", write("x\n#!" + asan + "\n"), ""},
		{"a mark at a later part", write(strings.Repeat("x", chunk) + "#!" + plain + "\n" + strings.Repeat("y", chunk) + "__msan_init"), "is built with MemorySanitizer"},
	} {
		if got, err := reservesAddressSpace(c.path); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := reservesAddressSpace(dir); err == nil {
		t.Error("a folder can be read")
	}
	readable := filepath.Join(dir, "data")
	if err := os.WriteFile(readable, []byte("__asan_init"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"A=b", asan, "x"}, "program1 is built with AddressSanitizer"},
		{[]string{"-c", "cd /; exec '" + asan + "' \"$1\""}, "program1 is built with AddressSanitizer"},
		{[]string{"A=" + asan, plain, readable, dir, dir + "/none", "program1"}, ""},
	} {
		_, notes, err := limits(process.Limits{FileSize: 5, AddressSpace: 64 << 20}, plain, c.args)
		if said := strings.Join(notes, "\n"); err != nil || !strings.Contains(said, c.want) || (said == "") != (c.want == "") {
			t.Errorf("%q: %q, %v, want %q", c.args, said, err, c.want)
		}
	}
}

// What a program wrote is read up to a limit, and is gone for the next case.
func TestCapture(t *testing.T) {
	c, err := newCapture("stdout")
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, x := range []struct {
		text  string
		limit int64
		want  string
	}{{"0123456789", 4, "0123"}, {"ab", 10, "ab"}, {"", 10, ""}, {"abc", 0, ""}, {"abc", 3, "abc"}, {strings.Repeat("x", 9000), 1 << 20, strings.Repeat("x", 9000)}} {
		if _, err := unix.Write(c.fd, []byte(x.text)); err != nil {
			t.Fatal(err)
		}
		got, size, err := c.read(x.limit)
		if err != nil || string(got) != x.want || size != int64(len(x.text)) {
			t.Errorf("%d bytes of %q: %q, %d, %v", x.limit, x.text, got, size, err)
		}
		if held := c.written(); (held > 0) != (x.text != "") || held%blockSize != 0 || held > 1<<20 {
			t.Errorf("%q takes %d bytes", x.text, held)
		}
		if err := c.rewind(); err != nil {
			t.Fatal(err)
		}
		if got, size, err := c.read(10); err != nil || len(got) != 0 || size != 0 {
			t.Errorf("after %q: %q, %d, %v", x.text, got, size, err)
		}
	}
	// What was written and not read is gone, too, and so is the place that a program went to.
	if _, err := unix.Pwrite(c.fd, []byte("unread"), 100); err != nil {
		t.Fatal(err)
	}
	c.markWritten()
	if _, err := unix.Seek(c.fd, 50, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.rewind(); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(c.fd, []byte("next")); err != nil {
		t.Fatal(err)
	}
	if got, _, err := c.read(10); err != nil || string(got) != "next" {
		t.Errorf("%q, %v", got, err)
	}
	old := c.fd
	if err := c.renew(); err != nil || c.size != 0 {
		t.Fatal(err)
	}
	if got, size, err := c.read(10); err != nil || len(got) != 0 || size != 0 {
		t.Errorf("of a new file: %q, %d, %v", got, size, err)
	}
	c.close()
	if _, _, err := c.read(10); err == nil || c.fd != -1 || c.rewind() == nil || c.written() != 0 {
		t.Errorf("what is closed can be read: %v (it was %d)", err, old)
	}
}

// An input replaces the one before it, and a file that a program has made another of is
// noticed.
func TestInputFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	f := inputFile{fd: -1, readFD: -1}
	if err := f.create(name); err != nil {
		t.Fatal(err)
	}
	defer func() { f.close() }()
	for _, text := range []string{"first", "a longer one", "short", "", "same", "size"} {
		if err := f.write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := f.rewind(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, err := unix.Read(f.readFD, buf)
		if got, e := os.ReadFile(name); err != nil || e != nil || string(got) != text || string(buf[:n]) != text {
			t.Errorf("%q: the file holds %q, standard input %q, %v, %v", text, got, buf[:n], err, e)
		}
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if err := f.create(name); !errors.Is(err, os.ErrExist) {
		t.Errorf("made over another: %v", err)
	}
	for what, do := range map[string]func() error{
		"removed":  func() error { return os.Remove(name) },
		"linked":   func() error { return os.Link(name, name+"2") },
		"chmodded": func() error { return os.Chmod(name, 0o600) },
	} {
		os.Remove(name)
		if err := f.create(name); err != nil {
			t.Fatal(err)
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if err := f.write([]byte("x")); err != errReplaced {
			t.Errorf("%s: %v", what, err)
		}
	}
	f.close()
	if err := f.write([]byte("x")); err == nil || err == errReplaced || f.rewind() == nil {
		t.Errorf("what is closed can be written: %v", err)
	}
}

// A folder is emptied whatever is in it, and nothing outside of it is touched.
func TestEmptiedFolders(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	in := func(name string) string { return filepath.Join(top, name) }
	deep := in("deep")
	for range 60 {
		deep = filepath.Join(deep, strings.Repeat("d", 60))
	}
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		must(os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "f"), nil, 0o600),
			os.Symlink(outside, in("link")), os.Symlink("nowhere", in("broken")), os.Link(in("broken"), in("again")),
			unix.Mkfifo(in("fifo"), 0o600), os.Mkdir(in("empty"), 0o700),
			os.MkdirAll(in("shut/sub/one"), 0o700), os.WriteFile(in("shut/f"), nil, 0o400), os.Symlink(outside, in("shut/link")), os.Chmod(in("shut/sub"), 0), os.Chmod(in("shut"), 0),
			// names that what is moved up would get
			os.MkdirAll(in(".wipe1/x/y"), 0o700), os.MkdirAll(in(".wipe2"), 0o700), os.WriteFile(in(".wipe3"), nil, 0o600))
		for i := range 200 {
			must(os.WriteFile(in(fmt.Sprintf("many-%0200d", i)), nil, 0o600))
		}
		fd, err := openDir(unix.AT_FDCWD, top)
		must(err)
		if err := empty(fd); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		unix.Close(fd)
		if left, err := os.ReadDir(top); err != nil || len(left) > 0 {
			t.Fatalf("round %d: %v are left, %v", round, left, err)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "kept")); err != nil {
		t.Errorf("a file outside was touched: %v", err)
	}
	if err := empty(-1); err == nil {
		t.Error("no folder was emptied")
	}
}

// An operand is a place in the list only once all of its numbers are read.
func TestListsOfProcesses(t *testing.T) {
	for line, want := range map[string][]int{"": nil, "7": {7}, "7 ": {7}, "12 305 9\n": {12, 305, 9}, " 0 1": {0, 1}, "x4y5": {4, 5}} {
		if got := fields([]byte(line)); !slices.Equal(got, want) {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// A program's own short texts and constants are words for inputs to it.
func TestWordsOfAProgram(t *testing.T) {
	dir := t.TempDir()
	source, path := filepath.Join(dir, "w.c"), filepath.Join(dir, "w")
	if err := os.WriteFile(source, []byte(`#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
	if (argc == 0x6b6f6f72) puts("rookery!");
	return strcmp(argv[0], "needle-word");
}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("cc", "-O1", "-o", path, source).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, text)
	}
	words := (&lane{program: path}).Words()
	has := func(w string) bool {
		return slices.ContainsFunc(words, func(b []byte) bool { return string(b) == w })
	}
	if !has("rookery!") || !has("needle-word") || isAMD64() && !has("rook") {
		t.Errorf("words: %q", words)
	}
	debug := filepath.Join(dir, "debug") // has names of sections without what is in them
	if text, err := exec.Command("objcopy", "--only-keep-debug", path, debug).CombinedOutput(); err != nil {
		t.Logf("%v\n%s", err, text)
	}
	for _, none := range []string{"", debug, source, filepath.Join(dir, "none")} {
		if got := (&lane{program: none}).Words(); got != nil {
			t.Errorf("words of %q: %q", none, got)
		}
	}
}

func isAMD64() bool {
	var u unix.Utsname
	return unix.Uname(&u) == nil && unix.ByteSliceToString(u.Machine[:]) == "x86_64"
}

// Texts of two to sixteen characters are words, and constants that no small number is; of
// both there are only so many.
func TestBoundsOfWords(t *testing.T) {
	for text, want := range map[string]bool{
		"ab": true, "a": false, "0123456789abcdef": true, "0123456789abcdefg": false, "one two": true, "a b c": false, "50%": false, "a\nb": false, "a\tb": false, "~~": true, "\x7f\x7f": false, "é": false,
	} {
		if got := texts([]byte(text)); (len(got) == 1) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	var many, code []byte
	for i := range 2 * wordsMost {
		many = fmt.Appendf(many, "w%04d\x00", i)
		code = append(code, 0x3d, byte(i), byte(i>>8), 0x41, 0x42)
	}
	code = append(code, make([]byte, 8)...)
	if a, b := len(texts(many)), len(comparedWith(code)); a != wordsMost || b != wordsMost/2 {
		t.Errorf("%d texts and %d constants", a, b)
	}
	tail := "\x00\x00\x00\x00\x00\x00\x00\x00"
	for code, want := range map[string]string{
		"\x66\x3d\x00\x01": "\x00\x01", "\x66\x3d\xff\x00": "", "\x3d\x00\x00\x01\x00": "\x00\x00\x01\x00", "\x3d\xff\xff\x00\x00": "",
		"\x3d\xff\xfe\xff\xff": "\xff\xfe\xff\xff", "\x3d\x00\xff\xff\xff": "", "\x81\xf8abcd": "abcd", "\x81\xf7abcd": "", "\x66\x81\xffab": "ab", "\x3eabcd": "",
	} {
		got := string(bytes.Join(comparedWith([]byte(code+tail)), nil))
		if got != want {
			t.Errorf("%x: %q, want %q", code, got, want)
		}
	}
	if got := comparedWith([]byte("\x3dabcd\x00\x00")); got != nil {
		t.Errorf("an instruction at the very end: %q", got)
	}
	if got := comparedWith([]byte("\x3dabcd\x00\x00\x00")); len(got) != 1 {
		t.Errorf("the last that is looked at: %q", got)
	}
}

// Whatever is different in a command from case to case is the run id, or the command is made
// anew for each.
func TestCommandsOfCases(t *testing.T) {
	for name, command := range map[string]func(process.Paths) process.Command{
		"as it is": func(p process.Paths) process.Command { return process.Command{Path: "/p", Argv: []string{"p"}} },
		"an argument": func(p process.Paths) process.Command {
			return process.Command{Path: "/p", Argv: []string{"p", "--id=" + p.RunID + "," + p.RunID + "!", "x"}, Env: []string{"A=1", "ID=" + p.RunID}, Dir: "/d"}
		},
		"its length": func(p process.Paths) process.Command {
			return process.Command{Path: "/p", Argv: []string{"p", fmt.Sprint(len(p.RunID), p.RunID)}}
		},
		"changed": func(p process.Paths) process.Command {
			return process.Command{Path: "/p", Argv: []string{"p", strings.ToUpper(p.RunID), strings.TrimSuffix(p.RunID, "b")}, Env: []string{fmt.Sprintf("%x", p.RunID)}}
		},
		"the program": func(p process.Paths) process.Command {
			return process.Command{Path: "/" + p.RunID, Argv: []string{"p"}}
		},
		"how many": func(p process.Paths) process.Command {
			return process.Command{Path: "/p", Argv: strings.Split(p.RunID, "a")}
		},
	} {
		plan := &process.Plan{Command: command}
		im := newImage(plan, process.Paths{RunID: "aaaa", InputPath: "/in"})
		for _, id := range []string{"abcd", "baab", "aaaa", "x", "abab", ""} {
			im.set(id)
			want := command(process.Paths{RunID: id, InputPath: "/in"})
			var words []string
			for _, w := range im.words {
				words = append(words, string(w))
			}
			var should []string
			for _, s := range slices.Concat(want.Argv, want.Env) {
				should = append(should, s+"\x00")
			}
			if !slices.Equal(words, should) || string(im.path) != want.Path+"\x00" || string(im.dir) != strings.TrimSuffix(want.Dir+"\x00", map[bool]string{true: "\x00"}[want.Dir == ""]) {
				t.Errorf("%s, run id %q: %q %q in %q, want %q", name, id, im.path, words, im.dir, should)
			}
			if len(im.argv) != len(want.Argv)+1 || im.argv[len(want.Argv)] != 0 || len(im.envp) != len(want.Env)+1 || im.envp[len(want.Env)] != 0 {
				t.Errorf("%s, run id %q: %d arguments, %d variables", name, id, len(im.argv)-1, len(im.envp)-1)
			}
		}
	}
	im := newImage(&process.Plan{Command: func(p process.Paths) process.Command { return process.Command{Path: "/p", Argv: []string{"p", "-x"}} }}, process.Paths{RunID: "aaaa", InputPath: "/in"})
	im.file, im.host = true, []string{"H=1"}
	if im.build("aaaa"); !slices.Equal(im.command.Argv, []string{"p", "-x", "/in"}) || !slices.Equal(im.command.Env, []string{"H=1"}) {
		t.Errorf("a harness: %q, %q", im.command.Argv, im.command.Env)
	}
	im.plan = &process.Plan{Command: func(p process.Paths) process.Command {
		return process.Command{Path: "/in", Argv: []string{"/in", "-f=/in"}}
	}}
	if im.build("aaaa"); len(im.command.Argv) != 2 {
		t.Errorf("a harness whose command names the input: %q", im.command.Argv)
	}
}

// How a case ended is what its status says, and who sent the signal.
func TestEndsOfCases(t *testing.T) {
	const exit3, kill, xfsz, xcpu, segv = 3 << 8, 9, 25, 24, 11 | 0x80
	for _, c := range []struct {
		name   string
		ws     unix.WaitStatus
		late   bool
		budget uint64
		want   process.Result
	}{
		{"exit", exit3, false, 0, process.Result{ExitCode: 3}},
		{"exit at the deadline", exit3, true, 0, process.Result{ExitCode: 3}},
		{"killed by us", kill, true, 0, process.Result{Status: process.TimedOut}},
		{"killed by another", kill, false, 0, process.Result{Status: process.Signaled, Signal: 9}},
		{"crashed at the deadline", segv, true, 0, process.Result{Status: process.Signaled, Signal: 11, CoreDumped: true}},
		{"too large a file", xfsz, false, 0, process.Result{Status: process.Signaled, Signal: 25, OutputLimit: true}},
		{"over the least budget", xcpu, false, 1, process.Result{Status: process.OverBudget}},
		{"over budget", xcpu, false, 5, process.Result{Status: process.OverBudget}},
		{"without a budget", xcpu, false, 0, process.Result{Status: process.Signaled, Signal: 24}},
		{"killed with a budget", kill, false, 5, process.Result{Status: process.Signaled, Signal: 9}},
	} {
		var res process.Result
		g := &laneState{budget: c.budget}
		if g.setStatus(&res, c.ws, c.late); fmt.Sprint(res) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v", c.name, res)
		}
	}
}

func TestErrorsOfExecution(t *testing.T) {
	here := filepath.Join(t.TempDir(), "here")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for errno, want := range map[syscall.Errno]string{
		unix.ENOENT: "the interpreter or loader that " + here + " names does not exist", unix.EACCES: "the program " + here + " may not be executed",
		unix.ENOEXEC: here + " is not a program that this system can run", unix.ETXTBSY: "the program " + here + " is being written to",
		unix.E2BIG: "arguments and environment of " + here + " are too long", unix.EIO: "execute " + here,
	} {
		if err := execError(here, errno); !errors.Is(err, errno) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := execError(here+"2", unix.ENOENT); !strings.HasSuffix(err.Error(), "here2 no longer exists: no such file or directory") {
		t.Error(err)
	}
	b := openBench(t, func(p *process.Plan) {
		command := p.Command
		p.Command = func(at process.Paths) process.Command {
			c := command(at)
			c.Env = append(c.Env, "LONG="+strings.Repeat("x", 1<<20))
			return c
		}
	})
	if _, err := b.lane.Run(t.Context(), process.Case{RunID: "x"}); err == nil || !strings.Contains(err.Error(), "are too long") {
		t.Errorf("a variable of 1 MiB: %v", err)
	}
	if b.state().started != b.state().ended {
		t.Error("a process that did not get to its program is not accounted for")
	}
	b = openBench(t, func(p *process.Plan) {
		command := p.Command
		p.Command = func(at process.Paths) process.Command { c := command(at); c.Dir = here; return c }
	})
	if _, err := b.lane.Run(t.Context(), process.Case{RunID: "x"}); err == nil || !strings.Contains(err.Error(), "enter the run folder: not a directory") {
		t.Errorf("a folder that is a file: %v", err)
	}
}

// Which places a command has for arguments.
func TestPlacesInACommand(t *testing.T) {
	for word, want := range map[string][]string{
		"": nil, "plain": nil, "{a}": {"a"}, "x{a}{b}y{input}": {"a", "b", "input"}, "{a": nil, "a}": nil, "{}": nil, `{"a": 1}`: nil, "{a b}": nil, "{ }{c}": {"c"}, "{a:b}{d,e}{'q'}": nil,
	} {
		if got := places(word); !slices.Equal(got, want) {
			t.Errorf("%q: %q", word, got)
		}
	}
}

// A call of a program used as a system ends as the program does.
func TestProgramAsASystem(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	open := func(p *sut.Plan) (system.Edge, error) {
		p.Kind, p.Name = sut.Command, "prog"
		e, err := OpenSystem(t.Context(), system.Site{Plan: p, Worker: sut.Worker{Of: 1}})
		if err == nil {
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		return e, err
	}
	e, err := open(&sut.Plan{Command: []string{sh, "-c", `printf %s "$0 $1" >&2; eval "$2"`, "{n}", "{list}", "{do}"}, Operations: []sut.Operation{{Name: "run", Rejects: []string{"7"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if notes := e.Notes(); notes != nil {
		t.Errorf("before a call: %q", notes)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		do, why string
		end     sut.End
		exit    int
	}{
		{"echo out", "", sut.Answered, 0}, {"exit 7", "exit code 7", sut.Refused, 7}, {"exit 8", "exit code 8", sut.Crashed, 8}, {"kill -9 $$", "signal 9", sut.Crashed, 0}, {"sleep 60", "", sut.Hung, 0},
	} {
		limit := time.Minute
		if c.end == sut.Hung {
			limit = 300 * time.Millisecond
		}
		o, err := e.Call(t.Context(), sut.Call{Timeout: limit, Named: []sut.Named{{Name: "n", Value: json.RawMessage("12")}, {Name: "list", Value: json.RawMessage(`["a"]`)}, {Name: "do", Value: json.RawMessage(fmt.Sprintf("%q", c.do))}}})
		if err != nil || o.End != c.end || o.Exit != c.exit || c.why != "" && o.Why != c.why || c.end != sut.Hung && string(o.Printed) != `12 ["a"]` {
			t.Errorf("%s: %+v, %v", c.do, o, err)
		}
		if c.do == "echo out" && string(o.Output) != "out\n" {
			t.Errorf("%s: %q", c.do, o.Output)
		}
		if c.do == "kill -9 $$" && o.Signal != 9 {
			t.Errorf("%s: signal %d", c.do, o.Signal)
		}
	}
	if len(e.Notes()) == 0 {
		t.Error("no word of how it is run")
	}
	if _, err := e.Call(t.Context(), sut.Call{Operation: "walk", Timeout: time.Second}); err == nil || !strings.Contains(err.Error(), "walk") {
		t.Errorf("another operation: %v", err)
	}
	if _, err := open(&sut.Plan{Command: []string{sh}, Operations: []sut.Operation{{Name: "walk"}}}); err == nil || !strings.Contains(err.Error(), "walk") {
		t.Errorf("another operation in the plan: %v", err)
	}
	if _, err := open(&sut.Plan{Command: []string{"./no-such-program"}, Dir: t.TempDir()}); err == nil {
		t.Error("no program")
	}
}

// Who is a lane's own is known by the mark, and what it left is killed and counted, with
// what that has started.
func TestOrphansOfALane(t *testing.T) {
	h, err := newOrphanReaper()
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	// start leaves a process behind with a mark, as a case does, and returns its number and how it is ended.
	start := func(mark uint64, script string) (int, func()) {
		in, tell, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		hear, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", `read marked; exec 3<&0; sh -c "$0" <&3 &`, script+" echo $$; read x")
		cmd.Stdin, cmd.Stdout = in, out
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		in.Close()
		out.Close()
		err = (forkline.Rlimit{Resource: rlimitLocks, Cur: mark, Max: mark}).Apply(cmd.Process.Pid)
		_, said := fmt.Fprintln(tell)
		var pid int
		_, heard := fmt.Fscan(hear, &pid)
		if err := errors.Join(err, said, heard, cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		return pid, func() {
			tell.Close()
			hear.Close()
			_, _ = reap(pid, nil) // it may have been
		}
	}
	stranger, endStranger := start(h.mark-1, "")
	defer endStranger()
	server, endServer := start(h.mark, "")
	defer endServer()
	if h.marked(stranger) || !h.marked(server) || h.marked(os.Getpid()) {
		t.Error("the mark is not the lane's own")
	}
	h.known = []int{server}
	if n, err := h.hunt(0); n != 0 || err != nil {
		t.Errorf("nothing was left: %d, %v", n, err)
	}
	if n, err := h.hunt(0); n != 0 || err != nil || len(h.quiet) == 0 {
		t.Errorf("nothing was left, again: %d, %v, %q", n, err, h.quiet)
	}
	for range 2 {
		left, end := start(h.mark, "sleep 1000 & sleep 1000 &")
		if n, err := h.hunt(0); n != 3 || err != nil {
			t.Errorf("one was left with two of its own: %d, %v", n, err)
		}
		if err := unix.Kill(left, 0); err != unix.ESRCH {
			t.Errorf("it still runs: %v", err)
		}
		end()
	}
	for _, pid := range []int{stranger, server} {
		if err := unix.Kill(pid, 0); err != nil {
			t.Errorf("another one was killed: %v", err)
		}
	}
	// A generation that outruns the list is found by its mark, wherever it is.
	open := openFiles(t)
	left, end := start(h.mark, "")
	killed := map[int]bool{}
	h.endMarked(0, killed)
	if ws, err := reap(left, nil); err != nil || ws.Signal() != unix.SIGKILL || len(killed) != 1 || !killed[left] {
		t.Errorf("by its mark: %v, %v, killed %v", ws, err, killed)
	}
	if end(); openFiles(t) > open {
		t.Errorf("%d files are open, before it were %d", openFiles(t), open)
	}
	h.buf = make([]byte, 2) // a list that is longer than the room for it
	if n, err := h.read(); err != nil || len(fields(h.buf[:n])) < 2 {
		t.Errorf("%q, %v", h.buf[:n], err)
	}
	h.close()
	if _, err := h.hunt(0); err == nil {
		t.Error("a list that is closed was read")
	}
}

// Where this process may open no more files a lane is an error, wherever on its way that is,
// and leaves nothing open; or it is complete.
func TestLanesWithoutRoomForFiles(t *testing.T) {
	for _, sandbox := range []bool{false, true} {
		plan := self.Plan()
		plan.Sandbox, plan.Limits.FileSize = sandbox, 1<<20
		runtime.GC() // files that earlier tests have left
		before := openFiles(t)
		var own unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for room := uint64(0); room < 60; room += uint64(testproc.Times(1, 3)) {
			tight := own
			tight.Cur = 3 + room
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &tight); err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), plan, 0, 1, false)
			var res process.Result
			var ran error
			if err == nil {
				res, ran = r.Run(t.Context(), process.Case{RunID: "x", Input: []byte("print whole")})
			}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				failed++
				if !errors.Is(err, unix.EMFILE) {
					t.Errorf("sandbox %t, %d files: %v", sandbox, tight.Cur, err)
				}
			} else {
				if ran == nil && string(res.Stdout) != "whole" || ran != nil && !errors.Is(ran, unix.EMFILE) {
					t.Errorf("sandbox %t, %d files: %q, %v", sandbox, tight.Cur, res.Stdout, ran)
				}
				if err := r.Close(); err != nil {
					t.Errorf("sandbox %t, %d files: %v", sandbox, tight.Cur, err)
				}
			}
			if now := openFiles(t); now > before {
				t.Fatalf("sandbox %t, %d files, %v: %d are open, before it were %d", sandbox, tight.Cur, err, now, before)
			}
		}
		if failed < testproc.Times(8, 3) {
			t.Errorf("sandbox %t: %d lanes failed", sandbox, failed)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// What a case has used is said in bytes and as time.
func TestUseOfACase(t *testing.T) {
	b := openBench(t, nil)
	if res := b.run("eat 64"); res.MaxRSS < 64<<20 || res.MaxRSS > 2<<30 || res.UserTime+res.SystemTime <= 0 || res.Elapsed < res.UserTime/1000 || res.Started.IsZero() {
		t.Errorf("%d bytes, %s and %s of %s since %s", res.MaxRSS, res.UserTime, res.SystemTime, res.Elapsed, res.Started)
	}
	if got := sentence([]string{"a", "b"}, "none"); got != "a, b" {
		t.Error(got)
	}
	if got := sentence(nil, "none"); got != "none" {
		t.Error(got)
	}
}
