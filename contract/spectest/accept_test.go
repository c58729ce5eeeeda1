package spectest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/unidiff"
)

// compiled compiles a document that lies in the working directory.
func compiled(t *testing.T, doc string) *Campaign {
	t.Helper()
	write(t, "a.spec.md", []byte(doc))
	camps, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, campaign.Settings{Options: map[string][]string{}})
	if list.HasErrors() || len(camps) != 1 {
		t.Fatal(list)
	}
	c, _ := campaign.As[*Campaign](camps[0])
	return c
}

const acceptDocument = "\ufeff# Café\r\n\n" + "```yaml spec-test" + `
id: MANY
type: text.file
path: subject.txt
assert:
  - target: text
    must:
      - contain: ["name: thresh", 'version: 1', plain]  # é
      - contain: ["first line\nsecond line"]
      - evaluate:
          - ["eq", ["len", ["subject"]], 3]
          - [eq, hello, [lower, [get, [json_parse, "{\"a\":\"It's\"}"], a]]]
          - ["not", ["contains", "name"]]
      - must:
          - regex: ["versions"]
  - target: text
    can:
      - contain: ["either"]
      - contain: ["or"]
  - target: text
    cannot:
      - contain: ["name"]
` + "```\n\n```yaml spec-test" + `
- id: WANTED-FAIL
  type: text.file
  path: subject.txt
  expect: {portable: {status: fail, category: assertion}}
  assert: [{target: text, must: [{contain: ["version: 1"]}]}]
- id: BROKEN
  type: text.file
  assert: [{target: text, must: {}}]
- id: HOLDS
  type: text.file
  path: subject.txt
  assert: [{target: text, must: [{contain: ["name"]}]}]
- id: ALIAS
  type: text.file
  path: subject.txt
  tags: [&v "version: 9"]
  assert: [{target: text, must: [{contain: [*v]}]}]
` + "```\n"

func TestAccept(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "subject.txt", []byte("the name: Thresh 2\nversion: 1.5 beta\nfirst lane\nsecond lane\nfiz\n"))
	c := compiled(t, strings.ReplaceAll(acceptDocument, "version: 1'", "version: 2'"))
	p, err := c.Accept(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile("a.spec.md")
	if err != nil {
		t.Fatal(err)
	}
	after, err := p.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	got := unidiff.Format("a", "b", string(before), string(after)) + p.Left.Error() + "\n"
	golden(t, "accept.txt", got)
	// What was proposed holds.
	again, err := compiled(t, string(after)).Accept(t.Context(), false)
	if err != nil || len(again.Changes) != 0 || len(again.Left) != len(p.Left) {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if _, err := p.Apply(append(before, 'x')); err == nil {
		t.Error("the changes are made in another document")
	}
}

// here is the folder of the package, for tests that have left it.
var here, _ = os.Getwd()

// golden compares a text with that of a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join(here, "testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestExplain(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "subject.txt", []byte("alpha\nbeta\n"))
	c := compiled(t, blockDocument(`
id: TREE
type: text.file
path: subject.txt
harness: {spec_lang: {max_steps: 50, timeout_ms: 0}}
assert:
  - target: text
    must:
      - contain: [alpha, beta]
      - can:
          - regex: ['^gamma']
          - evaluate: [["eq", ["len", ["subject"]], 11]]
          - contain: [never]
      - target: " "
        cannot:
          - contain: [delta]
          - contain: [beta]
      - contain: [unreached]
`, `
id: CALLS
type: cli.run
harness: {entrypoint: "sh -c 'exit 3'"}
argv: ["a b"]
assert: [{target: stdout, must: [{json_type: [dict]}]}]
`, `
id: STOPS
type: text.file
path: subject.txt
assert: [{target: text, can: [{evaluate: [["nope"]]}, {contain: [alpha]}]}, {target: other, must: [{contain: [x]}]}]
`, `
id: NONE
type: text.file
requires: {capabilities: [x.y], when_missing: skip}
`, `
id: BAD
type: api.http
harness: []
request: {method: get, url: a.json}
`))
	var b strings.Builder
	for _, id := range c.IDs() {
		for _, i := range c.Find(id) {
			text, err := c.Explain(t.Context(), i, true)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(text + "\n")
		}
	}
	still, err := c.Explain(t.Context(), 0, false)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.txt", b.String()+still)
}
