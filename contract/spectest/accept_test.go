package spectest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/textdiff"
	"github.com/thresh-dev/thresh/internal/golden"
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
  assert: [{target: text, must: [{contain: ["version: 7"]}]}]
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
- id: SKIPPED
  type: text.file
  path: subject.txt
  requires: {capabilities: [x.y], when_missing: skip}
  assert: [{target: text, must: [{contain: ["version: 8"]}]}]
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
	got := textdiff.Format("a", "b", string(before), string(after)) + p.Left.Error() + "\n"
	golden.Check(t, filepath.Join(here, "testdata", "accept.txt"), got)
	// What was proposed holds.
	again, err := compiled(t, string(after)).Accept(t.Context(), false)
	if err != nil || len(again.Changes) != 0 || len(again.Left) != len(p.Left) {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if _, err := p.Apply(append(before, 'x')); err == nil {
		t.Error("the changes are made in another document")
	}
}

// Exit codes are taken where that is asked for and the case names one.
func TestAcceptExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: A\ntype: cli.run\nexit_code: 3 # why\nharness: {entrypoint: sh}\nargv: [-c, exit 5]\n", "id: B\ntype: cli.run\nharness: {entrypoint: 'false'}\n")
	for exits, want := range map[bool]string{false: doc, true: strings.Replace(doc, "exit_code: 3 #", "exit_code: 5 #", 1)} {
		p, err := compiled(t, doc).Accept(t.Context(), exits)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Apply([]byte(doc))
		if err != nil || string(got) != want || len(p.Left) != map[bool]int{false: 2, true: 1}[exits] {
			t.Errorf("exits %t: %s\n%v %v", exits, got, p.Left, err)
		}
	}
}

// A page of a thousand blocks is rewritten in one go; what is right stays to the byte.
func TestUpdateOfALongPage(t *testing.T) {
	t.Chdir(t.TempDir())
	var doc, want strings.Builder
	for i := range 300 {
		text := fmt.Sprintf("Text %d  \r\n\n```console run\n$ echo %d\nLINE\n$ true # [..]\n```\n", i, i)
		right := strings.Replace(text, "LINE", fmt.Sprint(i), 1)
		switch {
		case i%100 == 7:
			doc.WriteString(strings.Replace(text, "LINE", "old", 1))
		case i%2 == 0:
			right = strings.Replace(text, "LINE", "<number>", 1)
			doc.WriteString(right)
		default:
			doc.WriteString(right)
		}
		want.WriteString(right)
	}
	p, err := compiled(t, doc.String()).Accept(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Apply([]byte(doc.String()))
	if err != nil || string(got) != want.String() || len(p.Changes) != 3 || len(p.Left) > 0 {
		t.Errorf("%d changes, %d left, %v; lines differ: %s", len(p.Changes), len(p.Left), err, textdiff.Format("want", "got", want.String(), string(got)))
	}
}

// here is the folder of the package, for tests that have left it.
var here, _ = os.Getwd()

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
`, `
id: NEITHER
type: text.file
path: subject.txt
assert:
- {target: text, must: [{can: [{contain: [gamma]}, {must: [{contain: [alpha]}, {contain: [delta]}]}]}]}
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
	golden.Check(t, filepath.Join(here, "testdata", "explain.txt"), b.String()+still)
}

// Cases of a chain are proposed for as others are, and behind one that would hold the chain goes on.
func TestAcceptChain(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: A\ntype: cli.run\nharness: {entrypoint: sh}\nargv: [-c, 'echo id 4']\ncapture: {n: {regex: 'id (\\d)'}}\nassert: [{target: stdout, must: [{contain: [id 5]}]}]\n",
		"id: B\ntype: cli.run\nexit_code: 1\nharness: {entrypoint: sh}\nargv: [-c, 'echo got ${n}; exit 2']\n",
		"id: C\ntype: cli.run\nharness: {entrypoint: echo}\nargv: ['for ${n}']\nassert: [{target: stdout, must: [{contain: ['For ${n}']}]}]\n",
		"id: D\ntype: cli.run\nharness: {entrypoint: echo}\nargv: ['for ${n}']\nassert: [{target: stdout, must: [{contain: [never]}]}]\n")
	p, err := compiled(t, doc).Accept(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Apply([]byte(doc))
	if want := strings.NewReplacer("[id 5]", `["id 4"]`, "exit_code: 1", "exit_code: 2").Replace(doc); err != nil || string(got) != want {
		t.Errorf("%s %v", got, err)
	}
	if left := p.Left.Error(); len(p.Left) != 1 || !strings.Contains(left, "C: the value is written in a form that accept does not rewrite") {
		t.Errorf("left: %s", left)
	}
}

// What a command prints is proposed together with its exit code.
func TestAcceptExitAndOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := blockDocument("id: A\ntype: cli.run\nexit_code: 0\nharness: {entrypoint: sh}\nargv: [-c, 'echo id 4; exit 3']\nassert: [{target: stdout, must: [{contain: [id 5]}]}]\n")
	p, err := compiled(t, doc).Accept(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Apply([]byte(doc)); err != nil || string(got) != strings.NewReplacer("[id 5]", `["id 4"]`, "exit_code: 0", "exit_code: 3").Replace(doc) {
		t.Errorf("%s %v", got, err)
	}
}

// A pattern is proposed from what is like the texts that the old one matches.
func TestLikeliestPattern(t *testing.T) {
	for _, c := range []struct{ want, text, pattern string }{
		{`version: \d+\.\d+ on \d{4}-\d\d-\d\d`, "name\nversion: 3.14.2 of 2026-11-28\n", `version: \d+\.\d+\.\d+ of \d+-\d+-\d+`},
		{`version: [0-9]+`, "versions: 27\n", `versions: [0-9]+`},
		{`^(warn|note): .+ left$`, "warm: 3 left\n", `^warm: 3 left$`},
		{`^total [0-9]+$`, "the totals 17 of it", `totals [0-9]+`},
		{`(?<=a)name is Ada`, "name is Bob", `name is Bob`}, // not one of RE2
		{`\w+`, "nothing alike", ""},
	} {
		if got := likeliestPattern(c.want, c.text); got != c.pattern {
			t.Errorf("%s in %q: %s, want %s", c.want, c.text, got, c.pattern)
		}
	}
}
