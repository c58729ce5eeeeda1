package fresnelfir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/dut"
)

// Campaign explores one document.
type Campaign struct {
	id       campaign.Identity
	doc      campaign.Spec
	plan     *plan
	seed     uint64
	budget   int64   // traversals
	module   *module // nil: the model is explored alone
	alone    string  // why it is
	enclosed bool    // the module is the one inside of the document's capsule
	// modulePath is where the module was looked for; "" if there is none.
	modulePath string
}

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity { return c.id }

// Probe implements [campaign.Campaign]: it starts the module and checks that
// its exports fit the bindings.
func (c *Campaign) Probe(ctx context.Context) (campaign.Facts, error) {
	if c.module == nil {
		return campaign.Facts{Warnings: []string{c.id.Name + ": mode: model_only: the model alone is explored: " + c.alone}}, nil
	}
	dev, err := c.module.open(ctx, c.module.plan)
	if err != nil {
		return campaign.Facts{}, fmt.Errorf("opening the module: %w", err)
	}
	defer dev.Close()
	var f campaign.Facts
	if c.enclosed {
		f.Warnings = append(f.Warnings, c.id.Name+": the module inside of the capsule is run; --module FILE runs another build")
	}
	for _, n := range dev.Info().Notes {
		f.Warnings = append(f.Warnings, c.id.Name+": "+n)
	}
	return f, nil
}

// Planned implements [campaign.Planner].
func (c *Campaign) Planned() int64 { return c.budget }

// Start implements [campaign.Campaign].
func (c *Campaign) Start(campaign.Facts) *state { return newState(c.plan) }

// minCases and maxCases bound the cases of an epoch: enough for many workers,
// few enough that what was learned counts soon.
const (
	minCases = 4
	maxCases = 1024
)

// Round implements [campaign.Campaign]: an epoch, of as many cases as make up
// epoch_size actions by the average of those before.
func (c *Campaign) Round(s *state) (campaign.Round, bool) {
	if s.cases >= c.budget {
		return campaign.Round{}, false
	}
	if x := c.plan.doc.Capsule; x != nil {
		return campaign.Round{Len: 1, At: func(int64) []byte { return x.Tape }}, true
	}
	size := int64(c.plan.doc.Exploration.EpochSize)
	n := size/10 + 1
	if s.cases > 0 {
		n = (size*s.cases + s.actions) / (s.actions + 1)
	}
	n = min(max(n, minCases), maxCases)
	return campaign.Round{Len: min(n, c.budget-s.cases)}, true
}

// Fold implements [campaign.Campaign].
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := s.clone()
	var fresh []event
	failing := map[string][]event{}
	var t tally
	for _, o := range results {
		t.decode(o.Data)
		found, last := next.add(t, c.plan)
		fresh = append(fresh, found...)
		if o.Verdict == campaign.VerdictFail {
			next.failed++
			if last != nil && len(failing[o.Kind]) == 0 {
				failing[o.Kind] = append(failing[o.Kind], *last)
			}
		}
	}
	adaptation{c.plan, next}.fold(fresh, failing)
	hit, total := next.progress(c.plan)
	if total > 0 {
		next.curve = next.curve.add([2]float64{float64(next.actions), 100 * float64(hit) / float64(total)})
	}
	return next
}

// Open implements [campaign.Campaign].
func (c *Campaign) Open(ctx context.Context, _ campaign.Lane) (campaign.Executor[*state], error) {
	return c.open(ctx)
}

// open makes an executor, with an instance of the module if there is one.
func (c *Campaign) open(ctx context.Context) (*executor, error) {
	x := &executor{c: c, t: newTraversal(c.plan)}
	if c.module == nil {
		return x, nil
	}
	dev, err := c.module.open(ctx, c.module.plan)
	if err != nil {
		return nil, fmt.Errorf("opening the module: %w", err)
	}
	d, err := c.module.start(ctx, dev, c.plan, x.t.m)
	if err != nil {
		dev.Close()
		return nil, err
	}
	x.dev = dev
	x.t.attach(d)
	return x, nil
}

// executor runs cases on one lane.
type executor struct {
	c   *Campaign
	t   *traversal
	dev dut.Device
}

// Close implements [campaign.Executor].
func (x *executor) Close() error {
	if x.dev == nil {
		return nil
	}
	err := x.t.dev.inst.Close()
	if e := x.dev.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("closing the module: %w", err)
	}
	return nil
}

// prepare sets a traversal up for a case.
func (c *Campaign) prepare(t *traversal, s *state, at campaign.Case) error {
	t.state, t.row, t.trace = s, choice.Key(c.seed, uint64(at.Index), 2), nil
	if at.Payload == nil {
		key := choice.Key(c.seed, uint64(at.Index))
		t.src.Reset(key)
		if s != nil && len(s.corpus) > 0 {
			c.extend(t, s, key)
		}
		return nil
	}
	tape, err := choice.Decode(at.Payload)
	if err != nil {
		return fmt.Errorf("reading the case: %w", err)
	}
	// A tape says all: what was learned must not change what it means.
	t.state = nil
	t.src.Follow(tape)
	return nil
}

// extend lets every other case begin like one that reached something new, the
// latest of them more often, and go on from some way along it.
func (c *Campaign) extend(t *traversal, s *state, key uint64) {
	pick := choice.Random(choice.Key(key, 1))
	if pick.Draw(2) == 0 {
		return
	}
	n := uint64(len(s.corpus))
	tape := s.corpus[n-1-min(pick.Draw(n), pick.Draw(n))]
	t.src.Extend(tape[:uint64(len(tape))-min(pick.Skewed(uint64(len(tape))+1), uint64(len(tape)))], key)
}

// Execute implements [campaign.Executor].
func (x *executor) Execute(_ context.Context, s *state, at campaign.Case) (campaign.Outcome, error) {
	t := x.t
	if err := x.c.prepare(t, s, at); err != nil {
		return campaign.Outcome{}, err
	}
	clear(t.m.Tried)
	t.run()
	if t.dev != nil && t.dev.broken != nil {
		return campaign.Outcome{}, t.dev.broken
	}
	if t.dev != nil && s != nil && at.Payload == nil {
		t.traceModule(s)
	}
	if at.Payload == nil && s != nil && t.failed == nil && s.news(t.seen.events) {
		t.seen.tape = choice.Encode(t.src.Tape().Values)
	}
	var o campaign.Outcome
	o.Data = t.seen.encode(t.actions, t.m.Tried, t.failed != nil)
	f := t.failed
	if f == nil {
		return o, nil
	}
	tape := choice.Encode(t.src.Tape().Values)
	sum := sha256.Sum256(tape)
	o.Verdict, o.Severity, o.Kind, o.Title = campaign.VerdictFail, f.severity(), f.kind, f.title
	o.Signature, o.Cause, o.Input = f.subject, []string{f.cause, f.level}, hex.EncodeToString(sum[:])
	o.Evidence = []campaign.Attachment{{Name: "steps", Data: x.tell(tape)}}
	return o, nil
}

// tell runs a failing case again and notes every step.
func (x *executor) tell(tape []byte) []byte {
	t := x.t
	if err := x.c.prepare(t, nil, campaign.Case{Payload: tape}); err != nil {
		return nil // it was encoded just now
	}
	tr := &trace{}
	t.trace = tr
	t.run()
	if t.failed != nil {
		tr.Place = t.failed.at.Path
	}
	return tr.encode()
}

// Input implements [campaign.Inputter]: the tape of a case. What a module
// refuses decides how a traversal goes on, so it is run for it.
func (c *Campaign) Input(s *state, at campaign.Case) []byte {
	if at.Payload != nil {
		return at.Payload
	}
	x, err := c.open(context.Background())
	if err != nil {
		return nil // the case is told by its place alone
	}
	defer x.Close()
	if c.prepare(x.t, s, at) != nil {
		return nil
	}
	x.t.run()
	return choice.Encode(x.t.src.Tape().Values)
}

// Describe implements [campaign.Describer].
func (c *Campaign) Describe(_ *state, _ campaign.Case, o campaign.Outcome, _ []byte) []campaign.Exhibit {
	return exhibits(o.Attached("steps"))
}
