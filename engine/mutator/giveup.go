package mutator

import (
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/textop"
)

// GiveUpAfter is how often an operator may hang before it is given up: every
// time costs what a call may take. Who makes children looks after the first
// FirstBatch of them, and then after twice as many each time.
const (
	GiveUpAfter = 2
	FirstBatch  = 8
)

// reasonGivenUp is why an application is INVALID without having been tried.
const reasonGivenUp = "given_up"

// Hangs counts how often operators hung, by their places in the registry.
type Hangs map[int]int

// Count adds a child's applications and returns the operators that are to be
// given up from now on.
func (h Hangs) Count(applied []Applied) (done []int) {
	for _, a := range applied {
		if a.Hung {
			if h[a.Op]++; h[a.Op] == GiveUpAfter {
				done = append(done, a.Op)
			}
		}
	}
	return done
}

// GivingUp is the mutator with operators of a [Remote] that are not applied any
// more, by their places in the registry. They are chosen as before, and answered
// for as if they had hung again, so that no other operator is chosen in a child.
func (m *Mutator) GivingUp(ops ...int) *Mutator {
	next := *m
	next.givenUp = append(slices.Clip(m.givenUp), ops...)
	slices.Sort(next.givenUp)
	next.givenUp = slices.Compact(next.givenUp)
	return &next
}

// GivenUp are the operators that are not applied any more, by their places.
func (m *Mutator) GivenUp() []int { return m.givenUp }

// GiveUp makes the lane apply operators no more, as [Mutator.GivingUp] says.
func (l *Lane) GiveUp(ops ...int) { l.m = l.m.GivingUp(ops...) }

// Remote reports whether the lane has operators of a [Remote].
func (l *Lane) Remote() bool { return l.remotes }

// forgo answers for an operator that was given up.
func (l *Lane) forgo(w *work, op int) {
	n := utf8.RuneCountInString(w.child.Text)
	l.settle(w, op, &textop.Result{
		Status: textop.Invalid, Child: w.child.Text, Error: "was given up: it hung in earlier children",
		Trace: textop.Step{
			OpID: l.m.registry.entries[op].Meta.ID, Status: textop.Invalid, LenBefore: n, LenAfter: n,
			Params: textop.Params{{Key: "reason", Value: reasonGivenUp}},
		},
	})
}
