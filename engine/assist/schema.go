package assist

import (
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Schema is the JSON Schema of a format.
type Schema struct {
	root jsontree.Node
	defs map[string]*jsontree.Node
}

// ParseSchema parses a schema.
func ParseSchema(text []byte) (*Schema, error) {
	d, err := jsontree.Parse(text, jsontree.Options{})
	if err != nil {
		return nil, err
	}
	s := &Schema{root: d.Root, defs: map[string]*jsontree.Node{}}
	if defs := s.root.Get("$defs"); defs != nil {
		for i := range defs.Members {
			s.defs["#/$defs/"+strings.ReplaceAll(defs.Members[i].Key, " ", "%20")] = &defs.Members[i].Value
		}
	}
	return s, nil
}

// parts returns the schemas that apply to a value: references resolved,
// conditions decided, without alternatives that its form excludes.
func (s *Schema) parts(list []*jsontree.Node, n *node) []*jsontree.Node {
	var out []*jsontree.Node
	for _, x := range list {
		s.expand(x, n, &out, 0)
	}
	return out
}

func (s *Schema) expand(x *jsontree.Node, n *node, out *[]*jsontree.Node, depth int) {
	if x == nil || x.Kind != jsontree.Object || depth > 40 {
		return
	}
	*out = append(*out, x)
	if ref, ok := x.Get("$ref").Str(); ok {
		s.expand(s.defs[ref], n, out, depth+1)
	}
	if all := x.Get("allOf"); all != nil {
		for i := range all.Items {
			s.expand(&all.Items[i], n, out, depth+1)
		}
	}
	for _, word := range [...]string{"anyOf", "oneOf"} {
		if any := x.Get(word); any != nil {
			for i := range any.Items {
				if s.formed(&any.Items[i], n, depth+1) {
					one := alternative(any.Items[i], n)
					s.expand(&one, n, out, depth+1)
				}
			}
		}
	}
	if cond := x.Get("if"); cond != nil {
		word := "else"
		if s.fits(cond, n, depth+1) {
			word = "then"
		}
		s.expand(x.Get(word), n, out, depth+1)
	}
}

// alternative returns a schema as one of several: what it needs is needed only if no other holds, and
// what it excludes is excluded only if the value has what it needs.
func alternative(x jsontree.Node, n *node) jsontree.Node {
	holds := true
	if req := x.Get("required"); req != nil {
		for _, k := range req.Items {
			holds = holds && n != nil && n.member(k.Text) != nil
		}
	}
	x.Members = slices.DeleteFunc(slices.Clone(x.Members), func(m jsontree.Member) bool { return m.Key == "required" })
	if props := x.Get("properties"); props != nil && !holds {
		props.Members = slices.DeleteFunc(slices.Clone(props.Members), func(m jsontree.Member) bool { return m.Value.Kind == jsontree.Bool && !m.Value.Bool })
	}
	return x
}

// formed reports whether a value may become one of a schema, by its form alone.
func (s *Schema) formed(x *jsontree.Node, n *node, depth int) bool {
	if ref, ok := x.Get("$ref").Str(); ok && s.defs[ref] != nil && depth < 40 {
		return s.formed(s.defs[ref], n, depth+1)
	}
	want := types(x)
	if len(want) == 0 {
		if x.Get("enum") != nil || x.Get("const") != nil {
			return n == nil || n.kind == nothing || n.kind == scalar
		}
		return true
	}
	if n == nil {
		return true
	}
	switch n.kind {
	case mapping:
		return slices.Contains(want, "object")
	case sequence:
		return slices.Contains(want, "array")
	case scalar:
		return strings.Contains(n.text, mark) || slices.ContainsFunc(want, func(w string) bool { return w != "object" && w != "array" })
	}
	return true
}

// fits decides the condition of a schema: forms, words and required keys.
func (s *Schema) fits(x *jsontree.Node, n *node, depth int) bool {
	if depth > 40 || n == nil || !s.formed(x, n, depth) || len(types(x)) > 0 && n.kind == nothing {
		return false
	}
	if c, ok := x.Get("const").Str(); ok && (n.kind != scalar || n.text != c) {
		return false
	}
	if e := x.Get("enum"); e != nil && !slices.ContainsFunc(e.Items, func(v jsontree.Node) bool { return v.Text == n.text }) {
		return false
	}
	if req := x.Get("required"); req != nil {
		for _, k := range req.Items {
			if n.member(k.Text) == nil {
				return false
			}
		}
	}
	if props := x.Get("properties"); props != nil {
		for i := range props.Members {
			if m := n.member(props.Members[i].Key); m != nil && !s.fits(&props.Members[i].Value, m.value, depth+1) {
				return false
			}
		}
	}
	if all := x.Get("allOf"); all != nil {
		return !slices.ContainsFunc(all.Items, func(y jsontree.Node) bool { return !s.fits(&y, n, depth+1) })
	}
	if not := x.Get("not"); not != nil {
		return !s.fits(not, n, depth+1)
	}
	return true
}

// types returns the words of a schema's type.
func types(x *jsontree.Node) []string {
	t := x.Get("type")
	if word, ok := t.Str(); ok {
		return []string{word}
	}
	var list []string
	if t != nil {
		for _, w := range t.Items {
			list = append(list, w.Text)
		}
	}
	return list
}

// property is a key that a mapping may have.
type property struct {
	name    string
	schemas []*jsontree.Node
	need    bool
}

// properties returns the keys that schemas declare, in order, without those
// that one of them excludes.
func properties(parts []*jsontree.Node) []property {
	var list []property
	index, out := map[string]int{}, map[string]bool{}
	for _, p := range parts {
		props := p.Get("properties")
		if props == nil {
			continue
		}
		for i := range props.Members {
			name, v := props.Members[i].Key, &props.Members[i].Value
			if v.Kind == jsontree.Bool && !v.Bool {
				out[name] = true
				continue
			}
			at, ok := index[name]
			if !ok {
				at = len(list)
				index[name] = at
				list = append(list, property{name: name})
			}
			list[at].schemas = append(list[at].schemas, v)
		}
	}
	for _, p := range parts {
		if req := p.Get("required"); req != nil {
			for _, k := range req.Items {
				if at, ok := index[k.Text]; ok {
					list[at].need = true
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(p property) bool { return out[p.name] })
}

// child returns what schemas say about the value of a key.
func child(parts []*jsontree.Node, key string) []*jsontree.Node {
	for _, p := range properties(parts) {
		if p.name == key {
			return p.schemas
		}
	}
	var list []*jsontree.Node
	for _, p := range parts {
		if patterns := p.Get("patternProperties"); patterns != nil {
			for i := range patterns.Members {
				if re, err := regexp.Compile(patterns.Members[i].Key); err == nil && re.MatchString(key) {
					list = append(list, &patterns.Members[i].Value)
				}
			}
		}
		if more := p.Get("additionalProperties"); more != nil && more.Kind == jsontree.Object {
			list = append(list, more)
		}
	}
	return list
}

// items returns what schemas say about the items of a list.
func items(parts []*jsontree.Node) []*jsontree.Node {
	var list []*jsontree.Node
	for _, p := range parts {
		if x := p.Get("items"); x != nil {
			list = append(list, x)
		}
	}
	return list
}
