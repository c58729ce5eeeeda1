package fuzzspec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/process"
)

// An input that costs less for what it reaches, that reaches what no other does, or
// that has had fewer cases, is chosen more often; and a state never changes.
func TestSchedule(t *testing.T) {
	c := &Campaign{set: settings{guided: true, deep: true}, maker: referenceMaker{}, seed: []byte("seed")}
	fold := func(s *state, input string, work uint64, tuples ...uint32) *state {
		before := fmt.Sprint(s)
		next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{Payload: []byte(input)}, campaign.Outcome{Data: encodeKept(work, tuples)})
		})
		if after := fmt.Sprint(s); after != before {
			t.Errorf("folding changed a state:\n%s\n%s", before, after)
		}
		return next
	}
	weight := func(s *state, i int) uint64 {
		if i == 0 {
			return s.ends[0]
		}
		return s.ends[i] - s.ends[i-1]
	}
	s := c.Start(campaign.Facts{})
	s = fold(s, "dear", 80_000, 1, 2, 3)
	s = fold(s, "cheap", 100, 1, 2, 4)
	s = fold(s, "rare", 10_000, 5, 6, 7, 8, 9, 10)
	s = fold(s, "same", 10_000, 1, 2, 3, 4, 11)
	if got := []int32{s.entries[1].owns, s.entries[2].owns, s.entries[3].owns, s.entries[4].owns}; !reflect.DeepEqual(got, []int32{0, 3, 6, 2}) {
		t.Errorf("the inputs are the cheapest for %v tuples", got)
	}
	dear, cheap, rare, same := weight(s, 1), weight(s, 2), weight(s, 3), weight(s, 4)
	if !(cheap > rare && rare > same && same > dear && dear > 0) {
		t.Errorf("weights: dear %d, cheap %d, rare %d, same %d", dear, cheap, rare, same)
	}
	slow := fold(s, "slow", 1<<30, 1, 2, 3, 4, 12) // as slow as thousands
	if a, b := weight(slow, 5), weight(slow, 2); a*1000 > b {
		t.Errorf("a slow input weighs %d, a cheap one %d", a, b)
	}
	if a, b := weight(slow, 3), weight(s, 3); 2*a < b || a > 2*b {
		t.Errorf("a slow input changes the weight of another from %d to %d", b, a)
	}
	if first, last := weight(c.Fold(s, func(func(campaign.Case, campaign.Outcome) bool) {}), 0), weight(s, 0); first != last {
		t.Errorf("no case changes a weight: %d, %d", first, last)
	}
	worn := s
	for range 2 * wearOff {
		worn = fold(worn, "nothing new", 1, 1)
	}
	if a, b := weight(s, 0), weight(worn, 0); b*2 > a || worn.entries[0].made <= s.entries[0].made {
		t.Errorf("after %d cases the seed weighs %d, before %d", worn.entries[0].made, b, a)
	}
	// A crash is dear only if its process would have served other cases.
	for data, want := range map[string]int64{`{"kept":true}`: failCost, `{}`: 1} {
		s := c.Fold(c.Start(campaign.Facts{Data: []byte(data)}), func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{}, campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindCrash})
		})
		if made := s.entries[0].made; made != want {
			t.Errorf("%s: a crash wears its parent off as %d cases do, want %d", data, made, want)
		}
	}
	// One set aside counts more than its budget, in cases as they usually are.
	for data, want := range map[string]int64{`{"kept":true}`: leastBudget / keptWork, `{}`: leastBudget / caseWork, `{"budget":104857600}`: 100 * leastBudget / caseWork} {
		s := c.Start(campaign.Facts{Data: []byte(data)})
		aside := s.encodeAside(&process.Result{Status: process.OverBudget}, nil)
		for _, usual := range []uint64{0, 3 * s.caseCost()} {
			s.usual = usual
			next := c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
				yield(campaign.Case{Payload: []byte("x")}, campaign.Outcome{Data: aside})
			})
			if made := next.entries[0].made; made != asideCost*want {
				t.Errorf("%s: one set aside wears its parent off as %d cases do, want %d", data, made, want)
			}
			want /= 4
		}
	}
	if again, tuples := decodeKept(encodeKept(1<<40, []uint32{1, 300, 1 << 31})); again != 1<<40 || !reflect.DeepEqual(tuples, []uint32{1, 300, 1 << 31}) {
		t.Errorf("%d, %v", again, tuples)
	}
}
