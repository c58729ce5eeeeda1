package campaign

// Extender is implemented by campaigns that know their plan but may run more
// cases than that.
type Extender interface {
	// Extends says when, to stand behind the number of cases; "": never.
	Extends() string
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
