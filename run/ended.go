package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run/triage"
)

// A system may end a moment after it has answered, so that a later case meets its end. Cases are
// independent, so the latest are executed again to find out after which of them the system ends.

// Recent holds the latest cases of a session, oldest first. The zero value is empty.
type Recent struct {
	mu   sync.Mutex
	list []executed
	size int // of their payloads
	// alone is held while a caller searches for the case that ended a system which other lanes
	// call too.
	alone   sync.RWMutex
	settled any // the program whose end was explained last
}

type executed struct {
	at   campaign.Case
	lane *Caller
	when time.Time // it was answered
}

const (
	mostRecent   = 4096
	recentBytes  = 8 << 20
	oldest       = 2 * time.Second // a suspect was answered at most this long before the case that met the end
	leastWatch   = 100 * time.Millisecond
	mostWatch    = time.Second
	mostSearches = 8 // per lane; after that the case before the end is blamed, subject to the usual confirmation
)

func (r *Recent) add(x executed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += len(x.at.Payload); len(r.list) == mostRecent || r.size > recentBytes {
		r.list, r.size = append(r.list[:0], r.list[(len(r.list)+1)/2:]...), len(x.at.Payload)
		for _, y := range r.list {
			r.size += len(y.at.Payload)
		}
	}
	r.list = append(r.list, x)
}

// take removes the cases that may have ended the system of a lane, and returns them.
func (r *Recent) take(c *Caller, round int) []executed {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(r.list), func(x executed) bool {
		return x.at.Round != round || c.began.Sub(x.when) > oldest || x.lane != c && !c.life.Shared
	})
	r.list = slices.DeleteFunc(r.list, func(x executed) bool { return x.lane == c || c.life.Shared })
	return list
}

// errEnded ends a batch whose system has ended: the remaining cases are executed one by one.
var errEnded = errors.New("the system has ended")

// met reports whether the system ended before or during a case of a batch, or soon after the last
// case.
func (c *Caller) met(ctx context.Context, at campaign.Case, last bool) bool {
	c.left, c.life.Calls = c.life.End, 0
	if c.life.System == nil {
		return false
	}
	if c.left == nil && last {
		c.left = c.watched(ctx, leastWatch)
	}
	if c.left == nil || last {
		c.recent.add(executed{at, c, time.Now()})
	}
	return c.left != nil
}

// Watch makes every passing case wait for its system to end if kind is that of such findings.
func (c *Caller) Watch(kind string) {
	if c.watch = 0; kind == campaign.KindEndedLater {
		c.watch = mostWatch
	}
}

// settled returns the final outcome of a case that was executed. left is how the system had ended
// before the case; nil: it had not.
func (c *Caller) settled(ctx context.Context, state any, at campaign.Case, o campaign.Outcome, left *campaign.Outcome) (campaign.Outcome, error) {
	if c.life.End != nil {
		left = c.life.End
	}
	if left != nil {
		var err error
		if o, err = c.explain(ctx, state, at, o, *left); err != nil {
			return o, err
		}
	}
	if c.life.System == nil {
		return o, nil
	}
	c.recent.add(executed{at, c, time.Now()})
	if o.Verdict == campaign.VerdictFail || o.Verdict == campaign.VerdictError {
		return o, nil
	}
	if late := c.late; late != nil {
		c.late, late.Data = nil, o.Data
		return *late, nil
	}
	if c.watch == 0 {
		return o, nil
	}
	if end := c.watched(ctx, c.watch); end != nil {
		late := about(*end, at)
		late.Data, late.Elapsed, late.Evidence = o.Data, o.Elapsed, append(slices.Clip(o.Evidence), late.Evidence...)
		return *late, nil
	}
	return o, ctx.Err()
}

// last watches the system for a moment after its last case.
func (c *Caller) last(ctx context.Context, state any, at campaign.Case, o campaign.Outcome) (campaign.Outcome, error) {
	if c.life.System == nil || c.watch > 0 || o.Verdict == campaign.VerdictFail {
		return o, nil
	}
	if end := c.watched(ctx, leastWatch); end != nil {
		return c.settled(ctx, state, at, o, end)
	}
	return o, nil
}

func (c *Caller) watched(ctx context.Context, d time.Duration) *campaign.Outcome {
	began := time.Now()
	end := c.life.System.Watch(ctx, d)
	if end != nil && c.watch > 0 { // adapt to how long it took, with a margin
		c.watch = min(max(4*time.Since(began), leastWatch), mostWatch)
	}
	if end != nil && c.life.Clean != nil {
		clean := c.life.Clean(*end)
		end = &clean
	}
	return end
}

// about turns the end of a system into the failure of a case.
func about(end campaign.Outcome, at campaign.Case) *campaign.Outcome {
	end.Input = strconv.FormatInt(at.Index, 10)
	return &end
}

// endedBy returns the case that an outcome of another case of the round is about.
func endedBy(o *campaign.Outcome) (index int64, ok bool) {
	if o.Kind != campaign.KindEndedLater {
		return 0, false
	}
	index, err := strconv.ParseInt(o.Input, 10, 64)
	return index, err == nil
}

// endedExhibits show which case the system answered before it ended, and what it wrote.
func (a *attempt) endedExhibits(at campaign.Case, o *campaign.Outcome) []campaign.Exhibit {
	name := a.name(at)
	if name == "" {
		name = fmt.Sprintf("case %d", at.Index)
	}
	list := []campaign.Exhibit{campaign.TextExhibit("What failed", "The system answered "+name+" and then ended.")}
	if wrote := o.Attached("stderr"); len(wrote) > 0 {
		list = append(list, campaign.TextExhibit("Standard error", diag.Cut(strings.ToValidUTF8(string(wrote), "\uFFFD"), 4000)))
	}
	return list
}

// explain decides which case ended the system: the case at, which met the end and then keeps its
// outcome, or an earlier one. It returns the outcome of at.
func (c *Caller) explain(ctx context.Context, state any, at campaign.Case, o, end campaign.Outcome) (campaign.Outcome, error) {
	cut, met := c.life.Cut, time.Now()
	if c.life.Clean != nil {
		end = c.life.Clean(end)
	}
	list := c.recent.take(c, at.Round)
	if c.life.Before > 0 {
		list = append(list, executed{at, c, met})
	}
	shared := c.life.Shared && cut && c.life.Program != nil // cases of other lanes may have ended it
	if len(list) == 0 && !shared || cut && c.proved[triage.Fingerprint("", &o)] {
		return o, nil
	}
	program := c.life.Program
	if c.life.Shared {
		c.recent.alone.Lock()
		defer c.recent.alone.Unlock()
	}
	again := o
	if cut {
		var err error
		if again, _, err = c.once(ctx, state, at); err != nil {
			return o, ctx.Err()
		}
		if c.life.End != nil { // the case itself ends the system
			if c.proved == nil {
				c.proved = make(map[string]bool)
			}
			c.proved[triage.Fingerprint("", &again)] = true
			return again, nil
		}
		if shared && (c.recent.settled == program || len(list) == 0) {
			return again, nil
		}
		c.recent.settled = program
	}
	by := list[len(list)-1].at
	if c.searches++; c.searches <= mostSearches {
		found, as := c.search(ctx, state, list, min(max(2*met.Sub(list[0].when), leastWatch), mostWatch))
		switch {
		case as != nil:
			by, end = found, *as
		case cut:
			return o, ctx.Err()
		}
	}
	c.late = about(end, by)
	return again, ctx.Err()
}

// search executes cases again and returns the case after which the system ends, and how. An end
// that comes later than search waits would be blamed on a later case, so the case that is found
// must end the system, which was started anew, once more.
func (c *Caller) search(ctx context.Context, state any, list []executed, wait time.Duration) (by campaign.Case, end *campaign.Outcome) {
	ends := func(list []executed, wait time.Duration) *campaign.Outcome {
		for _, x := range list {
			if _, _, err := c.once(ctx, state, x.at); err != nil || c.life.End != nil {
				return c.life.End
			}
		}
		return c.watched(ctx, wait)
	}
	for ; ; wait = mostWatch {
		if left := list; ends(list, wait) != nil {
			for len(left) > 1 {
				if newer := left[len(left)/2:]; ends(newer, wait) != nil {
					left = newer
				} else {
					left = left[:len(left)/2]
				}
			}
			if by = left[0].at; ends(left, mostWatch) != nil {
				end = ends(left, mostWatch)
			}
		}
		if end != nil || wait == mostWatch {
			return by, end
		}
	}
}
