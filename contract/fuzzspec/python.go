package fuzzspec

import (
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// Values of JSON records as the tools that defined them see them: with Python's truth and text of a
// value.

// truthy is Python's bool(v).
func truthy(n *jsontree.Node) bool { return n != nil && speclang.OfJSON(n).Truthy() }

// text is Python's str(v or ""): empty for a missing or falsy value.
func text(n *jsontree.Node) string {
	if !truthy(n) {
		return ""
	}
	return pythonStr(n)
}

// isExitCode reports whether a value counts as an integer; true and false do.
func isExitCode(n *jsontree.Node) bool {
	return n != nil && (n.Kind == jsontree.Int || n.Kind == jsontree.Bool)
}

// pythonStr is Python's str(v), or str(None) for a missing value.
func pythonStr(n *jsontree.Node) string {
	if n == nil {
		n = new(jsontree.Node)
	}
	return speclang.OfJSON(n).Text()
}
