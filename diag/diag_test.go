package diag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

func TestRender(t *testing.T) {
	l := diag.List{
		{Code: "x.late", Pos: diag.Pos{File: "a.json", Line: 3, Col: 2}, Path: "seed.path", Message: "must be given", Hint: "did you mean path?", Source: "\t{\"pth\": 1}"},
		{Code: "x.early", Level: diag.Warning, Pos: diag.Pos{File: "a.json", Line: 1, Col: 1}, Message: "is reserved"},
	}
	l.Sort()
	want := `a.json:1:1: warning: is reserved [x.early]
a.json:3:2: error: seed.path: must be given [x.late]
   {"pth": 1}
   ^
  hint: did you mean path?
1 error, 1 warning
`
	if got := l.Render(diag.Style{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := l.Render(diag.Style{Color: true}); !strings.Contains(got, "\x1b[1;31merror\x1b[0m") {
		t.Errorf("no colour in %q", got)
	}
	if got := l.Error(); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "(did you mean path?)") {
		t.Errorf("%q", got)
	}
}

// A long line is cut around the place, and the caret stays under it.
func TestRenderLongLine(t *testing.T) {
	line := strings.Repeat("a", 500) + "é!" + strings.Repeat("b", 500)
	l := diag.List{{Pos: diag.Pos{File: "f", Line: 1, Col: 503}, Message: "m", Source: line}}
	rows := strings.Split(l.Render(diag.Style{}), "\n")
	if at := strings.Index(rows[2], "^"); []rune(rows[1])[at] != '!' || len([]rune(rows[1])) > 120 {
		t.Errorf("caret at %d of %q", at, rows[1])
	}
}

func TestLevels(t *testing.T) {
	warnings := diag.List{{Level: diag.Warning}}
	if warnings.HasErrors() || warnings.Err() != nil {
		t.Error("a warning is not an error")
	}
	if mixed := append(warnings, diag.Diagnostic{}); !mixed.HasErrors() || mixed.Err() == nil {
		t.Error("an error is one")
	}
}

// Strict makes errors of warnings, and of nothing else; a note is shown and not counted.
func TestNotes(t *testing.T) {
	l := diag.List{{Level: diag.Note, Message: "is read as a name"}, {Level: diag.Warning, Message: "is odd"}, {Level: diag.Warning, Message: "is old"}}
	want := "note: is read as a name\nwarning: is odd\nwarning: is old\n2 warnings\n"
	if got := l.Render(diag.Style{}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if l[:1].Strict(); l[:1].HasErrors() {
		t.Error("a note became an error")
	}
	if l.Strict(); l[0].Level != diag.Note || l[1].Level != diag.Error {
		t.Errorf("%v", l)
	}
}

func TestNearest(t *testing.T) {
	fields := []string{"mutations", "rng_seed", "max_bytes", "cases"}
	for name, want := range map[string]string{
		"mutation": "mutations", "MUTATIONS": "mutations", "rngseed": "rng_seed", "max_byets": "max_bytes", "case": "cases",
		"entirely_else": "", "": "",
	} {
		if got := diag.Nearest(name, fields); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"if", "list", "on"} { // near to nothing but other short words
		if got := diag.Nearest(name, []string{"is", "int", "in", "or", "not"}); got != "" {
			t.Errorf("%q gets the hint %q", name, got)
		}
	}
	short := []string{"let", "if", "int", "header", "regex", "amount", "type", "guest", "ok"}
	for name, want := range map[string]string{"list": "", "lines": "", "hedr": "header", "rgeex": "regex", "amnt": "amount", "typee": "type", "gast": "guest", "tope": "type", "okay": "ok"} {
		if got := diag.Nearest(name, short); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := diag.Nearest("tga", []string{"id", "type", "tag", "title"}); got != "tag" {
		t.Errorf("two letters in the wrong order: %q", got)
	}
	if got := diag.DidYouMean("cases", fields); got != "" {
		t.Errorf("a valid name gets the hint %q", got)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
		hint string
	}{
		{nil, diag.ExitOK, ""},
		{errors.New("disk full"), diag.ExitEnvironment, ""},
		{diag.Refused("no"), diag.ExitRefused, ""},
		{fmt.Errorf("while: %w", diag.Refused("no")), diag.ExitRefused, ""},
		{diag.List{{Message: "m"}}, diag.ExitRefused, ""},
		{diag.WithHint(diag.Refused("no"), "try yes"), diag.ExitRefused, "try yes"},
		{fmt.Errorf("outer: %w", diag.WithHint(errors.New("x"), "deep")), diag.ExitEnvironment, "deep"},
	} {
		if got := diag.ExitCode(c.err); got != c.want {
			t.Errorf("%v: exit %d, want %d", c.err, got, c.want)
		}
		if got := diag.Hint(c.err); got != c.hint {
			t.Errorf("%v: hint %q, want %q", c.err, got, c.hint)
		}
	}
}
