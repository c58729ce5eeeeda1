package spectest

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// textOf is the text form of a value, which is Python's: existing documents
// say True for a boolean and 1.0 for a float.
func textOf(n *doctree.Node) string {
	if n == nil {
		return "None"
	}
	switch n.Kind {
	case doctree.String, doctree.Date, doctree.Time, doctree.Binary:
		return n.Text
	}
	j := n.JSON()
	return speclang.OfJSON(&j).Text()
}

// trimmed is the text form without the blanks around it.
func trimmed(n *doctree.Node) string { return strings.TrimSpace(textOf(n)) }

// keys are the text forms of a mapping's keys, in their order.
func keys(n *doctree.Node) []string {
	list := make([]string, len(n.Members()))
	for i := range n.Members() {
		list[i] = textOf(&n.Members()[i].Key)
	}
	return list
}
