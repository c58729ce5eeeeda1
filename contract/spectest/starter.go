package spectest

import "github.com/thresh-dev/thresh/campaign"

// starter returns a document that runs as it is.
func starter() []campaign.File {
	return []campaign.File{
		{Name: "greeting.spec.md", Data: []byte(starterDocument)},
		{Name: "greeting.txt", Data: []byte("Hello, reader.\nversion: 1\n")},
	}
}

const starterDocument = `# What the greeting promises

Every fenced block with the words yaml and spec-test is a test. Run them all
with: thresh run greeting.spec.md

## GREET-001

The file greets its reader. All items of must hold; cannot takes none.

` + "```yaml spec-test" + `
id: GREET-001
title: the greeting names its reader and its version
type: text.file
path: greeting.txt
assert:
  - target: text
    must:
      - contain: ["Hello", "reader"]
      - regex: ["version: [0-9]+"]
  - target: text
    cannot:
      - contain: ["goodbye"]
` + "```" + `

## GREET-002

A command is run without a shell: the entrypoint is split into words, argv is
added as it is. A function of a Python module is named module:function.

` + "```yaml spec-test" + `
id: GREET-002
title: echo repeats its arguments
type: cli.run
harness:
  entrypoint: echo
argv: ["one", "two words"]
exit_code: 0
assert:
  - target: stdout
    must:
      - contain: ["two words"]
      - evaluate:
          - ["eq", ["trim", ["subject"]], "one two words"]
` + "```" + `
`
