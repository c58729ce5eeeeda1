package cli_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ticker makes the pipe "ticks", to which the program writes a byte when it
// runs, and opens it so that no writer ever waits.
func (l *lab) ticker() *os.File {
	l.t.Helper()
	must(l.t, syscall.Mkfifo(l.path("ticks"), 0o600))
	f, err := os.OpenFile(l.path("ticks"), os.O_RDWR, 0)
	must(l.t, err)
	l.t.Cleanup(func() { f.Close() })
	return f
}

// drain takes what is left in the pipe of programs that ran before, workers of
// a killed coordinator among them, and lifts the deadline that woke the last
// reader.
func drain(t testing.TB, ticks *os.File) {
	t.Helper()
	must(t, ticks.SetReadDeadline(time.Time{}))
	_, err := io.CopyN(io.Discard, ticks, int64(waiting(t, ticks)))
	must(t, err)
}

// waiting counts the bytes in the pipe.
func waiting(t testing.TB, ticks *os.File) (n int) {
	t.Helper()
	conn, err := ticks.SyscallConn()
	must(t, err)
	must(t, conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }))
	must(t, err)
	return n
}

// killAfter starts a process, kills it when its programs have written n bytes,
// and reports whether it lived to see that. The pipe has room for these bytes
// and no more: a program that wants to write another waits, however late the
// kill comes.
func killAfter(t testing.TB, cmd *exec.Cmd, ticks *os.File, n int) bool {
	t.Helper()
	drain(t, ticks)
	conn, err := ticks.SyscallConn()
	must(t, err)
	resize := func(size int) (got int) {
		must(t, conn.Control(func(fd uintptr) { got, err = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size) }))
		must(t, err)
		return got
	}
	room := resize(os.Getpagesize())
	_, err = ticks.Write(make([]byte, room-n))
	must(t, err)
	must(t, cmd.Start())
	ended := make(chan bool, 1)
	go func() {
		var exit *exec.ExitError
		ended <- errors.As(cmd.Wait(), &exit) && exit.ExitCode() == -1
	}()
	for waiting(t, ticks) < room && len(ended) == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Process.Kill() // it may have ended already
	resize(1 << 16)
	drain(t, ticks) // who waits holds the standard error that Wait reads to its end
	return <-ended
}

// dying fails the test unless every process of the lab ends, as those do that
// the kernel kills together with the process that started them.
func (l *lab) dying() {
	l.t.Helper()
	for found := l.survivors(); len(found) > 0; found = l.survivors() {
		for pid, text := range found {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				continue // gone
			}
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(poll, 20_000)
			unix.Close(fd)
			if n == 0 && err == nil {
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
				l.t.Fatalf("left running: process %d: %q\n%s", pid, text, status)
			}
		}
	}
}
