package assist

import "strings"

type kind uint8

const (
	nothing kind = iota
	scalar
	mapping
	sequence
)

// node is a value, as far as it is written.
type node struct {
	kind       kind
	start, end int
	quoted     bool
	flow       bool
	text       string // of a scalar, without its quotes
	items      []*node
	members    []*member
}

// member is a key with its value.
type member struct {
	key        string
	start, end int  // of the key, without its quotes
	open       bool // no colon follows yet
	value      *node
}

func (n *node) member(key string) *member {
	for _, m := range n.members {
		if m.key == key {
			return m
		}
	}
	return nil
}

// last returns where the next deeper value belongs.
func (n *node) last() *node {
	switch {
	case n.kind == sequence && len(n.items) > 0:
		return n.items[len(n.items)-1]
	case n.kind == mapping && len(n.members) > 0:
		return n.members[len(n.members)-1].value
	}
	return nil
}

// deepest is the nesting depth from which the rest is skipped.
const deepest = 500

type frame struct {
	col  int
	node *node
}

type reader struct {
	text  string
	end   int
	stack []frame
}

// read reads the text between two positions, in braces or in lines.
func read(text string, from, to int) *node {
	root := &node{start: from, end: from}
	r := &reader{text: text[:to], end: to}
	if at := r.blank(from, to); at < to && (text[at] == '{' || text[at] == '[') {
		r.value(root, at, to, 0)
		return root
	}
	r.stack = []frame{{-1, &node{kind: sequence, items: []*node{root}}}}
	for at := from; at < to; {
		at = r.line(at)
	}
	return root
}

// line reads a line and the continuation of its value, and returns where the
// next line begins.
func (r *reader) line(start int) int {
	end := lineEnd(r.text, start)
	at := r.spaces(start, end)
	if at == end || r.text[at] == '#' || strings.HasPrefix(r.text[start:end], "---") || len(r.stack) > deepest {
		return end + 1
	}
	for {
		col := at - start
		if r.text[at] == '-' && (at+1 == end || r.text[at+1] == ' ') {
			n := r.holder(col, at, sequence)
			if n == nil {
				return end + 1
			}
			next := r.spaces(at+1, end)
			n.items = append(n.items, &node{start: next, end: next})
			if next == end || r.text[next] == '#' {
				return end + 1
			}
			at = next
			continue
		}
		if key, colon, ok := r.key(at, end); ok {
			n := r.holder(col, at, mapping)
			if n == nil {
				return end + 1
			}
			m := &member{key: r.text[key[0]:key[1]], start: key[0], end: key[1]}
			next := r.spaces(colon+1, end)
			m.value = &node{start: next, end: next}
			n.members = append(n.members, m)
			return r.rest(m.value, next, end, col)
		}
		return r.loose(col, at, end)
	}
}

// loose reads a line that is neither an item nor a key: a key that is being
// typed, a value below its key, or the continuation of a value.
func (r *reader) loose(col, at, end int) int {
	r.pop(col)
	top := r.stack[len(r.stack)-1]
	if top.col == col && top.node.kind == mapping {
		word := strings.TrimRight(r.text[at:end], " \r")
		from, to := at, at+len(word)
		if word[0] == '"' || word[0] == '\'' {
			from = at + 1
			to = max(from, at+len(strings.TrimRight(word, word[:1])))
		}
		top.node.members = append(top.node.members, &member{key: r.text[from:to], start: from, end: to, open: true, value: &node{start: to, end: to}})
		return end + 1
	}
	slot := top.node.last()
	if slot == nil || slot.kind != nothing {
		return end + 1
	}
	return r.rest(slot, at, end, top.col)
}

// pop leaves everything that is indented more than a column.
func (r *reader) pop(col int) {
	for r.stack[len(r.stack)-1].col > col {
		r.stack = r.stack[:len(r.stack)-1]
	}
}

// holder returns the mapping or sequence whose keys or dashes are in a column;
// nil if there can be none.
func (r *reader) holder(col, at int, k kind) *node {
	r.pop(col)
	top := r.stack[len(r.stack)-1]
	if top.col == col && k == mapping && top.node.kind == sequence { // the sequence belonged to a key in this column
		r.stack = r.stack[:len(r.stack)-1]
		top = r.stack[len(r.stack)-1]
	}
	if top.col == col && top.node.kind == k {
		return top.node
	}
	slot := top.node.last()
	if slot == nil || slot.kind != nothing && (slot.kind != k || slot.flow) {
		return nil
	}
	if slot.kind == nothing {
		slot.kind, slot.start = k, at
	}
	slot.end = at
	r.stack = append(r.stack, frame{col, slot})
	return slot
}

// key finds a key with its colon at the beginning of a text.
func (r *reader) key(at, end int) (key [2]int, colon int, ok bool) {
	if q := r.text[at]; q == '"' || q == '\'' {
		close := r.quote(at, end)
		if close >= end {
			return key, 0, false
		}
		colon = r.spaces(close+1, end)
		return [2]int{at + 1, close}, colon, colon < end && r.text[colon] == ':'
	}
	if strings.IndexByte("[]{}|>&*!%@`", r.text[at]) >= 0 {
		return key, 0, false
	}
	for i := at; i < end; i++ {
		switch c := r.text[i]; {
		case c == '#' && i > at && r.text[i-1] == ' ':
			return key, 0, false
		case c == ':' && (i+1 == end || r.text[i+1] == ' ' || r.text[i+1] == '\r'):
			return [2]int{at, at + len(strings.TrimRight(r.text[at:i], " "))}, i, true
		}
	}
	return key, 0, false
}

// rest reads a value that begins on a line, below a key or dash in a column, and
// returns where the next line begins.
func (r *reader) rest(n *node, at, end, col int) int {
	for at < end && (r.text[at] == '&' || r.text[at] == '!') { // an anchor or a tag
		for at < end && r.text[at] != ' ' {
			at++
		}
		at = r.spaces(at, end)
	}
	n.start, n.end = at, at
	if at >= end || r.text[at] == '#' || r.text[at] == '\r' {
		return end + 1
	}
	switch r.text[at] {
	case '|', '>':
		n.kind, n.end = scalar, end
		return r.deeper(end+1, col)
	case '[', '{', '"', '\'':
		limit := max(end, min(r.deeper(end+1, col), r.end))
		return max(end, lineEnd(r.text, min(r.value(n, at, limit, 0), r.end))) + 1
	}
	text := r.text[at:end]
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimRight(text, " \r")
	n.kind, n.text, n.end = scalar, text, at+len(text)
	return end + 1
}

// deeper returns the end of the lines that are indented more than a column.
func (r *reader) deeper(at, col int) int {
	for at < r.end {
		end := lineEnd(r.text, at)
		first := r.spaces(at, end)
		if first < end && r.text[first] != '\r' && first-at <= col && (first-at < col || r.text[first] != ']' && r.text[first] != '}') {
			return at
		}
		at = end + 1
	}
	return at
}

func (r *reader) spaces(at, end int) int {
	for at < end && r.text[at] == ' ' {
		at++
	}
	return at
}

// blank skips what separates values in braces.
func (r *reader) blank(at, end int) int {
	for at < end {
		switch c := r.text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '#':
			at = lineEnd(r.text, at)
		default:
			return min(at, end)
		}
	}
	return min(at, end)
}

// quote returns where a quoted text closes, or the end of the line if it does
// not.
func (r *reader) quote(at, end int) int {
	q := r.text[at]
	for i := at + 1; i < end; i++ {
		switch c := r.text[i]; {
		case c == '\\' && q == '"':
			i++
		case c == q && q == '\'' && i+1 < end && r.text[i+1] == q:
			i++
		case c == q:
			return i
		}
	}
	return min(end, lineEnd(r.text, at))
}

// value reads a value in braces, brackets or quotes, or a word among such, and
// returns where it ends.
func (r *reader) value(n *node, at, end, depth int) int {
	n.start, n.end = at, at
	if at >= end || depth > deepest {
		return end
	}
	switch r.text[at] {
	case '{':
		n.kind, n.flow = mapping, true
		at = r.object(n, at+1, end, depth)
	case '[':
		n.kind, n.flow = sequence, true
		for at = r.blank(at+1, end); at < end && r.text[at] != ']'; at = r.blank(at, end) {
			switch r.text[at] {
			case ',':
				at++
				continue
			case '}':
				n.end = at
				return at
			}
			x := &node{}
			n.items = append(n.items, x)
			at = r.value(x, at, end, depth+1)
		}
		at = min(at+1, end)
	case '"', '\'':
		close := r.quote(at, end)
		n.kind, n.quoted, n.text = scalar, true, r.text[at+1:max(at+1, close)]
		at = min(close+1, end)
	default:
		i := at
		for i < end && strings.IndexByte(",[]{}\n", r.text[i]) < 0 {
			i++
		}
		text := strings.TrimRight(r.text[at:i], " \t\r")
		n.kind, n.text = scalar, text
		if at += len(text); text == "" {
			at++
		}
	}
	n.end = at
	return at
}

// object reads the members of a mapping in braces.
func (r *reader) object(n *node, at, end, depth int) int {
	for at = r.blank(at, end); at < end; at = r.blank(at, end) {
		switch r.text[at] {
		case '}':
			return at + 1
		case ']':
			return at
		case ',', ':':
			at++
			continue
		case '{', '[': // a value without a key
			at = r.value(&node{}, at, end, depth+1)
			continue
		}
		m := &member{value: &node{}}
		if q := r.text[at]; q == '"' || q == '\'' {
			close := r.quote(at, end)
			m.start, m.end = at+1, max(at+1, close)
			at = min(close+1, end)
		} else {
			i := at
			for i < end && strings.IndexByte(",:[]{}\n", r.text[i]) < 0 {
				i++
			}
			m.start, m.end = at, at+len(strings.TrimRight(r.text[at:i], " \t\r"))
			at = i
		}
		m.key = r.text[m.start:m.end]
		n.members = append(n.members, m)
		next := r.blank(at, end)
		if m.open = next >= end || r.text[next] != ':'; m.open {
			m.value.start, m.value.end = m.end, m.end
			continue
		}
		at = next + 1
		m.value.start, m.value.end = at, at
		next = r.blank(at, end)
		if next < end && !strings.ContainsRune(",}]", rune(r.text[next])) && (next < lineEnd(r.text, at) || !r.begins(next, end)) {
			at = r.value(m.value, next, end, depth+1)
		}
	}
	return end
}

// begins reports whether a member begins here: a quoted text with a colon.
func (r *reader) begins(at, end int) bool {
	if r.text[at] != '"' {
		return false
	}
	next := r.blank(r.quote(at, end)+1, end)
	return next < end && r.text[next] == ':'
}
