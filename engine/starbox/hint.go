package starbox

import (
	"regexp"
	"strings"

	"go.starlark.net/syntax"
)

// pythonism is something that Python has and Starlark does not: the beginning
// of the parser's message, what the line contains (nil: anything), and what to
// write instead.
type pythonism struct {
	says string
	line *regexp.Regexp
	hint string
}

// pythonisms returns them in the order in which they are tried.
func pythonisms() []pythonism {
	line := regexp.MustCompile
	const (
		imports    = "Starlark has no imports: rng, chars, nchars and ApplyResult are there without one"
		rebind     = "functions cannot rebind an outer name in Starlark: pass values and return them"
		identity   = "Starlark has no is: compare with == or !="
		annotation = "Starlark has no type annotations: leave them out"
	)
	return []pythonism{
		{"", line(`^(<<<<<<<|=======|>>>>>>>)`), "the file contains merge conflict markers"},
		{"got '**'", nil, "Starlark has no power operator: multiply (x * x), shift for powers of two (1 << n), or loop"},
		{"got import", nil, imports},
		{"got from", nil, imports},
		{"got try", nil, "Starlark has no exceptions: test for the condition first, and return a SKIPPED or INVALID ApplyResult"},
		{"got raise", nil, "Starlark has no exceptions: return an INVALID ApplyResult, or call fail(\"why\")"},
		{"got class", nil, "Starlark has no classes: use functions and dicts"},
		{"got with", nil, "Starlark has no with, and plug-ins reach no files"},
		{"got global", nil, rebind},
		{"got nonlocal", nil, rebind},
		{"got yield", nil, "Starlark has no generators: build a list and return it"},
		{"got async", nil, "Starlark has no async: write def"},
		{"got del", nil, "Starlark has no del: use pop, remove or clear"},
		{"got for", nil, "Starlark has no generator expressions: write a list, [... for ...]"},
		{"conditional expression without else", line(`\bis\b`), identity},
		{"got is", nil, identity},
		{"got string literal", line(`(?i)\br?fr?['"]`), "Starlark has no f-strings: write \"...{}\".format(x) or \"...%s\" % x"},
		{"got string literal", nil, "Starlark does not join strings that stand side by side: put a + between them"},
		{"got identifier", line(`^\s*assert\b`), "Starlark has no assert: if not ...: fail(\"why\")"},
		{"got identifier", line(`^\s*match\b`), "Starlark has no match: write if, elif and else"},
		{"got identifier", line(`\d_\d`), "Starlark's numbers have no underscores"},
		{"got identifier", line(`\bis\b`), identity},
		{"unexpected input character '@'", nil, "Starlark has neither decorators nor @"},
		{"got ':'", line(`:=`), "Starlark has no :=, assign in a statement of its own"},
		{"got ':'", nil, annotation},
		{"got '->'", nil, annotation},
		{"got ',', want ':'", nil, "Starlark has no set literals: write set([...])"},
		{"got '*', want primary", nil, "Starlark does not unpack in lists: add them, list(a) + [...]"},
		{"got else", nil, "Starlark's loops have no else: keep a flag"},
	}
}

// offers says what Starlark has instead of the error; "" if it is not a habit
// from Python.
func offers(src []byte, pos syntax.Position, message string) string {
	if strings.Contains(message, "does not associate") {
		return "Starlark does not chain comparisons: write a < b and b < c"
	}
	text := ""
	if lines := strings.Split(string(src), "\n"); pos.Line >= 1 && int(pos.Line) <= len(lines) {
		text = lines[pos.Line-1]
	}
	for _, p := range pythonisms() {
		if strings.HasPrefix(message, p.says) && (p.line == nil || p.line.MatchString(text)) {
			return p.hint
		}
	}
	return ""
}

// builtinOffers has functions of Python that Starlark lacks.
func builtinOffers() map[string]string {
	return map[string]string{
		"sum": "add in a loop", "map": "write a list, [f(x) for x in list]", "filter": "write a list, [x for x in list if ...]",
		"isinstance": "compare type(x) with a name, such as \"string\"", "round": "write int(x + 0.5) for numbers from 0 on", "pow": "multiply in a loop",
		"open": "plug-ins reach no files", "divmod": "write x // y and x % y", "input": "apply gets the text as seed_text",
		"random": "draw from rng, which has the methods of random.Random", "re": "Starlark has no regular expressions: use find, split and replace",
		"json": "write the text with %r or str", "iter": "loop over the value", "next": "loop over the value", "frozenset": "write set([...])",
		"eval": "there is no eval", "exec": "there is no exec", "format": "write \"...\".format(x)", "bin": "shift and mask in a loop", "hex": "write \"%x\" % n",
		"oct": "write \"%o\" % n", "object": "use a dict", "Exception": "call fail(\"why\")", "ValueError": "call fail(\"why\")", "bytearray": "use a list of integers",
	}
}
