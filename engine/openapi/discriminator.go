package openapi

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// discriminate expresses a discriminator in JSON Schema: which values a property has
// in which of the possible schemas.
func (v *viewer) discriminate(n *jsontree.Node, self string) {
	if d := n.Get("discriminator"); d != nil {
		property := text(d, "propertyName")
		for _, key := range []string{"oneOf", "anyOf"} {
			list := n.Get(key)
			for i := 0; list != nil && i < len(list.Items); i++ {
				branch := &list.Items[i]
				if names := v.called(d, text(branch, "$ref")); len(names) > 0 && !v.fixed(branch, property, 0) {
					*branch = object("allOf", jsontree.Node{Kind: jsontree.Array, Items: []jsontree.Node{*branch, only(property, names)}})
				}
			}
			if list != nil {
				return
			}
		}
		if names := v.children(d, self); len(names) > 0 && !v.fixed(n, property, 0) {
			narrow(n, property, names)
		}
	}
	all := n.Get("allOf")
	for i := 0; self != "" && all != nil && i < len(all.Items); i++ {
		parent := v.target(&all.Items[i])
		d := parent.Get("discriminator")
		if d == nil || parent.Get("oneOf") != nil || parent.Get("anyOf") != nil || v.fixed(n, text(d, "propertyName"), 0) {
			continue
		}
		all.Items = append(all.Items, only(text(d, "propertyName"), v.called(d, self)))
		return
	}
}

func object(key string, value jsontree.Node) jsontree.Node {
	return jsontree.Node{Kind: jsontree.Object, Members: []jsontree.Member{{Key: key, Value: value}}}
}

func words(list []string) jsontree.Node {
	n := jsontree.Node{Kind: jsontree.Array}
	for _, s := range list {
		n.Items = append(n.Items, jsontree.Node{Kind: jsontree.String, Text: s})
	}
	return n
}

// only returns a schema of objects with one of some values in a property.
func only(property string, values []string) jsontree.Node {
	n := object("properties", object(property, object("enum", words(values))))
	n.Members = append(n.Members, jsontree.Member{Key: "required", Value: words([]string{property})})
	return n
}

// narrow limits a property of a schema, if it has it, to some values.
func narrow(n *jsontree.Node, property string, values []string) {
	list := n.Get("properties")
	if list == nil || list.Get(property) == nil {
		return
	}
	m := list.Member(property)
	m.Value = object("allOf", jsontree.Node{Kind: jsontree.Array, Items: []jsontree.Node{m.Value, object("enum", words(values))}})
}

// called returns the values by which a discriminator names the schema of a reference.
func (v *viewer) called(d *jsontree.Node, ref string) (names []string) {
	if ref == "" {
		return nil
	}
	own := ref[strings.LastIndex(ref, "/")+1:]
	if m := d.Get("mapping"); m != nil {
		for i := range m.Members {
			if to := m.Members[i].Value.Text; to == ref || to == own {
				names = append(names, m.Members[i].Key)
			}
		}
	}
	if names == nil {
		names = []string{own}
	}
	return names
}

// children returns the values that name the schemas derived from one with a
// discriminator.
func (v *viewer) children(d *jsontree.Node, self string) (names []string) {
	if m := d.Get("mapping"); m != nil {
		for i := range m.Members {
			names = append(names, m.Members[i].Key)
		}
		return names
	}
	list := v.tree.Get("components").Get("schemas")
	for i := 0; self != "" && list != nil && i < len(list.Members); i++ {
		all := list.Members[i].Value.Get("allOf")
		if all != nil && slices.ContainsFunc(all.Items, func(x jsontree.Node) bool { return text(&x, "$ref") == self }) {
			names = append(names, list.Members[i].Key)
		}
	}
	if len(names) > 0 {
		names = append(names, self[strings.LastIndex(self, "/")+1:])
	}
	return names
}

// fixed reports whether a schema itself says which values a property has.
func (v *viewer) fixed(n *jsontree.Node, property string, depth int) bool {
	n = v.target(n)
	if list := n.Get("properties"); list != nil && list.Get(property) != nil {
		p := v.target(list.Get(property))
		if p.Get("enum") != nil || p.Get("const") != nil {
			return true
		}
	}
	all := n.Get("allOf")
	return depth < maxReferences && all != nil && slices.ContainsFunc(all.Items, func(x jsontree.Node) bool { return v.fixed(&x, property, depth+1) })
}
