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
	// Our children close inherited descriptors themselves, but ForkExec and programs that others
	// start for us depend on the close-on-exec flag. Go sets it on everything it opens; this sets
	// it on the rest.
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

// deafenToChildren keeps the kernel from sending this process a signal whenever a child ends or
// stops. Nothing here needs it, but the Go runtime handles it, which costs every case some
// microseconds. Waiting still works: the default action of SIGCHLD is to do nothing, which is not
// the same as ignoring it.
func deafenToChildren() {
	var byDefault [4]uint64 // the kernel's struct sigaction
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&byDefault[0])), 0, 8, 0, 0)
}

// hearSignals installs handlers that do nothing for the signals that this process was started to
// ignore (nohup, a background job), so that programs get the default action: exec preserves ignored
// signals, not handled ones. The Go runtime handles all other signals anyway.
func hearSignals() {
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// choose finds an accelerator for the lane, if the plan allows one.
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
	how   func() string // describes the method, once started
}

// try starts an accelerator and keeps it if it agrees with spawn and is faster enough.
func (l *lane) try(ctx context.Context, p *cpuPin, a accelerator) (err error) {
	apart := p.on
	p.suit(shortLived / 2) // most cases are short
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
			// The started processes stay on the processor they were started on.
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
