package run

import (
	"iter"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/store"
)

// Outcomes returns the outcomes of stored campaign k in case order, up to the first
// case that has none. Its memory is bounded by how far results ran ahead.
func Outcomes(j *store.Journal, k int) iter.Seq[store.Entry] {
	return func(yield func(store.Entry) bool) {
		inOrder(j, k, j.Entries(), yield)
	}
}

// Cases returns all outcomes of stored campaign k with the evidence that was kept of
// them: in case order up to the first case that has none, then those behind it.
func Cases(j *store.Journal, k int) iter.Seq[store.Entry] {
	return func(yield func(store.Entry) bool) {
		rest, ok := inOrder(j, k, j.Evidenced(), yield)
		for _, i := range slices.Sorted(maps.Keys(rest)) {
			if ok = ok && yield(rest[i]); !ok {
				return
			}
		}
	}
}

// inOrder yields the outcomes that count of a campaign in case order, and
// returns those that stand behind a case without one.
func inOrder(j *store.Journal, k int, entries iter.Seq2[store.Entry, error], yield func(store.Entry) bool) (rest map[int64]store.Entry, ok bool) {
	attempt, overruled := counting(j, k)
	rest = make(map[int64]store.Entry)
	next := int64(0)
	for e, err := range entries {
		if err != nil {
			break // what is before the damage counts
		}
		if e.Kind != store.KindOutcome || e.Campaign != k || e.Attempt != attempt {
			continue
		}
		if overruled[e.Case.Index] > 0 {
			overruled[e.Case.Index]--
			continue
		}
		rest[e.Case.Index] = e
		for {
			head, there := rest[next]
			if !there {
				break
			}
			delete(rest, next)
			next++
			if !yield(head) {
				return nil, false
			}
		}
	}
	return rest, true
}

// counting is the attempt of a campaign that counts, and how many outcomes of a
// case do not: cases without a result are run again when a run is resumed.
func counting(j *store.Journal, k int) (attempt int, overruled map[int64]int) {
	attempt = lastAttempt(j, k)
	failed := make(map[int64]int)
	overruled = make(map[int64]int)
	for e, err := range j.Entries() {
		if err != nil {
			break
		}
		if e.Kind != store.KindOutcome || e.Campaign != k || e.Attempt != attempt {
			continue
		}
		if n := failed[e.Case.Index]; n > 0 {
			overruled[e.Case.Index] = n
		}
		if e.Outcome.Verdict == campaign.VerdictError {
			failed[e.Case.Index]++
		}
	}
	return attempt, overruled
}
