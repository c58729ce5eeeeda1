package layout

import (
	"testing"
)

func TestBlock(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"in form", "id: A\nassert:\n  - target: text\n    must:\n      - contain: [\"a\"] # why\n", ""},
		{"indentation", "id: A\nharness:\n    env:\n        A: b\nassert:\n- target: text\n  must:\n  -   contain:\n      - a\n", "id: A\nharness:\n  env:\n    A: b\nassert:\n  - target: text\n    must:\n      - contain:\n          - a\n"},
		{"a dash alone", "-\n  id: A\n-\n    id: B\n", "-\n  id: A\n-\n  id: B\n"},
		{"indented as a whole", "   id: A\n   assert:\n   - a\n", "   id: A\n   assert:\n     - a\n"},
		{"comments go along", "# first\nassert:\n# of text\n- target: text\n  # all\n  must:\n  - contain: [a] # tail\n  # none left\n# last\n", "# first\nassert:\n  # of text\n  - target: text\n    # all\n    must:\n      - contain: [a] # tail\n      # none left\n  # last\n"},
		{"comments behind what is further in", "a:\n    b:\n        c: 1\n        # c\n    # b\n# a\n", "a:\n  b:\n    c: 1\n    # c\n  # b\n# a\n"},
		{"block scalars go along", "harness:\n    stdin_text: |\n      # no comment\n        two  \n\n      end\nassert:\n-   x: |2\n       y\n", "harness:\n  stdin_text: |\n    # no comment\n      two  \n\n    end\nassert:\n  - x: |2\n       y\n"},
		{"quoted text over lines", "a:\n    b: \"one\n      # two\n      three\"\n    c: 1\n", "a:\n  b: \"one\n    # two\n    three\"\n  c: 1\n"},
		{"brackets over lines", "a:\n    b: [one, # first\n        two]\n    c: 1\n", "a:\n  b: [one, # first\n      two]\n  c: 1\n"},
		{"plain text over lines", "a:\n    b: one\n      two\n    c: 1\n", "a:\n  b: one\n    two\n  c: 1\n"},
		{"anchors stay", "a: &x\n    b: 1\nc:\n    d: *x\n    e: &y [1]\n", "a: &x\n  b: 1\nc:\n  d: *x\n  e: &y [1]\n"},
		{"an anchored list is left alone", "a: &x\n    - b\nc:\n    d: *x\n", ""},
		{"merge keys stay", "a: &x {b: 1}\nc:\n    <<: *x\n    d: 2\n", ""},
		{"explicit keys stay", "a:\n    ? b\n    : 1\n", ""},
		{"blank ends", "\n\nid: A   \n\n\ntype: x\n\n", "id: A\n\n\ntype: x\n"},
		{"line ends", "a:\r\n    b: 1\r\n", "a:\r\n  b: 1\r\n"},
		{"repeated keys stay", "a:\n    b: 1\n    b: 2\n", ""},
		{"what is not YAML stays", "a: [\n", ""},
		{"a scalar stays", "   word\n", ""},
		{"nothing", "", ""},
		{"short expressions", "assert:\n  - must:\n      - evaluate:\n          - [ eq ,   'it''s',\n             [\"len\",  [subject]] ]\n          - [\"f\", yes, 0x1F, ~, 1_000, null, ]\n", "assert:\n  - must:\n      - evaluate:\n          - [\"eq\", \"it's\", [\"len\", [\"subject\"]]]\n          - [\"f\", yes, 0x1F, ~, 1_000, null]\n"},
		{"a long expression", "assert:\n  - must:\n      - evaluate:\n          - [and, [contains, [subject], alpha], [not, [contains, [subject], \"a longer text\"]]] # tail\n", "assert:\n  - must:\n      - evaluate:\n          - [\"and\",\n             [\"contains\", [\"subject\"], \"alpha\"],\n             [\"not\", [\"contains\", [\"subject\"], \"a longer text\"]]] # tail\n"},
		{"expressions in block form", "assert:\n  - must:\n      - evaluate:\n          - - eq\n            - - len\n              - - subject\n            - 3\n          - [f]\n", "assert:\n  - must:\n      - evaluate:\n          - [\"eq\", [\"len\", [\"subject\"]], 3]\n          - [\"f\"]\n"},
		{"a comment in an expression stays", "assert:\n  - must:\n      - evaluate:\n          - [eq, # equal\n             1, 1]\n          - - eq # two\n            - 1\n            - 1\n", ""},
		{"an alias in an expression stays", "x: &n 1\nassert:\n  - must:\n      - evaluate:\n          - [eq, *n, 1]\n", ""},
		{"brackets in texts", "assert:\n  - must:\n      - evaluate:\n          - [eq, \"]\\\"[\", ']#', a]\n", "assert:\n  - must:\n      - evaluate:\n          - [\"eq\", \"]\\\"[\", \"]#\", \"a\"]\n"},
		{"evaluate elsewhere is no expression", "harness:\n  hook_kwargs:\n    evaluate:\n      - [a,   b]\n", ""},
		{"several cases", "- id: A\n  assert:\n  - must:\n    - evaluate:\n      - [a,b]\n- id: B\n", "- id: A\n  assert:\n    - must:\n        - evaluate:\n            - [\"a\", \"b\"]\n- id: B\n"},
	} {
		want := c.want
		if want == "" {
			want = c.body
		}
		got := Block(c.body)
		if got != want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, want)
		}
		if again := Block(got); again != got {
			t.Errorf("%s: a second time gives\n%s", c.name, again)
		}
	}
}

// FuzzBlock holds that the form changes no meaning, loses no comment, and is
// its own form.
func FuzzBlock(f *testing.F) {
	f.Add("a:\n    b: |\n     x\n     # y\nassert:\n- must:\n  - evaluate:\n    - [a, [b, 'c']]\n    - - x\n      - y # z\n# end\n")
	f.Add("- - a: 1\n  -   b: [x,\n       y]\n-\n  # c\n  c: \"d\n\n   e\"\n")
	f.Fuzz(func(t *testing.T, body string) {
		got := Block(body)
		if got == body {
			return
		}
		before, ok := read(body)
		after, readable := read(got)
		if !ok || !readable || !before.equivalent(after) {
			t.Fatalf("%q means something else than %q", got, body)
		}
		if again := Block(got); again != got {
			t.Fatalf("%q, a second time %q", got, again)
		}
	})
}
