package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/sut"
)

// filler puts arguments into the places of a request.
type filler struct {
	args    []sut.Named
	missing []string // places without a value
}

var place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

func (f *filler) value(name string) json.RawMessage {
	for _, a := range f.args {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// text fills the places of a text; escape is applied to each value.
func (f *filler) text(template string, escape func(string) string) string {
	return place.ReplaceAllStringFunc(template, func(p string) string {
		name := p[1 : len(p)-1]
		v := f.value(name)
		if v == nil {
			f.missing = append(f.missing, name)
			return p
		}
		text := plainText(v)
		if escape != nil {
			text = escape(text)
		}
		return text
	})
}

// list is the list that a text which is one place stands for.
func (f *filler) list(template string) (list []json.RawMessage, ok bool) {
	m := place.FindString(template)
	if m == "" || m != template {
		return nil, false
	}
	v := f.value(m[1 : len(m)-1])
	return list, len(v) > 0 && v[0] == '[' && json.Unmarshal(v, &list) == nil
}

// plainText is a value as text: a string itself, anything else as JSON.
func plainText(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// body fills the places of a JSON template. A string that is one place becomes
// the value itself; a member whose place has no value is not sent.
func (f *filler) body(template []byte) ([]byte, error) {
	if template == nil {
		return nil, nil
	}
	doc, err := jsontree.Parse(template, jsontree.Python())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	f.node(&b, &doc.Root)
	if !json.Valid(b.Bytes()) {
		return nil, fmt.Errorf("a value is no JSON")
	}
	return b.Bytes(), nil
}

// absent reports whether a node is a place without a value.
func (f *filler) absent(n *jsontree.Node) bool {
	m := place.FindStringSubmatch(n.Text)
	return n.Kind == jsontree.String && m != nil && m[0] == n.Text && f.value(m[1]) == nil
}

func (f *filler) node(b *bytes.Buffer, n *jsontree.Node) {
	switch n.Kind {
	case jsontree.Object:
		b.WriteByte('{')
		first := true
		for i := range n.Members {
			m := &n.Members[i]
			if f.absent(&m.Value) {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			b.Write(quoted(m.Key))
			b.WriteByte(':')
			f.node(b, &m.Value)
		}
		b.WriteByte('}')
	case jsontree.Array:
		b.WriteByte('[')
		for i := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			f.node(b, &n.Items[i])
		}
		b.WriteByte(']')
	case jsontree.String:
		if m := place.FindStringSubmatch(n.Text); m != nil && m[0] == n.Text {
			if v := f.value(m[1]); v != nil {
				b.Write(v)
			} else {
				b.WriteString("null")
			}
			return
		}
		b.Write(quoted(f.text(n.Text, nil)))
	default:
		b.WriteString(jsontree.Style{Kept: true}.Format(n))
	}
}

func quoted(s string) []byte {
	node := jsontree.Node{Kind: jsontree.String, Text: s}
	return []byte(jsontree.Style{Kept: true}.Format(&node))
}
