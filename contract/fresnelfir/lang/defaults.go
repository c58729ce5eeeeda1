package lang

import (
	"slices"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// giveDefaults gives each field that new leaves out a default, the least value of its type, as people
// expect it of a field; default = None leaves it without a value.
func (c *compiler) giveDefaults() {
	for _, kind := range leftOut(c.root) {
		set(kind, kind.Pos, "default", *zeroOf(kind))
	}
	for i := range c.section("entities").Members() {
		fields := membersOf(c.section("entities").Members()[i].Value.Get("fields"))
		for k := range fields {
			kind := &fields[k].Value
			*kind = kind.WithMembers(slices.DeleteFunc(kind.Members(), func(m doctree.Member) bool {
				return m.Key.Text == "default" && m.Value.Kind == doctree.Null
			}))
		}
	}
}

// leftOut are the fields without a default that some action makes an instance without.
func leftOut(root *node) (list []*node) {
	effects := membersOf(root.Get("effects"))
	for i := range effects {
		effect := &effects[i].Value
		creates := effect.Get("creates")
		if creates == nil {
			continue
		}
		fields := membersOf(root.Get("entities").Get(textOf(creates, "entity")).Get("fields"))
		for k := range fields {
			name, kind := fields[k].Key.Text, &fields[k].Value
			assigns := func(s node) bool {
				target := itemsOf(s.Get("target"))
				return len(target) == 2 && target[0].Text == textOf(creates, "assign") && target[1].Text == name
			}
			if name != "id" && kind.Get("default") == nil && zeroOf(kind) != nil &&
				!slices.ContainsFunc(slices.Concat(itemsOf(effect.Get("sets")), itemsOf(effect.Get("steps"))), assigns) {
				list = append(list, kind)
			}
		}
	}
	return list
}

func membersOf(n *node) []doctree.Member {
	if n == nil {
		return nil
	}
	return n.Members()
}
