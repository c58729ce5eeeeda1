//go:build unix

package python

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// TestHostile runs what wants to hurt the host; after each, the next case is as
// good as ever.
func TestHostile(t *testing.T) {
	t.Parallel() // mostly waits
	b := openBench(t, "hostile")
	short := func(c *pyhost.Command) { c.Timeout = 300 * time.Millisecond }
	file := filepath.Join(t.TempDir(), "file")
	for _, tc := range []struct {
		argv []string
		edit func(*pyhost.Command)
		want pyhost.Ending
		also func(pyhost.CommandResult) bool
	}{
		{[]string{"exit_now"}, nil, pyhost.Exited, func(r pyhost.CommandResult) bool { return r.ExitCode == 7 && r.Phase == pyhost.PhaseMain }},
		{[]string{"kill_self"}, nil, pyhost.Signaled, func(r pyhost.CommandResult) bool { return r.Signal == 9 }},
		{[]string{"segfault"}, nil, pyhost.Signaled, func(r pyhost.CommandResult) bool { return r.Signal == 11 }},
		{[]string{"close_all"}, nil, pyhost.Exited, func(r pyhost.CommandResult) bool { return r.ExitCode == 9 }},
		{[]string{"reuse_descriptors", file}, nil, pyhost.Exited, func(r pyhost.CommandResult) bool { return r.ExitCode == 5 }},
		{[]string{"loop"}, short, pyhost.TimedOut, nil},
		{[]string{"loop_in_c"}, short, pyhost.TimedOut, nil},
		{[]string{"ignore_everything"}, short, pyhost.TimedOut, nil},
		{[]string{"daemon"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool {
			return r.Leftovers == 1 && string(r.Stdout) == "left\n" || runtime.GOOS != "linux"
		}},
		{[]string{"forks"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return r.Leftovers > 40 || runtime.GOOS != "linux" }},
		{[]string{"fork_returns"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "child\nparent\n" }},
		{[]string{"much"}, func(c *pyhost.Command) { c.Limits = process.Limits{Output: 100_000} }, pyhost.OutputLimit, func(r pyhost.CommandResult) bool { return len(r.Stdout) == 100_000 }},
		{[]string{"fine"}, func(c *pyhost.Command) { c.Limits = process.Limits{Output: 1} }, pyhost.OutputLimit, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "f" }},
		{[]string{"much_to_stderr"}, func(c *pyhost.Command) { c.Limits = process.Limits{Output: 100_000} }, pyhost.OutputLimit, func(r pyhost.CommandResult) bool { return len(r.Stderr) == 100_000 && len(r.Stdout) == 0 }},
		{[]string{"memory"}, func(c *pyhost.Command) { c.Limits = process.Limits{AddressSpace: 1 << 30} }, pyhost.Raised, func(r pyhost.CommandResult) bool { return r.Fault.Is("MemoryError") || runtime.GOOS != "linux" }},
		{[]string{"patch"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return r.ExitCode == 4 }},
		{[]string{"own_stdout"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "somewhere\n" }},
		{[]string{"thread_left"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "returned\n" }},
		{[]string{"exit_handler_hangs"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "told\n" }},
		{[]string{"exit_handler_prints"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "told\n" && len(r.Stderr) == 0 }},
		{[]string{"kill_parent"}, nil, pyhost.Signaled, func(r pyhost.CommandResult) bool { return r.Fault != nil && r.Fault.Class == "HostKilled" }},
		{[]string{"kill_parent_once", file + ".once"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "again\n" }}, // it may have been another's doing
		{[]string{"stop_parent"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return string(r.Stdout) == "stopped\n" }},
		{[]string{"child_writes_later"}, nil, pyhost.Finished, func(r pyhost.CommandResult) bool { return r.Leftovers > 0 && string(r.Stdout) == "now\n" }},
		{[]string{"talk_nonsense"}, short, pyhost.TimedOut, nil},
		{[]string{"bad_text"}, nil, pyhost.Raised, func(r pyhost.CommandResult) bool { return strings.HasSuffix(r.Fault.Class, "Bad") }},
		{[]string{"deep"}, nil, pyhost.Raised, func(r pyhost.CommandResult) bool { return r.Fault.Is("RecursionError") }},
	} {
		t.Run(tc.argv[0], func(t *testing.T) {
			res := b.run(tc.edit, tc.argv...)
			if res.Ending != tc.want || tc.also != nil && !tc.also(res) {
				t.Errorf("%s in %s: code %d, signal %d, fault %v, %d leftovers, stdout %.60q, stderr %.400q",
					res.Ending, res.Phase, res.ExitCode, res.Signal, res.Fault, res.Leftovers, res.Stdout, res.Stderr)
			}
			b.prints("fine\n", nil, "fine")
		})
	}
	if data, err := os.ReadFile(file); err != nil || len(data) > 0 {
		t.Errorf("a file of the case holds %q of the host's (%v)", data, err)
	}
}

// TestDescriptorsOfCases: a case leaves no file open in the lane, however it ends.
func TestDescriptorsOfCases(t *testing.T) {
	b := openBench(t, "hostile")
	open := func() int {
		list, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	before := 0
	for i := range 3 {
		b.prints("fine\n", nil, "fine")
		b.prints("fine\n", func(c *pyhost.Command) { c.Stdin = "text" }, "fine")
		b.run(nil, "kill_self")
		n := open()
		if i > 0 && n > before {
			t.Errorf("%d files are open, %d were before", n, before)
		}
		before = n
	}
}

// TestNothingIsLeft holds a lane to what its package promises of its end.
func TestNothingIsLeft(t *testing.T) {
	b := openBench(t, "hostile")
	b.run(nil, "forks")
	top, mark := b.c.lane.folder.Path, b.c.lane.zygote.mark
	if err := b.c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(top); err == nil {
		t.Errorf("%s is still there", top)
	}
	if n := mark.Living(); n > 0 {
		t.Errorf("%d processes are still there", n)
	}
}

// TestHostOutlivesNobody: a zygote whose Thresh was killed ends, and ends what
// runs below it.
func TestHostOutlivesNobody(t *testing.T) {
	b := openBench(t, "hostile")
	z := b.c.lane.zygote
	s, err := b.c.lane.open(t.Context(), "", 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	request, err := newRequest(pyhost.Command{Entrypoint: "hostile:main", Argv: []string{"loop"}, SearchPath: []string{b.dir}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	if err := s.channel.send(request, deadline); err != nil {
		t.Fatal(err)
	}
	for phase := ""; !strings.Contains(phase, `"main"`); {
		frame, err := s.next(t.Context(), deadline, false)
		if err != nil {
			t.Fatal(err)
		}
		phase = string(frame)
	}
	if err := syscall.Shutdown(z.link.fd, syscall.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	<-z.exited
	if n := z.mark.Living(); n > 0 {
		t.Errorf("%d processes live on", n)
	}
}
