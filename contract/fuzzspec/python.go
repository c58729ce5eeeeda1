package fuzzspec

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Values of JSON records as the tools that defined them see them: with
// Python's notion of truth and its text for a value.

// truthy is Python's bool(v).
func truthy(n *jsontree.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case jsontree.Bool:
		return n.Bool
	case jsontree.Int, jsontree.Float:
		f, _ := n.Float()
		return f != 0
	case jsontree.String:
		return n.Text != ""
	case jsontree.Array:
		return len(n.Items) > 0
	case jsontree.Object:
		return len(n.Members) > 0
	}
	return false
}

// text is Python's str(v or ""): empty for what is missing or not true.
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

// pythonStr is Python's str(v), of None for a value that is missing.
func pythonStr(n *jsontree.Node) string {
	if n != nil && n.Kind == jsontree.String {
		return n.Text
	}
	return pythonRepr(n)
}

// pythonRepr is Python's repr(v) for the plain values that records hold; inside
// strings, only quotes, backslashes and line ends are escaped.
func pythonRepr(n *jsontree.Node) string {
	if n == nil {
		return "None"
	}
	switch n.Kind {
	case jsontree.Bool:
		if n.Bool {
			return "True"
		}
		return "False"
	case jsontree.Int:
		return n.Int().String()
	case jsontree.Float:
		f, _ := n.Float()
		return strings.NewReplacer("NaN", "nan", "Infinity", "inf").Replace(jsontree.FormatFloat(f))
	case jsontree.String:
		quote := `'`
		if strings.Contains(n.Text, quote) && !strings.Contains(n.Text, `"`) {
			quote = `"`
		}
		escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, quote, `\`+quote)
		return quote + escape.Replace(n.Text) + quote
	case jsontree.Array:
		items := make([]string, len(n.Items))
		for i := range n.Items {
			items[i] = pythonRepr(&n.Items[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	case jsontree.Object:
		items := make([]string, len(n.Members))
		for i := range n.Members {
			key := jsontree.Node{Kind: jsontree.String, Text: n.Members[i].Key}
			items[i] = pythonRepr(&key) + ": " + pythonRepr(&n.Members[i].Value)
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return "None"
}
