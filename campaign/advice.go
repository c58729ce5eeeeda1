package campaign

// Replacer is implemented by campaigns that run further cases in place of some
// that passed or were skipped: duplicates, say. Those do not count.
type Replacer[S any] interface{ Replaced(S) Counts }

// Replaced implements [Replacer] for an erased campaign.
func (e erased[S]) Replaced(s any) Counts {
	if d, ok := As[Replacer[S]](e.inner); ok {
		return d.Replaced(s.(S))
	}
	return Counts{}
}

// Adviser is implemented by campaigns that can tell, once their cases have run,
// what the user may want to try next. It is no warning: nothing is wrong.
type Adviser[S any] interface{ Advice(S) []string }

// Advice implements [Adviser] for an erased campaign.
func (e erased[S]) Advice(s any) []string {
	if d, ok := As[Adviser[S]](e.inner); ok {
		return d.Advice(s.(S))
	}
	return nil
}

// Grader is implemented by campaigns that learn of how bad a finding is when its
// case is run again.
type Grader interface {
	// Grade is the severity of a finding of which out is an outcome with its
	// evidence.
	Grade(severity Severity, out Outcome) Severity
}
