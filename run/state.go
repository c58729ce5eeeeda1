package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// ErrUntried is the error of a run that ended before it tried its target, so that it
// has no cases.
var ErrUntried = errors.New("the run ended before it tried its target")

// FirstState returns the state of stored campaign k before its first round.
func FirstState(c campaign.Any, k int, j *store.Journal) (any, error) {
	var facts campaign.Facts
	for e, err := range j.Entries() {
		if err != nil {
			return nil, fmt.Errorf("reading the journal: %w", err)
		}
		if e.Kind == store.KindFacts && e.Campaign == k {
			if err := json.Unmarshal(e.Data, &facts); err != nil {
				return nil, fmt.Errorf("reading what the run learned about the target: %w", err)
			}
			return c.Start(facts), nil
		}
	}
	return nil, ErrUntried
}

// CaseAt returns case index of stored campaign k, with its explicit input if the
// campaign is an [campaign.Inputter], and the state that the case is executed in. To
// get it, it folds the journal's outcomes of the rounds before.
func CaseAt(ctx context.Context, c campaign.Any, k int, j *store.Journal, index int64) (campaign.Case, any, error) {
	at, state, err := RoundCaseAt(c, k, j, index)
	if err != nil {
		return at, state, err
	}
	if in, ok := campaign.As[campaign.Inputter[any]](c); ok {
		if p := in.Input(ctx, state, at); p != nil {
			at.Payload = p
		}
	}
	return at, state, nil
}

// RoundCaseAt is [CaseAt] with the round's own payload, as the run executed it.
func RoundCaseAt(c campaign.Any, k int, j *store.Journal, index int64) (campaign.Case, any, error) {
	state, err := FirstState(c, k, j)
	if err != nil {
		return campaign.Case{}, nil, err
	}
	w := &refold{c: c, state: state, number: -1, until: index}
	defer w.finish()
	for e := range Outcomes(j, k) {
		if err = w.add(e); err != nil {
			break
		}
	}
	if err == nil && w.next == w.base+w.round.Len {
		err = w.begin()
	}
	switch {
	case errors.Is(err, errUntil):
		return campaign.Case{Round: w.number, Index: index, Payload: w.round.Payload(index - w.base)}, w.state, nil
	case errors.Is(err, errOver):
		return campaign.Case{}, nil, fmt.Errorf("case %d is beyond the campaign's %d cases", index, w.base)
	case err != nil:
		return campaign.Case{}, nil, err
	}
	return campaign.Case{}, nil, fmt.Errorf("case %d is in a round that the run did not reach", index)
}

// StateOf returns the state of stored campaign k after its last outcome.
func StateOf(c campaign.Any, k int, j *store.Journal) (any, error) {
	state, err := FirstState(c, k, j)
	if err != nil {
		return nil, err
	}
	w := &refold{c: c, state: state, number: -1, until: -1}
	for e := range Outcomes(j, k) {
		if err = w.add(e); err != nil {
			break
		}
	}
	return w.finish(), err
}

// refold folds the outcomes of a stored campaign again, in case order.
type refold struct {
	c          campaign.Any
	state      any // before the round
	number     int // of the round; -1: before the first
	round      campaign.Round
	base, next int64 // first case of the round, and the next case
	fold       *folding
	spare      []folded
	closing    bool
	until      int64 // stop before the round of this case; below 0: never
}

var (
	errOver  = errors.New("the campaign ends before it")
	errUntil = errors.New("the round of the case comes next")
)

// begin ends the current round and begins the next one.
func (r *refold) begin() error {
	r.state = r.finish()
	r.base += r.round.Len
	r.next = r.base
	r.number++
	var ok bool
	switch r.round, ok = r.c.Round(r.state); {
	case !ok:
		r.round = campaign.Round{}
		return errOver
	case r.until >= 0 && r.until < r.base+r.round.Len:
		return errUntil
	}
	r.fold = startFold(r.c, r.state, r.spare)
	return nil
}

// add folds an outcome.
func (r *refold) add(e store.Entry) error {
	for r.fold == nil || r.next == r.base+r.round.Len || e.Kind == store.KindClosing && !r.closing {
		// The first closing case follows the round that was cut.
		r.closing = r.closing || e.Kind == store.KindClosing && r.fold != nil && r.next < r.base+r.round.Len
		err := r.begin()
		if errors.Is(err, errOver) {
			err = fmt.Errorf("the journal has case %d, but %w", e.Case.Index, err)
		}
		if err != nil {
			return err
		}
	}
	if e.Case.Round != r.number || e.Case.Index != r.next {
		return fmt.Errorf("the journal has case %d of round %d in place of case %d of round %d", e.Case.Index, e.Case.Round, r.next, r.number)
	}
	e.Outcome.Evidence = nil
	r.fold.add(campaign.Case{Round: r.number, Index: r.next}, e.Outcome)
	r.next++
	return nil
}

// finish returns the state after the outcomes that were added.
func (r *refold) finish() any {
	if r.fold != nil {
		r.state, r.spare = r.fold.finish(), r.fold.spare
		r.fold = nil
	}
	return r.state
}

// SaveMinimized stores a smaller reproducer of a finding: in the run's journal, its
// record and its outline.
func SaveMinimized(ctx context.Context, st *store.Store, rec campaign.Record, f campaign.Finding, from campaign.Case, red triage.Reduced, c campaign.Any, state any) error {
	w, j, err := st.Resume(rec.RunID)
	if err != nil {
		return err
	}
	defer j.Close()
	blob, err := st.PutBlob(red.Payload)
	if err != nil {
		_ = w.Close() // the error above is the one to report
		return fmt.Errorf("storing the smaller input: %w", err)
	}
	size := int64(len(from.Payload))
	if len(f.Samples) > 0 && f.Samples[0].Size > size {
		size = f.Samples[0].Size
	}
	f.Minimized = &campaign.Minimal{
		Blob: blob, Size: int64(len(red.Payload)), From: size, Tries: red.Tries, Verified: red.Verified,
		OneMinimal: red.OneMinimal, Spent: red.Spent, Preview: red.Payload[:min(len(red.Payload), maxPreview)],
	}
	if f.Samples[0].Blob != "" {
		if original, err := st.Blob(f.Samples[0].Blob); err == nil {
			from.Payload = original
		}
	}
	f.Minimized.Gauge = campaign.GaugeFrom(ctx, c, red.Payload, from.Payload)
	if d, ok := campaign.As[campaign.Describer[any]](c); ok {
		frames := slices.DeleteFunc(slices.Clone(f.Evidence), func(e campaign.Exhibit) bool { return e.Document == nil || e.Document.Line == 0 })
		f.Evidence = slices.Concat([]campaign.Exhibit{}, d.Describe(state, from, red.Outcome, red.Payload), frames)
	}
	k := 0
	for i := range rec.Findings {
		if rec.Findings[i].ID == f.ID {
			rec.Findings[i] = f
		}
	}
	for i, cr := range rec.Campaigns {
		if cr.Contract == f.Contract && cr.Name == f.Campaign {
			k = i
		}
	}
	settled, err := json.Marshal(findingEntry{Settled: &f})
	if err == nil {
		err = w.Append(store.Entry{Kind: store.KindFinding, Campaign: k, Data: settled})
	}
	if err == nil {
		err = w.Finish(rec, "done", 0)
	}
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("storing the smaller reproducer: %w", err)
	}
	return nil
}
