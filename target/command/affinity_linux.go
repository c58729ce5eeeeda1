package command

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// perch keeps a lane's thread on a processor of its own while it makes a child
// and waits for it; the child inherits that. Left to itself the kernel spreads
// parent and child over processors, and for children that live a few hundred
// microseconds moving them and waking the parent from afar costs more than it
// gains. It is done only if there are lanes enough for all processors: with
// fewer, a program with threads may have the processors that are left.
type perch struct {
	one, all unix.CPUSet
	on       bool
	left     error // the thread could not be given its processors back
}

func newPerch(lane, lanes int) *perch {
	p := &perch{}
	if unix.SchedGetaffinity(0, &p.all) != nil {
		return p
	}
	n := p.all.Count()
	if n < 2 || lanes < n {
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
	p.on = true
	return p
}

// sit locks the goroutine to its thread and the thread to its processor. The
// thread is locked in any case: a child is killed when the thread that made it
// ends, and a thread with namespaces of its own must not get into other hands.
func (p *perch) sit() {
	runtime.LockOSThread()
	if p.on && unix.SchedSetaffinity(0, &p.one) != nil {
		p.on = false
	}
}

// rise undoes sit.
func (p *perch) rise() {
	if p.on {
		if err := unix.SchedSetaffinity(0, &p.all); err != nil {
			// The thread is spoilt; with the goroutine still locked to it, the
			// runtime ends it along with the goroutine.
			p.left = fmt.Errorf("give a thread its processors back: %w", err)
			return
		}
	}
	runtime.UnlockOSThread()
}
