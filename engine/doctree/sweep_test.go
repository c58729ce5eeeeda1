package doctree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/internal/golden"
)

// whole is all of a value: kinds, texts, places and forms.
func whole(b *strings.Builder, n *doctree.Node) {
	i, small := n.Int64()
	f, number := n.Float()
	s, str := n.Str()
	fmt.Fprintf(b, "%v %t %v %v %q %q block %t flow %t quoted %t truthy %t %v %d %t %v %t %q %t", n.Kind, n.Bool, n.Style, n.Pos, n.Text, n.Raw(), n.Block(), n.Flow(), n.Quoted(), n.Truthy(), n.Int(), i, small, f, number, s, str)
	for i := range n.Items() {
		b.WriteString(" [")
		whole(b, &n.Items()[i])
		b.WriteString("]")
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		b.WriteString(" {")
		whole(b, &m.Key)
		b.WriteString(": ")
		whole(b, &m.Value)
		b.WriteString("}")
	}
}

// What is read of YAML and JSON, damaged in every place, and in what words and where it
// is refused.
func TestEverySmallChange(t *testing.T) {
	read := func(parse func() (*doctree.Document, error)) string {
		var b strings.Builder
		doc, err := parse()
		if err != nil {
			return err.Error() + "\n"
		}
		whole(&b, &doc.Root)
		json := doc.Root.JSON()
		fmt.Fprintf(&b, " %v %t %t %s\n", doc.Duplicates, doc.Root.Within(3), doc.Root.Within(9), jsontree.Compact.Format(&json))
		return b.String()
	}
	yaml := func(text string) string {
		return read(func() (*doctree.Document, error) {
			return doctree.Parse([]byte(text), doctree.Options{LineOffset: 2, MaxDepth: 4, MaxNodes: 40})
		})
	}
	golden.Sweep(t, "yaml", golden.Changed("\n -:[#'*", []string{
		"# a list\n- a: 1\n  b: [x, \"y\\n\", {k: ~}]\n- &n yes\n- *n\n", "k:\n  - |\n    two\n     lines\n  - >-\n    folded\n    text\n? c\n: {d: e}\n",
		"a: {<<: {x: 1}, y: 0x1f}\nb: !!str 12\nc: 2020-01-02\nd: 1e3\ne: .inf\nf: 0o7\ng: 1:30\n", "---\n'it''s': \"\\u00e9\\x41\"\n...\n", "x: {a: 1, a: 2}\ny: [1, 2,\n 3]\nz: -0.5\n",
	}...), yaml)
	golden.Sweep(t, "json", golden.Changed("\n \"{,:", `{"a": [1, -2.5, true, "x\u00e9"], "b": {"c": null}, "a": 1e400}`), func(text string) string {
		return read(func() (*doctree.Document, error) {
			return doctree.ParseJSON([]byte(text), jsontree.Options{MaxDepth: 3, NonFinite: true})
		})
	})
}
