package lang

import "strings"

// extensions are keys that existing readers pass over, but for those that the parts of a model
// are noted with. A * stands for any name.
var extensions = [...]struct{ key, what string }{
	{"entities.*.fields.*.default", "what a field begins with"},
	{"functions.*.models", "what an observer is compared with"},
	{"functions.*.part", "which part of an answer counts"},
	{"exploration.actor", "who acts"},
	{"exploration.budget", "how many traversals a run makes"},
	{"exploration.vary", "what was done already loses weight"},
	{"exploration.concurrency.faults", "faults between calls"},
	{"bindings.actions.*.rejects", "how a call is refused"},
	{"bindings.actions.*.answer", "what a call answers"},
	{"bindings.actions.*.part", "which part of an answer counts"},
}

// noteExtensions notes each of these keys once, where it stands first.
func (c *compiler) noteExtensions() {
	for _, x := range extensions {
		if at := first(c.root, strings.Split(x.key, ".")); at != nil {
			c.noteExtension(at.Pos, "$."+x.key, x.what)
		}
	}
}

// first is the first node at a path, but for a bool's default, which the format has.
func first(n *node, path []string) *node {
	if n == nil || len(path) == 0 {
		return n
	}
	if path[0] != "*" {
		if path[0] == "default" && textOf(n, "type") == "bool" {
			return nil
		}
		return first(n.Get(path[0]), path[1:])
	}
	members := membersOf(n)
	for i := range members {
		if found := first(&members[i].Value, path[1:]); found != nil {
			return found
		}
	}
	return nil
}
