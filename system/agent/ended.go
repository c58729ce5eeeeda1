package agent

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/program"
)

// An agent that Thresh has started may end a moment after its reply, so that a later prompt finds
// it dead. The cases that may have ended it learn of that through their campaign.Life.

// left returns the agent's program if it has ended by itself since its last reply.
func (l *lead) left() *program.Child {
	switch {
	case l.life == nil:
	case l.service != nil:
		return l.service.Left()
	case l.gone != nil:
		return l.gone()
	}
	return nil
}

// endedBefore records whether the agent has ended since its last reply.
func (l *lead) endedBefore() (ended bool) {
	c := l.left()
	if c != nil {
		o := system.DiedAfter(c)
		l.tell(c, &o, false)
	}
	return c != nil
}

// called records a call to the agent; died is the program that ended during it, or nil.
func (l *lead) called(r *agentcall.Reply, died *program.Child) {
	if l.life == nil || l.service == nil && l.gone == nil {
		return
	}
	l.life.System, l.life.Shared = l, l.service != nil && !l.own
	switch {
	case died != nil:
		var o sut.Observation
		system.Died(&o, died.End(), died.State())
		o.Printed = []byte(r.Printed[r.Earlier:])
		l.tell(died, &o, true)
	case r.Status != 0 || r.End == agentcall.Answered || r.End == agentcall.Reported:
		l.life.Calls++
	}
}

func (l *lead) tell(c *program.Child, o *sut.Observation, cut bool) {
	end := system.EndedLater("", o)
	l.life.End, l.life.Before, l.life.Cut, l.life.Program = &end, l.life.Calls, cut, c
}

// Watch implements campaign.Watcher.
func (l *lead) Watch(ctx context.Context, d time.Duration) *campaign.Outcome {
	c := system.AwaitEnd(ctx, d, l.left)
	if c == nil {
		return nil
	}
	o := system.DiedAfter(c)
	end := system.EndedLater("", &o)
	return &end
}
