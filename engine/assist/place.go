package assist

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Span returns the text for a diagnostic at an offset: the key or value that begins there,
// without quotes, or else the rest of the line.
func (t *Text) Span(at int) (from, to int) {
	from, to, _ = t.span(at)
	return from, to
}

// Mistaken returns the text for which a message at an offset suggests another word: the key or
// value there, or the word in it that the message quotes, or else the first one similar to
// meant. ok is false if there is none.
func (t *Text) Mistaken(at int, message, meant string) (from, to int, ok bool) {
	from, to, whole := t.span(at)
	quoted := func(w string) bool { return w != meant && strings.Contains(message, strconv.Quote(w)) }
	like := func(w string) bool { return w != meant && diag.Nearest(w, []string{meant}) != "" }
	if text := t.text[from:to]; whole && (quoted(text) || like(text)) {
		return from, to, true
	}
	for _, is := range []func(string) bool{quoted, like} {
		for i := from; i < to; {
			n := strings.IndexFunc(t.text[i:to], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if n < 0 {
				n = to - i
			}
			if is(t.text[i : i+n]) {
				return i, i + n, true
			}
			_, size := utf8.DecodeRuneInString(t.text[i+n:])
			i += n + max(size, 1)
		}
	}
	return from, to, whole
}

// span is Span, and reports whether a key or value begins there.
func (t *Text) span(at int) (from, to int, ok bool) {
	at = min(at, len(t.text))
	for _, x := range t.parts {
		if at < x.from || at > x.to {
			continue
		}
		var s *Schema
		p, ok := s.at(x.root, func(n *node, m *member) (bool, bool) {
			if m != nil && (m.start == at || m.start == at+1 && strings.IndexByte(`"'`, t.text[at]) >= 0) {
				return true, true
			}
			return n.kind == scalar && n.start == at && n.end > at, false
		})
		switch {
		case ok && p.key:
			return p.member.start, p.member.end, true
		case ok && p.node.quoted && p.node.end-p.node.start >= 2:
			return p.node.start + 1, p.node.end - 1, true
		case ok:
			return p.node.start, min(p.node.end, lineEnd(t.text, at)), true
		}
	}
	end := lineEnd(t.text, at)
	return at, min(t.closing(at, end), at+len(strings.TrimRight(t.text[at:end], " \r"))), false
}

// closing returns the end of what a bracket at an offset opens, if it closes before end.
func (t *Text) closing(at, end int) int {
	r, depth := reader{text: t.text}, 0
	for i := at; i < end && (depth > 0 || i == at); i++ {
		switch t.text[i] {
		case '"', '\'':
			i = r.quote(i, end)
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return end
}

// Missing returns the text that adds a missing key to a mapping, and where to insert it. The
// path leads to the key.
func (t *Text) Missing(s *Schema, near int, path []string) (at int, insert string, ok bool) {
	if len(path) == 0 || s == nil {
		return 0, "", false
	}
	for _, x := range t.parts {
		if near < x.from || near > x.to {
			continue
		}
		n, parts, key := x.root, s.parts([]*jsontree.Node{&s.root}, x.root), path[len(path)-1]
		for _, step := range path[:len(path)-1] {
			if i, err := strconv.Atoi(step); err == nil && n.kind == sequence && i >= 0 && i < len(n.items) {
				n, parts = n.items[i], s.parts(items(parts), n.items[i])
			} else if m := n.member(step); m != nil {
				n, parts = m.value, s.parts(child(parts, step), m.value)
			} else {
				return 0, "", false
			}
		}
		if n.kind != mapping || n.member(key) != nil {
			return 0, "", false
		}
		value := sample(s.parts(child(parts, key), nil))
		if len(n.members) == 0 {
			return n.start + 1, `"` + key + `": ` + value, n.flow
		}
		first := n.members[0]
		if n.flow {
			at = first.start
			quote := ""
			if t.text[at-1] == '"' {
				at, quote = at-1, `"`
			}
			line := strings.LastIndexByte(t.text[:at], '\n') + 1
			space := " "
			if before := t.text[line:at]; strings.TrimSpace(before) == "" {
				space = "\n" + before
			}
			return at, quote + key + quote + ": " + value + "," + space, true
		}
		line := strings.LastIndexByte(t.text[:first.start], '\n') + 1
		return first.start, key + ": " + value + "\n" + strings.Repeat(" ", first.start-line), true
	}
	return 0, "", false
}

// sample returns an initial value, as JSON.
func sample(parts []*jsontree.Node) string {
	for _, p := range parts {
		if d := p.Get("default"); d != nil {
			return jsontree.Compact.Format(d)
		}
		if e := p.Get("enum"); e != nil && len(e.Items) > 0 {
			return jsontree.Compact.Format(&e.Items[0])
		}
	}
	for _, p := range parts {
		for _, w := range types(p) {
			switch w {
			case "integer", "number":
				if low := p.Get("minimum"); low != nil {
					return low.Text
				}
				return "1"
			case "boolean":
				return "false"
			case "array":
				return "[]"
			case "object":
				return "{}"
			}
		}
	}
	return `""`
}

// Names are the places where a document names something: values of keys called id or name, and
// keys, of which those at the root belong to the format. The first of equal names counts.
type Names struct{ values, keys map[string]int }

// Find returns the offset of the first word that names something. It prefers values
// to keys: many keys are common words.
func (n Names) Find(words ...string) (at int, ok bool) {
	for _, names := range []map[string]int{n.values, n.keys} {
		for _, w := range words {
			if at, ok = names[w]; ok {
				return at, true
			}
		}
	}
	return 0, false
}

// Names returns the places where the document names something.
func (t *Text) Names() Names {
	names := Names{make(map[string]int), make(map[string]int)}
	add := func(to map[string]int, name string, at int) {
		if _, ok := to[name]; !ok && name != "" {
			to[name] = at
		}
	}
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if depth > deepest {
			return
		}
		for _, m := range n.members {
			if (m.key == "id" || m.key == "name") && m.value.kind == scalar {
				add(names.values, m.value.text, m.value.start)
			}
			if depth > 0 {
				add(names.keys, m.key, m.start)
			}
			walk(m.value, depth+1)
		}
		for _, x := range n.items {
			walk(x, depth+1)
		}
	}
	for _, x := range t.parts {
		walk(x.root, 0)
	}
	return names
}
