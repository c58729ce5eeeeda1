package fuzzspec

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Refusal is why [Validate] refuses a document: one line, in the words that
// existing tools print, without a line end.
type Refusal struct {
	Line string
	// Unexpected says that existing tools do not refuse such a document but
	// fail on it: their commands other than validate exit with 1, not 2.
	Unexpected bool
}

func (r *Refusal) Error() string { return r.Line }

// Validate checks a document as existing tools do: the first rule that is
// broken, in their order, wins. The warning is the line that they print for an
// accepted document, or empty; strict refuses what would be warned of. An
// error is always a [*Refusal].
func Validate(text []byte, fsys FS, strict bool) (spec *Spec, warning string, err error) {
	w := walk{fsys: fsys}
	if w.parse(text) {
		w.document()
	}
	if v := w.first; v != nil {
		return nil, "", &Refusal{Line: printable(v.line), Unexpected: v.unexpected}
	}
	if len(w.reserved) == 0 {
		return &w.spec, "", nil
	}
	names := make([]string, len(w.reserved))
	for i, p := range w.reserved {
		names[i] = p.path
	}
	list := strings.Join(names, ", ")
	if strict {
		return nil, "", &Refusal{Line: "spec: reserved fields not implemented (strict): " + list}
	}
	return &w.spec, "warning: reserved fields not implemented: " + list, nil
}

// printable writes lone surrogates, which a stream of UTF-8 cannot hold, the
// way that Python's standard error does.
func printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if r, ok := jsontree.IsLone(s[i:]); ok {
			fmt.Fprintf(&b, `\u%04x`, r)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
