package forkline

import (
	"testing"
	"time"
)

func TestGraceIsWhatWasWaitedSinceAndBounded(t *testing.T) {
	const s = time.Second
	before := Standing{Used: 7 * s, Waited: 3 * s}
	for name, steps := range map[string][]struct {
		now  Standing // since then
		more time.Duration
	}{
		"it waited": {
			{Standing{}, 0}, {Standing{Waited: s / 21}, 0}, {Standing{Waited: 2 * s}, 2 * s}, {Standing{Waited: 2 * s}, 0}, {Standing{Waited: 5 * s}, 3 * s},
			{Standing{Waited: 2000 * s}, 995 * s}, {Standing{Waited: 3000 * s}, 0},
		},
		"it waits, and the kernel has not counted it": {
			{Standing{Ready: true}, s}, {Standing{Ready: true, Used: s / 4}, 3 * s / 4}, {Standing{Waited: 2 * s, Used: s / 2}, s / 4}, {Standing{Used: s / 2}, 0},
		},
		"it runs all the time":               {{Standing{Ready: true, Used: s}, 0}, {Standing{Ready: true, Used: s - s/21}, 0}},
		"its threads wait for another":       {{Standing{Ready: true, Used: 2 * s, Waited: s}, s}, {Standing{Ready: true, Used: 20 * s, Waited: 9 * s}, 0}},
		"it has used what it may, and waits": {{Standing{Ready: true, Used: s, Waited: s}, s}, {Standing{Ready: true, Used: s, Waited: s}, 0}},
	} {
		var g Grace
		g.Begin(s)
		g.Since(before)
		for i, c := range steps {
			now := Standing{before.Used + c.now.Used, before.Waited + c.now.Waited, c.now.Ready}
			if more := g.More(func() Standing { return now }); more != c.more {
				t.Errorf("%s, look %d: %s more, want %s", name, i, more, c.more)
			}
		}
	}
}
