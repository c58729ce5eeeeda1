package command

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// cpuPin keeps a lane's thread on its own processor while it makes a child
// and waits for it; the child inherits that. Left to itself the kernel spreads
// parent and child over processors, and for children that live a few hundred
// microseconds moving them and waking the parent from afar costs more than it
// gains: a fork server answers three times as often on the processor of whoever
// asks. A program that runs for longer may have threads, and gets all
// processors unless every one has a lane.
type cpuPin struct {
	one, all unix.CPUSet
	lanes    bool // there is a lane for every processor
	on       bool
	depth    int
	seated   bool  // the thread is on its processor
	left     error // the thread could not be given its processors back
}

// shortLived is how long a case may take for its threads, if it has any, to
// gain less from other processors than its lane from staying on one.
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

// suit decides by how long cases take; zero means that it is not known.
func (p *cpuPin) suit(took time.Duration) {
	p.on = p.one.Count() == 1 && (p.lanes || took > 0 && took < shortLived)
}

// pin locks the goroutine to its thread and the thread to its processor. The
// thread is locked in any case: a child is killed when the thread that made it
// ends, and a thread with its own namespaces must not get into other hands.
// It may be called again before unpin.
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

// unpin undoes sit.
func (p *cpuPin) unpin() {
	p.depth--
	if p.depth > 0 {
		return
	}
	if p.seated {
		p.seated = false
		if err := unix.SchedSetaffinity(0, &p.all); err != nil {
			// The thread is spoilt; with the goroutine still locked to it, the
			// runtime ends it along with the goroutine.
			p.left = fmt.Errorf("give a thread its processors back: %w", err)
			return
		}
	}
	runtime.UnlockOSThread()
}
