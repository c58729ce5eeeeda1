package app

import (
	"context"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// compilations counts how often documents are compiled.
type compilations struct {
	campaign.Contract
	n *int
}

func (c compilations) Compile(ctx context.Context, spec campaign.Spec, set campaign.Settings) ([]campaign.Any, diag.List) {
	*c.n++
	return c.Contract.Compile(ctx, spec, set)
}

// All that an editor asks about a version of a document takes one compilation.
func TestAPageIsCompiledOnce(t *testing.T) {
	a, n := New(), 0
	for i, c := range a.Contracts {
		a.Contracts[i] = compilations{c, &n}
	}
	e := a.Editor(t.TempDir())
	p := e.Open("page.md", []byte("# Page\n\n```yaml spec-test\nid: TEXT_1\ntype: text.file\npath: page.md\nassert: [{target: text, must: [{contain: [Page]}]}]\n```\n"), nil)
	if n > 0 {
		t.Error("a page that nobody asked about is compiled")
	}
	for range 2 {
		if list := p.Check(); list.HasErrors() {
			t.Fatal(list)
		}
		p.Cases()
	}
	if n != 1 {
		t.Errorf("compiled %d times", n)
	}
}
