package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/system/command/internal/aflserver"
	"github.com/thresh-dev/thresh/system/command/internal/forkline"
	"github.com/thresh-dev/thresh/system/scratch"
)

// laneState is what all executors of a lane share: the folder, the captured output, the watchdog
// and the reaper. It knows how a case begins and ends; the executors create the process.
type laneState struct {
	plan     *process.Plan
	folder   *folder
	null     int
	out, err *capture
	dog      *watchdog
	cpu      *cpuPin
	reaper   *orphanReaper
	box      *sandbox // nil without a sandbox
	image    *image
	group    *cgroup           // nil: none
	bounds   int               // number of limits that group enforces
	retired  []*cgroup         // earlier groups that fork servers were still in
	living   bool              // a process of an earlier case is in group and runs the next one
	limits   []forkline.Rlimit // own limits, then the entries for the control group
	own      int
	lanes    int
	fileSize int64
	keepSize int64
	features aflserver.Features
	work     *aflserver.Counter // edge counter of the program; nil: it counts none
	budget   uint64             // of edges, for the next cases; 0: none

	// generation counts how often descriptors of folders or captures became invalid or the control
	// group was replaced; executors that depend on them restart.
	generation int

	// The running case: its process, or a function that ends it if it is not our child. Both change
	// only while the watchdog is off.
	pid   int
	abort func()

	started, ended int64 // processes started, and processes whose end was seen
	poll           unix.PollFd
	patience       unix.Timespec
	info           [128]byte
	usage          unix.Rusage
	notes          []string
}

func newLaneState(plan *process.Plan, lane, lanes int) (_ *laneState, err error) {
	g := &laneState{plan: plan, lanes: lanes, cpu: newCPUPin(lane, lanes), null: -1, fileSize: fileSizeLimit(plan.Limits), keepSize: plan.Limits.Output}
	g.keepSize = cmp.Or(g.keepSize, defaultOutput)
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	g.dog = newWatchdog(func() {
		if g.abort != nil {
			g.abort()
			return
		}
		// Before its setsid the child leads no group.
		if unix.Kill(-g.pid, unix.SIGKILL) != nil {
			unix.Kill(g.pid, unix.SIGKILL)
		}
	})
	g.dog.look = func() forkline.Standing {
		if g.abort != nil {
			return forkline.Standing{} // the case's process is not ours, and unknown
		}
		return forkline.Look(g.pid)
	}
	if plan.Limits.Written > 0 {
		g.dog.full = g.full
	}
	if g.reaper, err = newOrphanReaper(); err != nil {
		return nil, err
	}
	var note string
	if g.folder, note, err = newFolder(plan, lane); err != nil {
		return nil, err
	}
	g.note(note)
	if g.out, err = newCapture("stdout"); err != nil {
		return nil, err
	}
	if g.err, err = newCapture("stderr"); err != nil {
		return nil, err
	}
	if g.null, err = highFD(unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)); err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	g.image = newImage(plan, process.Paths{
		RunID: probeID, RunDir: g.folder.run, InputPath: g.folder.path(plan.Input), OutDir: g.folder.path(plan.OutDir),
	})
	if !plan.PerCase {
		if err := executable(g.image.command.Path); err != nil {
			return nil, err
		}
		if err := g.suit(); err != nil {
			return nil, err
		}
	}
	list, notes, err := limits(plan.Limits, g.image.command.Path, g.image.command.Argv[min(1, len(g.image.command.Argv)):]) // per case there is no command yet
	if err != nil {
		return nil, err
	}
	g.limits = append(list, forkline.Rlimit{Resource: rlimitLocks, Cur: g.reaper.mark, Max: g.reaper.mark})
	g.notes = append(g.notes, notes...)
	g.own = len(g.limits)
	group, bounds, unbound := g.newGroup()
	g.bounds = len(bounds)
	g.enter(group)
	if plan.Sandbox {
		var refused []string
		g.box, notes, refused = newSandbox(g.folder.topFD, g.folder.run, plan.Limits)
		notes, refused = append(notes, bounds...), append(refused, unbound...)
		g.notes = append(g.notes, "sandbox: "+sentence(notes, "nothing could be applied"))
		if len(refused) > 0 {
			g.notes = append(g.notes, "sandbox: the kernel refused "+strings.Join(refused, "; "))
		}
		if g.box != nil && g.box.view != "" {
			if err := g.folder.moveView(g.box.view); err != nil {
				return nil, err
			}
		}
		if g.box != nil && g.box.ownPIDs {
			g.reaper.mark, g.reaper.reap, g.reaper.sweep = 0, false, g.box.sweep
			if err := g.reaper.watchChildrenOf(g.box.keeper); err != nil {
				return nil, err
			}
		}
	} else if len(unbound) > 0 {
		g.notes = append(g.notes, "the memory limit holds for each process alone, and files in memory (/dev/shm) are not bounded: the kernel refused "+unbound[0])
	} else if len(bounds) > 0 {
		g.notes = append(g.notes, "memory limit: "+bounds[0])
	}
	return g, nil
}

// newGroup makes a control group for the next cases, if the plan wants one. It returns the limits
// in force and those refused.
func (g *laneState) newGroup() (group *cgroup, bounds, unbound []string) {
	l := g.plan.Limits
	switch {
	case g.plan.Sandbox:
		return sandboxGroup(l, g.lanes)
	case l.Together && l.AddressSpace > 0:
		return newCgroup(l.AddressSpace, 0, 0)
	}
	return nil, nil, nil
}

// enter puts the next cases into a control group; nil: none.
func (g *laneState) enter(group *cgroup) {
	g.group = group
	g.limits = slices.Clone(g.limits[:g.own])
	if group != nil {
		for _, fd := range group.procs {
			g.limits = append(g.limits, forkline.Rlimit{Resource: forkline.Group, Cur: uint64(fd)})
		}
	}
}

// renewGroup puts the next cases into a new control group.
func (g *laneState) renewGroup() error {
	group, bounds, unbound := g.newGroup()
	if len(bounds) < g.bounds {
		// In the old group, a case could be killed for another's memory; without a group, the limit
		// would not hold.
		if group != nil {
			group.close()
		}
		return errors.New("an earlier case left memory taken, and there is no new control group: " + unbound[0])
	}
	g.retired = slices.DeleteFunc(append(g.retired, g.group), (*cgroup).remove)
	g.enter(group)
	g.generation++
	return nil
}

func sentence(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}

func (g *laneState) note(s string) {
	if s != "" {
		g.notes = append(g.notes, s)
	}
}

// prepare sets up the folder, the input, the command and the captures for a case.
func (g *laneState) prepare(ctx context.Context, runID string, input []byte) error {
	same, err := g.folder.reset()
	if err != nil {
		return err
	}
	if err = g.folder.input.write(input); err == errReplaced {
		same = false
		if err = g.folder.rebuild(); err == nil {
			err = g.folder.input.write(input)
		}
	}
	if err != nil {
		return err
	}
	if !same {
		g.generation++
	}
	if g.plan.Stdin {
		if err := g.folder.input.rewind(); err != nil {
			return err
		}
	}
	g.work.Fill(g.budget)
	g.image.set(runID)
	return g.blank(ctx)
}

// prepareWithout is prepare for a program that is already running and gets its input another way.
func (g *laneState) prepareWithout(ctx context.Context) error {
	same, err := g.folder.reset()
	if err != nil {
		return err
	}
	if !same {
		g.generation++
	}
	return g.blank(ctx)
}

// blank empties the captures. If earlier cases left memory in use in the control group, it gives
// the case a new one.
func (g *laneState) blank(ctx context.Context) error {
	g.dog.follow(ctx)
	if err := errors.Join(g.out.rewind(), g.err.rewind()); err != nil {
		return err
	}
	if g.living || !g.group.filled() {
		return nil
	}
	return g.renewGroup()
}

// stdin returns the descriptor that becomes standard input.
func (g *laneState) stdin() int {
	if g.plan.Stdin {
		return g.folder.input.readFD
	}
	return g.null
}

// await waits for the end of a process that was just started, kills what it left behind and builds
// the result. It reaps the zombie last, so that the process id and group id stay taken and no
// stranger can be killed.
func (g *laneState) await(ctx context.Context, c child, began time.Time, limit time.Duration) (process.Result, error) {
	g.started++
	g.pid = c.pid
	g.dog.watch(limit)
	waitErr := g.wait(c)
	timedOut, flooded, cancelled := g.dog.unwatch()
	res := process.Result{Started: began, Elapsed: time.Since(began), Dir: g.folder.visiblePath("")}
	var huntErr error
	if waitErr == nil {
		res.Leftovers, huntErr = g.reaper.hunt(c.pid)
	}
	ws, err := reap(c.pid, &g.usage)
	if err = errors.Join(waitErr, err); err != nil {
		return res, fmt.Errorf("wait for the program: %w", err)
	}
	g.ended++
	if huntErr != nil {
		// Processes that are still alive may go on writing to the captures.
		g.generation++
		return res, errors.Join(huntErr, g.out.renew(), g.err.renew())
	}
	if cancelled {
		return res, ctx.Err()
	}
	g.setStatus(&res, ws, timedOut)
	res.OutputLimit = res.OutputLimit || flooded
	res.UserTime, res.SystemTime = time.Duration(g.usage.Utime.Nano()), time.Duration(g.usage.Stime.Nano())
	res.MaxRSS = int64(g.usage.Maxrss) << 10
	return res, g.collect(&res)
}

func (g *laneState) allow(budget uint64) { g.budget = budget }

func (g *laneState) setStatus(res *process.Result, ws unix.WaitStatus, timedOut bool) {
	switch {
	case ws.Exited():
		res.Status, res.ExitCode = process.Exited, ws.ExitStatus()
	case timedOut && ws.Signal() == unix.SIGKILL:
		res.Status = process.TimedOut
	case g.budget > 0 && ws.Signal() == unix.SIGXCPU:
		res.Status = process.OverBudget
	default:
		res.Status, res.Signal, res.CoreDumped = process.Signaled, int(ws.Signal()), ws.CoreDump()
		res.OutputLimit = ws.Signal() == unix.SIGXFSZ
	}
}

// collect reads the captured output.
func (g *laneState) collect(res *process.Result) (err error) {
	res.NoOutputs = g.folder.noOutputs()
	if res.Stdout, res.StdoutSize, err = g.out.read(g.keepSize); err != nil {
		return err
	}
	if res.Stderr, res.StderrSize, err = g.err.read(g.keepSize); err != nil {
		return err
	}
	if g.features.Driver {
		own := driverLines.ReplaceAll(res.Stdout, nil)
		res.Stdout, res.StdoutSize = own, res.StdoutSize-int64(len(res.Stdout)-len(own))
	}
	// A program that ignores SIGXFSZ gets an error from write instead.
	if res.StdoutSize >= g.fileSize || res.StderrSize >= g.fileSize {
		res.OutputLimit = true
	}
	res.OutputLimit = res.OutputLimit || !g.folder.unchanged() && g.full()
	return nil
}

// full reports whether a case has exceeded its limit on all bytes written.
func (g *laneState) full() bool {
	most := g.plan.Limits.Written
	return most > 0 && scratch.Room(most-g.out.written()-g.err.written(), g.folder.visiblePath(""), time.Time{}, nil, nil) < 0
}

// brief is how long wait blocks without notifying the Go scheduler. Most cases end within it, and
// handing the processor over and back costs a short case a fifth of its time. A longer time would
// delay the garbage collector and, with a lane on every processor, the watchdogs. A shorter one
// would often make this timer expire before the processor's tick (4 ms on most kernels), and
// reprogramming the timer is expensive on a virtual machine.
const brief = 5 * time.Millisecond

// wait waits for the end of a child without reaping it, and closes its descriptor.
func (g *laneState) wait(c child) error {
	if c.fd >= 0 {
		defer unix.Close(c.fd)
	}
	// poll ignores a negative descriptor; waitid then does the whole wait.
	g.poll = unix.PollFd{Fd: int32(c.fd), Events: unix.POLLIN}
	g.patience = unix.NsecToTimespec(int64(brief))
	if c.fd < 0 {
		g.patience = unix.Timespec{}
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&g.poll)), 1, uintptr(unsafe.Pointer(&g.patience)), 0, 0, 0)
	if errno == 0 && n == 1 {
		return nil
	}
	for {
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_PID, uintptr(c.pid),
			uintptr(unsafe.Pointer(&g.info)), unix.WEXITED|unix.WNOWAIT|unix.WALL, 0, 0)
		if errno == 0 {
			return nil
		}
		if errno != unix.EINTR {
			return errno
		}
	}
}

// reap returns the status of a child that has ended, and frees its process id.
func reap(pid int, usage *unix.Rusage) (unix.WaitStatus, error) {
	var ws unix.WaitStatus
	for {
		got, err := unix.Wait4(pid, &ws, unix.WALL, usage)
		if err == unix.EINTR {
			continue
		}
		if err == nil && got != pid {
			err = unix.ECHILD
		}
		return ws, err
	}
}

// close frees everything and checks that the end of every started process was seen; otherwise
// results may have been attributed to the wrong case.
func (g *laneState) close() error {
	errs := []error{g.cpu.left}
	if g.dog != nil {
		g.dog.close()
	}
	if g.started != g.ended {
		errs = append(errs, fmt.Errorf("%d processes were started but the end of %d was seen", g.started, g.ended))
	}
	if g.reaper != nil {
		g.reaper.close()
	}
	if g.box != nil {
		g.box.close()
	}
	for _, group := range append(g.retired, g.group) {
		if group != nil {
			group.close()
		}
	}
	for _, c := range []*capture{g.out, g.err} {
		if c != nil {
			c.close()
		}
	}
	g.work.Close()
	if g.null >= 0 {
		unix.Close(g.null)
		g.null = -1
	}
	if g.folder != nil {
		errs = append(errs, g.folder.close())
	}
	return errors.Join(errs...)
}
