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

// ErrUntried is the error of a run that ended before its target was tried: it
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

// CaseAt is case index of stored campaign k, with its explicit input if the
// campaign has such, and the state that it is executed in: the journal's
// outcomes of the rounds before are folded again.
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

// RoundCaseAt is [CaseAt] with what the round gives, as the run executed it.
func RoundCaseAt(c campaign.Any, k int, j *store.Journal, index int64) (campaign.Case, any, error) {
	state, err := FirstState(c, k, j)
	if err != nil {
		return campaign.Case{}, nil, err
	}
	past := replayOf(j, k, lastAttempt(j, k))
	defer past.stop()
	base := int64(0)
	for number := 0; ; number++ {
		round, ok := c.Round(state)
		if !ok {
			return campaign.Case{}, nil, fmt.Errorf("case %d is beyond the campaign's %d cases", index, base)
		}
		if index < base+round.Len {
			return campaign.Case{Round: number, Index: index, Payload: round.Payload(index - base)}, state, nil
		}
		seq, fold := campaign.NewSequence(base), startFold(c, state, nil)
		errs := make(map[int64]campaign.Outcome)
		give := func(i int64, o campaign.Outcome) bool {
			fold.add(campaign.Case{Round: number, Index: i}, o)
			return true
		}
		past.round(number, func(e store.Entry) {
			if e.Outcome.Verdict == campaign.VerdictError {
				errs[e.Case.Index] = e.Outcome
				return
			}
			delete(errs, e.Case.Index)
			seq.Add(e.Case.Index, e.Outcome, give)
		})
		for i, o := range errs {
			seq.Add(i, o, give)
		}
		state = fold.finish()
		if base += round.Len; seq.Next() < base {
			return campaign.Case{}, nil, fmt.Errorf("case %d is in a round that the run did not reach", index)
		}
	}
}

// lastAttempt is the attempt whose outcomes count.
func lastAttempt(j *store.Journal, k int) int {
	attempt := 0
	for e, err := range j.Entries() {
		if err != nil {
			break
		}
		if e.Kind == store.KindRedo && e.Campaign == k {
			attempt++
		}
	}
	return attempt
}

// SaveMinimized keeps a smaller reproducer of a stored finding: in the run's
// journal, its record and the index.
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
