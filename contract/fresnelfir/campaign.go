package fresnelfir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/tools"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
)

// Campaign explores one document.
type Campaign struct {
	id       campaign.Identity // without the digest
	digest   func() string
	path     string        // of the document
	data     func() []byte // the document as JSON
	plan     *plan
	src      *ir.Source
	seed     uint64
	budget   int64   // number of traversals
	module   *module // nil: the model is explored alone
	alone    string  // why the model is explored alone
	unjudged bool    // nothing in the model can be broken
	enclosed bool    // the module is the one in the document's capsule
	// modulePath is the path at which the module was looked for; "" if there is none.
	modulePath string
	// places returns, by path in the document, the places in the source, if the source is not the
	// document itself.
	places func() map[string]diag.Pos
	system *sut.Plan // system explored instead of a module; nil: none
	// parallel says that actors call the system at the same time.
	parallel bool
	touch    bool // check may call a system that runs elsewhere
}

// Identity implements [campaign.Campaign].
func (c *Campaign) Identity() campaign.Identity {
	id := c.id
	id.Digest = c.digest()
	return id
}

// Probe implements [campaign.Campaign]. It starts the module and checks that its exports fit the
// bindings.
func (c *Campaign) Probe(ctx context.Context) (campaign.Facts, error) {
	if c.module == nil {
		return campaign.Facts{Warnings: []string{tools.Warning(c.id.Name, c.alone)}}, nil
	}
	dev, err := c.module.open(ctx, c.module.plan)
	if err != nil {
		return campaign.Facts{}, fmt.Errorf("opening the module: %w", err)
	}
	defer dev.Close()
	var f campaign.Facts
	if c.enclosed {
		f.Warnings = append(f.Warnings, c.id.Name+": the capsule's own module is run; --module FILE runs another build")
	}
	for _, n := range dev.Info().Notes {
		f.Warnings = append(f.Warnings, c.id.Name+": "+n)
	}
	if c.unheard() {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: nothing that the %s answers is compared with the model: no observer has a derived function, no property asks one, and no binding has answer, rejects or idempotent",
			c.id.Name, c.module.noun))
	}
	if c.parallel {
		f.Warnings = append(f.Warnings, c.id.Name+": actors call the system at the same time: histories depend on timing, so the digest omits them, and another run may have other verdicts")
		return f, c.probeParallel(ctx, dev)
	}
	return f, nil
}

// unheard reports whether any answer of the module would do, because only properties of the model
// itself are checked.
func (c *Campaign) unheard() bool {
	for i := range c.plan.program.Properties() {
		if c.plan.program.Observes(i) {
			return false
		}
	}
	return len(c.module.pairs) == 0 && !slices.ContainsFunc(c.plan.claims, func(x claims) bool {
		return x.steady || x.binding != nil && (x.binding.Answer != nil || x.binding.Rejects != nil || x.binding.Idempotent)
	})
}

// Start implements [campaign.Campaign].
func (c *Campaign) Start(campaign.Facts) *state { return newState(c.plan) }

// minCases and maxCases limit the cases of an epoch: enough for many workers, few enough for
// results to take effect soon.
const (
	minCases = 4
	maxCases = 1024
)

// Round implements [campaign.Campaign]. A round is an epoch with as many cases as make up
// epoch_size actions, by the average so far.
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
	n = min(max(n, minCases, int64(len(s.paths))), maxCases)
	return campaign.Round{Len: min(n, c.budget-s.cases)}, true
}

// Fold implements [campaign.Campaign].
func (c *Campaign) Fold(s *state, results iter.Seq2[campaign.Case, campaign.Outcome]) *state {
	next := s.clone()
	var fresh []event
	failing := map[string]event{}
	var t tally
	for at, o := range results {
		t.decode(o.Data)
		found, last := next.add(t, c.plan)
		if from, _ := c.begin(s, at.Index); from != nil && at.Payload == nil {
			next.credit(from.number, len(found) > 0)
		}
		fresh = append(fresh, found...)
		if o.Verdict == campaign.VerdictFail {
			next.failed++
			if len(o.Cause) > 0 {
				next.fails(o.Kind, o.Signature, o.Cause[0])
			}
			if o.Kind == kindProperty && slices.Contains(o.Cause, byModel) {
				next.breaks(c.plan.doc, o.Signature)
			}
			if _, known := failing[o.Kind]; last != nil && !known {
				failing[o.Kind] = *last
			}
		}
	}
	learn := adaptation{c.plan, next}
	learn.fold(fresh, failing)
	learn.hunt(c)
	hit, total := next.progress(c.plan)
	if total > 0 {
		next.curve = next.curve.add([2]float64{float64(next.actions), 100 * float64(hit) / float64(total)})
	}
	return next
}

// Open implements [campaign.Campaign].
func (c *Campaign) Open(*campaign.Cache) campaign.Session[*state] {
	return campaign.Separate[*state](c.openLane)
}

func (c *Campaign) openLane(ctx context.Context, lane campaign.Lane) (campaign.Executor[*state], error) {
	x, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	// In a system that nothing resets, recreated instances have other names than before, so kept
	// states cannot be restored.
	if lasts := c.system != nil && c.system.ResetBy() == sut.ResetNone; !lane.Cold && !c.parallel && !lasts {
		x.t.snapshots = &snapshots{most: maxSnapshotBytes}
	}
	return x, nil
}

// open returns an executor, with an instance of the module if there is one.
func (c *Campaign) open(ctx context.Context) (*executor, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("opening an executor: %w", err)
	}
	x := &executor{c: c, t: newTraversal(c.plan)}
	if c.module == nil {
		return x, nil
	}
	dev, err := c.module.open(ctx, c.module.plan)
	if err != nil {
		return nil, fmt.Errorf("opening the module: %w", err)
	}
	if c.parallel {
		x.dev = dev
		x.stage, err = openStage(ctx, dev)
		return x, err
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
	c     *Campaign
	t     *traversal
	dev   dut.Device
	stage *stage // for actors that call at the same time; nil: they take turns
	// traced maps the key of each finding to the first case whose steps were recorded here.
	traced map[string]int64
}

// Close implements [campaign.Executor].
func (x *executor) Close() error {
	if x.dev == nil {
		return nil
	}
	var err error
	if x.stage != nil {
		err = errors.Join(x.stage.close(), x.stage.base.Close())
	} else {
		err = x.t.dev.inst.Close()
	}
	if e := x.dev.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("closing the module: %w", err)
	}
	return nil
}

// prepare prepares a traversal for a case.
func (c *Campaign) prepare(t *traversal, s *state, at campaign.Case) error {
	t.state, t.row, t.trace, t.from = s, choice.Key(c.seed, uint64(at.Index), 2), nil, nil
	t.lenient = 0
	if at.Payload == nil {
		if s != nil && t.row&3 != 0 {
			t.lenient = s.broken
		}
		if s != nil && s.exceeds && t.row&4 != 0 {
			t.lenient |= excessFirst
		}
		t.from, t.key = c.begin(s, at.Index)
		switch way := s.path(at.Index); {
		case way != nil:
			t.src.Extend(way, t.key)
		case t.from != nil:
			t.src.Extend(t.from.tape, t.key)
		default:
			t.src.Reset(t.key)
		}
		return nil
	}
	tape, err := choice.Decode(at.Payload)
	if err != nil {
		return fmt.Errorf("reading the case: %w", err)
	}
	// A tape is complete: learned weights must not change its meaning.
	t.state = nil
	t.src.Follow(tape)
	return nil
}

// Execute implements [campaign.Executor].
func (x *executor) Execute(_ context.Context, s *state, at campaign.Case) (campaign.Outcome, error) {
	t := x.t
	if x.c.parallel {
		return x.perform(s, at)
	}
	if err := x.c.prepare(t, s, at); err != nil {
		return campaign.Outcome{}, err
	}
	clear(t.m.Tried)
	if t.dev != nil {
		t.dev.broken = nil
	}
	t.run()
	if t.dev != nil && t.dev.broken != nil {
		return campaign.Outcome{}, t.dev.broken
	}
	explored := at.Payload == nil && s != nil
	if t.dev != nil && explored {
		t.traceModule(s)
	}
	var o campaign.Outcome
	if x.c.unjudged {
		o.Verdict, o.Title = campaign.VerdictSkip, "the model is explored without a system and has nothing that could fail"
	}
	f, restored, known := t.failed, t.restored, explored && t.knows(s)
	o.Data = t.seen.encode(t.actions-t.begun, t.m.Tried, f != nil)
	found := explored && x.c.plan.collects && slices.ContainsFunc(t.seen.events, s.isNew)
	if f == nil && !found {
		return o, nil
	}
	values := slices.Clone(t.src.Tape().Values)
	if found {
		cuts, ok := x.find(s, values)
		if restored && !ok {
			return campaign.Outcome{}, redoFromStart("something new was met")
		}
		if len(cuts) > 0 {
			o.Data = encodeTape(o.Data, choice.Encode(values), cuts)
		}
	}
	if f == nil {
		return o, nil
	}
	tape := choice.Encode(values)
	sum := sha256.Sum256(tape)
	o.Verdict, o.Severity, o.Kind, o.Title = campaign.VerdictFail, f.severity(), f.kind, f.title
	o.Signature, o.Cause, o.Input = f.subject, []string{f.cause, f.level}, hex.EncodeToString(sum[:])
	if known || x.c.system != nil && explored && !restored && x.hasTraced(at.Index, f) {
		return o, nil // its steps were recorded when the failure was new
	}
	o.Evidence = []campaign.Attachment{{Name: "steps", Data: x.traceCase(tape).encode()}}
	if restored && !f.sameFailure(t.failed) {
		return campaign.Outcome{}, redoFromStart(f.title)
	}
	return o, nil
}

// hasTraced reports whether the steps of an earlier case with the same failure were recorded here.
// A finding shows only its first case's steps, and recording them again costs a restart if the
// failure ends the program.
func (x *executor) hasTraced(at int64, f *failure) bool {
	key := strings.Join([]string{f.kind, f.subject, f.cause, f.level}, "\x00")
	if first, ok := x.traced[key]; ok && first < at {
		return true
	}
	if x.traced == nil {
		x.traced = map[string]int64{}
	}
	x.traced[key] = at
	return false
}

// redoFromStart requests running the campaign again without restoring states of the module, because
// something found from a restored state does not occur from the start.
func redoFromStart(what string) error {
	return &campaign.RedoError{Reason: fmt.Sprintf("%s in a traversal that began with a kept state of the module, and not in the same one from the start", what)}
}

// find repeats the steps of a case that reached something new, from the start, and returns where on
// the tape the steps that reached it end. ok says that the repetition had the same result.
func (x *executor) find(s *state, values []uint64) (cuts []int, ok bool) {
	t := x.t
	f, actions, sketch := t.failed, t.actions, t.m.Sketch(-1)
	t.from, t.finder = nil, &finder{known: s, edges: map[int]bool{}}
	t.src.Follow(values)
	t.run()
	cuts, t.finder = t.finder.cuts, nil
	ok = t.actions == actions && t.m.Sketch(-1) == sketch && slices.Equal(t.src.Tape().Values, values)
	return cuts, ok && (f == t.failed || f != nil && f.sameFailure(t.failed))
}

// traceCase runs a failing case again from the start and records every step.
func (x *executor) traceCase(tape []byte) *trace {
	t, tr := x.t, &trace{}
	if err := x.c.prepare(t, nil, campaign.Case{Payload: tape}); err != nil {
		return tr // not a tape
	}
	t.trace = tr
	t.run()
	if tr.Generation = t.actions; t.failed != nil {
		tr.Place = t.failed.at.Path()
	}
	return tr
}

// Input implements [campaign.Inputter] with the tape of a case. What a module refuses affects the
// rest of a traversal, so the case is run for its tape, unless ctx has ended.
func (c *Campaign) Input(ctx context.Context, s *state, at campaign.Case) []byte {
	if at.Payload != nil {
		return at.Payload
	}
	if c.parallel {
		return c.tape(s, at)
	}
	x, err := c.open(ctx)
	if err != nil {
		return nil // the case is then identified only by its place
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
	if list := historyExhibits(o.Attached(historyName)); list != nil {
		return list
	}
	list := exhibits(o.Attached("steps"))
	for i := range list {
		if x := &list[i]; x.Title == placeTitle && c.places != nil {
			if at, ok := c.places()[x.Text.Body]; ok {
				x.Text.Body = at.String()
			}
		}
	}
	return append(list, c.doubts(&o)...)
}
