package http

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// filler puts arguments into the placeholders of a request.
type filler struct {
	args    []sut.Named
	op      *sut.Operation
	missing []string // placeholders without a value
}

// place matches a placeholder. It stands for an argument if its name is plain or an argument's of
// the operation.
var (
	place     = regexp.MustCompile(`\{([^{}]+)\}`)
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// named returns the argument that a placeholder, with its braces, stands for; "" for none.
func (f *filler) named(p string) string {
	name := p[1 : len(p)-1]
	if plainName.MatchString(name) || f.op != nil && slices.ContainsFunc(f.op.Arguments, func(a sut.Argument) bool { return a.Name == name }) {
		return name
	}
	return ""
}

// wholeArgument returns the argument for a text that consists of one placeholder, if it has a
// value; nil otherwise.
func (f *filler) wholeArgument(template string) *sut.Argument {
	m := place.FindString(template)
	if m == "" || m != template || f.value(f.named(m)) == nil {
		return nil
	}
	a := sut.Argument{Name: f.named(m)}
	if f.op != nil {
		if i := slices.IndexFunc(f.op.Arguments, func(x sut.Argument) bool { return x.Name == a.Name }); i >= 0 {
			return &f.op.Arguments[i]
		}
	}
	return &a
}

func (f *filler) value(name string) json.RawMessage {
	for _, a := range f.args {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// text fills the placeholders of a text; escape is applied to each value.
func (f *filler) text(template string, escape func(string) string) string {
	if !strings.Contains(template, "{") {
		return template
	}
	return place.ReplaceAllStringFunc(template, func(p string) string {
		name := f.named(p)
		if name == "" {
			return p
		}
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

// path fills the placeholders of a path, which may have a query. Values of a list are joined by
// commas unless the argument's style differs.
func (f *filler) path(template string) string {
	if !strings.Contains(template, "{") {
		return template
	}
	fill := func(template string, escape func(string) string) string {
		return place.ReplaceAllStringFunc(template, func(p string) string {
			if a := f.wholeArgument(p); a != nil {
				return joined(a.Name, f.value(a.Name), a.Style, escape)
			}
			return f.text(p, escape)
		})
	}
	path, query, has := strings.Cut(template, "?")
	if path = fill(path, url.PathEscape); !has {
		return path
	}
	return path + "?" + fill(query, func(s string) string { // & and + have another meaning here
		return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	})
}

// query fills the placeholders of a query. A parameter without a value is not sent.
func (f *filler) query(list [][2]string) url.Values {
	values := url.Values{}
	for _, q := range list {
		f.missing = nil
		if a := f.wholeArgument(q[1]); a != nil {
			addQuery(values, q[0], f.value(a.Name), a.Style)
		} else if v := f.text(q[1], nil); len(f.missing) == 0 {
			values.Add(q[0], v)
		}
	}
	return values
}

// addQuery adds a value to a query in a style.
func addQuery(values url.Values, name string, v json.RawMessage, style string) {
	between := map[string]string{sut.StyleCommas: ",", sut.StyleSpaces: " ", sut.StylePipes: "|"}[style]
	var list []json.RawMessage
	switch {
	case style == sut.StyleJSON:
		values.Add(name, string(v))
	case v[0] == '[' && json.Unmarshal(v, &list) == nil && between == "":
		for _, x := range list {
			values.Add(name, plainText(x))
		}
	case v[0] == '[' && list != nil:
		values.Add(name, join(list, between))
	case v[0] == '{' && between == "":
		fields, _ := members(v)
		for _, m := range fields {
			if style == sut.StyleDeep {
				m.Name = name + "[" + m.Name + "]"
			}
			values.Add(m.Name, plainText(m.Value))
		}
	case v[0] == '{':
		fields, _ := members(v)
		for _, m := range fields {
			list = append(list, system.Text(m.Name), m.Value)
		}
		values.Add(name, join(list, between))
	default:
		values.Add(name, plainText(v))
	}
}

func join(list []json.RawMessage, between string) string {
	return strings.Join(seq.Map(list, plainText), between)
}

// joined returns a value as one text for a path, a header or a cookie, as in RFC 6570.
func joined(name string, v json.RawMessage, style string, escape func(string) string) string {
	if style == sut.StyleJSON {
		return escape(string(v))
	}
	style, exploded := strings.CutSuffix(style, sut.Exploded)
	before := map[string]string{sut.StyleLabel: ".", sut.StyleMatrix: ";"}[style]
	matrix := ""
	if style == sut.StyleMatrix {
		matrix = escape(name) + "="
	}
	between := ","
	if exploded && before != "" {
		between = before
	}
	var list []json.RawMessage
	var texts []string
	var fields []sut.Named
	isObject := false
	if v[0] == '{' {
		fields, isObject = members(v)
	}
	switch {
	case v[0] == '[' && json.Unmarshal(v, &list) == nil:
		for _, x := range list {
			texts = append(texts, escape(plainText(x)))
		}
		if exploded {
			between += matrix
		}
	case isObject && exploded:
		for _, m := range fields {
			texts = append(texts, escape(m.Name)+"="+escape(plainText(m.Value)))
		}
		matrix = ""
	case isObject:
		for _, m := range fields {
			texts = append(texts, escape(m.Name), escape(plainText(m.Value)))
		}
	default:
		texts = []string{escape(plainText(v))}
	}
	return before + matrix + strings.Join(texts, between)
}

// plainText returns a value as text: a string without quotes, anything else as JSON.
func plainText(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// body fills the placeholders of a JSON template. A string that consists of one placeholder becomes
// the value itself; a member whose placeholder has no value is not sent.
func (f *filler) body(template *jsontree.Node) ([]byte, error) {
	if template == nil {
		return nil, nil
	}
	var b bytes.Buffer
	f.node(&b, template)
	if !json.Valid(b.Bytes()) {
		return nil, fmt.Errorf("a value is not JSON")
	}
	return b.Bytes(), nil
}

// missingValue reports whether a node is a placeholder without a value.
func (f *filler) missingValue(n *jsontree.Node) bool {
	m := place.FindString(n.Text)
	return n.Kind == jsontree.String && m != "" && m == n.Text && f.named(m) != "" && f.value(f.named(m)) == nil
}

func (f *filler) node(b *bytes.Buffer, n *jsontree.Node) {
	switch n.Kind {
	case jsontree.Object:
		b.WriteByte('{')
		first := true
		for i := range n.Members {
			m := &n.Members[i]
			if f.missingValue(&m.Value) {
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
		if m := place.FindString(n.Text); m != "" && m == n.Text && f.named(m) != "" {
			if v := f.value(f.named(m)); v != nil {
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
