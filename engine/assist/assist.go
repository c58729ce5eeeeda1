package assist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// mark represents the cursor in a text that is read for completion.
const mark = "\x01"

// Item is something that may be typed.
type Item struct {
	Label    string
	Insert   string // replaces the text from From to To
	From, To int
	Detail   string // its form: "a string", "one of a, b"
	Doc      string
	Key      bool // a key, or a word that is a value
	Need     bool // a key that must be given
}

// place is a value with the path to it.
type place struct {
	node   *node
	parent *node   // the mapping or list that holds it
	member *member // of a mapping
	key    bool    // the key is meant, not its value
	parts  []*jsontree.Node
	outer  []*jsontree.Node // of the parent
}

// path returns the way to the value or key that hit accepts, outermost first. The
// last place has no schemas yet.
func path(n *node, m *member, hit func(*node, *member) (found, key bool), depth int) []place {
	if found, key := hit(n, m); found {
		return []place{{node: n, member: m, key: key}}
	}
	if depth > deepest {
		return nil
	}
	for _, x := range n.items {
		if rest := path(x, nil, hit, depth+1); rest != nil {
			return append(rest, place{node: n, member: m})
		}
	}
	for _, x := range n.members {
		if rest := path(x.value, x, hit, depth+1); rest != nil {
			return append(rest, place{node: n, member: m})
		}
	}
	return nil
}

// at finds the value or key that hit accepts, with what the schema says about it
// and its container. A nil schema says nothing.
func (s *Schema) at(root *node, hit func(*node, *member) (found, key bool)) (p place, ok bool) {
	way := path(root, nil, hit, 0)
	if way == nil || s == nil {
		if way != nil {
			p = way[0]
		}
		return p, way != nil
	}
	list := []*jsontree.Node{&s.root}
	for _, x := range slices.Backward(way) {
		switch {
		case x.node == root:
		case x.member != nil:
			list = child(p.parts, x.member.key)
		default:
			list = items(p.parts)
		}
		x.parent, x.outer, x.parts = p.node, p.parts, s.parts(list, x.node)
		p = x
	}
	return p, true
}

// Complete returns what may be typed at an offset: first what is required,
// otherwise in the order of the declaration.
func (t *Text) Complete(s *Schema, at int) []Item {
	for _, x := range t.parts {
		if at < x.from || at > x.to {
			continue
		}
		marked := t.text[:at] + mark + t.text[at:]
		root := read(marked, x.from, x.to+1)
		p, ok := s.at(root, func(n *node, m *member) (bool, bool) {
			if m != nil && strings.Contains(m.key, mark) {
				return true, true
			}
			return n.kind == scalar && strings.Contains(n.text, mark), false
		})
		if !ok && root.kind == scalar && root.text == mark {
			p, ok = place{node: root, parts: s.parts([]*jsontree.Node{&s.root}, nil)}, true
		}
		if !ok {
			return nil
		}
		line := strings.LastIndexByte(t.text[:at], '\n') + 1
		if p.key {
			return p.keys(s.parts(p.outer, p.parent), p.parent, t.text, line, p.member.start, p.member.end-1, p.member.open)
		}
		list := p.words()
		if !p.node.quoted && (p.parent == nil || !p.parent.flow) {
			list = append(list, p.keys(p.parts, nil, t.text, line, p.node.start, p.node.end-1, true)...)
		}
		return list
	}
	return nil
}

// keys returns the keys that a mapping may still have; open: they need a colon.
func (p *place) keys(parts []*jsontree.Node, in *node, text string, line, from, to int, open bool) []Item {
	json := in != nil && in.flow
	quoted := from > 0 && (text[from-1] == '"' || text[from-1] == '\'')
	indent := strings.Repeat(" ", max(from-line, 0))
	var list []Item
	for _, f := range properties(parts) {
		if in != nil && in.member(f.name) != nil {
			continue
		}
		x := Item{Label: f.name, Insert: f.name, From: from, To: to, Key: true, Need: f.need}
		x.Detail, x.Doc = describe(f.schemas)
		if f.need {
			x.Detail += ", required"
		}
		switch {
		case !open:
		case json && quoted:
			if x.Insert = f.name + `": `; to < len(text) && text[to] == text[from-1] {
				x.To = to + 1
			}
		case json:
			x.Insert = `"` + f.name + `": `
		default:
			x.Insert = f.name + opening(f.schemas, indent)
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b Item) int {
		if a.Need == b.Need {
			return 0
		}
		if a.Need {
			return -1
		}
		return 1
	})
	return list
}

// opening returns what follows a key in block style: a new line if the value has
// parts.
func opening(schemas []*jsontree.Node, indent string) string {
	for _, s := range schemas {
		switch want := types(s); {
		case len(want) == 1 && want[0] == "array":
			return ":\n" + indent + "  - "
		case len(want) == 1 && want[0] == "object", s.Get("$ref") != nil:
			return ":\n" + indent + "  "
		}
	}
	return ": "
}

// words returns the values that a place may have.
func (p *place) words() []Item {
	var list []Item
	json := p.parent != nil && p.parent.flow
	from, to := p.node.start, p.node.end-1
	if p.node.quoted {
		from++
		if to = from + len(p.node.text) - 1; to < from {
			to = from
		}
	}
	_, doc := describe(p.parts)
	for _, v := range values(p.parts) {
		word := jsontree.Compact.Format(&v)
		plain := v.Kind == jsontree.String && (p.node.quoted || !json)
		if plain {
			word = v.Text
		} else if p.node.quoted {
			continue
		}
		if slices.ContainsFunc(list, func(x Item) bool { return x.Insert == word }) {
			continue
		}
		list = append(list, Item{Label: strings.Trim(word, `"`), Insert: word, From: from, To: to, Doc: doc})
	}
	return list
}

// values returns the words and truth values that schemas allow, and defaults.
func values(parts []*jsontree.Node) []jsontree.Node {
	var list []jsontree.Node
	for _, p := range parts {
		if e := p.Get("enum"); e != nil {
			for _, v := range e.Items {
				if v.Kind != jsontree.Array && v.Kind != jsontree.Object {
					list = append(list, v)
				}
			}
		}
		if c := p.Get("const"); c != nil {
			list = append(list, *c)
		}
		if slices.Contains(types(p), "boolean") {
			list = append(list, jsontree.Node{Kind: jsontree.Bool, Bool: true}, jsontree.Node{Kind: jsontree.Bool})
		}
		if d := p.Get("default"); d != nil && (d.Kind == jsontree.Int || d.Kind == jsontree.Float || d.Kind == jsontree.String && d.Text != "") {
			list = append(list, *d)
		}
	}
	return list
}

// describe returns the form of a value, and what it is for.
func describe(parts []*jsontree.Node) (form, doc string) {
	for _, p := range parts {
		if d, ok := p.Get("description").Str(); ok && doc == "" {
			doc = d
		}
		if form != "" {
			continue
		}
		switch want := types(p); {
		case p.Get("enum") != nil:
			var words []string
			for _, v := range p.Get("enum").Items {
				word := jsontree.Compact.Format(&v)
				if word != `""` {
					word = strings.Trim(word, `"`)
				}
				words = append(words, word)
			}
			form = "one of " + strings.Join(words, ", ")
		case len(want) > 0:
			form = strings.Join(want, " or ")
			for _, bound := range [...][2]string{{"minimum", "at least "}, {"exclusiveMinimum", "more than "}, {"maximum", "at most "}} {
				if v := p.Get(bound[0]); v != nil {
					form += ", " + bound[1] + v.Text
				}
			}
		case p.Get("$ref") != nil:
			form = "object"
		case p.Get("anyOf") != nil: // a form without a name is read, and not what one writes
			var forms []string
			for i := range p.Get("anyOf").Items {
				if one, _ := describe([]*jsontree.Node{&p.Get("anyOf").Items[i]}); one != "" && !slices.Contains(forms, one) {
					forms = append(forms, one)
				}
			}
			form = strings.Join(forms, " or ")
		}
	}
	return form, doc
}

// Hover returns the meaning of the key or value at an offset, and its span.
func (t *Text) Hover(s *Schema, at int) (from, to int, text string, ok bool) {
	for _, x := range t.parts {
		if at < x.from || at > x.to {
			continue
		}
		p, ok := s.at(x.root, func(n *node, m *member) (bool, bool) {
			return m != nil && (m.start <= at && at <= m.end || n.kind == scalar && n.start <= at && at <= n.end), false
		})
		if !ok || len(p.parts) == 0 {
			return 0, 0, "", false
		}
		form, doc := describe(p.parts)
		need := slices.ContainsFunc(properties(p.outer), func(f property) bool { return f.name == p.member.key && f.need })
		text = "**" + p.member.key + "**"
		if form != "" {
			text += ": " + form
		}
		if need {
			text += ", required"
		}
		if doc != "" {
			text += "\n\n" + doc
		}
		for _, part := range p.parts {
			if d := part.Get("default"); d != nil {
				text += fmt.Sprintf("\n\nDefault: `%s`", jsontree.Compact.Format(d))
				break
			}
		}
		if from, to = p.member.start, p.member.end; at < from || at > to {
			from, to = p.node.start, p.node.end
		}
		return from, to, text, true
	}
	return 0, 0, "", false
}
