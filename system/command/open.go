package command

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/thresh-dev/thresh/port/process"
)

// Open opens a runner for a lane; it is a process.Opener. If the plan has an input to calibrate
// with, Open runs the program a few times, and a few more times to try an accelerator.
func Open(ctx context.Context, plan process.Plan, lane, lanes int, cold bool) (process.Runner, error) {
	if err := checkPlan(&plan, lane, lanes); err != nil {
		return nil, err
	}
	return open(ctx, &plan, lane, lanes, cold)
}

func checkPlan(p *process.Plan, lane, lanes int) error {
	switch {
	case p.Command == nil:
		return errors.New("the plan has no command")
	case p.Timeout <= 0:
		return fmt.Errorf("the plan's timeout is %s, it must be above zero", p.Timeout)
	case p.Input == "" || path.Clean(p.Input) == ".":
		return errors.New("the plan names no input file")
	case lane < 0 || lane >= lanes:
		return fmt.Errorf("there is no worker %d of %d", lane, lanes)
	}
	for _, name := range append([]string{p.Input, p.OutDir}, p.Dirs...) {
		if name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%q is not a path inside the run folder", name)
		}
	}
	switch p.Executor {
	case "":
		p.Executor = process.Auto
	case process.Auto, process.Spawn, process.Zygote, process.AFL:
	default:
		return fmt.Errorf("there is no executor %q (auto, spawn, zygote and afl are known)", p.Executor)
	}
	p.Input = path.Clean(p.Input)
	if p.Coverage && (p.Executor == process.Spawn || p.Executor == process.Zygote) {
		return fmt.Errorf("the %s executor cannot measure coverage, only afl can", p.Executor)
	}
	return nil
}
