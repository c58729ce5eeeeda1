package fresnelfir

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/shrink"
)

// Gauge implements [campaign.Gauger]: a traversal has so many actions.
func (c *Campaign) Gauge(ctx context.Context, payload []byte) (size int64, unit string) {
	values, err := choice.Decode(payload)
	if err != nil {
		return 0, ""
	}
	x, err := c.open(ctx)
	if err != nil {
		return 0, "" // its steps are shown none the less
	}
	defer x.Close()
	r := &reducer{c: c, t: x.t}
	if r.walk(values) != nil {
		return 0, ""
	}
	return int64(x.t.actions), "action"
}

// Reduce implements [campaign.Reducer]: it makes the decisions of a traversal
// fewer and smaller. What a candidate's tape comes to is found out here
// first: two tapes which mean the same are tested once, and only those are that
// still fail the same way.
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) []byte {
	start, err := choice.Decode(payload)
	if err != nil {
		return payload
	}
	x, err := c.open(ctx)
	if err != nil {
		return payload
	}
	defer x.Close()
	r := &reducer{c: c, t: x.t, test: test, answers: map[string]bool{}}
	if r.walk(start) == nil && r.t.failed != nil {
		r.want = r.t.failed
	}
	best, stats := shrink.Choices(ctx, start, r.run)
	for stats.Err == nil {
		less, ok := r.dropRest(best)
		if !ok {
			less, ok = r.dropThread(best)
		}
		if !ok {
			less, ok = r.dropAttempts(best)
		}
		if !ok {
			break
		}
		best, stats = shrink.Choices(ctx, less, r.run)
	}
	// Fewer decisions may take more bytes, if a number has grown for them.
	if b := choice.Encode(best); len(b) <= len(payload) {
		return b
	}
	return payload
}

// reducer is the state of one reduction.
type reducer struct {
	c       *Campaign
	t       *traversal
	test    func([]byte) (bool, error)
	answers map[string]bool // by tape
	want    *failure        // what the start fails with; nil: it does not here
}

// walk follows a tape.
func (r *reducer) walk(values []uint64) error {
	if err := r.c.prepare(r.t, nil, campaign.Case{Payload: choice.Encode(values)}); err != nil {
		return err
	}
	r.t.run()
	return nil
}

// run is what [shrink.Choices] asks.
func (r *reducer) run(values []uint64) (choice.Tape, bool, error) {
	if err := r.walk(values); err != nil {
		return choice.Tape{}, false, err
	}
	tape := r.t.src.Tape()
	encoded := choice.Encode(tape.Values)
	if held, known := r.answers[string(encoded)]; known {
		return tape, held, nil
	}
	if f := r.t.failed; r.want != nil && (f == nil || f.kind != r.want.kind || f.subject != r.want.subject || f.cause != r.want.cause) {
		r.answers[string(encoded)] = false
		return tape, false, nil
	}
	held, err := r.test(encoded)
	r.answers[string(encoded)] = held
	return tape, held, err
}

// dropRest leaves out what comes after a failure that does not end the traversal.
func (r *reducer) dropRest(values []uint64) ([]uint64, bool) {
	if r.walk(values) != nil || r.t.enough == 0 || r.t.enough >= len(choice.Trim(values)) {
		return nil, false
	}
	tape, held, err := r.run(slices.Clone(values[:r.t.enough]))
	return slices.Clone(tape.Values), err == nil && held
}

// dropAttempts leaves out what was tried and need not be.
func (r *reducer) dropAttempts(values []uint64) ([]uint64, bool) {
	found := false
	for i := 0; r.walk(values) == nil && i < len(r.t.attempted); {
		x := r.t.attempted[i]
		all := r.t.src.Tape().Values
		tape, held, err := r.run(slices.Concat(all[:x.from], []uint64{0}, all[x.to:]))
		if err != nil {
			break
		}
		if held {
			values, found = slices.Clone(tape.Values), true
		} else {
			i++
		}
	}
	return values, found
}

// dropThread looks for a thread that can go with all of its steps.
func (r *reducer) dropThread(values []uint64) ([]uint64, bool) {
	if r.walk(values) != nil || r.t.threads < 2 {
		return nil, false
	}
	tape := r.t.src.Tape()
	turns, born, threads := slices.Clone(r.t.turns), slices.Clone(r.t.born), r.t.threads
	all, spans := slices.Clone(tape.Values), slices.Clone(tape.Spans)
	end := func(from int) int {
		for _, x := range spans {
			if x.From == from {
				return x.To
			}
		}
		return from
	}
	for k := range threads {
		less := slices.Clone(all)
		less[0]--
		for i := len(turns) - 1; i >= 0; i-- {
			switch at := turns[i].at; {
			case turns[i].thread == k:
				less = slices.Delete(less, at, end(at))
			case turns[i].thread > k:
				less[at] = uint64(turns[i].thread - 1)
			}
		}
		less = slices.Delete(less, born[k], end(born[k]))
		if tape, held, err := r.run(less); err == nil && held {
			return slices.Clone(tape.Values), true
		}
	}
	return nil, false
}
