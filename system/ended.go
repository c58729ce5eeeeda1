package system

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/program"
)

// Which call ended a system is not always the one that was cut: programs end a moment after
// they have answered, or take the calls of other workers with them. Calls that need no
// earlier one are made again, alone, to learn it.

// Leaver is implemented by edges whose program may end between two calls.
type Leaver interface {
	// Left is how the program ended by itself, with an error, since its last answer; "": it has not.
	Left() (how string, state *os.ProcessState)
}

// Left returns how a program that is talked to has ended with an error; "": it has not.
func Left(c *program.Child) (how string, state *os.ProcessState) {
	if state = c.State(); state == nil || state.Success() {
		return "", nil
	}
	return c.End(), state
}

// answered are the latest calls that were answered and need no earlier one, oldest first.
type answered struct {
	mu   sync.Mutex
	list []made
}

type made struct {
	call sut.Call
	at   time.Time
}

// How many calls, and how old ones, are suspected of having ended a system after their answer.
const (
	suspects = 64
	oldest   = 2 * time.Second
)

func (a *answered) keep(c sut.Call) {
	c.Input = bytes.Clone(c.Input)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) == suspects {
		a.list = slices.Delete(a.list, 0, 1)
	}
	a.list = append(a.list, made{c, time.Now()})
}

// before are the calls that may have ended the system by a time.
func (a *answered) before(t time.Time) []made {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.list), func(m made) bool { return m.at.After(t) || t.Sub(m.at) > oldest })
}

// answers are those of the program that this worker calls.
func (x *session) answers() *answered {
	if x.elsewhere() {
		return &x.shared.answered
	}
	return &x.answered
}

// left is how the program ended between two calls; "": it has not.
func (x *session) left(told bool) (how string, state *os.ProcessState) {
	if s := x.site.Service; s != nil {
		return s.Left(told)
	}
	if l, ok := x.edge.(Leaver); ok {
		return l.Left()
	}
	return "", nil
}

// endedBefore looks, before a call is made, for the earlier call after which the program has
// ended. A death that nothing explains is kept for the notes.
func (x *session) endedBefore(ctx context.Context, c *sut.Call) *sut.Earlier {
	if how, _ := x.left(false); how == "" {
		return nil
	}
	f := &x.shared.flight
	f.mu.Lock() // calls that are under way may be what has ended it
	defer f.mu.Unlock()
	how, state := x.left(true)
	if how == "" {
		return nil
	}
	if c.Alone {
		now := time.Now()
		if e := x.findEarlier(ctx, now); e != nil {
			return e
		}
		if list := x.answers().before(now); len(list) > 0 { // none does it alone: the finding will not show again
			e := &sut.Earlier{Call: list[len(list)-1].call}
			e.Call.Settle = mostSettle
			diedAfter(&e.Death, how, state)
			return e
		}
	}
	x.between = how
	return nil
}

// How long a system is watched after an answer, to learn whether that call ends it.
const (
	leastSettle = 100 * time.Millisecond
	mostSettle  = time.Second
)

// findEarlier makes the calls that were answered lately again, and returns the one after
// which the system ends, as it did by a time.
func (x *session) findEarlier(ctx context.Context, t time.Time) *sut.Earlier {
	list := x.answers().before(t)
	if len(list) == 0 {
		return nil
	}
	wait := min(max(2*t.Sub(list[0].at), leastSettle), mostSettle)
	death := x.endedBy(ctx, list, wait)
	if death == nil {
		return nil
	}
	for len(list) > 1 {
		newer := list[len(list)/2:]
		if o := x.endedBy(ctx, newer, wait); o != nil {
			list, death = newer, o
		} else {
			list, death = list[:len(list)/2], nil
		}
	}
	list[0].call.Settle = mostSettle
	if death == nil || death.End == "" {
		if death = x.endedBy(ctx, list, wait); death == nil {
			return nil
		}
	}
	return &sut.Earlier{Call: list[0].call, Death: *death}
}

// endedBy makes calls one after the other. It returns how the last ended the system, if it did;
// the zero observation if the system ended before.
func (x *session) endedBy(ctx context.Context, list []made, wait time.Duration) *sut.Observation {
	for i, m := range list {
		last := i == len(list)-1
		if m.call.Settle = 0; last {
			m.call.Settle = wait
		}
		o, err := x.ask(ctx, m.call)
		switch {
		case err != nil || ctx.Err() != nil:
			return nil
		case o.End == sut.Crashed && lost(&o) && len(list) == 1:
			return &o
		case o.End == sut.Crashed && lost(&o):
			return &sut.Observation{}
		}
	}
	return nil
}

// prove makes a call again that ended a program which nobody else calls. Where it does not
// end it again, and an earlier call does, that one is to blame.
func (x *session) prove(ctx context.Context, c sut.Call, first sut.Observation) (sut.Observation, error) {
	x.shared.flight.mu.Lock()
	defer x.shared.flight.mu.Unlock()
	ended := time.Now()
	again, err := x.ask(ctx, c)
	if err != nil {
		return first, ctx.Err()
	}
	if again.End == sut.Crashed && lost(&again) {
		if x.proved == nil {
			x.proved = make(map[string]bool)
		}
		x.proved[c.Operation] = true
		return first, nil
	}
	if again.Earlier = x.findEarlier(ctx, ended); again.Earlier != nil {
		return again, nil
	}
	return first, nil
}

// settle watches a system for a while after an answer.
func (x *session) settle(ctx context.Context, d time.Duration, o *sut.Observation) {
	for until := time.Now().Add(d); time.Now().Before(until); {
		how, state := x.left(true)
		switch {
		case how != "":
			diedAfter(o, how, state)
			return
		case x.away() && !x.listens(ctx):
			*o = sut.Observation{End: sut.Crashed, Why: "the system no longer accepts connections after its answer"}
			return
		}
		if Pause(ctx, 5*time.Millisecond) != nil {
			return
		}
	}
}

// diedAfter says in an observation how a program ended after its answer.
func diedAfter(o *sut.Observation, how string, state *os.ProcessState) {
	*o = sut.Observation{Printed: o.Printed, Elapsed: o.Elapsed}
	Died(o, how, state)
	o.Why = "the program ended after it had answered: " + how
}

// away reports whether the system is one that nobody here starts.
func (x *session) away() bool { return len(x.plan.Command) == 0 && x.plan.URL != "" }

// listens reports whether somebody accepts connections where the system runs.
func (x *session) listens(ctx context.Context) bool {
	u, err := url.Parse(x.plan.URL)
	if err != nil {
		return false
	}
	if via, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil || via != nil {
		return true // who is behind a proxy cannot be asked: the call is not known to have ended it
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

// lost reports whether a call met a system that was no longer there.
func lost(o *sut.Observation) bool {
	return o.Status == 0 && (o.End == sut.Unreachable || o.End == sut.Crashed)
}

// askAlone repeats a call that was lost while, or soon after, another worker's call was
// cut: any of them may have ended what they share. Where it does not come back, nobody
// knows which, unless it was alone.
func (x *session) askAlone(ctx context.Context, c sut.Call, first sut.Observation, met bool) (sut.Observation, error) {
	ended := time.Now()
	if first.End == sut.Crashed {
		x.shared.flight.lost.Add(1)
	}
	x.shared.flight.mu.Lock()
	defer x.shared.flight.mu.Unlock()
	for until := time.Now().Add(x.limit); x.shared.flight.cut.Load() != 0 && time.Now().Before(until); {
		if err := Pause(ctx, firstWait); err != nil { // one that is ending accepts connections to the last
			return first, err
		}
		if !met && first.End == sut.Crashed { // its own call ended it, and may not do so again in the state of a new start
			if x.listens(ctx) {
				return first, nil
			}
			continue
		}
		if o, err := x.ask(ctx, c); err == nil && o.End != sut.Unreachable { // where it is away, it may not even be opened
			x.repeated++
			return x.settled(ctx, ended, first, o), nil
		}
	}
	f := &x.shared.flight
	f.cut.Store(0)
	if first.End != sut.Crashed {
		return first, nil
	}
	if last := f.lost.Add(-1) == 0; f.solved.Swap(!last) { // another call stands for all that were cut
		return sut.Observation{End: sut.Unreachable, Why: "it ended during another call"}, nil
	}
	if x.away() {
		if first.Ended = "the system ended during the call"; met {
			first.Ended += ", or one made at the same time"
		}
	}
	return first, nil
}

// settled decides on a call that was cut, once it was made again alone. If no call that was
// cut ends the system again, one that had been answered before has: the last to learn of it
// looks for it.
func (x *session) settled(ctx context.Context, ended time.Time, first, again sut.Observation) sut.Observation {
	f := &x.shared.flight
	if lost(&again) && again.End == sut.Crashed {
		f.solved.Store(true)
	}
	if first.End != sut.Crashed || f.lost.Add(-1) > 0 || f.solved.Swap(false) {
		return again
	}
	if again.Earlier = x.findEarlier(ctx, ended); again.Earlier == nil {
		return first
	}
	return again
}
