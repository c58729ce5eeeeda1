package spectest

import (
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// A key of a case of another type is an error that names the types that take it.
func TestKeysThatDoNotBelong(t *testing.T) {
	contracttest.Keys{
		Of: doctree.Object(format().one), Unknown: diag.Warning, Contract: New(Targets{}), Path: "page.spec.md",
		Refused: []string{"harness cli.run", "part", "captured value"},
		Base:    `{"id": "a", "type": "text.file", "assert": [{"target": "text", "must": [{"contain": ["a"]}]}]}`,
		Wrap: func(doc []byte) []byte {
			return slices.Concat([]byte("# Page\n\n```yaml spec-test\n"), doc, []byte("\n```\n"))
		},
	}.Run(t)
}
