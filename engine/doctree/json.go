package doctree

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// ParseJSON reads the one JSON value of a text into a tree like that of YAML. An
// error is always an [*Error].
func ParseJSON(text []byte, o jsontree.Options) (*Document, error) {
	return ParseJSONPart(text, o, func(p Pos) Pos { return p })
}

// ParseJSONPart is [ParseJSON] for a part of a document. place maps a position in
// the part to one in the document.
func ParseJSONPart(text []byte, o jsontree.Options, place func(Pos) Pos) (*Document, error) {
	o.MaxNodes = cmp.Or(o.MaxNodes, MostNodes)
	d := new(Document)
	root, doc, err := jsontree.Build(text, o, func(doc *jsontree.Document) *jsontree.Tree[Node, Member] {
		at := func(offset int) Pos { return place(Pos(doc.Position(offset))) }
		tree := ofJSON(at)
		tree.Again = func(m *Member, offset int) {
			d.Duplicates = append(d.Duplicates, Duplicate{Key: m.Key.Text, First: m.Key.Pos, Repeat: at(offset)})
		}
		return tree
	})
	if err != nil {
		e := new(jsontree.Error)
		errors.As(err, &e) // it returns no other error
		class := map[jsontree.Class]Class{
			jsontree.Encoding: Encoding, jsontree.Depth: Depth, jsontree.Digits: Digits, jsontree.Nodes: Size,
		}[e.Class]
		return nil, &Error{Class: class, Pos: place(Pos(e.Position)), Problem: e.Problem, Expected: e.Expected, Source: e.Source}
	}
	d.Root, d.json = root, doc
	return d, nil
}

// OfJSON returns a JSON value as YAML would have it: a mapping in braces, strings in
// quotes.
func OfJSON(n *jsontree.Node, at func(offset int) Pos) Node { return convert(ofJSON(at), n) }

func convert(t *jsontree.Tree[Node, Member], n *jsontree.Node) Node {
	switch n.Kind {
	case jsontree.Array:
		items := make([]Node, len(n.Items))
		for i := range n.Items {
			items[i] = convert(t, &n.Items[i])
		}
		return t.Array(*n, items)
	case jsontree.Object:
		members := make([]Member, len(n.Members))
		for i := range n.Members {
			m := &n.Members[i]
			members[i] = t.Member(m.Key, m.KeyOffset)
			members[i].Value = convert(t, &m.Value)
		}
		return t.Object(*n, members)
	}
	return t.Scalar(*n)
}

// ofJSON makes YAML's form of JSON values.
func ofJSON(at func(offset int) Pos) *jsontree.Tree[Node, Member] {
	return &jsontree.Tree[Node, Member]{
		Scalar: func(n jsontree.Node) Node {
			y, raw := Node{Pos: at(n.Offset), Bool: n.Bool, Style: Flow}, n.Text
			switch n.Kind {
			case jsontree.Bool:
				y.Kind, raw = Bool, strconv.FormatBool(n.Bool)
			case jsontree.Int:
				y.Kind = Int
			case jsontree.Float:
				y.Kind = Float
			case jsontree.String:
				y.Kind, y.Style = String, Quoted|Flow
			default:
				raw = "null"
			}
			return y.As(n.Text, raw)
		},
		Array: func(n jsontree.Node, items []Node) Node {
			return Node{Kind: Seq, Pos: at(n.Offset), Style: Flow}.WithItems(items)
		},
		Object: func(n jsontree.Node, members []Member) Node {
			return Node{Kind: Map, Pos: at(n.Offset), Style: Flow}.WithMembers(members)
		},
		Member: func(key string, offset int) Member {
			return Member{Key: Node{Kind: String, Style: Quoted, Pos: at(offset)}.As(key, key)}
		},
		Of: func(m *Member) (string, *Node) { return m.Key.Text, &m.Value },
	}
}
