//go:build !linux

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/scratch"
)

// plain runs programs with the portable means of the standard library. It has no accelerators,
// sandbox or limits, and its notes say so.
type plain struct {
	plan  *process.Plan
	top   *scratch.Folder
	paths process.Paths
	out   *os.File
	err   *os.File
	bufs  [2][]byte

	started, ended int64
}

// defaultOutput is the number of output bytes kept if the plan sets no limit.
const defaultOutput = 1 << 20

func open(ctx context.Context, plan *process.Plan, index, _ int, cold bool) (_ process.Runner, err error) {
	if !cold && plan.Executor != process.Auto && plan.Executor != process.Spawn {
		return nil, fmt.Errorf("the %s executor cannot be used: it exists on Linux only", plan.Executor)
	}
	if plan.Coverage {
		return nil, errors.New("coverage cannot be measured: that needs Linux")
	}
	top, err := scratch.Make("")
	if err != nil {
		return nil, err
	}
	p := &plain{plan: plan, top: top}
	l := &lane{plan: plan, spawn: p, short: plan.Timeout}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	run := filepath.Join(top.Path, fmt.Sprintf("w%d", index), "run")
	p.paths = process.Paths{RunDir: run, InputPath: filepath.Join(run, filepath.FromSlash(plan.Input))}
	if plan.OutDir != "" {
		p.paths.OutDir = filepath.Join(run, filepath.FromSlash(plan.OutDir))
	}
	l.outDir = p.paths.OutDir
	if p.out, err = os.Create(filepath.Join(top.Path, "stdout")); err != nil {
		return nil, fmt.Errorf("make the file that catches stdout: %w", err)
	}
	if p.err, err = os.Create(filepath.Join(top.Path, "stderr")); err != nil {
		return nil, fmt.Errorf("make the file that catches stderr: %w", err)
	}
	l.notes = append(l.notes, "cases are run by spawn, the portable way: accelerators exist on Linux only")
	if plan.Limits != (process.Limits{Output: plan.Limits.Output}) {
		l.notes = append(l.notes, "limits on memory, processor time, files and processes are not applied on "+runtime.GOOS)
	}
	if plan.Sandbox {
		l.notes = append(l.notes, "sandbox: nothing could be applied on "+runtime.GOOS)
	}
	l.notes = append(l.notes, "processes that leave their group are not killed on "+runtime.GOOS)
	l.short, _, err = calibrate(ctx, plan, p)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (p *plain) name() process.Executor { return process.Spawn }

// prepare makes a new run folder and empties the captures.
func (p *plain) prepare(input []byte) error {
	run := p.paths.RunDir
	if err := os.RemoveAll(run); err != nil {
		return fmt.Errorf("empty the run folder: %w", err)
	}
	dirs := append([]string{p.plan.OutDir, filepath.Dir(p.plan.Input)}, p.plan.Dirs...)
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(run, filepath.FromSlash(d)), 0o755); err != nil {
			return fmt.Errorf("make the run folder: %w", err)
		}
	}
	if err := os.WriteFile(p.paths.InputPath, input, 0o644); err != nil {
		return fmt.Errorf("write the input file: %w", err)
	}
	for _, f := range []*os.File{p.out, p.err} {
		if err := f.Truncate(0); err != nil {
			return fmt.Errorf("empty the file that catches output: %w", err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			return fmt.Errorf("rewind the file that catches output: %w", err)
		}
	}
	return nil
}

func (p *plain) run(ctx context.Context, runID string, input []byte, limit time.Duration) (process.Result, error) {
	if err := ctx.Err(); err != nil {
		return process.Result{}, err
	}
	if err := p.prepare(input); err != nil {
		return process.Result{}, err
	}
	paths := p.paths
	paths.RunID = runID
	c := p.plan.Command(paths)
	cmd := &exec.Cmd{Path: c.Path, Args: c.Argv, Env: c.Env, Dir: cmp.Or(c.Dir, paths.RunDir), Stdout: p.out, Stderr: p.err}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if p.plan.Stdin {
		in, err := os.Open(paths.InputPath)
		if err != nil {
			return process.Result{}, fmt.Errorf("open the input file: %w", err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	ownGroup(cmd)
	res := process.Result{Started: time.Now(), Dir: paths.RunDir, Executor: process.Spawn}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return res, fmt.Errorf("the program %s no longer exists: %w", c.Path, err)
		}
		return res, fmt.Errorf("start %s: %w", c.Path, err)
	}
	p.started++
	timer := time.AfterFunc(limit, func() { killGroup(cmd) })
	stop := context.AfterFunc(ctx, func() { killGroup(cmd) })
	// Because the outputs are files, Wait does not wait for other processes that hold them open.
	waitErr := cmd.Wait()
	timedOut := !timer.Stop()
	stop()
	res.Elapsed = time.Since(res.Started)
	killGroup(cmd)
	if cmd.ProcessState == nil {
		return res, fmt.Errorf("wait for the program: %w", waitErr)
	}
	p.ended++
	if err := ctx.Err(); err != nil {
		return res, err
	}
	setEnd(&res, cmd.ProcessState)
	if timedOut {
		res.Status, res.Signal = process.TimedOut, 0
	}
	res.UserTime, res.SystemTime = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	var err error
	if res.Stdout, res.StdoutSize, err = p.read(0, p.out); err != nil {
		return res, err
	}
	res.Stderr, res.StderrSize, err = p.read(1, p.err)
	return res, err
}

func (p *plain) read(which int, f *os.File) ([]byte, int64, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("look at captured output: %w", err)
	}
	keep := p.plan.Limits.Output
	if keep == 0 {
		keep = defaultOutput
	}
	n := min(st.Size(), keep)
	if int64(cap(p.bufs[which])) < n {
		p.bufs[which] = make([]byte, n)
	}
	buf := p.bufs[which][:n]
	if k, err := f.ReadAt(buf, 0); err != nil && int64(k) < n {
		return nil, 0, fmt.Errorf("read captured output: %w", err)
	}
	return buf, st.Size(), nil
}

func (p *plain) close() error {
	var errs []error
	for _, f := range []*os.File{p.out, p.err} {
		if f != nil {
			f.Close()
		}
	}
	if p.started != p.ended {
		errs = append(errs, fmt.Errorf("%d processes were started but the end of %d was seen", p.started, p.ended))
	}
	return errors.Join(append(errs, p.top.Close())...)
}

// Containment returns the parts of a sandbox that the system grants.
func Containment() (granted, refused []string, err error) {
	return nil, []string{"sandbox (Linux on amd64 only)"}, nil
}
