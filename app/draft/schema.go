package draft

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/seq"
)

// schema is a JSON Schema within the document that resolves its references.
type schema struct{ root, n *doctree.Node }

func readSchema(text []byte) schema {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return schema{}
	}
	s := schema{&doc.Root, &doc.Root}
	return s.follow()
}

// follow resolves a schema: its reference, or the first of several alternatives that is not null.
func (s schema) follow() schema {
	for range 20 {
		if ref := s.get("$ref"); ref.n != nil {
			s.n = s.root.Along(jsontree.Steps(ref.n.Text))
			continue
		}
		next := (*doctree.Node)(nil)
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			list := s.get(key).n
			for i := range nodes(list) {
				if t := list.Items()[i].Get("type"); next == nil && (t == nil || t.Text != "null") {
					next = &list.Items()[i]
				}
			}
		}
		if next == nil || s.get("properties").n != nil {
			return s
		}
		s.n = next
	}
	return schema{}
}

func nodes(n *doctree.Node) []doctree.Node {
	if n == nil {
		return nil
	}
	return n.Items()
}

func (s schema) get(key string) schema {
	if s.n == nil {
		return schema{}
	}
	return schema{s.root, s.n.Get(key)}
}

func (s schema) text(key string) string {
	if n := s.get(key).n; n != nil {
		return n.Text
	}
	return ""
}

// kind is the type of a schema, or the first of several that is not null.
func (s schema) kind() string {
	t := s.get("type").n
	for _, x := range nodes(t) {
		if x.Text != "null" {
			return x.Text
		}
	}
	switch {
	case t != nil && t.Text != "":
		return t.Text
	case s.get("properties").n != nil:
		return "object"
	}
	for _, v := range append(s.words("enum"), s.words("const")...) {
		of := sampled(v)
		return schema{s.root, &of}.kind()
	}
	return ""
}

// words are the non-null values of a key, from a single value or a list.
func (s schema) words(key string) (list []*doctree.Node) {
	n := s.get(key).n
	if n != nil && n.Kind != doctree.Seq && n.Kind != doctree.Null {
		return []*doctree.Node{n}
	}
	for i := range nodes(n) {
		if v := &n.Items()[i]; v.Kind != doctree.Null {
			list = append(list, v)
		}
	}
	return list
}

func (s schema) number(key string) (int64, bool) {
	n := s.get(key).n
	if v, ok := n.Int64(); ok {
		return v, true
	}
	f, ok := n.Float()
	return int64(math.Ceil(f)), ok && math.Abs(f) < 1<<53
}

// leaf is a value that is neither an object nor a list, with its place in an answer.
type leaf struct {
	name, path string
	of         schema
}

// leafValues returns the values of an answer. It looks through wrappers.
func (s schema) leafValues(path string) (list []leaf) {
	s = s.follow()
	props := s.get("properties").n
	if props == nil || props.Kind != doctree.Map {
		return nil
	}
	for i := range props.Members() {
		m := &props.Members()[i]
		of := schema{s.root, &m.Value}.follow()
		at := path + "." + m.Key.Text
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`).MatchString(m.Key.Text) {
			continue
		}
		switch of.kind() {
		case "object":
			if len(props.Members()) == 1 {
				return of.leafValues(at)
			}
		case "null":
		default:
			list = append(list, leaf{m.Key.Text, at, of})
		}
	}
	return list
}

// sampled makes a schema from a sample value.
func sampled(n *doctree.Node) doctree.Node {
	one := func(key string, v doctree.Node) doctree.Node {
		return doctree.MappingOf(doctree.Pos{}, doctree.Member{Key: doctree.Node{Kind: doctree.String, Text: key}, Value: v})
	}
	word := func(s string) doctree.Node { return one("type", doctree.Node{Kind: doctree.String, Text: s}) }
	switch n.Kind {
	case doctree.Int:
		return word("integer")
	case doctree.Float:
		return word("number")
	case doctree.Bool:
		return word("boolean")
	case doctree.String:
		return word("string")
	case doctree.Seq:
		return word("array")
	case doctree.Map:
		props := doctree.Node{Kind: doctree.Map}
		for i := range n.Members() {
			props.AddMember(doctree.Member{Key: n.Members()[i].Key, Value: sampled(&n.Members()[i].Value)})
		}
		return one("properties", props)
	}
	return word("null")
}

// examples are values for inputs that a schema leaves open, and for formats that it requires.
var examples = map[string][]string{
	"":          {"alpha", "beta", "gamma"},
	"date":      {"2024-02-29", "2025-01-01"},
	"date-time": {"2024-02-29T12:00:00Z", "2025-01-01T00:00:00Z"},
	"time":      {"12:00:00Z", "23:59:59Z"},
	"email":     {"ann@example.com", "bob@example.com"},
	"uri":       {"https://example.com/a", "https://example.com/b"},
	"url":       {"https://example.com/a", "https://example.com/b"},
	"uuid":      {"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"},
	"hostname":  {"a.example.com", "b.example.com"},
	"ipv4":      {"192.0.2.1", "192.0.2.2"},
}

var further = strings.Fields("Alpha ALPHA BETA ABC abc XYZ a b 12345 54321 AB-123 ABC-1234 SKU-1 ab12 +491701234567 #aabbcc EUR USD en de ann@example.com 2024-02-29 alpha-beta-gamma-delta-epsilon")

// slot is an argument of this schema, with its values: at most three texts.
func (s schema) slot(name string) (Slot, bool) {
	s = s.follow()
	x := Slot{Name: name, Min: 1, Max: 20}
	switch s.kind() {
	case "integer", "number", "":
		x.Kind = "int"
		low, bounded := s.number("minimum")
		if v, ok := s.number("exclusiveMinimum"); ok && !bounded {
			low, bounded = v+1, true
		}
		high, capped := s.number("maximum")
		if v, ok := s.number("exclusiveMaximum"); ok && !capped {
			high, capped = v-1, true
		}
		switch {
		case bounded && capped:
			x.Min, x.Max = low, high
		case bounded:
			x.Min, x.Max = low, low+19
		case capped:
			x.Min, x.Max = min(1, high), high
		}
		if v, ok := s.number("const"); ok {
			x.Min, x.Max = v, v
		}
		if list := s.get("enum").n; list != nil {
			return x, false
		}
		if of, ok := s.number("multipleOf"); ok && of > 1 {
			return x, false
		}
		return x, x.Min <= x.Max
	case "boolean":
		x.Kind = "bool"
		return x, true
	case "string":
		x.Kind = "text"
	case "array", "object":
		x.Kind, x.Values = "text", s.samples(name)
		return x, len(x.Values) > 0
	default:
		return x, false
	}
	for _, key := range []string{"enum", "const"} {
		if list := s.words(key); len(list) > 0 {
			x.Values = seq.Map(list, func(v *doctree.Node) string { return v.Text })
		}
	}
	if len(x.Values) > 0 {
		return x, true
	}
	least, _ := s.number("minLength")
	most, capped := s.number("maxLength")
	pattern, err := regexp.Compile(s.text("pattern"))
	if err != nil {
		return x, false
	}
	format := s.text("format")
	if format == "" && strings.Contains(strings.ToLower(name), "email") {
		format = "email"
	}
	list := examples[format]
	if format == "" || list == nil {
		list = slices.Concat(examples[""], further)
	}
	if e := cmp.Or(s.text("example"), s.text("default")); e != "" {
		list = append(list, e)
	}
	for _, v := range list {
		if n := int64(len([]rune(v))); n >= least && (!capped || n <= most) && pattern.MatchString(v) && len(x.Values) < 3 {
			x.Values = append(x.Values, v)
		}
	}
	return x, len(x.Values) > 0
}

// samples are lists and objects of this schema, as JSON.
func (s schema) samples(name string) (list []string) {
	if s.kind() == "array" {
		of, ok := s.get("items").slot(name)
		ok = ok && s.get("items").n != nil
		few, _ := s.number("minItems")
		many, capped := s.number("maxItems")
		values := of.samples()
		for n := few; ok && n <= few+2 && n <= int64(len(values)) && (!capped || n <= many); n++ {
			list = append(list, "["+strings.Join(values[:n], ",")+"]")
		}
		return list
	}
	props := s.get("properties").n
	if props == nil || props.Kind != doctree.Map {
		return nil
	}
	for i := range 2 {
		var parts []string
		for k := range props.Members() {
			m := &props.Members()[k]
			of, ok := schema{s.root, &m.Value}.slot(m.Key.Text)
			values := of.samples()
			if !ok || len(values) == 0 {
				if slices.ContainsFunc(nodes(s.get("required").n), func(r doctree.Node) bool { return r.Text == m.Key.Text }) {
					return nil
				}
				continue
			}
			parts = append(parts, textOf(m.Key.Text)+":"+values[i%len(values)])
		}
		if text := "{" + strings.Join(parts, ",") + "}"; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// samples are values of a slot, as JSON.
func (s *Slot) samples() (list []string) {
	switch s.Kind {
	case "bool":
		return []string{"true", "false"}
	case "int":
		for n := s.Min; n <= s.Max && len(list) < 3; n++ {
			list = append(list, strconv.FormatInt(n, 10))
		}
	case "text":
		for _, v := range s.Values {
			if v == "" || v[0] != '[' && v[0] != '{' || !json.Valid([]byte(v)) { // otherwise it is a sample of a list or an object
				v = textOf(v)
			}
			list = append(list, v)
		}
	}
	return list
}

func textOf(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic("draft: a text has no JSON: " + err.Error())
	}
	return string(data)
}

// typed is a slot's type in the language, of an input or of a field: an enum of its words, so that
// no operator changes them.
func (s *Slot) typed() string {
	if s.Kind != "text" {
		return s.kind()
	}
	return "enum(" + strings.Join(seq.Map(s.Values, strconv.Quote), ", ") + ")"
}
