package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package p

type list struct{ n int }

func (l *list) grow(by int) (bool, error) {
	if by < 0 && l.n == 3 {
		return false, errNegative
	}
	l.n++
	note(by)
	return l.n > 7, nil
}
`

func TestMutants(t *testing.T) {
	list, err := mutants("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.kind+" -> "+sample[:0]+strings.TrimSpace(m.text))
		if m.fn != "list.grow" {
			t.Errorf("%s is in %q", &m, m.fn)
		}
		if sample[m.lo:m.hi] == m.text {
			t.Errorf("%s changes nothing", &m)
		}
	}
	want := []string{
		"negate if -> !(by < 0 && l.n == 3)", "&& to || -> ||", "< to <= -> <=", "constant + 1 -> 1", "== to != -> !=", "constant + 1 -> 4",
		"drop result -> nil", "false to true -> true", "++ to -- -> --", "drop call ->", "drop result -> !(l.n > 7)", "> to >= -> >=", "constant + 1 -> 8",
	}
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if name := list[5].name(); name != "p.go list.grow: constant + 1 #2" {
		t.Errorf("name %q", name)
	}
}

func TestParseDiff(t *testing.T) {
	got := parseDiff("+++ b/a/x.go\n@@ -1 +3,2 @@ func f\n+one\n+two\n@@ -9,2 +12 @@\n+three\n@@ -20 +22,0 @@\n+++ b/y.go\n@@ -0,0 +1,3 @@\n")
	for name, want := range map[string][]int{"a/x.go": {3, 4, 12}, "y.go": {1, 2, 3}} {
		if len(got[name]) != len(want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
		for _, n := range want {
			if !got[name][n] {
				t.Errorf("%s: line %d is missing", name, n)
			}
		}
	}
}

// A module whose tests see one half of what it does: the other half survives.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/p\n\ngo 1.26\n")
	write("p.go", "package p\n\nfunc Seen(a, b int) bool { return a < b }\n\nfunc Unseen(a, b int) bool { return a == b }\n")
	write("p_test.go", "package p\n\nimport \"testing\"\n\nfunc TestSeen(t *testing.T) {\n\tif Seen(1, 1) || !Seen(0, 1) {\n\t\tt.Error(\"wrong\")\n\t}\n\tUnseen(1, 2)\n}\n")
	write("equal.txt", "# none\np.go Unseen: == to != #1 // as an example\n")
	s := settings{root: dir, equal: filepath.Join(dir, "equal.txt"), min: 75}
	ok, err := check(context.Background(), s, []string{"."})
	if err != nil || ok {
		t.Errorf("%t %v: 2 of 3 are killed, which is less than 75 %%", ok, err)
	}
	s.min = 60
	if ok, err = check(context.Background(), s, []string{"p.go"}); err != nil || !ok {
		t.Errorf("%t %v: 2 of 3 are more than 60 %%", ok, err)
	}
	s.min, s.few = 75, 4
	if ok, err = check(context.Background(), s, []string{"."}); err != nil || !ok {
		t.Errorf("%t %v: 3 mutants are fewer than 4", ok, err)
	}
	s.few = 3
	if ok, err = check(context.Background(), s, []string{"."}); err != nil || ok {
		t.Errorf("%t %v: 3 mutants are enough", ok, err)
	}
	if ok, err = check(context.Background(), settings{root: dir, min: 100}, []string{"p.go:3"}); err != nil || !ok {
		t.Errorf("%t %v: the tests see line 3", ok, err)
	}
	write("equal.txt", "p.go Unseen: == to != #1\n")
	if _, err = check(context.Background(), s, []string{"."}); err == nil {
		t.Error("a mutant is set aside without a reason")
	}
}
