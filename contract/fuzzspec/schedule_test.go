package fuzzspec

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
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
		for i, known := range next.shares {
			if w := next.weightOf(i); w != known.weight {
				t.Errorf("input %d weighs %d, and by what is known now %d", i, known.weight, w)
			}
		}
		return next
	}
	weight := func(s *state, i int) uint64 {
		if i == 0 {
			return s.ends[0]
		}
		return s.ends[i] - s.ends[i-1]
	}
	s := c.Start(campaign.Facts{Data: []byte(`{"kept":true}`)})
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
	if a, b := weight(s, 0), weight(worn, 0); b*2 > a || worn.shares[0].made <= s.shares[0].made {
		t.Errorf("after %d cases the seed weighs %d, before %d", worn.shares[0].made, b, a)
	}
	many := s
	for i := range uint32(32) {
		many = fold(many, "one of many", 100, 100+i)
	}
	for i := range uint32(4) { // cheaper for what another is the cheapest for
		many = fold(many, "short", 1, 100+i, 200+i)
	}
	// All inputs are looked at again once there is a sixteenth more of them.
	for i := range uint32(400) {
		n, from := len(many.entries)+1, many.weighed
		many = fold(many, "more", 100, 1000+i)
		want := from
		if n > from+from/16 {
			want = n
		}
		if len(many.entries) != n || many.weighed != want {
			t.Fatalf("of %d inputs, %d before, %d were looked at, want %d", n, from, many.weighed, want)
		}
	}
	// What a case costs is charged to its parent: a crash and a case set aside too, the end
	// of a process only if that would have served other cases.
	aside := s.encodeAside(&process.Result{Status: process.OverBudget}, nil)
	for _, x := range []struct {
		facts string
		o     campaign.Outcome
		want  uint64
	}{
		{`{}`, campaign.Outcome{}, caseWork},
		{`{"kept":true}`, campaign.Outcome{}, keptWork},
		{`{}`, campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindCrash}, caseWork},
		{`{"kept":true}`, campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kindCrash}, (1 + endCost) * keptWork},
		{`{}`, campaign.Outcome{Data: aside}, caseWork + leastBudget},
		{`{"kept":true}`, campaign.Outcome{Data: aside}, (1+endCost)*keptWork + leastBudget},
		{`{"budget":104857600}`, campaign.Outcome{Data: aside}, caseWork + 100*leastBudget},
	} {
		next := c.Fold(c.Start(campaign.Facts{Data: []byte(x.facts)}), func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{Payload: []byte("x")}, x.o)
		})
		if got := next.shares[0]; got.used != x.want || got.made != 1 {
			t.Errorf("%s, %v: %d cases have cost their parent %d edges, want %d", x.facts, x.o, got.made, got.used, x.want)
		}
	}
}

// However long a campaign gets, an input whose cases each cost as much as a thousand others
// takes no more of the work than a cheap one; nor does one whose cases are set aside.
func TestDearInputs(t *testing.T) {
	c := &Campaign{set: settings{guided: true, deep: true}, maker: referenceMaker{}, seed: []byte("seed")}
	s := c.Start(campaign.Facts{Data: []byte(`{"kept":true}`)})
	const cheap, dear, hangs = 1, 2, 3
	s.addInput([]byte("cheap"), 100, []uint32{1})
	s.addInput([]byte("dear"), 1000*(100+keptWork), []uint32{2})
	s.addInput([]byte("hangs"), 100, []uint32{3})
	s.weigh()
	aside := campaign.Outcome{Data: s.encodeAside(&process.Result{Status: process.OverBudget}, nil)}
	draw := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		for range guidedRound {
			at := draw.Uint64N(s.ends[len(s.ends)-1])
			i := slices.IndexFunc(s.ends, func(end uint64) bool { return end > at })
			o := campaign.Outcome{}
			if i == hangs {
				o = aside
			}
			s.spend(i, o)
		}
		s.weigh()
	}
	for _, i := range []int{dear, hangs} {
		if a, b := s.shares[cheap].used, s.shares[i].used; b > 2*a || 2*b < a {
			t.Errorf("cases of input %d have cost %d edges, those of a cheap one %d", i, b, a)
		}
	}
}

func TestKeptData(t *testing.T) {
	if again, tuples := decodeKept(encodeKept(1<<40, []uint32{1, 300, 1 << 31})); again != 1<<40 || !reflect.DeepEqual(tuples, []uint32{1, 300, 1 << 31}) {
		t.Errorf("%d, %v", again, tuples)
	}
}
