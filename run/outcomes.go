package run

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// Outcomes returns the outcomes of stored campaign k in case order, up to the first
// case that has none, and those of the rounds that closed it. Its memory is bounded by
// how far results ran ahead.
func Outcomes(j *store.Journal, k int) iter.Seq[store.Entry] {
	return firstOutcomes(j, k, math.MaxInt64)
}

// firstOutcomes are at most the first n outcomes, and those of the rounds that closed the campaign
// after these.
func firstOutcomes(j *store.Journal, k int, n int64) iter.Seq[store.Entry] {
	return func(yield func(store.Entry) bool) {
		_, closing, ok := inOrder(j, k, n, j.Entries(), yield)
		for _, e := range closing {
			if ok = ok && yield(e); !ok {
				return
			}
		}
	}
}

// Cases returns all outcomes of stored campaign k with the evidence that was kept of
// them: in case order up to the first case that has none, then those behind it.
func Cases(j *store.Journal, k int) iter.Seq[store.Entry] {
	return func(yield func(store.Entry) bool) {
		rest, closing, ok := inOrder(j, k, math.MaxInt64, j.Evidenced(), yield)
		for _, i := range slices.Sorted(maps.Keys(rest)) {
			if ok = ok && yield(rest[i]); !ok {
				return
			}
		}
		for _, e := range closing {
			if ok = ok && yield(e); !ok {
				return
			}
		}
	}
}

// inOrder yields the first n outcomes that count of a campaign in case order, and returns
// those that stand behind a case without one, and those of the rounds that closed it.
func inOrder(j *store.Journal, k int, n int64, entries iter.Seq2[store.Entry, error], yield func(store.Entry) bool) (rest map[int64]store.Entry, closing []store.Entry, ok bool) {
	attempt, overruled := counting(j, k)
	rest = make(map[int64]store.Entry)
	next := int64(0)
	for e, err := range entries {
		if err != nil {
			break // what is before the damage counts
		}
		if !e.Kind.Outcome() || e.Campaign != k || e.Attempt != attempt {
			continue
		}
		if e.Kind == store.KindClosing {
			closing = append(closing, e)
			continue
		}
		closing = nil
		if overruled[e.Case.Index] > 0 {
			overruled[e.Case.Index]--
			continue
		}
		for ok := true; ok && next < n; e, ok = rest[next] {
			if e.Case.Index != next {
				rest[e.Case.Index] = e
				break
			}
			delete(rest, next)
			next++
			if !yield(e) {
				return nil, nil, false
			}
		}
	}
	return rest, lastOfEach(closingAfter(closing, attempt, next)), true
}

// lastOfEach are the outcomes in case order; a case without a result was executed again.
func lastOfEach(list []store.Entry) []store.Entry {
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b store.Entry) int { return cmp.Compare(a.Case.Index, b.Case.Index) })
	return slices.CompactFunc(list, func(a, b store.Entry) bool { return a.Case.Index == b.Case.Index })
}

// counting is the attempt of a campaign that counts, and how many outcomes of a
// case do not: cases without a result are run again when a run is resumed.
func counting(j *store.Journal, k int) (attempt int, overruled map[int64]int) {
	overruled = make(map[int64]int)
	if !j.Again {
		return 0, overruled
	}
	failed := make(map[int64]int)
	for e, err := range j.Entries() {
		switch {
		case err != nil:
			return attempt, overruled
		case e.Campaign != k:
		case e.Kind == store.KindRedo:
			attempt++
			clear(failed)
			clear(overruled)
		case e.Kind == store.KindOutcome && e.Attempt == attempt:
			if n := failed[e.Case.Index]; n > 0 {
				overruled[e.Case.Index] = n
			}
			if e.Outcome.Verdict == campaign.VerdictError {
				failed[e.Case.Index]++
			}
		}
	}
	return attempt, overruled
}
