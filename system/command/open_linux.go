package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"time"
	"unsafe"

	"github.com/thresh-dev/thresh/port/process"
	"golang.org/x/sys/unix"
)

func open(ctx context.Context, plan *process.Plan, index, lanes int, cold bool) (_ process.Runner, err error) {
	// Children close what they inherit by themselves; but programs that others
	// start for us, and ForkExec, go by the flag. Go sets it on all it opens.
	unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	deafenToChildren()
	hearSignals()
	g, err := newLaneState(plan, index, lanes)
	if err != nil {
		return nil, err
	}
	spawn := newSpawner(g, launchable())
	if plan.Shell && !cold {
		spawn.shells = &shells{laneState: g, script: -1}
	}
	l := &lane{plan: plan, spawn: spawn, short: plan.Timeout}
	if !plan.PerCase {
		l.program = g.image.command.Path
	}
	if plan.OutDir != "" {
		l.outDir = g.folder.visiblePath(plan.OutDir)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	l.settle = func() func() { g.cpu.pin(); return g.cpu.unpin }
	usual := time.Duration(0)
	if l.short, usual, err = calibrate(ctx, plan, l.spawn); err != nil {
		return nil, err
	}
	if g.work != nil {
		l.allow, l.short = g.allow, countedLimit(l.short, usual, plan.Timeout)
	}
	g.cpu.suit(usual)
	if err = l.choose(ctx, g, cold); err != nil {
		return nil, err
	}
	if g.cpu.on {
		g.note("each worker keeps its programs on one processor")
	}
	l.notes = append(g.notes, l.notes...)
	return l, nil
}

// deafenToChildren keeps the kernel from interrupting this process with a
// signal at each end and stop of a child. Nobody here asks for it, but the Go
// runtime handles it, which costs every case some microseconds. Ends are waited
// for as ever: the default action of SIGCHLD is to do nothing, which is not the
// same as to ignore it.
func deafenToChildren() {
	var byDefault [4]uint64 // the kernel's struct sigaction
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&byDefault[0])), 0, 8, 0, 0)
}

// hearSignals has this process handle, by doing nothing, the signals that it was
// started to ignore (nohup, a job in the background), so that programs get them
// with their default action: exec hands down what is ignored, not what is handled.
// The Go runtime handles all others anyway.
func hearSignals() {
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// choose finds the accelerator of a lane, if there is to be one.
func (l *lane) choose(ctx context.Context, g *laneState, cold bool) error {
	p := l.plan
	if cold || p.Executor == process.Spawn {
		l.notes = append(l.notes, "cases are run by spawn, as requested")
		return nil
	}
	why := ""
	switch {
	case p.Sandbox:
		why = "in a sandbox every case is run by spawn"
	case p.PerCase:
		why = "the command line differs from case to case"
	case p.Executor == process.Auto && p.Calibrate == nil:
		why = "there is no sample input to try an accelerator with"
	}
	var reasons []string
	if why == "" {
		for _, a := range g.accelerators(p.Executor) {
			err := l.try(ctx, g.cpu, a)
			if err == nil {
				return nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if p.Executor == a.name && p.Executor != process.Auto {
				return fmt.Errorf("the %s executor cannot be used: %w", a.name, err)
			}
			reasons = append(reasons, fmt.Sprintf("%s: %v", a.name, err))
		}
		why = sentence(reasons, "there is no accelerator for it")
	}
	if p.Executor != process.Auto {
		return fmt.Errorf("the %s executor cannot be used: %s", p.Executor, why)
	}
	if p.Coverage {
		return fmt.Errorf("coverage cannot be measured: %s", why)
	}
	l.notes = append(l.notes, "cases are run by spawn: "+why)
	return nil
}

// accelerator is an executor that may be tried.
type accelerator struct {
	name  process.Executor
	start func() (executor, error)
	how   func() string // how it works, once it has been started
}

// try starts an accelerator and keeps it if it tells the truth and is worth it.
func (l *lane) try(ctx context.Context, p *cpuPin, a accelerator) (err error) {
	apart := p.on
	p.suit(shortLived / 2) // as most are
	defer func() {
		if err != nil {
			p.on = apart
		}
	}()
	fast, err := a.start()
	if err != nil {
		return err
	}
	ran, gain := 0, 0.0
	if l.plan.Calibrate != nil {
		var pace time.Duration
		ran, pace, gain, err = l.trial(ctx, fast)
		if err == nil && gain < worthwhile && l.plan.Executor == process.Auto && !l.plan.Coverage {
			err = fmt.Errorf("not faster than spawn (%.1f times as fast)", gain)
		}
		if err != nil {
			return errors.Join(err, fast.close())
		}
		if p.suit(pace); !p.on && pace > 0 {
			// What was started stays on the processor where that was done.
			if err = fast.close(); err == nil {
				fast, err = a.start()
			}
			if err != nil {
				return err
			}
		}
	}
	l.fast, l.restart = fast, a.start
	note := fmt.Sprintf("cases are run by the %s executor (%s)", a.name, a.how())
	if gain > 0 {
		note += fmt.Sprintf("; %d trial runs agreed with spawn and were %.1f times as fast", ran, gain)
	}
	l.notes = append(l.notes, note)
	return nil
}
