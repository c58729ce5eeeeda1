package score

import "testing"

// answers are the chances of each answer for a rate, if every run is looked at.
func answers(s Sequence, rate float64) (holds, fails float64) {
	open := make([]float64, s.Most()+2)
	open[0] = 1
	for n := 1; n <= s.Most(); n++ {
		for k := n; k >= 0; k-- {
			open[k] *= 1 - rate
			if k > 0 {
				open[k] += open[k-1] * rate
			}
			switch s.Judge(k, n) {
			case Holds:
				holds, open[k] = holds+open[k], 0
			case Fails:
				fails, open[k] = fails+open[k], 0
			}
		}
	}
	return holds, fails
}

// However often it is looked at, a rate at the target, or just below, is judged
// wrongly with a chance of 5 % at most; one that is clear is judged.
func TestSequence(t *testing.T) {
	for _, target := range []float64{0.5, 0.7, 0.8, 0.9, 0.95, 0.98} {
		for _, most := range []int{5, 40, 200, 500} {
			s := NewSequence(target, most)
			if holds, _ := answers(s, target-1e-9); holds > Level {
				t.Errorf("%g in %d: below it holds with %.3f", target, most, holds)
			}
			if _, fails := answers(s, target); fails > Level {
				t.Errorf("%g in %d: at it fails with %.3f", target, most, fails)
			}
		}
	}
	if holds, fails := answers(NewSequence(0.8, 200), 0.9); holds < 0.975 || fails > 0.001 {
		t.Errorf("0.9 against 0.8: holds with %.4f, fails with %.4f", holds, fails)
	}
	if holds, fails := answers(NewSequence(0.98, 200), 0.9); fails < 0.99 || holds > 0.001 {
		t.Errorf("0.9 against 0.98: holds with %.4f, fails with %.4f", holds, fails)
	}
}

func TestSequenceLooks(t *testing.T) {
	s := NewSequence(0.9, 200)
	if !s.Reachable() || NewSequence(0.99, 200).Reachable() || !NewSequence(0.99, 500).Reachable() {
		t.Error("0.9 in 200 and 0.99 in 500 can be shown, 0.99 in 200 cannot")
	}
	if s.Judge(0, 0) != Undecided || s.Judge(1, 1) != Undecided || s.Judge(0, 6) != Fails || s.Judge(100, 100) != Holds {
		t.Error("judged by no runs, or not by many")
	}
	// All pass: no run is made after the one that shows it.
	n := 1
	for s.Judge(n, n) == Undecided {
		n += s.More(n, n)
	}
	if s.Judge(n-1, n-1) != Undecided {
		t.Errorf("%d runs, and fewer show it", n)
	}
	for runs, want := range map[[2]int]int{{0, 0}: 4, {20, 31}: 4, {20, 32}: 4, {25, 40}: 5, {60, 100}: 12, {177, 190}: 10, {189, 199}: 1} {
		if got := s.More(runs[0], runs[1]); got != want {
			t.Errorf("after %d of %d: %d more runs, want %d", runs[0], runs[1], got, want)
		}
	}
	if Undecided.String() != "undecided" || Holds.String() != "holds" || Fails.String() != "fails" {
		t.Error("the answers have other words")
	}
	if s.More(180, 200) != 0 || s.More(150, 198) != 2 {
		t.Error("more runs than there may be")
	}
}
