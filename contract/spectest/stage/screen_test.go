package stage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a person sees of what a program prints on a terminal of three lines.
func TestScreen(t *testing.T) {
	for printed, want := range map[string]string{
		"":                                 "",
		"a\nb\n":                           "a\nb\n",
		"ab\rc":                            "cb",
		"ab\b\b\bc\bd":                     "db",
		"a\tb\t\tc":                        "a       b               c",
		"a\x07\x00b\x1ec":                  "ab\x1ec",
		"éé\r\x1b[Ca":                      "éa",
		"\x1b[1;31mred\x1b[0m plain":       "red plain",
		"a\nb\x1b[Ac":                      "ac\nb",
		"a\nb\x1b[9Ac":                     "ac\nb",
		"a\x1b[Bb\x1b[2Bc":                 "a\n b\n\n  c",
		"abc\x1b[2Dx\x1b[9Dy":              "yxc",
		"abc\x1b[2Gx\x1b[Gy":               "yxc",
		"a\x1b[3Cb":                        "a   b",
		"a\nb\nc\nd\x1b[Hx":                "a\nx\nc\nd",
		"a\nb\x1b[2;3Hx\x1b[1;1Hy":         "y\nb x",
		"a\nb\x1b[fx":                      "x\nb",
		"a\nb\nc\x1b[A\x1b[Jx":             "a\nbx",
		"abc\nd\x1b[A\x1b[J":               "a",
		"a\nb\nc\nd\x1b[2Jx":               "a\n x",
		"a\nb\x1b[2J\x1b[Hx":               "x",
		"a\nb\nc\nd\x1b[A\x1b[1Jx":         "a\n\n x\nd",
		"abc\x1b[2D\x1b[1Kx":               " xc",
		"abc\x1b[1K":                       "",
		"abc\x1b[2D\x1b[K":                 "a",
		"abc\x1b[9C\x1b[K":                 "abc",
		"abc\x1b[2Kd":                      "   d",
		"\x1b]0;title\ax":                  "x",
		"\x1b]8;;http://a\x1b\\x":          "x",
		"\x1b]0;title":                     "",
		"\x1b(Bx\x1b)0y\x1b=z\x1b7":        "xyz",
		"\x1b(":                            "",
		"a\x1b":                            "a",
		"a\x1b[12":                         "a",
		"a\x1b[?25lb\x1b[38;5;9mc":         "abc",
		"a\x1b[99999999999Cb":              "a" + strings.Repeat(" ", maxMove) + "b",
		"trailing  \x1b[1mx\x1b[0m  \nnew": "trailing  x\nnew",
	} {
		if got := Screen(printed, 3); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
	for _, c := range []struct {
		text   string
		length int
		final  rune
		args   []int
	}{{"\x1b[1;31mx", 7, 'm', []int{1, 31}}, {"\x1b[;Hx", 4, 'H', []int{0, 0}}, {"\x1b]a\\\ab", 5, 0, nil}, {"\x1bM", 2, 0, nil}, {"\x1b[@", 3, '@', []int{0}}, {"\x1b[~x", 3, '~', []int{0}}} {
		length, final, args := sequence([]rune(c.text))
		if length != c.length || final != c.final || len(args) != len(c.args) {
			t.Errorf("%q: %d %q %v", c.text, length, final, args)
		}
		for i := range args {
			if args[i] != c.args[i] {
				t.Errorf("%q: %v, want %v", c.text, args, c.args)
			}
		}
	}
}

// An isolated case gets files, folders and links with their modes, and no stored run.
func TestCopy(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := Write(from, []File{{"a", "1"}, {"sub/deep/b", "2"}, {".thresh/runs/x", "3"}, {"store/runs/x", ""}, {"store/blobs/y", ""}, {"store/lock", ""}, {"half/runs/x", "4"}, {"half/blobs/y", ""}}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Symlink("sub/deep/b", filepath.Join(from, "link")), os.Chmod(filepath.Join(from, "a"), 0o555)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Copy(to, from); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "1", "sub/deep/b": "2", "link": "2", "half/runs/x": "4"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "a")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v: not to be run, or not to be written", info.Mode(), err)
	}
	if target, err := os.Readlink(filepath.Join(to, "link")); err != nil || target != "sub/deep/b" {
		t.Errorf("a link to %q: %v", target, err)
	}
	for _, name := range []string{".thresh", "store"} {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			t.Errorf("the store %s is copied", name)
		}
		if !IsStore(filepath.Join(from, name)) || IsStore(filepath.Join(from, "half")) {
			t.Errorf("%s or half: wrong", name)
		}
	}
	if err := Copy(to, from); err == nil || !strings.Contains(err.Error(), "copying the folder for an isolated case: ") {
		t.Errorf("over what is there: %v", err)
	}
	if err := Copy(t.TempDir(), filepath.Join(from, "nowhere")); err == nil {
		t.Error("a folder that is missing is copied")
	}
}
