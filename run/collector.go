package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// collector takes the results of one round in any order and releases them in case order: to the
// counts, the digest, the groups and the contract's Fold. Only one goroutine uses it.
type collector struct {
	ctx    context.Context // of the round, for inputs that need calls of the system
	a      *attempt
	number int
	round  campaign.Round
	base   int64
	seq    *campaign.Sequence
	failed map[int64]store.Entry // error outcomes of earlier processes
	past   map[int64]bool        // results of earlier processes that are not released yet
	fold   *folding
	cut    bool  // ignore all that follows the last released case
	err    error // why collecting had to stop
}

func newCollector(ctx context.Context, a *attempt, number int, round campaign.Round, base int64) *collector {
	return &collector{
		ctx: ctx, a: a, number: number, round: round, base: base, seq: campaign.NewSequence(base),
		failed: make(map[int64]store.Entry), past: make(map[int64]bool), fold: startFold(a.c, a.state, a.spare),
	}
}

// replayed takes an outcome from the journal. A case that ended in an error is skipped, so that
// it runs again, unless keepErrors is called.
func (c *collector) replayed(e store.Entry) {
	if e.Outcome.Verdict == campaign.VerdictError {
		c.failed[e.Case.Index] = e
		return
	}
	delete(c.failed, e.Case.Index)
	c.past[e.Case.Index] = true
	c.add(e.Case.Index, e.Outcome)
}

// keepErrors counts the journal's error outcomes as results, because a later round depends on
// them. It returns their number.
func (c *collector) keepErrors() int {
	for i, e := range c.failed {
		c.past[i] = true
		c.add(i, e.Outcome)
	}
	return len(c.failed)
}

// known returns a function that reports which cases have a result already.
func (c *collector) known() func(int64) bool {
	next, past := c.seq.Next(), maps.Clone(c.past) // the collector keeps changing its own
	return func(i int64) bool { return i < next || past[i] }
}

// executed takes a result from a worker.
func (c *collector) executed(res *result) {
	n := c.a.r.live.executed.Add(1)
	if c.a.r.opt.Executed != nil {
		c.a.r.opt.Executed(n)
	}
	if o := &res.outcome; o.Verdict == campaign.VerdictError && o.Kind == campaign.KindGone && c.a.gone == nil {
		c.a.gone = errors.New(o.Title) // other campaigns may have other targets
	}
	c.add(res.index, res.outcome)
}

func (c *collector) add(index int64, o campaign.Outcome) {
	c.a.r.count(&o)
	if c.cut {
		return
	}
	c.seq.Add(index, o, c.release)
}

// release counts one outcome in case order; false cuts the campaign here.
func (c *collector) release(index int64, o campaign.Outcome) bool {
	a := c.a
	delete(c.past, index)
	a.r.evidence.Add(-evidenceSize(o.Evidence))
	at := campaign.Case{Round: c.number, Index: index}
	a.counts.Add(o.Verdict)
	switch o.Verdict {
	case campaign.VerdictError:
		a.missed.add(o.Title, a.name(at))
	case campaign.VerdictSkip:
		skipped := o // a copy, so that only these outcomes escape to the heap, as below
		a.skipped.add(campaign.SkipReason(a.c, at, &skipped), a.name(at))
	}
	a.digest.Case(at, &o)
	if o.Verdict == campaign.VerdictFail {
		failed := o
		if j, ok := endedBy(&failed); ok && j >= c.base && j <= index {
			at.Index = j
		}
		at.Payload = c.round.Payload(at.Index - c.base)
		if err := a.sample(c.ctx, at, &failed); err != nil {
			c.err, c.cut = err, true
			return false
		}
	}
	o.Evidence = nil
	c.fold.add(campaign.Case{Round: c.number, Index: index}, o)
	if a.r.opt.Stop != nil && index >= a.r.opt.StopFrom {
		if last := o; a.r.opt.Stop(&last) {
			a.r.stopStarting(StoppedFailFast)
			c.cut = true
		}
	}
	if o.Verdict == campaign.VerdictError && a.tooManyErrors() {
		a.r.stopStarting(StoppedErrors)
		c.cut = true
	}
	return !c.cut
}

// name returns the document's name for a case; "" if the document does not name its cases.
func (a *attempt) name(at campaign.Case) string {
	if a.names == nil {
		return ""
	}
	return a.names(at)
}

// finish ends the round and returns the state after it.
func (c *collector) finish() any {
	state := c.fold.finish()
	c.a.spare = c.fold.spare
	return state
}

// sample groups a failing case, and stores its input and evidence if it is one of the first of
// its group.
func (a *attempt) sample(ctx context.Context, at campaign.Case, o *campaign.Outcome) error {
	group, sampled := a.groups.Add(at, o)
	a.r.live.findings.Store(int64(len(a.r.findings) + a.groups.Len()))
	if a.r.late.Load() {
		a.r.stopStarting(StoppedTime)
	}
	if !sampled {
		return nil
	}
	s := campaign.Sample{Case: campaign.Case{Round: at.Round, Index: at.Index}, Input: o.Input}
	if in, ok := campaign.As[campaign.Inputter[any]](a.c); ok {
		input, err := a.originalInput(group.Fingerprint, o)
		if err != nil {
			return &journalError{err}
		}
		if input == nil {
			input = in.Input(ctx, a.state, at)
		}
		if input != nil {
			blob, err := a.r.job.Store.PutBlob(input)
			if err != nil {
				return &journalError{fmt.Errorf("storing the input of case %d: %w", at.Index, err)}
			}
			s.Blob, s.Size, s.Gauge = blob, int64(len(input)), campaign.GaugeOf(ctx, a.c, input)
		}
	}
	a.samples[group.Fingerprint] = append(a.samples[group.Fingerprint], s)
	if group.Cases > 1 {
		return nil
	}
	return a.journalFinding(group.Fingerprint, at, o)
}

// originalInput returns the input that an outcome carries, or that was stored when the finding
// was first met; nil: none.
func (a *attempt) originalInput(fingerprint string, o *campaign.Outcome) ([]byte, error) {
	if input := o.Attached(campaign.InputAttachment); input != nil {
		return input, nil
	}
	blob := a.r.history.first[printKey(a.k, fingerprint)].Evidence[campaign.InputAttachment]
	if blob == "" {
		return nil, nil
	}
	input, err := a.r.job.Store.Blob(blob)
	if err != nil {
		return nil, fmt.Errorf("reading back an input: %w", err)
	}
	return input, nil
}

// journalFinding journals a finding that is met for the first time, so that a kill before triage
// loses neither the finding nor its evidence.
func (a *attempt) journalFinding(fingerprint string, at campaign.Case, o *campaign.Outcome) error {
	p, known := a.r.history.first[printKey(a.k, fingerprint)]
	if known && p.Case == at.Index && (len(p.Evidence) > 0 || len(o.Evidence) == 0) {
		for _, name := range slices.Sorted(maps.Keys(p.Evidence)) {
			a.seen[fingerprint] = append(a.seen[fingerprint], attached{name, p.Evidence[name]})
		}
		return nil
	}
	p = provisional{
		ID: triage.FindingID(a.id, fingerprint), Fingerprint: fingerprint, Case: at.Index,
		Title: o.Title, Kind: o.Kind, Severity: o.Severity, Evidence: make(map[string]string),
	}
	for _, e := range o.Evidence {
		blob, err := a.r.job.Store.PutBlob(e.Data)
		if err != nil {
			return fmt.Errorf("storing the evidence of case %d: %w", at.Index, err)
		}
		p.Evidence[e.Name] = blob
		a.seen[fingerprint] = append(a.seen[fingerprint], attached{e.Name, blob})
	}
	return a.r.note(store.KindFinding, a.k, findingEntry{Provisional: &p})
}

// attached is an attachment that the store keeps: the evidence of thousands of findings would not
// fit in memory.
type attached struct{ name, blob string }

// firstOf returns the outcome of the first case of a group with its evidence.
func (a *attempt) firstOf(g *triage.Group) (campaign.Outcome, error) {
	o := g.Outcome
	for _, e := range a.seen[g.Fingerprint] {
		data, err := a.r.job.Store.Blob(e.blob)
		if err != nil {
			return o, fmt.Errorf("reading back the evidence of case %d: %w", g.Samples[0].Case.Index, err)
		}
		o.Evidence = append(o.Evidence, campaign.Attachment{Name: e.name, Data: data})
	}
	return o, nil
}

// folding feeds outcomes, in batches, to a contract's Fold.
type folding struct {
	batch []folded
	spare []folded // the first batch that was folded, for the next round
	feed  chan []folded
	state chan any
}

type folded struct {
	c campaign.Case
	o campaign.Outcome
}

const foldBatch = 256

// startFold begins folding into a state; spare is a buffer that an earlier folding left.
func startFold(c campaign.Any, state any, spare []folded) *folding {
	f := &folding{batch: spare[:0], feed: make(chan []folded, 4), state: make(chan any, 1)}
	go func() {
		next := c.Fold(state, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for batch := range f.feed {
				for i := range batch {
					if !yield(batch[i].c, batch[i].o) {
						return
					}
				}
			}
		})
		for range f.feed { // drain what the contract did not read
		}
		f.state <- next
	}()
	return f
}

func (f *folding) add(c campaign.Case, o campaign.Outcome) {
	f.batch = append(f.batch, folded{c, o})
	if len(f.batch) == foldBatch {
		f.send()
		f.batch = make([]folded, 0, foldBatch)
	}
}

func (f *folding) send() {
	f.feed <- f.batch
	if f.spare == nil {
		f.spare = f.batch
	}
}

func (f *folding) finish() any {
	if len(f.batch) > 0 {
		f.send()
	}
	close(f.feed)
	return <-f.state
}
