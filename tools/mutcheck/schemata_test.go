package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a copy of a function needs: names for what has none, type parameters,
// variadic arguments, and a receiver. A function that recovers by itself is not
// copied.
func TestRender(t *testing.T) {
	src := `package p

type set[T comparable] struct{ all map[T]bool }

func (s *set[T]) has(x T, _ ...int) bool { return len(s.all) > 0 && s.all[x] }

func (*set[T]) none(int) {
	print(1)
}

func each[K comparable, V any](m map[K]V, f func(K, V), also ...K) (n int, err error) {
	for k, v := range m {
		f(k, v)
		n++
	}
	return n, nil
}

func stop() {
	if x := recover(); x != nil {
		print(2)
	}
}
`
	list, err := mutants("p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int, len(list))
	for i := range numbers {
		numbers[i] = i + 1
	}
	out, spans, err := render("p.go", []byte(src), list, numbers)
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	for _, want := range []string{
		"func (s *set[T]) has(x T, mutcheckArg1 ...int) bool { if mutcheckNumber != 0 { switch mutcheckNumber { case 1: return s.mutcheck1has(x, mutcheckArg1...); ",
		"func (mutcheckArg1 *set[T]) none(mutcheckArg2 int) {",
		".each[K, V](m, f, also...); ",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "mutcheck8each", ".each"), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	lines := strings.Split(text, "\n")
	for _, s := range spans {
		if m := &list[s.number-1]; m.fn == "stop" || !strings.Contains(lines[s.from-1], "mutcheck") || !strings.HasPrefix(lines[s.from-1], "func ") || !strings.HasSuffix(lines[s.to-1], "}") {
			t.Errorf("%s stands in lines %d to %d", m, s.from, s.to)
		}
	}
	for i := range list {
		if list[i].fn == "stop" {
			return
		}
	}
	t.Error("nothing of stop would be tried")
}

// A mutant that is not a program is left out, one that never ends or uses up
// memory is noticed, and one that no test runs survives.
func TestTrial(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/p\n\ngo 1.26\n",
		"p.go": `package p

func Sum(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i
	}
	return sum
}

func Sign(n int) string {
	switch {
	case n == 0:
		return "none"
	case n < 0:
		return "minus"
	}
	return "plus"
}

func Never(a []int) bool { return len(a) > 1 && a[1] == 2 }
`,
		"p_test.go": `package p

import "testing"

func TestSum(t *testing.T) {
	if Sum(4) != 6 {
		t.Error("wrong")
	}
}

func TestSign(t *testing.T) {
	for n, want := range map[int]string{-1: "minus", 0: "none", 1: "plus"} {
		if Sign(n) != want {
			t.Error("wrong")
		}
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]struct{ killed, survived int }{
		"p.go:5": {2, 1}, "p.go:13": {2, 0}, "p.go:21": {0, 7},
	} {
		s := settings{root: dir, jobs: 2}
		list, err := choose(context.Background(), s, []string{args})
		if err != nil {
			t.Fatal(err)
		}
		c, err := tryPackage(context.Background(), s, ".", list, func() bool { return false })
		if err != nil || c.killed != want.killed || c.survived != want.survived || c.left != 0 {
			t.Errorf("%s: %+v %v, want %+v of %v", args, c, err, want, list)
		}
	}
}
