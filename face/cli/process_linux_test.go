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
	conn, err := ticks.SyscallConn()
	must(t, err)
	left := 0
	must(t, conn.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }))
	must(t, err)
	_, err = io.CopyN(io.Discard, ticks, int64(left))
	must(t, err)
}

// killAfter starts a process, kills it when n bytes have come, and reports
// whether it lived to see that.
func killAfter(t testing.TB, cmd *exec.Cmd, ticks *os.File, n int) bool {
	t.Helper()
	drain(t, ticks)
	must(t, cmd.Start())
	ended := make(chan bool)
	go func() {
		err := cmd.Wait()
		_ = ticks.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
		var exit *exec.ExitError
		ended <- errors.As(err, &exit) && exit.ExitCode() == -1
	}()
	for got := 0; got < n; {
		buf := make([]byte, n-got)
		k, err := ticks.Read(buf)
		if err != nil {
			break
		}
		got += k
	}
	_ = cmd.Process.Kill() // it may have ended already
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
