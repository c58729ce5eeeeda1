package spectest

import (
	"encoding/hex"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// fromJSON makes a YAML tree of a JSON one, so that cases in either format are
// understood by the same code.
func fromJSON(n *jsontree.Node, place func(offset int) doctree.Pos) doctree.Node {
	y := doctree.Node{Pos: place(n.Offset), Text: n.Text, Raw: n.Text, Bool: n.Bool, Flow: true}
	switch n.Kind {
	case jsontree.Bool:
		y.Kind = doctree.Bool
	case jsontree.Int:
		y.Kind = doctree.Int
	case jsontree.Float:
		y.Kind = doctree.Float
	case jsontree.String:
		y.Kind, y.Quoted = doctree.String, true
	case jsontree.Array:
		y.Kind, y.Items = doctree.Seq, make([]doctree.Node, len(n.Items))
		for i := range n.Items {
			y.Items[i] = fromJSON(&n.Items[i], place)
		}
	case jsontree.Object:
		y.Kind, y.Members = doctree.Map, make([]doctree.Member, len(n.Members))
		for i, m := range n.Members {
			key := doctree.Node{Kind: doctree.String, Quoted: true, Text: m.Key, Raw: m.Key, Pos: place(m.KeyOffset)}
			y.Members[i] = doctree.Member{Key: key, Value: fromJSON(&m.Value, place)}
		}
	}
	return y
}

// toJSON is the JSON form of a YAML value: dates as text, binary as hex digits,
// sets and pairs as lists.
func toJSON(n *doctree.Node) jsontree.Node {
	if n == nil {
		return jsontree.Node{}
	}
	switch n.Kind {
	case doctree.Bool:
		return jsontree.Node{Kind: jsontree.Bool, Bool: n.Bool}
	case doctree.Int:
		return jsontree.Node{Kind: jsontree.Int, Text: n.Int().String()}
	case doctree.Float:
		f, _ := n.Float() // it is one
		return jsontree.Node{Kind: jsontree.Float, Text: jsontree.FormatFloat(f)}
	case doctree.String, doctree.Date, doctree.Time:
		return jsontree.Node{Kind: jsontree.String, Text: n.Text}
	case doctree.Binary:
		return jsontree.Node{Kind: jsontree.String, Text: hex.EncodeToString([]byte(n.Text))}
	case doctree.Seq:
		j := jsontree.Node{Kind: jsontree.Array, Items: make([]jsontree.Node, len(n.Items))}
		for i := range n.Items {
			j.Items[i] = toJSON(&n.Items[i])
		}
		return j
	case doctree.Map:
		j := jsontree.Node{Kind: jsontree.Object}
		for i := range n.Members {
			j.Set(textOf(&n.Members[i].Key), toJSON(&n.Members[i].Value))
		}
		return j
	case doctree.Set, doctree.Pairs:
		j := jsontree.Node{Kind: jsontree.Array}
		for i := range n.Members {
			m := &n.Members[i]
			if n.Kind == doctree.Set {
				j.Items = append(j.Items, toJSON(&m.Key))
				continue
			}
			j.Items = append(j.Items, jsontree.Node{Kind: jsontree.Array, Items: []jsontree.Node{toJSON(&m.Key), toJSON(&m.Value)}})
		}
		return j
	}
	return jsontree.Node{}
}

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
	j := toJSON(n)
	return speclang.OfJSON(&j).Text()
}

// trimmed is the text form without the blanks around it.
func trimmed(n *doctree.Node) string { return strings.TrimSpace(textOf(n)) }

// keys are the text forms of a mapping's keys, in their order.
func keys(n *doctree.Node) []string {
	list := make([]string, len(n.Members))
	for i := range n.Members {
		list[i] = textOf(&n.Members[i].Key)
	}
	return list
}
