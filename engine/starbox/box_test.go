package starbox_test

import (
	"errors"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/thresh-dev/thresh/engine/starbox"
)

// run compiles a source and calls its function f.
func run(t *testing.T, src string) (starlark.Value, *starbox.Box, error) {
	t.Helper()
	p, list := starbox.Compile("op_test.star", []byte(src))
	if list.HasErrors() {
		t.Fatalf("compile: %v", list)
	}
	limits := starbox.DefaultLimits()
	limits.Steps, limits.Alloc = 1_000_000, 32<<20
	box, err := p.Open(limits, nil)
	if err != nil {
		return nil, nil, err
	}
	v, err := box.Call(box.Global("f"))
	return v, box, err
}

// Rewriting changes nothing that a program could notice.
func TestMeaning(t *testing.T) {
	for src, want := range map[string]string{
		`def f(): return "a" + "b" * 3`:                                                                `"abbb"`,
		`def f(): return "%s-%d" % ("x", 7)`:                                                           `"x-7"`,
		`def f(): return [1, 2] + [3] * 2`:                                                             `[1, 2, 3, 3]`,
		`def f(): return "abcdef"[::-1] + "abc"[1:]`:                                                   `"fedcbabc"`,
		`def f(): return [1, 2, 3, 4][1:3]`:                                                            `[2, 3]`,
		`def f(): return " a,b ".strip().split(",")`:                                                   `["a", "b"]`,
		`def f(): return "-".join(["a", "b"])`:                                                         `"a-b"`,
		`def f(): return "x{}y{n}".format(1, n = 2)`:                                                   `"x1y2"`,
		`def f(): return {"a": 1} | {"b": 2}`:                                                          `{"a": 1, "b": 2}`,
		`def f(): return 3 in [1, 2, 3] and "z" not in "abc"`:                                          `True`,
		"def f():\n  x = [1]\n  y = x\n  x += [2]\n  return y":                                         `[1, 2]`,
		"def f():\n  x = [[1], 5]\n  y = x[0]\n  x[0] += [2]\n  x[1] *= 3\n  return [x, y]":            `[[[1, 2], 15], [1, 2]]`,
		"def f():\n  d = {'a': 1}\n  d['a'] += 4\n  d['a'] -= 1\n  return d":                           `{"a": 4}`,
		"def f():\n  n = 1\n  n <<= 4\n  n %= 7\n  s = 'a'\n  s *= 3\n  return (n, s)":                 `(2, "aaa")`,
		"def g(a, b = 1 + 1, *c, **d): return (a, b, c, d)\ndef f(): return g(*[1, 2, 3], **{'k': 4})": `(1, 2, (3,), {"k": 4})`,
		"def f():\n  u = 'ab'.upper\n  return u() + getattr('cd', 'title')()":                          `"ABCd"`,
		"def f(): return [c + d for c in 'ab'.elems() for d in 'xy'.elems() if c != 'b' or d != 'y']":  `["ax", "ay", "bx"]`,
		"def f():\n  n = 0\n  while n < 5:\n    n += 1\n  return n":                                    `5`,
		"def f(): return sorted([3, 1, 2], reverse = True)[0] if len('é') == 2 else 0":                 `3`,
		"def f(): return (lambda x, y = 2 * 2: x % y)(7)":                                              `3`,
		"f = lambda: list(zip([1, 2], ['a', 'b'])) + list(enumerate(['c']))":                           `[(1, "a"), (2, "b"), (0, "c")]`,
	} {
		v, _, err := run(t, src)
		if err != nil || v.String() != want {
			t.Errorf("%s\n= %v, %v, want %s", src, v, err, want)
		}
	}
}

// Whatever a program does, it ends soon, in bounded memory, with an error that
// names a line.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"endless":    {"def f():\n  while True:\n    pass", "steps"},
		"big string": {"def f():\n  return len('a' * 10000000000)", "32 MiB"},
		"doubling":   {"def f():\n  s = 'abc'\n  for _ in range(60): s += s\n  return len(s)", "MiB"},
		"many":       {"def f():\n  l = []\n  for i in range(100000): l.append('a' * 1000000)\n  return len(l)", "allocates more than 32 MiB"},
		"list":       {"def f():\n  return len(list(range(10000000000)))", "32 MiB"},
		"sorted":     {"def f():\n  return sorted(range(10000000000))", "32 MiB"},
		"max":        {"def f():\n  return max(range(1000000000000))", "32 MiB"},
		"spread":     {"def f():\n  return max(*range(1000000000))", "32 MiB"},
		"replace":    {"def f():\n  s = 'a' * 100000\n  return s.replace('a', s)", "32 MiB"},
		"replacing":  {"def f():\n  s = 'ab' * 100000\n  for i in range(1000): s = s.replace('a', 'b').replace('b', 'a')\n  return s", "steps"},
		"join":       {"def f():\n  s = 'a' * 100000\n  return s.join(s.elems())", "32 MiB"},
		"format":     {"def f():\n  return ('{0}' * 100000).format('a' * 100000)", "32 MiB"},
		"percent":    {"def f():\n  s = 'a' * 1000000\n  return '%s%s%s' % ([s] * 20, s, s)", "MiB"},
		"attr":       {"def f():\n  r = ('a' * 100000).replace\n  return r('a', 'b' * 100000)", "32 MiB"},
		"getattr":    {"def f():\n  return getattr('a' * 100000, 'replace')('a', 'b' * 100000)", "32 MiB"},
		"integer":    {"def f():\n  x = 3\n  for _ in range(60): x *= x\n  return x", "bits"},
		"shift":      {"def f():\n  x = 1\n  for _ in range(10000000): x = x << 500\n  return x", "more than"},
		"digits":     {"def f():\n  return int('9' * 1000000)", "digits"},
		"index":      {"def f():\n  a = ['x']\n  for _ in range(60): a[0] *= 10\n  return a", "MiB"},
		"deep":       {"def f():\n  x = []\n  for _ in range(100000): x = [x]\n  return str(x)", "levels deep"},
		"insert":     {"def f():\n  l = list(range(1000000))\n  for i in range(1000000): l.insert(0, i)", "steps"},
		"search":     {"def f():\n  l = list(range(1000000))\n  n = 0\n  for i in range(1000000): n += 1 if -1 in l else 0", "steps"},
		"slices":     {"def f():\n  l = list(range(1000000))\n  for i in range(1000000): l = l[:]", "allocates more than 32 MiB"},
		"recursion":  {"def g(n): return g(n + 1)\ndef f():\n  return g(0)", "called recursively"},
		"error":      {"def f():\n  return 1 // 0", "division by zero"},
		"long key":   {"def f():\n  d = {}\n  d['x' + 'é' * 100] += 1", "key \"xééééééééééééééééééé…\" not in dict"},
		"no method":  {"def f():\n  return 'a'.uper()", "did you mean .upper?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := run(t, c.src)
			var e *starbox.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if e.Pos.Line < 1 || e.Pos.File != "op_test.star" || strings.Contains(e.Message, "$") {
				t.Errorf("error without a place, or with a guard's name: %v", e)
			}
		})
	}
}

func TestTopLevelIsBounded(t *testing.T) {
	_, _, err := run(t, "while True:\n  pass\n\ndef f(): return 1")
	var e *starbox.Error
	if !errors.As(err, &e) || !e.Limit || e.Pos.Line < 1 {
		t.Errorf("got %v", err)
	}
}

func TestRefused(t *testing.T) {
	for src, want := range map[string]string{
		`load("other.star", "x")`:  "op.star:1:1: error: a plug-in is one file: load is not available",
		"def f(:\n  pass":          "op.star:1:8: error: ",
		"def f():\n  return undef": "op.star:2:10: error: undefined: undef",
		"x = $add(1, 2)":           "op.star:1:5: error: ",
		strings.Repeat("(", 3000):  "brackets open at once",
	} {
		_, list := starbox.Compile("op.star", []byte(src))
		if !list.HasErrors() || !strings.Contains(list.Error(), want) {
			t.Errorf("%.40s: %v, want %q", src, list, want)
		}
	}
}

func TestPrintIsKept(t *testing.T) {
	_, box, err := run(t, "def f():\n  for i in range(3000): print('line', i)\n  return 1")
	if err != nil || !strings.HasPrefix(box.Printed(), "line 0\nline 1\n") || len(box.Printed()) > 5000 {
		t.Errorf("%v, printed %d bytes", err, len(box.Printed()))
	}
}

// A box goes on after a call that met a limit.
func TestRecovers(t *testing.T) {
	p, _ := starbox.Compile("op.star", []byte("def f(n):\n  while n: pass\n  return 'fine'"))
	box, err := p.Open(starbox.Limits{Steps: 100_000, Alloc: 1 << 20, Value: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 0, 1, 0} {
		v, err := box.Call(box.Global("f"), starlark.MakeInt(n))
		if n == 0 && (err != nil || v != starlark.String("fine")) || n == 1 && err == nil {
			t.Errorf("f(%d) = %v, %v", n, v, err)
		}
	}
}

// FuzzCompile looks for sources that crash the rewriter or escape the limits.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"def f():\n  a = [1]\n  a[0] += 2\n  return a[::2]", "x, (y, [z]) = 1, (2, [3])", "(lambda *a, **k: a)(*[1], **{})",
		"f = [x.y for x in [] if x[1:2]]", "x = {1: 2}\nx[1] %= 3\nx.y = 3\nx.y += 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, list := starbox.Compile("x.star", []byte(src))
		if list.HasErrors() {
			return
		}
		_, _ = p.Open(starbox.Limits{Steps: 10000, Alloc: 1 << 20, Value: 1 << 16}, nil)
	})
}

func BenchmarkCall(b *testing.B) {
	p, _ := starbox.Compile("op.star", []byte("def f(s):\n  parts = s.split(' ')\n  return ' '.join(parts[::-1]) + '!'"))
	box, err := p.Open(starbox.DefaultLimits(), nil)
	if err != nil {
		b.Fatal(err)
	}
	arg := starlark.String(strings.Repeat("lorem ip ", 44))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := box.Call(box.Global("f"), arg); err != nil {
			b.Fatal(err)
		}
	}
}

// Habits of Python's that Starlark lacks get a hint at what to write instead.
func TestPythonHabits(t *testing.T) {
	for src, want := range map[string]string{
		"x = 2 ** 3\n":                        "no power operator: multiply",
		"x **= 2\n":                           "no power operator",
		"import re\n":                         "no imports",
		"def f():\n    try:\n        pass\n":  "no exceptions",
		"def f():\n    raise ValueError(1)\n": "no exceptions",
		"x = f'{1}'\n":                        "no f-strings",
		"x = 'a' 'b'\n":                       "put a + between them",
		"x = 1 if x is None else 2\n":         "no is: compare",
		"assert True\n":                       "no assert",
		"x = 1_000\n":                         "no underscores",
		"(a := 1)\n":                          "no :=",
		"def f(a: str): return a\n":           "no type annotations",
		"x = 1 < 2 < 3\n":                     "chain comparisons",
		"x = {1, 2}\n":                        "set([...])",
		"x = sum([1])\n":                      "no sum: add in a loop",
		"<<<<<<< HEAD\n":                      "merge conflict",
		"match x:\n  case 1: pass\n":          "no match",
	} {
		_, list := starbox.Compile("a.star", []byte(src))
		if len(list) == 0 || !strings.Contains(list[0].Hint, want) {
			t.Errorf("%q: %v, no hint %q", src, list, want)
		}
	}
	if _, list := starbox.Compile("a.star", []byte("x = (\n")); len(list) == 0 || list[0].Hint != "" {
		t.Errorf("a hint at what is no habit: %v", list)
	}
}
