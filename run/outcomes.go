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

// Outcomes returns the outcomes of stored campaign k in case order, up to the first case without
// one, and then those of the closing rounds. Its memory grows with how far results ran ahead.
func Outcomes(j *store.Journal, k int) iter.Seq[store.Entry] {
	return firstOutcomes(j, k, math.MaxInt64)
}

// firstOutcomes returns at most the first n outcomes, and then those of the closing rounds that
// follow them.
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

// Cases returns all outcomes of stored campaign k with their stored evidence: in case order up to
// the first case without an outcome, and then the others.
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

// inOrder yields the first n outcomes of a campaign that count, in case order. It returns those
// after a case without an outcome, and those of the closing rounds.
func inOrder(j *store.Journal, k int, n int64, entries iter.Seq2[store.Entry, error], yield func(store.Entry) bool) (rest map[int64]store.Entry, closing []store.Entry, ok bool) {
	attempt, overruled := counting(j, k)
	rest = make(map[int64]store.Entry)
	next := int64(0)
	for e, err := range entries {
		if err != nil {
			break // what precedes the damage counts
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

// lastOfEach returns the outcomes in case order, only the last of each case: a case without a
// result may have been executed again.
func lastOfEach(list []store.Entry) []store.Entry {
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b store.Entry) int { return cmp.Compare(a.Case.Index, b.Case.Index) })
	return slices.CompactFunc(list, func(a, b store.Entry) bool { return a.Case.Index == b.Case.Index })
}

// counting returns the attempt of a campaign that counts, and for each case how many of its
// outcomes do not: cases without a result run again when a run is resumed.
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
