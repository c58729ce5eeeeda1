package jsontree

import (
	"net/url"
	"strconv"
	"strings"
)

// Steps returns the keys and indexes in a JSON pointer, which may be the fragment of a
// reference: "/a/b~1c", "#/a/b%20c".
func Steps(pointer string) []string {
	rest, reference := strings.CutPrefix(pointer, "#")
	if rest = strings.TrimPrefix(rest, "/"); rest == "" {
		return nil
	}
	list := strings.Split(rest, "/")
	for i, step := range list {
		if plain, err := url.PathUnescape(step); err == nil && reference {
			step = plain
		}
		list[i] = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	}
	return list
}

// Along returns the value that steps lead to, or nil.
func (n *Node) Along(steps []string) *Node {
	for _, step := range steps {
		if n != nil && n.Kind == Array {
			n = Item(n.Items, step)
		} else {
			n = n.Get(step)
		}
	}
	return n
}

// Item returns the item of a list for a step of a pointer, or nil. An index has no sign
// and no leading zeros (RFC 6901, section 4).
func Item[N any](list []N, step string) *N {
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(list) && step == strconv.Itoa(i) {
		return &list[i]
	}
	return nil
}
