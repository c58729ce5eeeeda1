package diag

// MostKept is how many diagnostics of each level [List.Add] keeps: a document of
// five million values may be wrong in each.
const MostKept = 1000

// beyond counts what a list does not keep; it belongs to the list's last entry.
type beyond struct{ kept, more [Note + 1]int }

// Add adds a diagnostic, which make makes. Of the errors, the warnings and the
// notes it keeps the first [MostKept] each; the last entry counts the others.
func (l *List) Add(level Level, make func() Diagnostic) {
	n := len(*l)
	if n < MostKept {
		*l = append(*l, make())
		return
	}
	last := &(*l)[n-1]
	if last.beyond == nil {
		b := new(beyond)
		for i := range *l {
			b.kept[(*l)[i].Level]++
		}
		if b.kept[level] < MostKept {
			*l = append(*l, make())
			return
		}
		*l = append(*l, Diagnostic{Level: level, Pos: Pos{File: last.Pos.File}, Code: "input.more", beyond: b})
		last = &(*l)[n]
	} else if last.beyond.kept[level] < MostKept {
		last.beyond.kept[level]++
		*l = append((*l)[:n-1], make(), *last)
		return
	}
	last.beyond.more[level]++
	last.Level = min(last.Level, level) // what is not kept may be the error
	last.Message = last.beyond.String()
}

// String is "12 more errors, 3 more warnings are not listed". It is made anew with
// each that is added, and so with little work.
func (b *beyond) String() string {
	var room [96]byte
	text := room[:0]
	for level, n := range b.more {
		if n == 0 {
			continue
		}
		if len(text) > 0 {
			text = append(text, ", "...)
		}
		text = append(append(text, Number(n)...), " more "...)
		text = append(text, Level(level).String()...)
		if n > 1 {
			text = append(text, 's')
		}
	}
	return string(append(text, " are not listed"...))
}
