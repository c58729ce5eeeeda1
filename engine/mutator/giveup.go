package mutator

import (
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/textop"
)

// reasonGivenUp is why an application is INVALID without having been tried.
const reasonGivenUp = "given_up"

// GivingUp is the mutator with operators of a [Remote] that are not applied, by
// their places in the registry, since they would hang. They are chosen as
// before, and answered for as if they had hung.
func (m *Mutator) GivingUp(ops ...int) *Mutator {
	next := *m
	next.givenUp = append(slices.Clip(m.givenUp), ops...)
	slices.Sort(next.givenUp)
	next.givenUp = slices.Compact(next.givenUp)
	return &next
}

// GivenUp are the operators that are not applied, by their places.
func (m *Mutator) GivenUp() []int { return m.givenUp }

// Registry is the operators that the lane's mutator chooses from.
func (l *Lane) Registry() *Registry { return l.m.registry }

// Remote reports whether the lane has operators of a [Remote].
func (l *Lane) Remote() bool { return l.remotes }

// forgo answers for an operator that was given up.
func (l *Lane) forgo(w *work, op int) {
	const why = "hung when it was tried before the run, and is not applied"
	e := &l.m.registry.entries[op]
	n := utf8.RuneCountInString(w.child.Text)
	w.breach(op, BreachFault, why, e.Source)
	l.settle(w, op, &textop.Result{
		Status: textop.Invalid, Child: w.child.Text, Error: why,
		Trace: textop.Step{
			OpID: e.Meta.ID, Status: textop.Invalid, LenBefore: n, LenAfter: n,
			Params: textop.Params{{Key: "reason", Value: reasonGivenUp}},
		},
	})
}
