package mutator

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Answered is what came of one application.
type Answered struct {
	Result textop.Result
	// Fault is why the operator gave no result: an exception, a limit, a value
	// that is no result. It is "" if it gave one.
	Fault        string
	At           diag.Pos // where in the operator's file; File is "" for built-in ones
	Printed      string   // what it wrote to standard output, or the beginning of it
	GlobalRandom bool     // it used the global generator
}

// witness is implemented by operators that know more of their last Apply than
// its result says.
type witness interface {
	Witness() (fault string, at diag.Pos, printed string)
}

// Apply applies an operator of the entry e that lives here.
func Apply(op textop.Operator, e *Entry, seed string, ctx *textop.Context, rng *pyrand.Rand) Answered {
	a := Answered{Result: textop.Run(op, seed, ctx, rng), At: e.Source}
	if w, ok := op.(witness); ok {
		a.Fault, a.At, a.Printed = w.Witness()
		a.Fault = oneLine(a.Fault)
	}
	return a
}

// oneLine makes a message of an operator fit to be shown: it may hold anything,
// and be of any length.
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
