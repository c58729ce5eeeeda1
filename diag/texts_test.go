package diag_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"printable", diag.Printable("a\tb\nc\rd\x1b\x1f \x7f\u0080\u009f\u00a0é"), "a\tb\nc\uFFFDd\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD\u00a0é"},
		{"first line", diag.FirstLine("a\r\nb\n"), "a"},
		{"a name", diag.Name("a b.json"), "a b.json"},
		{"a name of two lines", diag.Name("a\nb"), `"a\nb"`},
		{"unquoted", diag.Unquoted(`say "a \" b", "" and "c`), `say         ,    and "c`},
		{"runes", diag.Runes("한국어", 3) + diag.Runes("한국어", 2) + diag.Runes("abc", 3) + diag.Runes("abcd", 3), "한국어한…abcab…"},
		{"numbers", strings.Join([]string{diag.Number(0), diag.Number(-999), diag.Number(1000), diag.Number(-1234567)}, " "), "0 -999 1,000 -1,234,567"},
		{"meant", strings.Join([]string{diag.Meant("did you mean `abc`?"), diag.Meant(`did you mean "a"?`), diag.Meant("did you mean a or b?"), diag.Meant("did you mean abc"), diag.Meant("you mean abc?")}, "|"), "abc|a|||"},
		{"suggest", diag.Suggest("zzzz", []string{"ab", "cd"}) + diag.Suggest("ac", []string{"abc", "acd"}), "there is ab, cddid you mean acd?"},
		{"a document", diag.DocumentName("./a//b.json"), "a/b.json"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	for name, want := range map[string]bool{"a b": true, "a\nb": false, "a\u2028b": false, "a\u2029b": false, "a\u0085": false} {
		if diag.OneLine(name) != want {
			t.Errorf("%q in one line: %v", name, !want)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Mkdir("x", 0o700), os.Symlink(here, link)); err != nil {
		t.Fatal(err)
	}
	own, parent := filepath.Base(here), filepath.Dir(here)
	for path, want := range map[string]string{
		filepath.Join(here, "x", "a.json"):                    "x/a.json",
		filepath.Join(link, "x", "a.json"):                    "x/a.json",
		filepath.Join("..", own, "a.json"):                    "a.json",
		filepath.Join(parent, "a.json"):                       "a.json",
		filepath.Join("..", "a.json"):                         "a.json",
		filepath.Join(parent, "other", "folder", "a.json"):    "other/folder/a.json",
		filepath.Join("..", "other", "folder", "a.json"):      "other/folder/a.json",
		"/far/away/from/here.json":                            "from/here.json",
		strings.Repeat("../", 20) + "far/away/from/here.json": "from/here.json",
		strings.Repeat("../", 20) + "here.json":               "here.json",
		"/here.json":                                          "here.json",
	} {
		if got := diag.DocumentName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
