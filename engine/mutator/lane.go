package mutator

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// Job asks for one child.
type Job struct {
	Seed  *Seed
	ID    string // testcase id; decides the child
	Index int64  // index among the children of the seed, from 0
	// Chain lists the operators that make the child, in this order, instead of
	// what the configuration says; nil: what that says. An empty chain keeps
	// the text.
	Chain *[]Link
}

// Link is an operator of a chain, by its index in the registry.
type Link struct {
	Op       int
	Strength int // 0: the child's own
}

// TestcaseID returns the id of a seed's child, as the contract suggests.
func TestcaseID(seedID string, index int64) string {
	return string(strconv.AppendInt(append([]byte(seedID), ':'), index, 10))
}

// Child is the result of a job.
type Child struct {
	Job
	Derived  uint64 // the seed of the testcase (OC-7.3)
	Strength int    // of operators without their own
	// Status is OK if Text differs from the seed's. Otherwise it is that of the
	// last step, or SKIPPED if no operator could be chosen.
	Status   textop.Status
	Text     string
	Steps    []textop.Step // the mutation trace
	Applied  []Applied     // the same steps, for statistics
	Breaches []Breach
}

// Applied is one application of an operator.
type Applied struct {
	Op     int // index in the registry
	Status textop.Status
	After  uint64 // hash of the text after it, if there are operators of a [Remote]
}

// Breach is a rule of the contract that an operator broke.
type Breach struct {
	Op   int    // index in the registry
	Step int    // index in the child's trace
	Kind string // one of the Breach* words
	Text string
	At   diag.Pos // in the operator's file; File is "" for built-in ones
}

// Kinds of breaches.
const (
	BreachFault  = "exception"     // it raised, met a limit, hung, or returned no result
	BreachResult = "result"        // what it returned breaks a rule of the contract
	BreachPrints = "prints"        // it wrote to standard output
	BreachRandom = "global-random" // it used the global generator (OC-7.1)
)

// Lane makes children for one goroutine at a time.
type Lane struct {
	m       *Mutator
	ops     []textop.Operator // by index in the registry; nil: not made yet
	crosses []bool            // by index: reads a partner
	plans   map[planKey]*plan
	derive  textop.Deriver
	streams textop.Streams
	ctx     textop.Context
	remote  pyhost.Operators
	remotes bool // there are operators for it
	works   []work
}

type planKey struct {
	bucket   textop.Bucket
	surface  textop.Surface
	controls bool
}

// NewLane returns a lane. remote applies the operators without New; nil if
// there are none.
func (m *Mutator) NewLane(remote pyhost.Operators) *Lane {
	entries := m.registry.entries
	l := &Lane{
		m: m, ops: make([]textop.Operator, len(entries)), crosses: make([]bool, len(entries)), plans: make(map[planKey]*plan),
		derive: textop.NewDeriver(m.cfg.Rule, m.cfg.SeedBase), remote: remote,
	}
	for i, e := range entries {
		l.crosses[i] = e.Crosses()
		l.remotes = l.remotes || e.New == nil
	}
	return l
}

// Use makes the lane use what has been learned: m must come from the lane's
// mutator by [Mutator.Learned].
func (l *Lane) Use(m *Mutator) {
	if l.m != m {
		l.m = m
		clear(l.plans)
	}
}

// work is a child that is being made.
type work struct {
	child    Child
	plan     *plan
	links    []Link // the chain that makes the child; nil: what the plan draws
	guard    textop.Guard
	strength int
	limits   *textop.Constraints
	step     int   // steps done
	tried    []int // operators that the current step has tried
	turn     uint64
	op       int // the operator that it waits for
	partner  string

	// The generators of a child that waits for a remote operator.
	draw, mutate pyrand.Rand
	fresh        bool // mutate has not been used yet
	call         pyhost.OperatorCall
}

// remoteBatch is how many children wait for remote operators together.
const remoteBatch = 256

// Make makes children and passes them to yield in the order of jobs. A child is
// valid until yield returns. An error is yield's own, or means that the
// environment failed; faults of operators are in the children.
func (l *Lane) Make(ctx context.Context, jobs []Job, yield func(*Child) error) error {
	if !l.remotes {
		if len(l.works) == 0 {
			l.works = make([]work, textop.Pairs)
		}
		for len(jobs) > 0 {
			n := min(len(jobs), textop.Pairs)
			if err := l.local(ctx, jobs[:n], yield); err != nil {
				return err
			}
			jobs = jobs[n:]
		}
		return nil
	}
	if len(l.works) < remoteBatch {
		l.works = make([]work, remoteBatch)
	}
	for len(jobs) > 0 {
		n := min(len(jobs), remoteBatch)
		if err := l.mixed(ctx, jobs[:n], yield); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// seed starts the generators for up to Pairs jobs.
func (l *Lane) seed(jobs []Job) {
	var seeds [textop.Pairs]uint64
	for i := range jobs {
		seeds[i] = l.derive.Seed(jobs[i].ID)
	}
	l.streams.Seed(seeds[:len(jobs)])
	for i := range jobs {
		l.works[i].child.Derived = seeds[i]
	}
}

// local makes children with operators that are applied here.
func (l *Lane) local(ctx context.Context, jobs []Job, yield func(*Child) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.seed(jobs)
	for i := range jobs {
		w := &l.works[i]
		l.begin(w, jobs[i], l.streams.Select(i))
		if _, err := l.advance(ctx, w, l.streams.Select(i), l.streams.Mutate(i)); err != nil {
			return err
		}
		if err := yield(w.finish()); err != nil {
			return err
		}
	}
	return nil
}

// mixed makes children with remote operators: all get as far as possible, then
// what they wait for is applied in one batch, and so on.
func (l *Lane) mixed(ctx context.Context, jobs []Job, yield func(*Child) error) error {
	waiting := make([]*work, 0, len(jobs))
	all := l.works
	defer func() { l.works = all }()
	for from := 0; from < len(jobs); from += textop.Pairs {
		group := jobs[from:min(from+textop.Pairs, len(jobs))]
		l.works = all[from:]
		l.seed(group)
		for i := range group {
			w := &l.works[i]
			draw, mutate := l.streams.Select(i), l.streams.Mutate(i)
			l.begin(w, group[i], draw)
			waits, err := l.advance(ctx, w, draw, mutate)
			if err != nil {
				return err
			}
			if waits {
				w.draw = *draw
				if !w.fresh {
					w.mutate = *mutate
				}
				waiting = append(waiting, w)
			}
		}
	}
	for len(waiting) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		left, err := l.apply(ctx, waiting)
		if err != nil {
			return err
		}
		waiting = left
	}
	for i := range jobs {
		if err := yield(all[i].finish()); err != nil {
			return err
		}
	}
	return nil
}

// begin starts a child.
func (l *Lane) begin(w *work, job Job, draw *pyrand.Rand) {
	c := &w.child
	c.Job, c.Text, c.Status = job, job.Seed.Text, textop.Skipped
	c.Steps, c.Applied, c.Breaches = c.Steps[:0], c.Applied[:0], nil
	cfg := &l.m.cfg
	w.step, w.tried, w.fresh, w.partner = 0, w.tried[:0], true, ""
	if w.links = cfg.Chain; job.Chain != nil {
		w.links = *job.Chain
	}
	strength := cfg.Strength
	if job.Seed.Strength != (textop.Range{}) {
		strength = job.Seed.Strength
	}
	w.limits = &cfg.Constraints
	if job.Seed.Constraints != nil {
		w.limits = job.Seed.Constraints
	}
	key := planKey{job.Seed.Bucket, job.Seed.Surface, w.limits.KeepControls}
	if w.plan = l.plans[key]; w.plan == nil {
		w.plan = l.m.plan(key)
		l.plans[key] = w.plan
	}
	w.strength = strength.Min
	if span := strength.Max - strength.Min; span > 0 {
		w.strength += int(draw.Below(uint64(span + 1)))
	}
	c.Strength = w.strength
	w.guard = textop.NewGuard(*w.limits)
	w.guard.MaxChars = maxChars(w.limits, job.Seed.Text)
	if w.plan.turn {
		w.turn = exactHash(job.Seed.ID) + uint64(job.Index)*uint64(cfg.Steps)
	}
}

func (w *work) finish() *Child {
	c := &w.child
	switch {
	case c.Text != c.Seed.Text, w.links != nil && len(w.links) == 0:
		c.Status = textop.OK
	case len(c.Applied) > 0:
		c.Status = c.Applied[len(c.Applied)-1].Status
		if c.Status == textop.OK { // the steps undid each other
			c.Status = textop.Skipped
		}
	}
	return c
}

// advance applies operators until the child is finished or waits for a remote
// one.
func (l *Lane) advance(ctx context.Context, w *work, draw, mutate *pyrand.Rand) (waits bool, err error) {
	for w.step < l.m.cfg.Steps || len(w.child.Steps) < len(w.links) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if w.links != nil && len(w.child.Steps) == len(w.links) {
			return false, nil
		}
		op, ok := l.next(w, draw)
		if !ok {
			w.step, w.tried = w.step+1, w.tried[:0]
			continue
		}
		if l.crosses[op] && len(l.m.cfg.Partners) > 0 {
			w.partner = l.m.cfg.Partners[draw.Below(uint64(len(l.m.cfg.Partners)))]
		}
		e := &l.m.registry.entries[op]
		if e.New == nil && slices.Contains(l.m.givenUp, op) {
			l.forgo(w, op)
			continue
		}
		if e.New == nil {
			l.ask(w, op, mutate)
			return true, nil
		}
		if l.ops[op] == nil {
			made, err := e.New()
			if err != nil {
				return false, fmt.Errorf("operator %s: %w", e.Meta.ID, err)
			}
			l.ops[op] = made
		}
		l.context(w, e)
		a := Apply(l.ops[op], e, w.child.Text, &l.ctx, mutate)
		w.fresh = false
		w.answer(op, e, &a)
		l.settle(w, op, &a.Result)
	}
	return false, nil
}

// next returns the operator to apply next.
func (l *Lane) next(w *work, draw *pyrand.Rand) (int, bool) {
	if w.links != nil {
		return w.links[len(w.child.Steps)].Op, true
	}
	return w.choose(draw)
}

// choose draws an operator that the current step has not tried; false if the
// plan has none, or if several draws in a row find none.
func (w *work) choose(draw *pyrand.Rand) (int, bool) {
	if len(w.plan.ops) == 0 {
		return 0, false
	}
	const patience = 4
	for range patience {
		op := w.plan.pick(draw, w.turn)
		w.turn++
		if !slices.Contains(w.tried, op) {
			w.tried = append(w.tried, op)
			return op, true
		}
	}
	return 0, false
}

// context sets the context for the operator.
func (l *Lane) context(w *work, e *Entry) {
	s := w.child.Seed
	c := &l.ctx
	c.Bucket, c.Surface, c.BucketTag, c.SurfaceTag = s.Bucket, s.Surface, s.BucketTag, s.SurfaceTag
	if s.Surface == textop.Conversation && !e.Meta.Accepts(s.Surface) {
		c.Surface, c.SurfaceTag = textop.PromptText, ""
	}
	c.Strength, c.Constraints, c.Partner = w.strength, *w.limits, w.partner
	if w.links != nil {
		if own := w.links[len(w.child.Steps)].Strength; own > 0 {
			c.Strength = own
		}
	}
	c.Metadata = nil
	if e.Kind == Builtin {
		c.Constraints.MaxChars = w.guard.MaxChars
	} else { // plug-ins get what was asked for, without the engine's own values
		c.Metadata = map[string]any{"seed_id": s.ID, "testcase_id": w.child.ID, "child_index": w.child.Index, "step_id": len(w.child.Steps)}
	}
}

// settle takes over the result of an application.
func (l *Lane) settle(w *work, op int, r *textop.Result) {
	c := &w.child
	if r.Status == textop.OK {
		g := w.guard.Apply(r.Child)
		if g.Acted() {
			r.Trace.Params = append(r.Trace.Params, textop.Param{Key: "guard_meta", Value: g.Params(w.guard.MaxChars)})
			r.Trace.LenAfter = g.Len
		}
		if g.Text == c.Text {
			r.Status, r.Trace.Status = textop.Skipped, textop.Skipped
			r.Trace.Params = append(r.Trace.Params, textop.Param{Key: "reason", Value: textop.ReasonNoChange})
		}
		c.Text = g.Text
	}
	if r.Status == textop.Invalid {
		r.Trace.Extra = append(r.Trace.Extra, textop.Param{Key: "error", Value: r.Error})
	}
	c.Steps = append(c.Steps, r.Trace)
	applied := Applied{Op: op, Status: r.Status}
	if l.remotes {
		applied.After = exactHash(c.Text)
	}
	c.Applied = append(c.Applied, applied)
	if r.Status == textop.OK || len(w.tried) > l.m.cfg.Redraws {
		w.step, w.tried = w.step+1, w.tried[:0]
	}
}

// answer adds the breaches of an application to the child.
func (w *work) answer(op int, e *Entry, a *Answered) {
	if a.Fault != "" {
		w.breach(op, BreachFault, a.Fault, a.At)
	}
	if a.Printed != "" {
		w.breach(op, BreachPrints, "writes to standard output: "+short(a.Printed), a.At)
	}
	if a.GlobalRandom {
		w.breach(op, BreachRandom, "uses the global random generator: draw from rng only (OC-7.1)", e.Source)
	}
	for _, text := range a.Result.Breaches {
		w.breach(op, BreachResult, text, a.At)
	}
}

func (w *work) breach(op int, kind, text string, at diag.Pos) {
	w.child.Breaches = append(w.child.Breaches, Breach{Op: op, Step: len(w.child.Steps), Kind: kind, Text: text, At: at})
}

// short returns the beginning of a text, on one line.
func short(text string) string {
	const most = 60
	for i, n := 0, 0; i < len(text); n++ {
		if text[i] == '\n' || n == most {
			return strconv.Quote(text[:i]) + "..."
		}
		i++
		for i < len(text) && text[i]&0xc0 == 0x80 {
			i++
		}
	}
	return strconv.Quote(text)
}
