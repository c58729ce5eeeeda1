package aflserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// A process in persistent mode stops itself after each case. The kernel notifies its parent, the
// fork server, which notifies us: four context switches per case. Once a process has lived for a
// while, we end its server. The process then becomes our child, because we are the subreaper, and
// we resume and wait for it directly: two context switches. When the process ends, we start a new
// server, which costs as much as starting the program.

// saved is roughly the time a case saves without a server.
const saved = 8 * time.Microsecond

// leastSteady is the number of cases a process must have run before it is adopted.
const leastSteady = 200

// worthAdopting reports whether the process has run so many cases that, if it runs as many again,
// adopting it saves twice the cost of starting the next server.
func (s *Server) worthAdopting() bool {
	return s.cfg.Reaper && !s.turns && !s.adopted && s.waiting && !s.lastDied && s.steady >= leastSteady+int(2*s.took/saved)
}

// adopt ends the server and takes over its waiting process.
func (s *Server) adopt() error {
	unix.Kill(s.pid, unix.SIGKILL)
	for {
		ws, err := forkline.Wait(s.pid)
		if err != nil {
			return s.died(err)
		}
		if ws.Exited() || ws.Signaled() {
			break
		}
	}
	s.line.Close()
	s.pid, s.adopted = s.last, true
	if parent, err := parentOf(s.pid); err != nil || parent != os.Getpid() {
		return s.died(errors.Join(errors.New("its process could not be adopted"), err))
	}
	s.changed()
	return nil
}

// changed tells the owner that a different process must now be spared.
func (s *Server) changed() {
	if s.cfg.Changed != nil {
		s.cfg.Changed()
	}
}

// direct runs a case in the adopted process.
func (s *Server) direct(timeout time.Duration) (word uint32, killed bool, err error) {
	s.inFlight.named(s.pid)
	if err := s.limit(s.pid); err != nil {
		return 0, false, err
	}
	s.start(timeout)
	unix.Kill(s.pid, unix.SIGCONT)
	var ws syscall.WaitStatus
	for {
		_, err = syscall.Wait4(s.pid, &ws, unix.WUNTRACED|unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	killed = s.stop()
	if err != nil {
		return 0, killed, fmt.Errorf("wait for the program: %w", err)
	}
	if killed && ws.Stopped() { // the case finished just before the kill took effect
		if _, err := forkline.Wait(s.pid); err != nil {
			return 0, killed, err
		}
	}
	if killed || !ws.Stopped() {
		s.pid, s.adopted, s.ended = 0, false, true
	}
	return uint32(ws), killed, nil
}

// again starts a new server after an adopted process has ended.
func (s *Server) again() error {
	s.ended = false
	line, err := forkline.Open()
	if err != nil {
		return err
	}
	s.line, s.lastDied, s.waiting = line, false, false
	began := time.Now()
	if err := s.launch(s.offered); err != nil {
		return err
	}
	t, err := greet(s.line, s.cfg.Timeout)
	if err != nil {
		return s.noGreeting(err)
	}
	if t.mapSize != s.mapSize || t.sharedInput != s.sharedInput {
		return errors.New("it greets differently the second time")
	}
	s.took = time.Since(began)
	s.changed()
	return nil
}

// parentOf reads the parent from /proc/PID/stat, where it is the second field after the name in
// parentheses.
func parentOf(pid int) (int, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, errors.New("no parent in " + string(stat))
	}
	return strconv.Atoi(string(fields[1]))
}
