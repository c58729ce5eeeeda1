package aflserver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/system/command/internal/forkline"
)

const (
	// The descriptors at which the protocol expects the server's ends of the pipes.
	controlFD, statusFD = 198, 199

	defaultTimeout  = 10 * time.Second
	defaultMaxInput = 1 << 20
	// firstMapSize is the edge map that a program is offered first; the kernel allocates only what
	// the program uses. The old dialect cannot name a larger size.
	firstMapSize = 1 << 23
	maxMapSize   = 1 << 28
	inputHeader  = 4 // the length in front of an input, in bytes
)

// Start starts the program and its fork server. The error says, in words for a report, why the
// program cannot be used.
func Start(cfg Config) (*Server, error) {
	switch {
	case cfg.Features.SanitizerCoverage:
		return nil, errors.New("it has coverage calls but no fork server; compile it with thresh fuzzspec cc")
	case !cfg.Features.Instrumented:
		return nil, errors.New("it was not compiled with thresh fuzzspec cc or afl-cc")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxInput <= 0 {
		cfg.MaxInput = defaultMaxInput
	}
	s, err := start(&cfg, firstMapSize)
	if small, ok := errors.AsType[mapTooSmall](err); ok && int(small) <= maxMapSize {
		s, err = start(&cfg, int(small))
	}
	return s, err
}

// mapTooSmall is the size of the edge map that the program needs, in bytes.
type mapTooSmall int

func (m mapTooSmall) Error() string {
	return fmt.Sprintf("the program needs an edge map of %d bytes", int(m))
}

func start(cfg *Config, mapSize int) (_ *Server, err error) {
	s := &Server{cfg: *cfg}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.edges, err = newSegment(roundUp(mapSize)); err != nil {
		return nil, err
	}
	if s.inputs, err = newSegment(inputHeader + cfg.MaxInput); err != nil {
		return nil, err
	}
	if cfg.Features.Counted {
		if s.work, err = NewCounter(); err != nil {
			return nil, err
		}
		s.give(asked)
		if cfg.Features.Persistent {
			if s.batch, err = newSegment(batchSize + cfg.MaxInput); err != nil {
				return nil, err
			}
		}
	}
	if cfg.Listen && cfg.Features.Compares {
		if s.comparisons, err = newSegment(comparisonsSize); err != nil {
			return nil, err
		}
	} else if cfg.Listen {
		if s.cmplog, err = newSegment(cmplogSize); err != nil {
			return nil, err
		}
	}
	if s.line, err = forkline.Open(); err != nil {
		return nil, err
	}
	s.offered = mapSize
	began := time.Now()
	if err = s.launch(mapSize); err != nil {
		return nil, err
	}
	t, err := greet(s.line, cfg.Timeout)
	if err != nil {
		return nil, s.noGreeting(err)
	}
	switch {
	case t.mapSize > mapSize:
		return nil, mapTooSmall(t.mapSize)
	case t.mapSize <= 0:
		return nil, errors.New("the fork server names no size for its edge map")
	case s.cmplog != nil && t.cmplog == noCmplog:
		return nil, errors.New("it was built by a version of AFL++ before 4.00, whose cmplog is another one")
	}
	s.layouts = cmplogLayouts[t.cmplog]
	s.counts = s.edges.mem[:roundUp(t.mapSize)]
	s.turns = s.work != nil && *s.turn() == ready
	s.mapSize, s.sharedInput, s.took = t.mapSize, t.sharedInput, time.Since(began)
	s.watch = forkline.NewWatchdog(s.onDeadline)
	return s, nil
}

// roundUp rounds a size up to the block size of appendEdges.
func roundUp(n int) int { return (n + 31) &^ 31 }

func (s *Server) launch(mapSize int) error {
	// The program is traced while limits are applied to it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.leash.Close()
	leash, err := forkline.NewLeash()
	if err != nil {
		return err
	}
	s.leash = leash
	pid, err := s.line.Launch(forkline.Program{
		Path: s.cfg.Path, Argv: s.cfg.Argv, Env: s.environment(mapSize), Dir: s.cfg.Dir,
		Files: s.cfg.Files, Limits: s.cfg.Limits, Leash: leash,
	}, controlFD, statusFD)
	if err != nil {
		return err
	}
	s.pid, s.group = pid, pid
	if s.cmplog != nil {
		if err := forkline.FixRandom(pid); err != nil {
			return err
		}
	}
	if err := syscall.PtraceDetach(pid); err != nil {
		return fmt.Errorf("let the program go: %w", err)
	}
	return nil
}

// environment returns the user's environment with the protocol's variables, which override the
// user's.
func (s *Server) environment(mapSize int) []string {
	own := []string{
		s.edges.variable("__AFL_SHM_ID="),
		s.inputs.variable("__AFL_SHM_FUZZ_ID="),
		"AFL_MAP_SIZE=" + strconv.Itoa(mapSize),
	}
	if s.work != nil {
		own = append(own, s.work.Variable())
	}
	if s.batch != nil {
		own = append(own, s.batch.variable("__THRESH_BATCH_ID="))
	}
	if s.comparisons != nil {
		own = append(own, s.comparisons.variable("__THRESH_COMPARE_ID="))
	}
	if s.cmplog != nil {
		own = append(own, s.cmplog.variable("__AFL_CMPLOG_SHM_ID="))
	}
	if s.cfg.Features.Persistent {
		own = append(own, "__AFL_PERSISTENT=1")
	}
	if s.cfg.Features.Deferred {
		own = append(own, "__AFL_DEFER_FORKSRV=1")
	}
	env := slices.DeleteFunc(slices.Clone(s.cfg.Env), func(v string) bool {
		return strings.HasPrefix(v, "__AFL_") || strings.HasPrefix(v, workVariable) || strings.HasPrefix(v, "AFL_MAP_SIZE=")
	})
	return append(env, own...)
}

// noGreeting returns why a server did not start.
func (s *Server) noGreeting(cause error) error {
	switch {
	case errors.Is(cause, os.ErrDeadlineExceeded):
		return fmt.Errorf("its fork server does not answer within %v", s.cfg.Timeout)
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrClosedPipe):
		// A process that is ending keeps its own status; one that closed its pipes and lives on
		// gets killed.
		ws := forkline.Destroy(s.pid)
		s.pid = 0
		if ws.Signaled() && ws.Signal() == unix.SIGKILL {
			return errors.New("it closes the pipes of its fork server")
		}
		return fmt.Errorf("it ends (%s) before its fork server is up", forkline.Ended(ws))
	}
	return cause
}

// Server is a program whose fork server is running. One goroutine at a time may call its methods,
// except Kill; any number of servers may be used side by side.
type Server struct {
	cfg         Config
	pid         int // 0: gone
	line        *forkline.Line
	leash       *forkline.Leash // of the server and all its cases, including adopted ones
	watch       *forkline.Watchdog
	edges       *segment
	inputs      *segment
	work        *Counter // nil: the program does not count
	batch       *segment // cases of a batch; nil: no batches
	comparisons *segment // what the last case compared; nil: not listening, or by cmplog
	cmplog      *segment // the same in one of AFL++'s layouts; nil: not listening, or by comparisons
	layouts     []cmplogLayout
	counts      []byte // the part of edges that the program uses
	mapSize     int
	sharedInput bool

	inFlight runningCase
	last     int  // process of the last case
	lastDied bool // we sent it a SIGKILL
	waiting  bool // last waits for its next case
	turns    bool // the program takes turns with us
	cannot   bool // the program does not survive a warm-up
	group    int  // process group of all cases
	offered  int  // size of the edge map offered to the program
	took     time.Duration
	steady   int       // cases that the current process has run
	adopted  bool      // pid is the adopted process; there is no server
	ended    bool      // the adopted process has ended; there is no server
	armed    time.Time // when the limit on processor time was last extended

	bounds bounds
	clock  clock
}

// SharedInput reports whether cases take their input from shared memory; otherwise the caller
// writes it to the file or descriptor that they read.
func (s *Server) SharedInput() bool { return s.sharedInput }

// Persistent reports whether many cases share a process.
func (s *Server) Persistent() bool { return s.cfg.Features.Persistent }

// Edges appends the edges of the last run to dst, as edge<<8|bucket in ascending order, with AFL's
// buckets of counts: 1, 2, 4, 8, 16, 32, 64, 128.
func (s *Server) Edges(dst []uint32) []uint32 { return appendEdges(dst, s.counts) }

// Close ends the program and any processes its cases left, and frees the shared memory.
func (s *Server) Close() error {
	if s.watch != nil {
		s.watch.Close()
	}
	if s.line != nil {
		s.line.Close()
	}
	if s.pid != 0 {
		forkline.Destroy(s.pid)
		s.pid = 0
	}
	s.leash.Close()
	s.counts = nil
	s.work.Close()
	for _, seg := range []*segment{s.edges, s.inputs, s.batch, s.comparisons, s.cmplog} {
		if seg != nil {
			seg.close()
		}
	}
	return nil
}
