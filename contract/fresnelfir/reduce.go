package fresnelfir

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/shrink"
)

// gauge counts the actions in the steps of a traversal, those of its generator and those that the
// module must refuse included.
func (c *Campaign) gauge(ctx context.Context, payload []byte) (size int64, unit string) {
	if c.parallel {
		return c.gaugeHistory(payload)
	}
	x, err := c.open(ctx)
	if err != nil {
		return 0, "" // its steps are shown anyway
	}
	defer x.Close()
	for _, s := range x.traceCase(payload).Steps {
		if s.Action != "" {
			size++
		}
	}
	return size, "action"
}

// Reduce implements [campaign.Reducer]. It makes the decisions of a traversal fewer and smaller. It
// runs each candidate itself first: tapes with the same meaning are tested only once, and only if
// they still fail in the same way.
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) (smallest []byte, parts string) {
	if c.parallel {
		return c.reduceHistory(payload, test), "call"
	}
	best, err := choice.Decode(payload)
	if err != nil {
		return payload, ""
	}
	x, err := c.open(ctx)
	if err != nil {
		return payload, ""
	}
	defer x.Close()
	r := &reducer{c: c, t: x.t, test: test, answers: map[string]bool{}, weight: math.MaxInt}
	if r.walk(best) && r.t.failed != nil {
		r.want = r.t.failed
	}
	for more := true; more && r.err == nil; {
		var stats shrink.Stats
		if best, stats = shrink.Choices(ctx, best, r.run); stats.Err != nil {
			break
		}
		if r.walk(best) {
			r.weight = r.weigh()
		}
		if more = r.dropRest(&best); !more {
			best, more = r.byName(best)
		}
	}
	return choice.Encode(best), "action, actor or step of an argument"
}

// reducer is the state of one reduction.
type reducer struct {
	c       *Campaign
	t       *traversal
	test    func([]byte) (bool, error)
	err     error           // of a test; ends the reduction
	answers map[string]bool // by tape
	want    *failure        // the original failure; nil: it does not occur here
	weight  int             // of the best so far; a heavier traversal is not simpler
	changes int             // how often the best changed
}

// stage prepares a traversal for a tape and runs it with play.
func (r *reducer) stage(values []uint64, play func()) bool {
	if r.c.prepare(r.t, nil, campaign.Case{Payload: choice.Encode(values)}) != nil {
		return false
	}
	play()
	return true
}

// walk replays a tape.
func (r *reducer) walk(values []uint64) bool { return r.stage(values, r.t.run) }

// weigh counts what people see of a traversal.
func (r *reducer) weigh() int { return r.t.actions + r.t.threads + r.t.attempted }

// simpler reports whether the current traversal, with its tape, is simpler than the best.
func (r *reducer) simpler(tape, best []uint64) bool {
	return cmp.Or(r.weigh()-r.weight, len(tape)-len(best), slices.Compare(tape, best)) < 0
}

// holds reports whether the current traversal, with its tape, fails as required.
func (r *reducer) holds(tape []uint64) bool {
	encoded := choice.Encode(tape)
	held, known := r.answers[string(encoded)]
	if known {
		return held
	}
	if f := r.t.failed; r.want == nil || f != nil && f.kind == r.want.kind && f.subject == r.want.subject && f.cause == r.want.cause {
		held, r.err = r.test(encoded)
		held = held && r.err == nil
	}
	if r.answers[string(encoded)] = held; held {
		r.changes++
	}
	return held
}

// run is the function that [shrink.Choices] calls.
func (r *reducer) run(values []uint64) (choice.Tape, bool, error) {
	if !r.walk(values) {
		return choice.Tape{}, false, errors.New("the tape cannot be read")
	}
	tape := r.t.src.Tape()
	return tape, r.weigh() <= r.weight && r.holds(tape.Values), r.err
}

// dropRest removes what comes after a failure that does not end the traversal.
func (r *reducer) dropRest(best *[]uint64) bool {
	n := r.t.enough
	if n == 0 || n >= len(choice.Trim(*best)) || !r.walk(slices.Clone((*best)[:n])) {
		return false
	}
	tape := r.t.src.Tape().Values
	if !r.simpler(tape, *best) || !r.holds(tape) {
		return false
	}
	*best = slices.Clone(tape)
	return true
}
