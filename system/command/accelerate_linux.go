package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command/internal/aflserver"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"github.com/thresh-dev/thresh/system/command/internal/zygote"
	"golang.org/x/sys/unix"
)

// accelerators lists the accelerators to try for the requested executor, best first.
func (g *laneState) accelerators(asked process.Executor) []accelerator {
	z := &zygoteExecutor{laneState: g}
	a := &aflExecutor{laneState: g}
	list := []accelerator{
		{process.AFL, a.start, a.method},
		{process.Zygote, z.start, z.method},
	}
	return slices.DeleteFunc(list, func(a accelerator) bool {
		return asked != process.Auto && a.name != asked || g.plan.Coverage && a.name != process.AFL
	})
}

// files returns the descriptors that become standard input, output and error.
func (g *laneState) files() [3]int { return [3]int{g.stdin(), g.out.fd, g.err.fd} }

// staleID returns a remark for programs that are started once and therefore see the same run id in
// all cases; "" if the command does not contain the run id.
func (g *laneState) staleID() string {
	if len(g.image.spots) == 0 {
		return ""
	}
	return "; the run id that a program sees is that of its start"
}

// serverTimeout limits the time a fork server may spend outside a case.
const serverTimeout = 10 * time.Second

// shieldFromReaper exempts the processes that now bear the lane's mark from the reaper: no case is
// running, so they can only be fork servers.
func (g *laneState) shieldFromReaper() {
	threads, _ := os.ReadDir("/proc/self/task")
	g.reaper.known = g.reaper.known[:0]
	for _, t := range threads {
		line, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
		for _, pid := range fields(line) {
			if g.reaper.marked(pid) {
				g.reaper.known = append(g.reaper.known, pid)
			}
		}
	}
}

// zygoteExecutor forks cases from the program itself, which is held at a point before it touches
// its input.
type zygoteExecutor struct {
	*laneState
	server     *zygote.Server
	generation int
}

func (z *zygoteExecutor) name() process.Executor { return process.Zygote }

func (z *zygoteExecutor) method() string {
	return "forked from the started program, held at its " + z.server.Point() + z.staleID()
}

func (z *zygoteExecutor) start() (executor, error) {
	z.cpu.pin()
	defer z.cpu.unpin()
	if err := z.prepare(context.Background(), probeID, z.plan.Calibrate); err != nil {
		return nil, err
	}
	server, err := zygote.Start(zygote.Config{
		Path: z.image.command.Path, Argv: z.image.command.Argv, Env: z.image.command.Env,
		Dir: z.folder.run, Files: z.files(), InputPath: z.folder.path(z.plan.Input), Stdin: z.plan.Stdin,
		Limits: z.limits, Timeout: serverTimeout,
	})
	if err != nil {
		return nil, err
	}
	z.server, z.generation = server, z.laneState.generation
	z.shieldFromReaper()
	z.group.serves()
	return z, nil
}

func (z *zygoteExecutor) close() error { return z.server.Close() }

func (z *zygoteExecutor) run(ctx context.Context, runID string, input []byte, limit time.Duration) (process.Result, error) {
	z.cpu.pin()
	defer z.cpu.unpin()
	if err := z.prepare(ctx, runID, input); err != nil {
		return process.Result{}, err
	}
	if z.generation != z.laneState.generation {
		// The server holds descriptors of folders that no longer exist.
		if err := z.server.Close(); err != nil {
			return process.Result{}, err
		}
		if _, err := z.start(); err != nil {
			return process.Result{}, fmt.Errorf("%w: %w", errDied, err)
		}
		if err := z.prepare(ctx, runID, input); err != nil {
			return process.Result{}, err
		}
	}
	began := time.Now()
	pid, err := z.server.Fork()
	if err != nil {
		return process.Result{}, fmt.Errorf("%w: %w", errDied, err)
	}
	res, err := z.await(ctx, forked(pid), began, limit)
	res.Executor = process.Zygote
	return res, err
}

// forked describes a case's process that was forked from a running program.
func forked(pid int) child {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		fd = -1 // the descriptor only makes a short wait cheaper
	}
	return child{pid: pid, fd: fd, forked: true}
}

// aflExecutor runs cases through the fork server that afl-cc compiled into the program.
type aflExecutor struct {
	*laneState
	server     *aflserver.Server
	generation int
	edges      []uint32
	results    []process.Result  // of a batch
	tuples     []uint32          // their edges
	unsuited   int               // consecutive batches whose cases had to be run again
	late       bool              // the case after the last batch hangs, so it runs alone
	listener   *aflserver.Server // reports what cases compare; nil: not needed yet
	deaf       bool              // the listener cannot be started
}

func (a *aflExecutor) name() process.Executor { return process.AFL }

func (a *aflExecutor) method() string {
	if a.server.Persistent() {
		return "persistent mode" + a.staleID()
	}
	return "fork server" + a.staleID()
}

func (a *aflExecutor) start() (executor, error) {
	features := a.features
	features.Counted = a.work != nil
	a.cpu.pin()
	defer a.cpu.unpin()
	if err := a.prepare(context.Background(), probeID, a.plan.Calibrate); err != nil {
		return nil, err
	}
	server, err := a.serve(&a.image.command, aflserver.Config{Features: features, Limits: a.limits})
	if err != nil {
		return nil, err
	}
	a.server, a.generation = server, a.laneState.generation
	return a, nil
}

// serve starts a command's fork server.
func (a *aflExecutor) serve(c *process.Command, cfg aflserver.Config) (*aflserver.Server, error) {
	argv := c.Argv
	if cfg.Features.Driver { // it serves cases only if its arguments name no file
		argv = slices.DeleteFunc(slices.Clone(argv), func(arg string) bool { return arg == a.image.paths.InputPath })
	}
	cfg.Path, cfg.Argv, cfg.Env, cfg.Dir = c.Path, argv, c.Env, a.folder.run
	cfg.Files, cfg.Stdin, cfg.Timeout, cfg.MaxInput = a.files(), a.plan.Stdin, serverTimeout, a.maxInput()
	cfg.Reaper, cfg.Changed = a.reaper.reap, a.shieldFromReaper
	server, err := aflserver.Start(cfg)
	if err != nil {
		return nil, err
	}
	a.shieldFromReaper()
	a.group.serves()
	return server, nil
}

// leastWait is the shortest wall-clock limit of a case whose processor time is limited.
const leastWait = time.Second

// aflMaxInput is the minimum size of the shared memory for inputs, in bytes.
const aflMaxInput = 1 << 20

func (a *aflExecutor) maxInput() int { return max(aflMaxInput, 4*len(a.plan.Calibrate)) }

func (a *aflExecutor) close() error {
	err := a.server.Close()
	a.living = false
	if a.listener != nil {
		err = errors.Join(err, a.listener.Close())
		a.listener = nil
	}
	return err
}

// prepareCase prepares a case for the running server, and restarts the server if the lane's
// generation has changed.
func (a *aflExecutor) prepareCase(ctx context.Context, runID string, input []byte) error {
	if !a.server.SharedInput() {
		if err := a.prepare(ctx, runID, input); err != nil {
			return err
		}
	} else if err := a.prepareWithout(ctx); err != nil {
		return err
	} else if len(input) > a.maxInput() {
		return fmt.Errorf("%w: an input of %d bytes", errUnsuited, len(input))
	}
	if a.generation == a.laneState.generation {
		return nil
	}
	if err := a.close(); err != nil {
		return err
	}
	if _, err := a.start(); err != nil {
		return fmt.Errorf("%w: %w", errDied, err)
	}
	return a.prepare(ctx, runID, input)
}

func (a *aflExecutor) run(ctx context.Context, runID string, input []byte, limit time.Duration) (process.Result, error) {
	var ws syscall.WaitStatus
	timedOut := false
	res, err := a.attempt(ctx, runID, input, limit, func(limit time.Duration) (err error) {
		ws, timedOut, err = a.server.Run(input, limit)
		return err
	})
	if err != nil {
		return res, err
	}
	a.living = a.server.Persistent() && !ws.Signaled()
	a.setStatus(&res, unix.WaitStatus(ws), timedOut)
	if a.plan.Coverage {
		a.edges = a.server.Edges(a.edges[:0])
		res.Edges, res.Work, res.Kept = a.edges, a.server.Work(), a.server.Persistent()
	}
	return res, a.collect(&res)
}

// attempt has the server run one case or a batch.
func (a *aflExecutor) attempt(ctx context.Context, runID string, input []byte, limit time.Duration, run func(limit time.Duration) error) (process.Result, error) {
	a.cpu.pin()
	defer a.cpu.unpin()
	if err := a.prepareCase(ctx, runID, input); err != nil {
		return process.Result{}, err
	}
	if a.plan.Coverage {
		a.server.Bound(a.budget, limit)
		limit = min(max(2*limit, leastWait), a.plan.Timeout)
	}
	began := time.Now()
	// The server enforces the limit; the watchdog only heeds the context.
	a.abort = a.server.Kill
	a.dog.watch(forkline.Longest(limit) + serverTimeout)
	err := run(limit)
	_, _, cancelled := a.dog.unwatch()
	a.abort = nil
	res := process.Result{Started: began, Elapsed: time.Since(began), Dir: a.folder.run, Executor: process.AFL}
	if cancelled {
		return res, ctx.Err()
	}
	switch {
	case errors.Is(err, aflserver.ErrServerDied):
		return res, fmt.Errorf("%w: %w", errDied, err)
	case err != nil:
		return res, fmt.Errorf("run a case by the fork server: %w", err)
	}
	res.Leftovers, err = a.reaper.hunt(0)
	return res, err
}

// batch runs cases in one process and returns the results of those that ran. If the process wrote
// to a file, left processes behind or exceeded the output limit, nobody can say which case did it:
// batch then returns nothing, and the cases must run again one by one.
func (a *aflExecutor) batch(ctx context.Context, inputs [][]byte, limit time.Duration) ([]process.Result, error) {
	if a.unsuited == mostUnsuited || !a.server.Batches() {
		return nil, nil
	}
	if a.late {
		a.late = false
		return nil, nil
	}
	var done int
	var ws syscall.WaitStatus
	var ended, late bool
	res, err := a.attempt(ctx, probeID, inputs[0], limit, func(limit time.Duration) (err error) {
		done, ws, ended, late, err = a.server.RunBatch(inputs, limit)
		return err
	})
	if errors.Is(err, errDied) || errors.Is(err, errUnsuited) {
		return nil, nil // the next case reports it
	}
	if err != nil {
		return nil, err
	}
	if err := a.collect(&res); err != nil {
		return nil, err
	}
	if res.Leftovers > 0 || !a.folder.isUntouched() || res.OutputLimit {
		a.unsuited++
		return nil, nil
	}
	a.unsuited, a.late, a.living = 0, late && done > 0, !ended
	last := res
	res.Stdout, res.Stderr, res.StdoutSize, res.StderrSize = nil, nil, 0, 0
	res.Kept, res.Elapsed = true, res.Elapsed/time.Duration(max(done, 1))
	a.tuples, a.results = a.tuples[:0], a.results[:0]
	for i := range done {
		from := len(a.tuples)
		a.tuples, res.Work = a.server.Of(i, a.tuples)
		res.Edges = a.tuples[from:len(a.tuples):len(a.tuples)]
		a.results = append(a.results, res)
	}
	if ended {
		a.setStatus(&res, unix.WaitStatus(ws), false)
		from := len(a.tuples)
		a.tuples = a.server.Edges(a.tuples)
		res.Edges, res.Work = a.tuples[from:], a.server.Work()
		a.results = append(a.results, res)
	}
	if n := len(a.results); n > 0 {
		r := &a.results[n-1]
		r.Stdout, r.Stderr, r.StdoutSize, r.StderrSize = slices.Clone(last.Stdout), slices.Clone(last.Stderr), last.StdoutSize, last.StderrSize
	}
	return a.results, nil
}

// mostUnsuited is the number of consecutive unusable batches after which batching stops.
const mostUnsuited = 4
