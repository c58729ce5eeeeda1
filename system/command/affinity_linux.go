package command

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// cpuPin keeps a lane's thread on one processor while it starts a child and waits for it; the child
// inherits the affinity. Left to itself, the kernel spreads parent and child over processors. For
// children that live a few hundred microseconds, migrating them and waking the parent from another
// processor costs more than it gains: a fork server answers three times as often on its caller's
// processor. A program that runs longer may have threads, and gets all processors unless every
// processor has a lane.
type cpuPin struct {
	one, all unix.CPUSet
	lanes    bool // every processor has a lane
	on       bool
	depth    int
	seated   bool  // the thread is on its processor
	left     error // why the thread's affinity could not be restored
}

// shortLived is the case duration below which the lane gains more from staying on one processor
// than the case's threads, if any, gain from several.
const shortLived = 2 * time.Millisecond

func newCPUPin(lane, lanes int) *cpuPin {
	p := &cpuPin{}
	if unix.SchedGetaffinity(0, &p.all) != nil {
		return p
	}
	n := p.all.Count()
	if n < 2 {
		return p
	}
	nth := lane % n
	for cpu := 0; ; cpu++ {
		if p.all.IsSet(cpu) {
			if nth == 0 {
				p.one.Set(cpu)
				break
			}
			nth--
		}
	}
	p.lanes = lanes >= n
	p.on = p.lanes
	return p
}

// suit decides by the duration of a case whether to pin; zero means unknown.
func (p *cpuPin) suit(took time.Duration) {
	p.on = p.one.Count() == 1 && (p.lanes || took > 0 && took < shortLived)
}

// pin locks the goroutine to its thread and, if pinning is on, the thread to its processor. The
// thread is always locked: the kernel kills a child when the thread that created it ends, and no
// other goroutine may get a thread that has its own namespaces. Calls nest.
func (p *cpuPin) pin() {
	p.depth++
	if p.depth > 1 {
		return
	}
	runtime.LockOSThread()
	if p.on {
		p.seated = unix.SchedSetaffinity(0, &p.one) == nil
	}
}

// unpin undoes pin.
func (p *cpuPin) unpin() {
	p.depth--
	if p.depth > 0 {
		return
	}
	if p.seated {
		p.seated = false
		if err := unix.SchedSetaffinity(0, &p.all); err != nil {
			// The thread's affinity is wrong. Because the goroutine stays locked to it, the runtime
			// ends the thread along with the goroutine.
			p.left = fmt.Errorf("give a thread its processors back: %w", err)
			return
		}
	}
	runtime.UnlockOSThread()
}
