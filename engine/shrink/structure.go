package shrink

import "github.com/thresh-dev/thresh/engine/seq"

// structure works on groups from the outside in: it deletes elements, replaces a
// group by its content, and removes the brackets.
func (s *search) structure() {
	if !maybeText(s.best) {
		return
	}
	t := parse(s.best)
	if len(t.groups) == 0 {
		return
	}
	s.reduce(t.spans(t.items(0, len(t.tokens))), len(t.tokens), 1)
	// A change inside a group does not affect groups that begin before it, so
	// the number of a group stays valid while the text changes.
	t = parse(s.best)
	for g := 0; g < len(t.groups) && !s.stopped(); g++ {
		before := s.version
		s.group(t, g)
		if s.version != before {
			t = parse(s.best)
		}
	}
}

// spans are the ranges of nodes.
func (t *tree) spans(nodes []node) []span {
	return seq.Map(nodes, t.text)
}

// group makes one group small.
func (s *search) group(t *tree, g int) {
	before := s.version
	refresh := func() {
		if s.version != before {
			t, before = parse(s.best), s.version
		}
	}
	first := t.groups[g]
	items := t.spans(t.items(first+1, t.match[first]))
	s.reduce(items, len(items), 1)
	refresh()

	for jump := 1; g < len(t.groups) && !s.stopped(); {
		switch outer := t.text(node{t.groups[g], t.match[t.groups[g]]}); {
		case s.hoist(outer, t.inside(t.groups[g], jump)):
			jump *= 2
		case jump > 1:
			jump = 1
		default:
			s.unwrap(t, t.groups[g])
			return
		}
		refresh()
	}
}

// hoist tries an inner range in the place of an outer one.
func (s *search) hoist(outer, inner span) bool {
	if inner.hi == inner.lo {
		return false
	}
	return s.edit(edit{outer.lo, inner.lo, nil}, edit{inner.hi, outer.hi, nil})
}

// inside goes down from the group that token first opens, each time to the
// longest group in it, and returns the range of the last one; an empty range if
// there is no group in it.
func (t *tree) inside(first, depth int) span {
	found := span{}
	for ; depth > 0; depth-- {
		longest := node{}
		for _, n := range t.nodes(first+1, t.match[first]) {
			if t.match[n.first] > 0 && n.last-n.first > longest.last-longest.first {
				longest = n
			}
		}
		if longest.last == 0 {
			break
		}
		first, found = longest.first, t.text(longest)
	}
	return found
}

// unwrap tries a group's elements, one or all, without its brackets, and a
// trivial value in its place. first is the group's opener.
func (s *search) unwrap(t *tree, first int) {
	const few = 4
	last := t.match[first]
	outer := t.text(node{first, last})
	open, shut := t.tokens[first].span, t.tokens[last].span
	if open.hi == shut.lo { // an empty group: does the group itself matter?
		for _, v := range []string{"0", `""`, "[]", "{}"} {
			if s.edit(edit{outer.lo, outer.hi, []byte(v)}) {
				return
			}
		}
		return
	}
	if s.edit(edit{open.lo, open.hi, nil}, edit{shut.lo, shut.hi, nil}) {
		return
	}
	items := t.items(first+1, last)
	if len(items) == 1 && t.tokens[first].name == "{" {
		// The only member of an object may also work as the element of an array.
		_, value := t.ends(items[0])
		at := t.text(value)
		if s.edit(edit{outer.lo, at.lo, []byte("[")}, edit{at.hi, outer.hi, []byte("]")}) {
			return
		}
	}
	for _, n := range items[:min(few, len(items))] {
		key, value := t.ends(n)
		if s.hoist(outer, t.text(n)) || s.hoist(outer, t.text(value)) || s.hoist(outer, t.text(key)) {
			return
		}
	}
}

// ends returns the first and the last node of an item; for a member, its key and
// its value.
func (t *tree) ends(item node) (first, last node) {
	nodes := t.nodes(item.first, item.last+1)
	return nodes[0], nodes[len(nodes)-1]
}

// brackets tries plainer kinds of brackets.
func (s *search) brackets() {
	if !maybeText(s.best) {
		return
	}
	t := parse(s.best) // stays valid: only the brackets change
	for _, first := range t.groups {
		open, shut := t.tokens[first], t.tokens[t.match[first]]
		for _, pair := range []string{"()", "[]"} {
			if len(open.name) == 1 && rank[pair[0]] < rank[open.name[0]] &&
				s.edit(edit{open.lo, open.hi, []byte(pair[:1])}, edit{shut.lo, shut.hi, []byte(pair[1:])}) {
				break
			}
		}
	}
}
