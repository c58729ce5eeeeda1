package diag

import (
	"strings"
	"testing"
)

// Of very many diagnostics the first of each level are kept, in their order, and
// the others counted: a late error is not lost among warnings.
func TestAddIsBounded(t *testing.T) {
	var l List
	add := func(level Level, n int) {
		for i := range n {
			l.Add(level, func() Diagnostic { return Diagnostic{Level: level, Pos: Pos{File: "a", Line: i + 1}, Message: "m"} })
		}
	}
	add(Warning, MostKept)
	if len(l) != MostKept {
		t.Fatalf("%d are kept of %d", len(l), MostKept)
	}
	add(Warning, 5)
	if l.HasErrors() {
		t.Error("warnings that are not listed are errors")
	}
	add(Error, MostKept+7)
	add(Warning, 1)
	l.Sort()
	if want := 2*MostKept + 1; len(l) != want || l[len(l)-1].Message != "7 more errors, 6 more warnings are not listed" {
		t.Errorf("%d diagnostics, the last says %q, want %d", len(l), l[len(l)-1].Message, want)
	}
	if errs, warns := l.counts(); errs != MostKept+7 || warns != MostKept+6 || !l.HasErrors() {
		t.Errorf("%d errors and %d warnings are counted", errs, warns)
	}
	if text := l.Render(Style{}); !strings.Contains(text, "1007 errors, 1006 warnings") {
		t.Error(text[len(text)-100:])
	}
}
