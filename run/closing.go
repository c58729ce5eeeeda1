package run

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// A campaign that --cases or --time ends may want some more cases executed, see
// [campaign.Traits].Closes. Their numbers follow the round that was cut, perhaps before its
// first case, and the journal keeps them apart: a resumed run with more cases continues the
// round that was cut, as if they had never been executed.

// noOutcomes is the empty sequence of outcomes, for a round that was cut before its first
// case.
func noOutcomes(func(campaign.Case, campaign.Outcome) bool) {}

// cutState returns the state of a campaign that is cut after a whole round, and the number and
// first case of the next round; false: there was no round left to cut.
func cutState(c campaign.Any, state any, number int, next int64) (any, int, int64, bool) {
	round, ok := c.Round(state)
	if !ok {
		return state, number, next, false
	}
	return c.Fold(state, noOutcomes), number + 1, next + round.Len, true
}

// close begins the closing rounds; false: there are none.
func (a *attempt) close(ctx context.Context) bool {
	why := a.r.stopReason()
	if a.over || a.gone != nil || ctx.Err() != nil || why != "" && why != StoppedTime || !campaign.TraitsOf(a.c).Closes {
		return false
	}
	if !a.cut {
		var ok bool
		if a.state, a.number, a.next, ok = cutState(a.c, a.state, a.number, a.next); !ok {
			return false
		}
	}
	a.closing, a.cut, a.before = true, false, a.counts.Run
	a.r.live.phase.Store(new(PhaseClose))
	return true
}

// watchClosing notes whether the campaign would have closing rounds, since these need some of
// the run's time.
func (a *attempt) watchClosing() {
	if a.closing || a.cut || a.r.deadline.IsZero() || !campaign.TraitsOf(a.c).Closes {
		return
	}
	state, _, _, ok := cutState(a.c, a.state, 0, 0)
	if ok {
		_, ok = a.c.Round(state)
	}
	if a.r.closable.Store(ok); ok && a.r.late.Load() {
		a.r.stopStarting(StoppedTime)
	}
}

// closed replays what earlier processes executed of the closing rounds.
func (r *runner) closed(a *attempt) *replay {
	if r.job.Journal == nil {
		return &replay{}
	}
	return replayList(closingAfter(r.history.closing[a.k], a.try, a.before))
}

func replayList(list []store.Entry) *replay {
	p := &replay{next: func() (e store.Entry, err error, ok bool) {
		if ok = len(list) > 0; ok {
			e, list = list[0], list[1:]
		}
		return e, nil, ok
	}}
	p.advance()
	return p
}

// closingAfter returns the closing outcomes that belong to this attempt and follow this number
// of cases.
func closingAfter(list []store.Entry, attempt int, before int64) []store.Entry {
	return slices.DeleteFunc(list, func(e store.Entry) bool { return e.Attempt != attempt || e.After != before })
}
