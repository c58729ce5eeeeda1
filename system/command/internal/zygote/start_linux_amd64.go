package zygote

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"golang.org/x/sys/unix"
)

// Server is a program held at its fork point. One goroutine may use it at a time; any number of
// servers may be used side by side.
type Server struct {
	pid     int // 0: gone
	line    *forkline.Line
	watch   *forkline.Watchdog
	point   string
	reason  string
	timeout time.Duration
}

const defaultTimeout = 10 * time.Second

// Start brings the program to the latest safe fork point. The error says, in words for a report,
// why there is none; the program is then no longer running.
//
// Cases inherit what children of the calling thread inherit. The program's start-up can see nothing
// of a case but its arguments, its environment and that the input file exists.
func Start(cfg Config) (*Server, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if err := checkFile(cfg.Path); err != nil {
		return nil, err
	}
	// Only the thread that starts a program may trace it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var reasons []string
	for _, point := range []string{PointInput, PointMain, PointEntry} {
		s, err := attemptPoint(&cfg, point)
		if err == nil {
			s.reason = strings.Join(reasons, "; ")
			return s, nil
		}
		var h hazard
		if !errors.As(err, &h) {
			return nil, err
		}
		reasons = append(reasons, err.Error())
	}
	return nil, errors.New(strings.Join(reasons, "; "))
}

// Fork makes a case: a copy of the program at its fork point. The copy is a child of this process,
// which must wait for it like for a spawned one; it leads its own session when Fork returns.
func (s *Server) Fork() (int, error) {
	if s.pid == 0 {
		return 0, ErrDied
	}
	if err := s.line.Send(0); err != nil {
		return 0, s.died(err)
	}
	s.watch.Start(s.timeout)
	word, err := s.line.Next()
	if overdue := s.watch.Stop(); overdue && err != nil {
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		return 0, s.died(err)
	}
	if n := int32(word); n < 0 {
		return 0, fmt.Errorf("fork the started program: %w", syscall.Errno(-n))
	}
	return int(word), nil
}

// died cleans up after the server and returns an error that says how it ended. A server that does
// not answer counts as dead.
func (s *Server) died(cause error) error {
	ws := s.end()
	if ws.Signaled() && ws.Signal() == unix.SIGKILL {
		return fmt.Errorf("%w: %w", ErrDied, cause)
	}
	return fmt.Errorf("%w (%s): %w", ErrDied, forkline.Ended(ws), cause)
}

func (s *Server) end() syscall.WaitStatus {
	s.watch.Close()
	s.line.Close()
	ws := forkline.Destroy(s.pid)
	s.pid = 0
	return ws
}

// Point returns the program's fork point: [PointInput], [PointMain] or [PointEntry].
func (s *Server) Point() string { return s.point }

// Close ends the held program. Running cases are left alone: they belong to the caller.
func (s *Server) Close() error {
	if s.pid != 0 {
		s.end()
	}
	return nil
}
