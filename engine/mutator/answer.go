package mutator

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Answered is the outcome of one application.
type Answered struct {
	Result textop.Result
	// Fault is why the operator gave no result: an exception, a limit, a value that
	// is not a result; "": it gave one.
	Fault        string
	At           diag.Pos // where in the operator's file; File is "" for built-in ones
	Printed      string   // what it wrote to standard output, perhaps cut
	GlobalRandom bool     // it used the global random generator
}

// witness is implemented by operators that know more about their last Apply than its
// result says.
type witness interface {
	Witness() (fault string, at diag.Pos, printed string)
}

// Apply applies an operator of the entry e in this process.
func Apply(op textop.Operator, e *Entry, seed string, ctx *textop.Context, rng *pyrand.Rand) Answered {
	a := Answered{Result: textop.Run(op, seed, ctx, rng), At: e.Source}
	if w, ok := op.(witness); ok {
		a.Fault, a.At, a.Printed = w.Witness()
		a.Fault = oneLine(a.Fault)
	}
	return a
}

// oneLine shortens a message of an operator for display: it may contain anything and
// have any length.
func oneLine(message string) string {
	const most = 300
	var b strings.Builder
	n := 0
	for _, r := range message {
		if n++; n > most {
			b.WriteString("...")
			break
		}
		if unicode.IsPrint(r) || r == ' ' {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// reasonGivenUp is why an application is INVALID without being tried.
const reasonGivenUp = "given_up"

// GivingUp returns the mutator with operators of a [Remote], by index in the
// registry, that are not applied, since they would hang. They are chosen as before,
// and count as having hung.
func (m *Mutator) GivingUp(ops ...int) *Mutator {
	next := *m
	next.givenUp = append(slices.Clip(m.givenUp), ops...)
	slices.Sort(next.givenUp)
	next.givenUp = slices.Compact(next.givenUp)
	return &next
}

// GivenUp returns the operators that are not applied, by index.
func (m *Mutator) GivenUp() []int { return m.givenUp }

// Registry returns the operators that the lane's mutator chooses from.
func (l *Lane) Registry() *Registry { return l.m.registry }

// Remote reports whether the lane has operators of a [Remote].
func (l *Lane) Remote() bool { return l.remotes }

// forgo answers for an operator that was given up.
func (l *Lane) forgo(w *work, op int) {
	const why = "hung when tried before the run, and is not applied"
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
