package outline_test

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/engine/outline"
	"github.com/thresh-dev/thresh/internal/golden"
)

// The parts that are seen in texts of several kinds, damaged in every place.
func TestEverySmallChange(t *testing.T) {
	golden.Sweep(t, "parts", golden.Changed("\"{</,\n-\x00", []string{
		`{"a": [1, -2.5e3, 0x1F], "b,": null}`, `<a x="1>2"><b/>t<!-- c --><c>u</c></a>`, "x1 = f(-5-3, 'a\\'b');\nk: [p, q]\r\n`m\nn` é\x80", `a ] (b) } {a [b c} 12.5.6 1e+ 9`,
	}...), func(text string) string {
		var o outline.Outline
		o.Scan([]byte(text))
		return fmt.Sprint(o.Tokens, o.Groups, o.Items, o.Elements, outline.Texty([]byte(text)))
	})
}
