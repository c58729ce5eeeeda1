//go:build unix

package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// defaultOutput is how many bytes of an output are kept if no limit is given.
const defaultOutput = 1 << 20

// afterlife is the time for a command's exit handlers once it has reported its end.
const afterlife = time.Second

// OpenCommander implements pyhost.CommandOpener.
func OpenCommander(ctx context.Context, python string) (pyhost.Commander, error) {
	l, err := newLane(ctx, python, "", nil)
	if err != nil {
		return nil, err
	}
	return &commander{lane: l}, nil
}

type commander struct{ lane *lane }

// commandRequest is the first frame of a command's child.
type commandRequest struct {
	Role       string            `json:"role"`
	Entrypoint string            `json:"entrypoint"`
	Argv       []string          `json:"argv"`
	Path       []string          `json:"path"`
	Dir        string            `json:"dir"`
	Environ    []string          `json:"environ"`
	Temp       string            `json:"temp"`
	Terminal   bool              `json:"terminal"`
	Stubs      []string          `json:"stubs"`
	Blocked    []string          `json:"blocked"`
	Before     string            `json:"before"`
	After      string            `json:"after"`
	Kwargs     json.RawMessage   `json:"kwargs"`
	Case       pyhost.HookCase   `json:"case"`
	Want       int64             `json:"want"`
	Limits     map[string]uint64 `json:"limits"`
}

// commandFrame is a frame from a command's child.
type commandFrame struct {
	Phase    pyhost.Phase  `json:"phase"`
	Frozen   bool          `json:"frozen"`   // the capture has ended
	Wanted   bool          `json:"wanted"`   // the child waits for the captured texts
	Captured bool          `json:"captured"` // the child waits for the texts captured so far
	End      bool          `json:"end"`
	Exit     *int64        `json:"exit"`
	Fault    *pyhost.Fault `json:"fault"`
}

func (c *commander) Notes() []string { return c.lane.notes() }

func (c *commander) Close() error { return c.lane.close() }

// Run implements pyhost.Commander.
func (c *commander) Run(ctx context.Context, cmd pyhost.Command) (pyhost.CommandResult, error) {
	if err := ctx.Err(); err != nil {
		return pyhost.CommandResult{}, err
	}
	defer c.lane.follow(ctx)()
	res, err := c.run(ctx, cmd)
	if err == nil && res.Ending == pyhost.Signaled && c.lane.zygote == nil {
		// The zygote died with the case. If the case did not cause that, it does not happen again.
		return c.run(ctx, cmd)
	}
	return res, err
}

func (c *commander) run(ctx context.Context, cmd pyhost.Command) (pyhost.CommandResult, error) {
	res := pyhost.CommandResult{Phase: pyhost.PhaseSetup}
	dir, err := c.lane.folder.fresh()
	if err != nil {
		return res, err
	}
	res.TempDir = dir
	if err := setUp(res.TempDir, cmd.SetupFiles); err != nil {
		res.Ending, res.Fault = pyhost.Raised, osFault(err)
		return res, nil
	}
	request, err := newRequest(cmd, res.TempDir)
	if err != nil {
		return res, err
	}
	limit := cmd.Limits.Output
	if limit <= 0 {
		limit = defaultOutput
	}
	s, err := c.lane.open(ctx, cmd.Stdin, limit, nil)
	if err != nil {
		return res, err
	}
	deadline := time.Now().Add(cmd.Timeout)
	if err := s.channel.send(request, deadline); err != nil {
		s.finish(0)
		return res, err
	}
	stopped := s.follow(ctx, &res, deadline)
	var patience time.Duration
	if stopped == nil {
		patience = min(afterlife, max(0, time.Until(deadline)))
	}
	end := s.finish(patience)
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	res.Leftovers = end.leftovers
	res.Stdout, res.Stderr = s.out[0].buf, s.out[1].buf
	return res, conclude(&res, stopped, end, s)
}

// conclude determines how a command ended that did not report its end.
func conclude(res *pyhost.CommandResult, stopped error, end *ending, s *session) error {
	over := s.out[0].over || s.out[1].over
	switch {
	case over:
		res.Ending, res.Fault = pyhost.OutputLimit, nil
	case stopped == nil:
	case errors.Is(stopped, errDeadline):
		res.Ending = pyhost.TimedOut
	case !errors.Is(stopped, errEnded):
		return stopped
	case end.status.Signaled():
		res.Ending, res.Signal = pyhost.Signaled, int(end.status.Signal())
		if end.host {
			res.Fault = &pyhost.Fault{Class: "HostKilled", Message: "the command ended the process that had started it"}
		}
	default:
		res.Ending, res.ExitCode = pyhost.Exited, int64(end.status.ExitStatus())
	}
	return nil
}

// follow handles the child's frames until it reports its end, which returns nil, or until the wait
// ends otherwise.
func (s *session) follow(ctx context.Context, res *pyhost.CommandResult, deadline time.Time) error {
	for {
		data, err := s.next(ctx, deadline, true)
		if err != nil {
			return err
		}
		var frame commandFrame
		if err := json.Unmarshal(data, &frame); err != nil {
			return errEnded // the case has found the channel and sends garbage
		}
		if frame.Phase != "" {
			res.Phase = frame.Phase
		}
		switch {
		case frame.Frozen:
			s.freeze()
		case frame.Captured:
			s.drain()
		}
		if frame.Captured || frame.Wanted {
			texts := map[string]string{"stdout": string(s.out[0].buf), "stderr": string(s.out[1].buf)}
			if err := s.channel.send(texts, deadline); err != nil {
				return errDeadline
			}
		}
		if frame.End {
			s.freeze()
			if frame.Exit != nil {
				res.ExitCode = *frame.Exit
			}
			if frame.Fault != nil {
				res.Ending, res.Fault = pyhost.Raised, frame.Fault
			}
			return nil
		}
	}
}

func newRequest(cmd pyhost.Command, temp string) (*commandRequest, error) {
	environ := os.Environ()
	if cmd.Environ != nil {
		environ = cmd.Environ(temp)
	}
	r := &commandRequest{
		Role: "command", Entrypoint: cmd.Entrypoint, Argv: list(cmd.Argv), Environ: list(environ), Dir: cmd.Dir, Temp: temp,
		Terminal: cmd.StdinIsTTY, Stubs: list(cmd.StubModules), Blocked: list(cmd.BlockImports),
		Before: cmd.HookBefore, After: cmd.HookAfter, Kwargs: cmd.HookKwargs, Case: cmd.Case, Want: cmd.WantExit,
		Limits: hostLimits(cmd.Limits),
	}
	if r.Kwargs == nil {
		r.Kwargs = json.RawMessage("{}")
	}
	var err error
	r.Path, err = absolute(cmd.SearchPath)
	return r, err
}

// list converts a nil list to an empty one, because JSON distinguishes them.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

func absolute(paths []string) ([]string, error) {
	abs := make([]string, len(paths))
	for i, p := range paths {
		var err error
		if abs[i], err = filepath.Abs(p); err != nil {
			return nil, fmt.Errorf("find the folder %s: %w", p, err)
		}
	}
	return abs, nil
}

// hostLimits returns the limits under the host's names.
func hostLimits(l process.Limits) map[string]uint64 {
	limits := make(map[string]uint64)
	for name, n := range map[string]int64{"memory": l.AddressSpace, "file": l.FileSize, "processes": l.Processes} {
		if n > 0 {
			limits[name] = uint64(n)
		}
	}
	return limits
}

// setUp writes the files that a command expects.
func setUp(temp string, files []pyhost.SetupFile) error {
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		if !filepath.IsLocal(name) {
			return &os.PathError{Op: "write", Path: f.Path, Err: errors.New("the path leaves the temporary folder")}
		}
		name = filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(f.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// osFault converts an error of the operating system to Python's exception.
func osFault(err error) *pyhost.Fault {
	class := "OSError"
	bases := []string{"OSError", "Exception", "BaseException"}
	for errno, name := range map[syscall.Errno]string{syscall.ENOENT: "FileNotFoundError", syscall.ENOTDIR: "NotADirectoryError", syscall.EISDIR: "IsADirectoryError", syscall.EEXIST: "FileExistsError"} {
		if errors.Is(err, errno) {
			class, bases = name, append([]string{name}, bases...)
		}
	}
	return &pyhost.Fault{Class: class, Bases: bases, Message: err.Error()}
}
