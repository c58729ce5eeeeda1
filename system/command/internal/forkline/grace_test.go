package forkline

import (
	"testing"
	"time"
)

func TestGraceIsWhatWasWaitedSinceAndBounded(t *testing.T) {
	const s = time.Second
	var g Grace
	g.Begin(s)
	g.Since(3 * s)
	total := s
	for _, c := range []struct{ waited, more time.Duration }{
		{3 * s, 0}, {3*s + s/21, 0}, {5 * s, 2 * s}, {5 * s, 0}, {8 * s, 3 * s}, {90 * s, 15 * s}, {99 * s, 0},
	} {
		more := g.More(func() time.Duration { return c.waited })
		if more != c.more {
			t.Errorf("having waited %s: %s more, want %s", c.waited, more, c.more)
		}
		total += more
	}
	if total != Longest(s) {
		t.Errorf("%s in all, want %s", total, Longest(s))
	}
}
