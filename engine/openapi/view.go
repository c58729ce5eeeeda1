package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// view is a schema as one side of a call must follow it.
type view string

// The sides, named by what does not apply to them: a readOnly property is not sent,
// and a writeOnly property is not in an answer.
const (
	sending   view = "readOnly"
	receiving view = "writeOnly"
)

// closed returns a schema for one side, including everything that it refers to.
func (d *document) closed(schema jsontree.Node, side view) json.RawMessage {
	v := viewer{document: d, side: side, seen: make(map[string]bool)}
	schema = v.schema(schema, "", nil)
	for i := 0; i < len(v.refs); i++ { // v.refs grows
		steps := jsontree.Steps("#/" + v.refs[i])
		if at := d.tree.Along(steps); at != nil && schema.Kind == jsontree.Object {
			put(&schema, steps, v.schema(*at, "#/"+v.refs[i], nil))
		}
	}
	return json.RawMessage(jsontree.Style{Kept: true}.Format(&schema))
}

// put sets the value at a path of keys.
func put(n *jsontree.Node, steps []string, v jsontree.Node) {
	if n.Kind != jsontree.Object {
		return
	}
	m := n.Member(steps[0])
	switch {
	case m == nil && len(steps) == 1:
		n.Members = append(n.Members, jsontree.Member{Key: steps[0], Value: v})
	case len(steps) == 1:
		m.Value = v
	default:
		if m == nil {
			n.Members = append(n.Members, jsontree.Member{Key: steps[0], Value: jsontree.Node{Kind: jsontree.Object}})
			m = &n.Members[len(n.Members)-1]
		}
		put(&m.Value, steps[1:], v)
	}
}

// viewer rewrites schemas for one side, and collects what they refer to.
type viewer struct {
	*document
	side view
	refs []string
	seen map[string]bool
}

// data are keys whose values are not schemas.
var data = []string{"example", "examples", "default", "enum", "const", "required", "mapping"}

// maps are keys whose values have a schema under each name.
var maps = []string{"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}

// schema rewrites a schema. A property that does not apply to the side is not
// required, even where hidden names it; self is how others refer to the schema.
func (v *viewer) schema(n jsontree.Node, self string, hidden []string) jsontree.Node {
	switch n.Kind {
	case jsontree.Array:
		n.Items = slices.Clone(n.Items)
		for i := range n.Items {
			n.Items[i] = v.schema(n.Items[i], "", hidden)
		}
		return n
	case jsontree.Object:
	default:
		return n
	}
	if ref := text(&n, "$ref"); strings.HasPrefix(ref, "#/") && !v.seen[ref] {
		v.seen[ref] = true
		v.refs = append(v.refs, ref[2:])
	}
	hidden = append(slices.Clip(hidden), v.hidden(&n, 0)...)
	members := n.Members
	n.Members = nil
	for _, m := range members {
		switch {
		case m.Key == "required" && m.Value.Kind == jsontree.Array:
			m.Value.Items = slices.DeleteFunc(slices.Clone(m.Value.Items), func(x jsontree.Node) bool { return slices.Contains(hidden, x.Text) })
		case slices.Contains(maps, m.Key) && m.Value.Kind == jsontree.Object:
			m.Value.Members = v.named(m.Value.Members, m.Key == "properties")
		case m.Key == "allOf":
			m.Value = v.schema(m.Value, "", hidden)
		case !slices.Contains(data, m.Key):
			m.Value = v.schema(m.Value, "", nil)
		}
		n.Members = append(n.Members, m)
	}
	v.discriminate(&n, self)
	return n
}

// named rewrites the schemas of names. A readOnly property is not sent; a writeOnly
// property must not be in an answer.
func (v *viewer) named(members []jsontree.Member, properties bool) (list []jsontree.Member) {
	for _, m := range members {
		switch {
		case !properties || !v.marked(&m.Value):
			m.Value = v.schema(m.Value, "", nil)
		case v.side == sending:
			continue
		default:
			m.Value = jsontree.Node{Kind: jsontree.Bool}
		}
		list = append(list, m)
	}
	return list
}

func (v *viewer) marked(schema *jsontree.Node) bool {
	b := v.target(schema).Get(string(v.side))
	return b != nil && b.Kind == jsontree.Bool && b.Bool
}

// hidden returns the properties of a schema, and of those that it is composed of,
// that do not apply to the side.
func (v *viewer) hidden(n *jsontree.Node, depth int) (names []string) {
	if n = v.target(n); depth > maxReferences {
		return nil
	}
	if list := n.Get("properties"); list != nil {
		for i := range list.Members {
			if v.marked(&list.Members[i].Value) {
				names = append(names, list.Members[i].Key)
			}
		}
	}
	if all := n.Get("allOf"); all != nil {
		for i := range all.Items {
			names = append(names, v.hidden(&all.Items[i], depth+1)...)
		}
	}
	return names
}

// target returns what a node refers to, or the node itself.
func (d *document) target(n *jsontree.Node) *jsontree.Node {
	for range maxReferences {
		ref := text(n, "$ref")
		if !strings.HasPrefix(ref, "#/") {
			return n
		}
		if n = d.tree.Along(jsontree.Steps(ref)); n == nil {
			break
		}
	}
	return &jsontree.Node{Kind: jsontree.Object}
}

func text(n *jsontree.Node, key string) string {
	if m := n.Get(key); m != nil && m.Kind == jsontree.String {
		return m.Text
	}
	return ""
}
