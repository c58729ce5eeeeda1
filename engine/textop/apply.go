package textop

import (
	"fmt"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/pyrand"
)

// Run applies an operator and enforces the contract, whoever wrote it:
//   - a surface or bucket that it does not serve is SKIPPED without a call;
//   - a panic is INVALID;
//   - SKIPPED and INVALID return the seed;
//   - OK with the seed as child is SKIPPED, reason no_change;
//   - a child over max_chars is SKIPPED or INVALID, as the operator declares;
//   - op_id, status and both lengths of the trace are correct.
//
// What Run had to correct is in Breaches. A skip by no_change is no breach,
// since the contract does not mention it.
func Run(op Operator, seed string, ctx *Context, rng *pyrand.Rand) Result {
	if b, ok := op.(*builtin); ok { // built-in operators obey the rules by construction
		return b.Apply(seed, ctx, rng)
	}
	m := op.Meta()
	n := utf8.RuneCountInString(seed)
	if reason := mismatch(m, ctx); reason != "" {
		return skipped(m.ID, seed, n, Params{{"reason", reason}})
	}
	var r Result
	func() {
		defer func() {
			if p := recover(); p != nil {
				r = Result{Status: Invalid, Error: fmt.Sprint("the operator panicked: ", p), Trace: Step{OpID: m.ID, Status: Invalid, LenBefore: n, LenAfter: n}, Child: seed}
			}
		}()
		r = op.Apply(seed, ctx, rng)
	}()
	hold(m, seed, n, ctx, &r)
	return r
}

// mismatch says why the operator is not for this context; "": it is.
func mismatch(m *Meta, ctx *Context) string {
	switch {
	case ctx.Bucket != "" && !m.Serves(ctx.Bucket):
		return ReasonBucket
	case ctx.Surface != "" && !m.Takes(ctx.Surface):
		return ReasonSurface
	}
	return ""
}

func skipped(id, seed string, n int, p Params) Result {
	return Result{Status: Skipped, Child: seed, Trace: Step{OpID: id, Status: Skipped, Params: p, LenBefore: n, LenAfter: n}}
}

func codePoints(n int) string { return diag.Plural(n, "code point") }

// hold checks and corrects what an operator returned.
func hold(m *Meta, seed string, n int, ctx *Context, r *Result) {
	breach := func(format string, args ...any) { r.Breaches = append(r.Breaches, fmt.Sprintf(format, args...)) }
	claimed, answered := r.Trace, r.Status
	switch r.Status {
	case OK, Skipped, Invalid:
	default:
		breach("status is %q: expected OK, SKIPPED or INVALID", r.Status)
		r.Status, r.Error = Invalid, "the operator returned no known status"
	}
	if r.Status == OK && !utf8.ValidString(r.Child) {
		breach("the child is not valid Unicode text")
		r.Status, r.Error = Invalid, "the child is not valid Unicode text"
	}
	returned := utf8.RuneCountInString(r.Child)
	if answered == r.Status && r.Status != OK && r.Child != seed {
		r.Advice = append(r.Advice, fmt.Sprintf("the child differs from the seed although the status is %s: it is discarded (OC-4.2)", r.Status))
	}
	if r.Status == Invalid && r.Error == "" {
		breach("status INVALID without an error message")
		r.Error = "the operator gave no message"
	}
	if claimed.OpID != m.ID {
		breach("the trace has op_id %q: expected %q", claimed.OpID, m.ID)
	}
	if claimed.Status != answered {
		breach("the trace has status %q: the result has %q", claimed.Status, answered)
	}
	if claimed.LenBefore != n {
		breach("the trace has len_before %d: the seed has %s", claimed.LenBefore, codePoints(n))
	}
	if claimed.LenAfter != returned {
		breach("the trace has len_after %d: the child has %s", claimed.LenAfter, codePoints(returned))
	}
	switch limit := ctx.Constraints.MaxChars; {
	case r.Status != OK:
	case r.Child == seed:
		r.Status, r.Unchanged = Skipped, true
		r.Trace.Params = append(r.Trace.Params, Param{"reason", ReasonNoChange})
	case limit > 0 && returned > limit:
		breach("the child has %s although max_chars is %d", codePoints(returned), limit)
		r.Status = Skipped
		if m.OverLength == RefuseLong {
			r.Status, r.Error = Invalid, "the child is longer than max_chars"
		}
		r.Trace.Params = append(r.Trace.Params, Param{"reason", ReasonLength})
	}
	if r.Status != OK {
		r.Child, returned = seed, n
	}
	r.Trace.OpID, r.Trace.Status, r.Trace.LenBefore, r.Trace.LenAfter = m.ID, r.Status, n, returned
}
