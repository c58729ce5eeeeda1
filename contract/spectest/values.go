package spectest

import (
	"encoding/hex"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/yamltree"
)

// fromJSON makes a YAML tree of a JSON one, so that cases in either format are
// understood by the same code.
func fromJSON(n *jsontree.Node, place func(offset int) yamltree.Pos) yamltree.Node {
	y := yamltree.Node{Pos: place(n.Offset), Text: n.Text, Raw: n.Text, Bool: n.Bool, Flow: true}
	switch n.Kind {
	case jsontree.Bool:
		y.Kind = yamltree.Bool
	case jsontree.Int:
		y.Kind = yamltree.Int
	case jsontree.Float:
		y.Kind = yamltree.Float
	case jsontree.String:
		y.Kind, y.Quoted = yamltree.String, true
	case jsontree.Array:
		y.Kind, y.Items = yamltree.Seq, make([]yamltree.Node, len(n.Items))
		for i := range n.Items {
			y.Items[i] = fromJSON(&n.Items[i], place)
		}
	case jsontree.Object:
		y.Kind, y.Members = yamltree.Map, make([]yamltree.Member, len(n.Members))
		for i, m := range n.Members {
			key := yamltree.Node{Kind: yamltree.String, Quoted: true, Text: m.Key, Raw: m.Key, Pos: place(m.KeyOffset)}
			y.Members[i] = yamltree.Member{Key: key, Value: fromJSON(&m.Value, place)}
		}
	}
	return y
}

// toJSON is the JSON form of a YAML value: dates as text, binary as hex digits,
// sets and pairs as lists.
func toJSON(n *yamltree.Node) jsontree.Node {
	if n == nil {
		return jsontree.Node{}
	}
	switch n.Kind {
	case yamltree.Bool:
		return jsontree.Node{Kind: jsontree.Bool, Bool: n.Bool}
	case yamltree.Int:
		return jsontree.Node{Kind: jsontree.Int, Text: n.Int().String()}
	case yamltree.Float:
		f, _ := n.Float() // it is one
		return jsontree.Node{Kind: jsontree.Float, Text: jsontree.FormatFloat(f)}
	case yamltree.String, yamltree.Date, yamltree.Time:
		return jsontree.Node{Kind: jsontree.String, Text: n.Text}
	case yamltree.Binary:
		return jsontree.Node{Kind: jsontree.String, Text: hex.EncodeToString([]byte(n.Text))}
	case yamltree.Seq:
		j := jsontree.Node{Kind: jsontree.Array, Items: make([]jsontree.Node, len(n.Items))}
		for i := range n.Items {
			j.Items[i] = toJSON(&n.Items[i])
		}
		return j
	case yamltree.Map:
		j := jsontree.Node{Kind: jsontree.Object}
		for i := range n.Members {
			j.Set(textOf(&n.Members[i].Key), toJSON(&n.Members[i].Value))
		}
		return j
	case yamltree.Set, yamltree.Pairs:
		j := jsontree.Node{Kind: jsontree.Array}
		for i := range n.Members {
			m := &n.Members[i]
			if n.Kind == yamltree.Set {
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
func textOf(n *yamltree.Node) string {
	if n == nil {
		return "None"
	}
	switch n.Kind {
	case yamltree.String, yamltree.Date, yamltree.Time, yamltree.Binary:
		return n.Text
	}
	j := toJSON(n)
	return speclang.OfJSON(&j).Text()
}

// trimmed is the text form without the blanks around it.
func trimmed(n *yamltree.Node) string { return strings.TrimSpace(textOf(n)) }

// keys are the text forms of a mapping's keys, in their order.
func keys(n *yamltree.Node) []string {
	list := make([]string, len(n.Members))
	for i := range n.Members {
		list[i] = textOf(&n.Members[i].Key)
	}
	return list
}
