package campaign

// Grouper is implemented by campaigns that know which findings came from one cause.
type Grouper[S any] interface {
	// Group names the cause of a finding of which out is an outcome with its evidence, that
	// of the smallest reproducer if there is one; "": it is not known.
	Group(state S, out Outcome) string
}

// Group implements [Grouper] for an erased campaign.
func (e erased[S]) Group(s any, out Outcome) string {
	if g, ok := As[Grouper[S]](e.inner); ok {
		return g.Group(s.(S), out)
	}
	return ""
}
