package textop

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// call is the JSON of a tool call, with changes to make.
type call struct {
	text    string
	root    *jsontree.Node
	args    *jsontree.Node // the arguments, or the root if there are none
	patches []patch
}

// patch replaces text[from:to].
type patch struct {
	from, to int
	text     string
}

// parseCall parses the text as JSON. reason says why to skip; "": do not.
func (d *draft) parseCall() (*call, string) {
	if i := strings.IndexFunc(d.text, func(r rune) bool { return r > ' ' }); i < 0 || !strings.ContainsRune("{[\"-0123456789tfn", rune(d.text[i])) {
		return nil, "not_json" // most texts are no JSON, and should cost no parse
	}
	doc, err := jsontree.Parse([]byte(d.text), jsontree.Options{MaxDepth: 2000})
	if err != nil {
		return nil, "not_json"
	}
	c := &call{text: d.text, root: &doc.Root}
	if c.root.Kind != jsontree.Object && c.root.Kind != jsontree.Array {
		return nil, "not_a_call"
	}
	c.args = c.root
	for _, key := range []string{"arguments", "args", "params", "parameters", "input"} {
		if a := c.root.Get(key); a != nil && (a.Kind == jsontree.Object || a.Kind == jsontree.Array) {
			c.args = a
			break
		}
	}
	return c, ""
}

func (c *call) patch(from, to int, text string) {
	c.patches = append(c.patches, patch{from, to, text})
}

func (c *call) put(n *jsontree.Node, text string) { c.patch(n.Offset, n.End, text) }

// name returns the value that names the tool, or nil.
func (c *call) name() *jsontree.Node {
	for _, o := range []*jsontree.Node{c.root, c.root.Get("function"), c.root.Get("tool")} {
		if o == nil || o.Kind != jsontree.Object {
			continue
		}
		for _, key := range []string{"name", "tool", "tool_name", "function", "method"} {
			if n := o.Get(key); n != nil && n.Kind == jsontree.String {
				return n
			}
		}
	}
	return nil
}

// leaves returns the values that are neither objects nor arrays, in document
// order.
func leaves(n *jsontree.Node, list []*jsontree.Node) []*jsontree.Node {
	switch n.Kind {
	case jsontree.Object:
		for i := range n.Members {
			list = leaves(&n.Members[i].Value, list)
		}
	case jsontree.Array:
		for i := range n.Items {
			list = leaves(&n.Items[i], list)
		}
	default:
		list = append(list, n)
	}
	return list
}

// eachLeaf replaces some random leaves of the arguments, as many as the
// strength says, by what f returns; "" keeps a leaf.
func (d *draft) eachLeaf(c *call, f func(n *jsontree.Node) string) {
	n := d.edits()
	d.note("edits", n)
	list := leaves(c.args, nil)
	for i := range list { // a partial shuffle
		j := i + d.rng.Index(len(list)-i)
		list[i], list[j] = list[j], list[i]
		if text := f(list[i]); text != "" && text != c.text[list[i].Offset:list[i].End] {
			c.put(list[i], text)
			if n--; n == 0 {
				return
			}
		}
	}
}

func (d *draft) anyLeaf(c *call) *jsontree.Node {
	list := leaves(c.args, nil)
	if len(list) == 0 {
		return nil
	}
	return list[d.rng.Index(len(list))]
}

// anyObject draws the arguments or an object inside them, or nil.
func (d *draft) anyObject(c *call) *jsontree.Node {
	var list []*jsontree.Node
	var collect func(n *jsontree.Node)
	collect = func(n *jsontree.Node) {
		if n.Kind == jsontree.Object {
			list = append(list, n)
		}
		for i := range n.Members {
			collect(&n.Members[i].Value)
		}
		for i := range n.Items {
			collect(&n.Items[i])
		}
	}
	collect(c.args)
	if len(list) == 0 {
		return nil
	}
	return list[d.rng.Index(len(list))]
}

// memberRange returns the range of a member with the comma that belongs to it.
func (c *call) memberRange(o *jsontree.Node, m *jsontree.Member) (from, to int) {
	from, to = m.KeyOffset, m.Value.End
	if i := strings.IndexFunc(c.text[to:o.End], notBlank); i >= 0 && c.text[to+i] == ',' {
		to += i + 1
		if i := strings.IndexFunc(c.text[to:o.End], notBlank); i >= 0 {
			to += i
		}
		return from, to
	}
	// The last member takes the comma before it.
	if i := strings.LastIndexFunc(c.text[o.Offset:from], notBlank); i >= 0 && c.text[o.Offset+i] == ',' {
		from = o.Offset + i
	}
	return from, to
}

func notBlank(r rune) bool { return r > ' ' }

// addMember adds a member at the end of an object.
func (c *call) addMember(o *jsontree.Node, text string) {
	if len(o.Members) > 0 || len(c.patchesAt(o.End-1)) > 0 {
		text = ", " + text
	}
	c.patch(o.End-1, o.End-1, text)
}

func (c *call) patchesAt(at int) []patch {
	for i, p := range c.patches {
		if p.from == at && p.to == at {
			return c.patches[i:]
		}
	}
	return nil
}

// keyEnd returns the offset just past the key of a member.
func (c *call) keyEnd(m *jsontree.Member) int {
	for i := m.KeyOffset + 1; i < len(c.text); i++ {
		switch c.text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(c.text)
}
