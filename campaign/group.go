package campaign

// Grouper is implemented by campaigns that know which findings have a common cause.
type Grouper[S any] interface {
	// Group names the cause of a finding; "": unknown. out is an outcome of the finding
	// with its evidence: that of the smallest reproducer, if there is one.
	Group(state S, out Outcome) string
}

// Group implements [Grouper] for an erased campaign.
func (e erased[S]) Group(s any, out Outcome) string {
	if g, ok := As[Grouper[S]](e.inner); ok {
		return g.Group(s.(S), out)
	}
	return ""
}
