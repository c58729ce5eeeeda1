package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/clitest"
)

// How a call of the operating system goes wrong.
const (
	callFails  = "fails"  // nothing is done, and the caller hears of it
	callCut    = "cut"    // half is done, and the next write to that file finds the disk full
	callTwice  = "twice"  // done two times; what the caller hears is the second answer
	callLate   = "late"   // everything else overtakes it
	callKilled = "killed" // the process dies before it
	callTorn   = "torn"   // the process dies when half is done
)

var faultKinds = []string{callFails, callCut, callTwice, callLate, callKilled, callTorn}

// strike is the fault of one call: the nth, from 1, of those that touch the
// store. With 0 nothing goes wrong and the calls are counted.
type strike struct {
	nth  int
	kind string
}

// storeCalls are the calls that a store is made of, with where each has the
// file: a descriptor or a path in the register of that number, from 0.
var storeCalls = map[uint64]struct {
	name  string
	path  bool
	where int
}{
	unix.SYS_WRITE: {"write", false, 0}, unix.SYS_PWRITE64: {"write", false, 0}, unix.SYS_FSYNC: {"sync", false, 0},
	unix.SYS_READ: {"read", false, 0}, unix.SYS_PREAD64: {"read", false, 0}, unix.SYS_FTRUNCATE: {"truncate", false, 0},
	unix.SYS_RENAMEAT: {"rename", true, 1}, unix.SYS_RENAMEAT2: {"rename", true, 1}, unix.SYS_OPENAT: {"open", true, 1},
	unix.SYS_UNLINKAT: {"unlink", true, 1}, unix.SYS_MKDIRAT: {"mkdir", true, 1},
}

// underStrike runs a command line of thresh in a folder. Below it, where
// it calls the operating system, one call that touches the folder .thresh goes
// wrong. It returns how many such calls there were, which of them was struck,
// and how the process ended.
func underStrike(t *testing.T, dir string, s strike, args ...string) (calls int, struck string, ended syscall.WaitStatus, text string) {
	t.Helper()
	// A thread traces what it started, and no other may speak for it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	exe, err := os.Executable()
	must(t, err)
	out, err := os.Create(filepath.Join(t.TempDir(), "text"))
	must(t, err)
	defer out.Close()
	null, err := os.Open(os.DevNull)
	must(t, err)
	defer null.Close()
	pid, err := syscall.ForkExec(exe, append([]string{exe}, args...), &syscall.ProcAttr{
		Dir: dir, Env: append(os.Environ(), childJob+"=thresh", "GOMAXPROCS=2"), Files: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	must(t, err)
	home, err := filepath.EvalSymlinks(dir)
	must(t, err)
	store := filepath.Join(home, ".thresh")
	c := &tracer{store: store, home: home, pid: pid, strike: s, inside: make(map[int]*tracedCall)}
	ended = c.follow(t)
	data, err := os.ReadFile(out.Name())
	must(t, err)
	return c.calls, c.struck, ended, string(data)
}

// tracer follows the threads of one process from call to call.
type tracer struct {
	store, home string
	pid         int
	strike      strike
	calls       int
	struck      string              // what was struck, "" before
	full        string              // the file whose next write finds the disk full
	inside      map[int]*tracedCall // by thread: the call that it is in
}

// tracedCall is a call between its entry and its return.
type tracedCall struct {
	regs syscall.PtraceRegs // as at the entry
	fate string             // what becomes of it, "" nothing
}

func (c *tracer) follow(t *testing.T) syscall.WaitStatus {
	var status syscall.WaitStatus
	wait := func(flags int) int {
		for {
			tid, err := syscall.Wait4(-c.pid, &status, flags|syscall.WALL, nil)
			if err != syscall.EINTR {
				must(t, err)
				return tid
			}
		}
	}
	wait(0)
	must(t, syscall.PtraceSetOptions(c.pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL))
	must(t, syscall.PtraceSyscall(c.pid, 0))
	late, due := 0, time.Time{} // the thread whose call the others overtake, and until when
	for {
		flags := 0
		if late != 0 {
			flags = syscall.WNOHANG
		}
		tid := wait(flags)
		if tid == 0 {
			time.Sleep(time.Millisecond / 4)
		}
		if late != 0 && time.Now().After(due) {
			_ = syscall.PtraceSyscall(late, 0)
			late = 0
		}
		switch {
		case tid == 0:
		case status.Exited() || status.Signaled():
			if tid == c.pid {
				return status
			}
			delete(c.inside, tid)
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			if c.stopped(tid) {
				late, due = tid, time.Now().Add(30*time.Millisecond)
				continue
			}
			_ = syscall.PtraceSyscall(tid, 0) // a thread that was killed meanwhile says so itself
		case status.StopSignal() == syscall.SIGTRAP, status.StopSignal() == syscall.SIGSTOP:
			_ = syscall.PtraceSyscall(tid, 0) // it has made a thread, or is one that was made
		default:
			_ = syscall.PtraceSyscall(tid, int(status.StopSignal()))
		}
	}
}

// stopped sees a thread enter or leave a call and reports whether it is to be
// held up there.
func (c *tracer) stopped(tid int) (late bool) {
	if in := c.inside[tid]; in != nil {
		c.leave(tid, in)
		return false
	}
	in := &tracedCall{}
	if syscall.PtraceGetRegs(tid, &in.regs) != nil {
		return false
	}
	c.inside[tid] = in
	call, ok := storeCalls[in.regs.Orig_rax]
	if !ok {
		return false
	}
	argument := []uint64{in.regs.Rdi, in.regs.Rsi, in.regs.Rdx}[call.where]
	file := c.file(tid, argument, call.path)
	if file == "" {
		return false
	}
	if call.name == "write" && file == c.full {
		in.fate = callFails
		c.skip(tid, in)
		return false
	}
	if c.calls++; c.calls != c.strike.nth {
		return false
	}
	c.struck = call.name + " of " + file
	in.fate = c.strike.kind
	switch in.fate {
	case callLate:
		return true
	case callFails:
		c.skip(tid, in)
	case callKilled:
		_ = syscall.Kill(c.pid, syscall.SIGKILL)
	case callCut, callTorn:
		if call.name == "write" {
			half := in.regs
			half.Rdx /= 2
			_ = syscall.PtraceSetRegs(tid, &half)
			c.full = file
		}
	}
	return false
}

// skip takes a call back: the kernel finds the number of none.
func (c *tracer) skip(tid int, in *tracedCall) {
	none := in.regs
	none.Orig_rax = ^uint64(0)
	_ = syscall.PtraceSetRegs(tid, &none)
}

// leave sees a thread leave a call.
func (c *tracer) leave(tid int, in *tracedCall) {
	delete(c.inside, tid)
	var regs syscall.PtraceRegs
	if in.fate == "" || syscall.PtraceGetRegs(tid, &regs) != nil {
		return
	}
	switch in.fate {
	case callFails:
		failure := syscall.EIO
		if storeCalls[in.regs.Orig_rax].name == "write" {
			failure = syscall.ENOSPC
		}
		regs.Rax = -uint64(failure)
		_ = syscall.PtraceSetRegs(tid, &regs)
	case callTwice:
		if int64(regs.Rax) >= 0 && storeCalls[in.regs.Orig_rax].name != "read" { // what was read is gone from where it stood
			again := in.regs
			again.Rip -= 2 // the length of the instruction that calls
			again.Rax = in.regs.Orig_rax
			_ = syscall.PtraceSetRegs(tid, &again)
		}
	case callTorn:
		_ = syscall.Kill(c.pid, syscall.SIGKILL)
	}
}

// file is the file of the store that a call is about, "" for any other.
func (c *tracer) file(tid int, argument uint64, path bool) string {
	name := ""
	if !path {
		name, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(argument)))
	} else {
		var text [4096]byte
		n, _ := syscall.PtracePeekData(tid, uintptr(argument), text[:256]) // a path of the store is short
		name, _, _ = strings.Cut(string(text[:n]), "\x00")
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.home, name)
		}
	}
	if rest, ok := strings.CutPrefix(name, c.store); ok && (rest == "" || rest[0] == '/') {
		return ".thresh" + rest
	}
	return ""
}

// TestEveryCallFails makes every call of a run to its store go wrong in turn, in
// six ways, for a document of each format. Whatever the run then says, the stored
// part resumes to the digest of an undisturbed run.
func TestEveryCallFails(t *testing.T) {
	if clitest.Raced {
		t.Skip("starts some thousands of processes")
	}
	part, step := 0, 31 // every 31st call, another one with each kind
	switch long := os.Getenv("THRESH_TEST_LONG"); long {
	case "":
		t.Skip("starts some thousands of processes: set THRESH_TEST_LONG=1")
	case "all":
		step = 1
	default:
		_, _ = fmt.Sscanf(long, "%d/%d", &part, &step) // the parts 0/31 to 30/31 are all points
	}
	var sum atomic.Int64
	t.Cleanup(func() {
		page, err := os.ReadFile("../../docs/guarantees.md")
		must(t, err)
		said := regexp.MustCompile(`make about ([\d,]+) calls, which gives ([\d,]+) points`).FindSubmatch(page)
		if said == nil {
			t.Fatal("the page of guarantees does not say how many calls a run makes")
		}
		for i, now := range []int64{sum.Load(), sum.Load() * int64(len(faultKinds))} {
			n, err := strconv.ParseInt(strings.ReplaceAll(string(said[i+1]), ",", ""), 10, 64)
			must(t, err)
			if now < n*95/100 || now > n*105/100 {
				t.Errorf("the page of guarantees says %d, there are %d", n, now)
			}
		}
	})
	for name, document := range faultDocuments(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calm := t.TempDir()
			args := append([]string{"run", "-q", "-j", "1", "--shrink", "5", "--reruns", "1"}, document...)
			calls, _, ended, text := underStrike(t, calm, strike{}, reported(calm, args)...)
			if code := ended.ExitStatus(); code != 1 {
				t.Fatalf("undisturbed: exit code %d: %s", code, text)
			}
			sum.Add(int64(calls))
			want := digestOf(t, calm)
			points := 0
			for k, kind := range faultKinds {
				for n := 1 + (k+part)%step; n <= calls; n += step {
					s := strike{n, kind}
					if tried := tryStrike(t, s, want, args); tried {
						points++
					}
				}
			}
			t.Logf("%d calls, %d of them struck", calls, points)
			if points < calls/step {
				t.Errorf("%d of %d calls were struck", points, calls)
			}
		})
	}
}

// tryStrike runs a document with one fault, goes on with what is stored, and
// reports whether the fault struck.
func tryStrike(t *testing.T, s strike, want string, args []string) bool {
	t.Helper()
	dir := t.TempDir()
	_, struck, ended, text := underStrike(t, dir, s, reported(dir, args)...)
	what := fmt.Sprintf("%s (%d) %s", struck, s.nth, s.kind)
	if strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") {
		t.Errorf("%s: the program broke down:\n%s", what, text)
	}
	if ended.Exited() && ended.ExitStatus() == 1 && !strings.Contains(text, "not complete: environment") {
		if got := digestOf(t, dir); got != want {
			t.Errorf("%s: digest %s, want %s", what, got, want)
		}
	} else if ended.Exited() && strings.TrimSpace(text) == "" {
		t.Errorf("%s: exit code %d without a word", what, ended.ExitStatus())
	}
	store := filepath.Join(dir, ".thresh")
	again := append(reported(dir, args), "--store", store)
	if runs, _ := filepath.Glob(filepath.Join(store, "runs/r*")); len(runs) > 0 {
		again = reported(dir, []string{"run", "-q", "--resume", "latest", "--store", store})
		if len(runs) > 1 {
			t.Errorf("%s: runs %v", what, runs)
		}
	}
	if r := call(again...); r.code != 1 {
		t.Errorf("%s: then %v: exit code %d: %s\nthe struck run: %s", what, again, r.code, r.text(), text)
		return struck != ""
	}
	if r := call("verify", "latest", "--store", store); r.code != 0 {
		t.Errorf("%s: verify: exit code %d: %s\nthe struck run: %s", what, r.code, r.text(), text)
	}
	if got := digestOf(t, dir); got != want {
		t.Errorf("%s: digest of the resumed run %s, want %s", what, got, want)
	}
	return struck != ""
}

// reported is a command line that also leaves report.json in a folder.
func reported(dir string, args []string) []string {
	return append(slices.Clip(args), "--report", "json="+filepath.Join(dir, "report.json"))
}

// digestOf is the digest in a folder's report.json.
func digestOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	must(t, err)
	var rec record
	must(t, json.Unmarshal(data, &rec))
	return rec.Digest
}

// faultDocuments are small runs with findings, one of each format: the
// arguments of run by the format's name.
func faultDocuments(t *testing.T) map[string][]string {
	t.Helper()
	l := newLab(t, `head -c 1 "$1" | grep -q A || kill -SEGV $$`)
	l.document(edits{"mutations.cases": 6, "mutations.max_ops_per_case": 8})
	l.write("page.spec.md", "# A page\n\n```yaml spec-test\nid: A-1\ntitle: says yes\ntype: cli.run\nharness: {entrypoint: echo no}\nexit_code: 0\n"+
		"assert:\n  - target: stdout\n    must:\n      - contain: [\"yes\"]\n```\n")
	l.write("oracle.sh", `case "$(cat)" in *e*) echo '{"verdict": "FAIL", "reason": "it has an e"}' ;; *) echo '{"verdict": "PASS"}' ;; esac`+"\n")
	l.write("seeds.txt", "tell me more\nlook up my orders\n")
	l.write("operators.json", `{"schema_version": "thresh.operators.v1", "name": "faults", "seeds": ["seeds.txt"], "children": 2, "steps": 1,
		"strength": [1, 2], "seed_base": 1, "oracle": {"command": ["/bin/sh", "`+l.path("oracle.sh")+`"]}}`)
	l.write("flakestorm.yaml", `version: "2.0"
agent: {endpoint: "http://127.0.0.1:{port}/chat", command: ["{thresh}", "__flakestorm-agent"], request_template: '{"input": "{prompt}"}', response_path: output}
golden_prompts: ["Where is my order 4711?"]
mutations: {count: 2, types: [noise]}
invariants: [{type: contains, value: "never said by anyone"}]
`)
	examples, err := filepath.Abs("../../examples")
	must(t, err)
	return map[string][]string{
		"fuzzspec": {l.path("spec.json"), "--executor", "spawn"}, "spectest": {l.path("page.spec.md")}, "operator": {l.path("operators.json")},
		"flakestorm": {l.path("flakestorm.yaml")},
		"fresnelfir": {filepath.Join(examples, "fresnelfir/bank.json"), "--module", filepath.Join(examples, "fresnelfir/faulty/bank.wasm"), "--cases", "6"},
	}
}
