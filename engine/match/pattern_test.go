package match_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/match"
	"github.com/thresh-dev/thresh/internal/golden"
)

func load(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

// Answers of CPython 3.11's re.search; a row without answers is refused.
func TestPythonsAnswers(t *testing.T) {
	var golden struct {
		Subjects []string
		Rows     []struct {
			Pattern string
			Python  []int
		}
	}
	load(t, "testdata/python.json", &golden)
	for _, row := range golden.Rows {
		p, err := match.Compile(row.Pattern, match.Options{})
		if (err == nil) != (row.Python != nil) {
			t.Errorf("%q: %v, Python's answers: %v", row.Pattern, err, row.Python)
			continue
		}
		if err != nil {
			continue
		}
		for i, subject := range golden.Subjects {
			found, err := p.Search(subject)
			if err != nil || found != (row.Python[i] == 1) {
				t.Errorf("%q in %q: %v, %v", row.Pattern, subject, found, err)
			}
		}
	}
}

func TestPortableProfile(t *testing.T) {
	var golden []struct {
		Pattern, Reason string
		Always          bool
	}
	load(t, "testdata/profile.json", &golden)
	for _, g := range golden {
		if got := match.NonPortable(g.Pattern); got != g.Reason {
			t.Errorf("%q is not portable because of %q, want %q", g.Pattern, got, g.Reason)
		}
		if match.AlwaysTrue(g.Pattern) != g.Always {
			t.Errorf("%q always true: %v", g.Pattern, !g.Always)
		}
	}
}

// Every way to be refused: the pattern, the place, the reason.
func TestRefusals(t *testing.T) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		pattern, _, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ###  ")
		if !ok {
			got.WriteString(line)
			continue
		}
		_, err := match.Compile(pattern, match.Options{})
		var syntax *match.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q is not refused: %v", pattern, err)
			continue
		}
		got.WriteString(pattern + "  ###  " + strings.TrimPrefix(syntax.Error(), "invalid regular expression: ") + "\n")
	}
	golden.Check(t, "testdata/errors.txt", got.String())
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		pattern, subject string
		o                match.Options
		want             bool
	}{
		{"a.b", "a\nb", match.Options{}, false},
		{"a.b", "a\nb", match.Options{DotAll: true}, true},
		{"^b", "a\nb", match.Options{DotAll: true}, false},
		{"^b$", "a\nb\nc", match.Options{Multiline: true}, true},
		{"straße", "STRAßE", match.Options{IgnoreCase: true}, true},
		{"a b # c", "ab", match.Options{Verbose: true}, true},
		{`\w`, "é", match.Options{ASCII: true}, false},
		{`\w`, "é", match.Options{}, true},
	} {
		p, err := match.Compile(c.pattern, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Search(c.subject); err != nil || got != c.want {
			t.Errorf("%q with %+v in %q: %v, %v", c.pattern, c.o, c.subject, got, err)
		}
	}
}

func TestEndlessBacktrackingEnds(t *testing.T) {
	subject := strings.Repeat("a", 40) + "!"
	// Without context the search is linear and needs no limit.
	if p, err := match.Compile("(a+)+$", match.Options{Timeout: time.Nanosecond}); err != nil {
		t.Fatal(err)
	} else if found, err := p.Search(subject); found || err != nil {
		t.Errorf("linear: %v, %v", found, err)
	}
	p, err := match.Compile(`(a|aa)+\1c`, match.Options{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Search(subject)
	if !errors.Is(err, match.ErrTimeout) || strings.Contains(err.Error(), subject) {
		t.Errorf("backtracking: %v", err)
	}
}

func TestLoneSurrogatesAreCharacters(t *testing.T) {
	for pattern, want := range map[string]bool{`^.$`: true, `^\ud800$`: true, `^[\ud800-\udfff]$`: true, `^\ud801$`: false, `^..$`: false, `\W`: true} {
		p, err := match.Compile(pattern, match.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Search("\xed\xa0\x80"); err != nil || got != want {
			t.Errorf("%s: %v, %v", pattern, got, err)
		}
	}
}
