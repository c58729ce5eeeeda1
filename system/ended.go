package system

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/program"
)

// A program may end between two calls, or end while other workers call it. The cases that may have
// ended it learn of that through their campaign.Life.

// Leaver is implemented by edges whose program may end between two calls.
type Leaver interface {
	// Left returns the program if it has ended by itself, with an error, since its last answer.
	Left() *program.Child
}

// left returns the program if it has ended between two calls; it reports each end only once.
func (x *session) left() *program.Child {
	if s := x.site.Service; s != nil {
		return s.Left()
	}
	l, ok := x.edge.(Leaver)
	if !ok || x.edge == x.ended {
		return nil
	}
	c := l.Left()
	if c != nil {
		x.ended = x.edge
	}
	return c
}

const (
	endedDuring = "the program ended during the call: "
	endedAfter  = "the program ended after it had answered: "
)

// DiedAfter returns an observation of how a program ended after its answer.
func DiedAfter(c *program.Child) sut.Observation {
	o := sut.Observation{Printed: []byte(c.Output.Take())}
	Died(&o, c.End(), c.State())
	o.Why = endedAfter + c.End()
	return o
}

// endedBefore records that the program has ended since its last answer. If calls build on each
// other, that is also the outcome of the next call (ended).
func (x *session) endedBefore() (o sut.Observation, ended bool) {
	c := x.left()
	if c == nil {
		return o, false
	}
	x.between = c.End()
	o = DiedAfter(c)
	ended = x.life != nil && x.calls > 0 && x.plan.ResetBy() != sut.ResetNone
	x.tell(x.life, &o, ended)
	return o, ended
}

// endedBetween is endedBefore for a reset, after which no call builds on earlier ones.
func (x *session) endedBetween() {
	defer x.borrowShared()()
	x.endedBefore()
}

// tell records in a case's life that the system has ended.
func (x *session) tell(life *campaign.Life, o *sut.Observation, cut bool) {
	if life == nil {
		return
	}
	operation := x.operation
	if x.calls > 1 {
		operation = "" // any of the calls may be the cause
	}
	end := EndedLater(operation, o)
	life.End, life.Before, life.Cut = &end, life.Calls, cut
}

// EndedLater returns the failure of a case after whose answer a program ended as o says; operation
// is the cause, if known.
func EndedLater(operation string, o *sut.Observation) campaign.Outcome {
	how := strings.TrimPrefix(strings.TrimPrefix(o.Why, endedDuring), endedAfter)
	cause := crash.Analyze(crash.Death{Stderr: o.Printed, Signal: o.Signal, ExitCode: o.Exit})
	end := campaign.Outcome{Verdict: campaign.VerdictFail, Severity: campaign.SeverityHigh, Kind: campaign.KindEndedLater,
		Title: endedAfter + how, Cause: append([]string{campaign.KindEndedLater, operation, how}, cause.Layers...)}
	if cause.Class != crash.ClassNone && cause.Class != crash.ClassExit {
		end.Title += ": " + cause.Title
	}
	if operation != "" {
		end.Title = operation + ": " + end.Title
	}
	if len(o.Printed) > 0 {
		end.Evidence = []campaign.Attachment{{Name: "stderr", Data: bytes.Clone(o.Printed)}}
	}
	return end
}

// known records a call in the case's life.
func (x *session) known(o *sut.Observation) {
	x.calls++
	life := x.life
	if _, leaves := x.edge.(Leaver); life == nil || !leaves && x.site.Service == nil {
		return
	}
	life.System, life.Shared = x, x.elsewhere()
	if o.End == sut.Answered || o.End == sut.Refused {
		life.Calls++
	} else if strings.HasPrefix(o.Why, endedDuring) {
		x.tell(life, o, true)
	}
}

// Watch implements campaign.Watcher.
func (x *session) Watch(ctx context.Context, d time.Duration) *campaign.Outcome {
	defer x.borrowShared()()
	c := AwaitEnd(ctx, d, x.left)
	if c == nil {
		return nil
	}
	var life campaign.Life
	o := DiedAfter(c)
	x.tell(&life, &o, false)
	return life.End
}

// AwaitEnd waits up to d for a program to end; nil if it has not.
func AwaitEnd(ctx context.Context, d time.Duration, left func() *program.Child) *program.Child {
	for until := time.Now().Add(d); ; {
		if c := left(); c != nil {
			return c
		}
		if !time.Now().Before(until) || Pause(ctx, 5*time.Millisecond) != nil {
			return nil
		}
	}
}

// away reports whether Thresh does not start the system.
func (x *session) away() bool { return len(x.plan.Command) == 0 && x.plan.URL != "" }

// listens reports whether the system's address accepts connections.
func (x *session) listens(ctx context.Context) bool {
	u, err := url.Parse(x.plan.URL)
	if err != nil {
		return false
	}
	if via, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil || via != nil {
		return true // a system behind a proxy cannot be checked, so do not assume that the call ended it
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	limited, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(limited, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// lost reports whether a call found the system gone.
func lost(o *sut.Observation) bool {
	return o.Status == 0 && (o.End == sut.Unreachable || o.End == sut.Crashed)
}

// askAlone repeats a call that was lost while, or soon after, another worker's call was cut: either
// may have ended what they share. If the system does not come back, the cause stays unknown, unless
// the call was alone.
func (x *session) askAlone(ctx context.Context, c sut.Call, first sut.Observation, met bool) (sut.Observation, error) {
	if first.End == sut.Crashed {
		x.shared.flight.lost.Add(1)
	}
	x.shared.flight.mu.Lock()
	defer x.shared.flight.mu.Unlock()
	for until := time.Now().Add(x.limit); x.shared.flight.cut.Load() != 0 && time.Now().Before(until); {
		if err := Pause(ctx, firstWait); err != nil { // a system that is ending accepts connections to the last moment
			return first, err
		}
		if !met && first.End == sut.Crashed { // this call ended the system, and may not do so again after a restart
			if x.listens(ctx) {
				return first, nil
			}
			continue
		}
		if o, err := x.ask(ctx, c); err == nil && o.End != sut.Unreachable { // a system that is away may not even open
			x.repeated++
			return x.settled(first, o), nil
		}
	}
	f := &x.shared.flight
	f.cut.Store(0)
	if first.End != sut.Crashed {
		return first, nil
	}
	if last := f.lost.Add(-1) == 0; f.solved.Swap(!last) { // another call represents all that were cut
		return sut.Observation{End: sut.Unreachable, Why: "it ended during another call"}, nil
	}
	if x.away() {
		if first.Ended = "the system ended during the call"; met {
			first.Ended += ", or one made at the same time"
		}
	}
	return first, nil
}

// settled decides on a call that was cut, after it was repeated alone. If no repeated call ends the
// system again, a call that had been answered before did; the last call to be settled reports that.
func (x *session) settled(first, again sut.Observation) sut.Observation {
	f := &x.shared.flight
	if lost(&again) && again.End == sut.Crashed {
		f.solved.Store(true)
	}
	if first.End != sut.Crashed || f.lost.Add(-1) > 0 || f.solved.Swap(false) {
		return again
	}
	x.tell(x.life, &first, false)
	return again
}
