package coverage

import (
	"slices"
	"strings"
	"testing"
)

// What a command line asks for decides whether the runtime and a main are linked.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		line, rest    string
		links, driver bool
	}{
		{"-c a.c -o a.o", "-c a.c -o a.o", false, false},
		{"-o a a.c", "-o a a.c -x none", true, false},
		{"a.o b.o", "a.o b.o -x none", true, false},
		{"--version", "--version", false, false},
		{"-print-prog-name=ld", "-print-prog-name=ld", false, false},
		{"", "", false, false},
		{"-O3", "-O3", false, false},
		{"-o a", "-o a", false, false},
		{"-shared -o a.so a.o", "-shared -o a.so a.o", false, false},
		{"-E a.c", "-E a.c", false, false},
		{"-I c -D x -o a a.c", "-I c -D x -o a a.c -x none", true, false},
		{"-I c -D x", "-I c -D x", false, false},
		{"-fsanitize=fuzzer a.c", "a.c -x none", true, true},
		{"-fsanitize=address,fuzzer a.c", "-fsanitize=address a.c -x none", true, true},
		{"-fsanitize=fuzzer-no-link,undefined a.c", "-fsanitize=undefined a.c -x none", true, false},
		{"-fsanitize=fuzzer -c a.c", "-c a.c", false, false},
		{"-x c -", "-x c - -x none", true, false},
	} {
		p := plan(strings.Fields(c.line))
		rest := strings.Replace(strings.Join(p.args[len(flags)+len(comparing):], " "), wraps+" ", "", 1)
		if rest != c.rest || p.links != c.links || p.driver != c.driver {
			t.Errorf("%q: %q links %t, driver %t", c.line, rest, p.links, p.driver)
		}
	}
	if p := plan([]string{noComparisons, "a.c"}); !slices.Equal(p.args[len(flags):], []string{"a.c", "-x", "none"}) {
		t.Errorf("without comparisons: %q", p.args)
	}
	if got := plan(strings.Fields("-m32 --sysroot=/r a.c")).target; !slices.Equal(got, []string{"-m32", "--sysroot=/r"}) {
		t.Errorf("the runtime is compiled with %q", got)
	}
}
