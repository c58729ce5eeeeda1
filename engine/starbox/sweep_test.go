package starbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/starbox"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What becomes of programs that are damaged in every place: what is said of them, what they
// return and print, and which limit ends them.
func TestEverySmallChange(t *testing.T) {
	limits := []starbox.Limits{{Steps: 300, Alloc: 2000, Value: 1000}, {Steps: 40, Alloc: 4000, Value: 64}}
	say := func(text string) string {
		var b strings.Builder
		p, list := starbox.Compile("op.star", []byte(text))
		fmt.Fprintln(&b, list)
		if list.HasErrors() {
			return b.String()
		}
		for _, l := range limits {
			box, err := p.Open(l, nil)
			if err != nil || box.Global("f") == nil {
				fmt.Fprintln(&b, err)
				continue
			}
			v, err := box.Call(box.Global("f"))
			fmt.Fprintln(&b, v, err, box.Printed())
		}
		return b.String()
	}
	golden.Sweep(t, "programs", golden.Changed("(9\n*", []string{
		"def f():\n  x = [1, 'a']\n  x[0] += 4\n  return x * 2 + [x[::-1]]\n", "def g(a, b = 2, *c, **d): return (a, b, c, d)\ndef f(): return g(*[1, 2, 3], **{'k': 4})\n",
		"f = lambda: '%s-%d' % ('é'.upper(), 7 << 2) + ','.join(['a', 'b']) + str({'k': (1, None)})\n",
	}...), say)
	// Each charge of the budget: what is made, read, searched and printed, at growing sizes.
	var calls []string
	for _, e := range []string{
		"'a' * N", "[1] * N", "(1, 2) * N", "2 << N", "'%d' % (1 << N)", "str(list(range(N)))", "dict(zip(range(N), range(N)))", "sorted(range(N), reverse = True)", "','.join([str(x) for x in range(N)])",
		"('a' * N).replace('a', 'bc')", "('a' * N).split('a')", "('ab' * N).title()", "[c for c in ('x' * N).elems()]", "list(enumerate(range(N)))", "('a' * N) in ('b' * N)", "int('7' * N)", "int('f' * N, 16)", "repr('é' * N)", "{x: x for x in range(N)}",
		"('a' * N)[1:]", "list(range(N))[::2]", "set(range(N)) if False else tuple(range(N))", "'{}{}'.format('a' * N, N)", "('a' * N).find('b')", "('a ' * N).strip()", "('a\\n' * N).splitlines()", "[1] * N + [2] * N", "'%s|%r' % ('a' * N, [0] * N)", "hash('a' * N)", "print('p' * N)", "max(range(N + 1))", "any([0] * N)", "list(reversed(range(N)))", "{'a': 1} | {k: 1 for k in range(N)}", "(3 ** 2 if False else 3) * (1 << N)", "('a' * N) < ('a' * N + 'b')", "[0] * N == [0] * N", "('a' * N).partition('b')", "('a' * N).count('a')", "('b' * N).upper().lower().capitalize()",
	} {
		for _, n := range []string{"0", "1", "7", "40", "300", "5000"} {
			calls = append(calls, "def f(): return "+strings.ReplaceAll(e, "N", n)+"\n")
		}
	}
	limits = nil
	for _, n := range []int64{100, 500, 3000, 20000} {
		limits = append(limits, starbox.Limits{Steps: 100 * uint64(n), Alloc: n, Value: 1 << 40}, starbox.Limits{Steps: uint64(n), Alloc: 1 << 40, Value: 1 << 30}, starbox.Limits{Steps: 1 << 20, Alloc: 1 << 30, Value: n})
	}
	golden.Sweep(t, "budget", slices.Values(calls), say)
}
