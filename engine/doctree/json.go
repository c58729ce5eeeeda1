package doctree

import (
	"errors"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// ParseJSON reads the one JSON value of a text into the tree that YAML is read
// into. An error is always an [*Error].
func ParseJSON(text []byte, o jsontree.Options) (*Document, error) {
	if o.MaxNodes == 0 {
		o.MaxNodes = MostNodes
	}
	doc, err := jsontree.Parse(text, o)
	if err != nil {
		e := new(jsontree.Error)
		errors.As(err, &e) // it gives no other
		class := map[jsontree.Class]Class{
			jsontree.Encoding: Encoding, jsontree.Depth: Depth, jsontree.Digits: Digits, jsontree.Repetition: Repetition, jsontree.Nodes: Size,
		}[e.Class]
		return nil, &Error{Class: class, Pos: Pos(e.Position), Problem: e.Problem, Expected: e.Expected, Source: e.Source}
	}
	at := func(offset int) Pos { return Pos(doc.Position(offset)) }
	d := &Document{Value: doc}
	d.Root = OfJSON(&doc.Root, at)
	for _, r := range doc.Duplicates {
		d.Duplicates = append(d.Duplicates, Duplicate{Key: r.Key, First: at(r.First), Repeat: at(r.Repeat)})
	}
	return d, nil
}

// OfJSON is a JSON value in the form of YAML's: a mapping in braces, strings in
// quotes.
func OfJSON(n *jsontree.Node, at func(offset int) Pos) Node {
	y := Node{Pos: at(n.Offset), Text: n.Text, Raw: n.Text, Bool: n.Bool, Flow: true}
	switch n.Kind {
	case jsontree.Null:
		y.Raw = "null"
	case jsontree.Bool:
		y.Kind, y.Raw = Bool, "false"
		if n.Bool {
			y.Raw = "true"
		}
	case jsontree.Int:
		y.Kind = Int
	case jsontree.Float:
		y.Kind = Float
	case jsontree.String:
		y.Kind, y.Quoted = String, true
	case jsontree.Array:
		y.Kind, y.Items = Seq, make([]Node, len(n.Items))
		for i := range n.Items {
			y.Items[i] = OfJSON(&n.Items[i], at)
		}
	case jsontree.Object:
		y.Kind, y.Members = Map, make([]Member, len(n.Members))
		for i := range n.Members {
			m := &n.Members[i]
			y.Members[i] = Member{
				Key:   Node{Kind: String, Quoted: true, Text: m.Key, Raw: m.Key, Pos: at(m.KeyOffset)},
				Value: OfJSON(&m.Value, at),
			}
		}
	}
	return y
}
