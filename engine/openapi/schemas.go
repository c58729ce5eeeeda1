package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/sut"
)

// schemas describes the arguments of an operation, including the schemas that they refer
// to.
func (d *document) schemas(o *sut.Operation, params []*doctree.Node, s *request) {
	properties := jsontree.Node{Kind: jsontree.Object}
	required := jsontree.Node{Kind: jsontree.Array}
	add := func(name string, schema *doctree.Node, must bool) {
		v := jsontree.Node{Kind: jsontree.Object}
		if schema != nil {
			v = schema.JSON()
		}
		properties.Members = append(properties.Members, jsontree.Member{Key: name, Value: v})
		if must {
			required.Items = append(required.Items, jsontree.Node{Kind: jsontree.String, Text: name})
		}
	}
	for _, p := range params {
		if in := value(p, "in"); in == "path" || in == "query" || in == "cookie" || in == "header" && !ruled(value(p, "name")) {
			add(value(p, "name"), d.example(p), p.Get("required").Truthy() || in == "path")
		}
	}
	whole := jsontree.Node{Kind: jsontree.Object, Members: []jsontree.Member{{Key: "type", Value: jsontree.Node{Kind: jsontree.String, Text: "object"}}}}
	switch {
	case s == nil:
	case s.properties == nil:
		add("body", d.text(s), s.required)
	default:
		for _, m := range s.properties {
			add(m.name, m.schema, m.required)
		}
		if extra := d.follow(s.schema).Get("additionalProperties"); extra != nil && extra.Kind == doctree.Bool && !extra.Bool && len(params) == 0 {
			whole.Members = append(whole.Members, jsontree.Member{Key: "additionalProperties", Value: extra.JSON()})
		}
	}
	whole.Members = append(whole.Members, jsontree.Member{Key: "properties", Value: properties})
	if len(required.Items) > 0 {
		whole.Members = append(whole.Members, jsontree.Member{Key: "required", Value: required})
	}
	o.Schema = d.closed(whole, sending)
}

// text returns the schema of a body that is one value. Of a type other than JSON, it is
// only known to be a text.
func (d *document) text(s *request) *doctree.Node {
	if isJSON(s.kind) || s.schema != nil && d.kind(s.schema) == "string" {
		return s.schema
	}
	n := doctree.Node{Kind: doctree.Map}.WithMembers([]doctree.Member{{
		Key: doctree.Node{Kind: doctree.String, Text: "type"}, Value: doctree.Node{Kind: doctree.String, Text: "string"}}})
	return &n
}

// answers describes the answers of an operation.
func (d *document) answers(o *sut.Operation, n *doctree.Node) {
	if n == nil || n.Kind != doctree.Map || len(n.Members()) == 0 {
		return
	}
	o.Answers = make(map[string]json.RawMessage, len(n.Members()))
	for i := range n.Members() {
		key, answer := n.Members()[i].Key.Text, d.follow(&n.Members()[i].Value)
		o.Answers[key] = json.RawMessage("null")
		if outside := n.Members()[i].Value; answer.Kind != doctree.Map && outside.Get("$ref") != nil { // no schema can be made of it, which is reported
			o.Answers[key] = d.closed(outside.JSON(), receiving)
			continue
		}
		if schema := held(answer, isJSON); schema != nil {
			o.Answers[key] = d.closed(schema.JSON(), receiving)
		}
		if links := answer.Get("links"); links != nil {
			for j := range links.Members() {
				d.link(o, d.follow(&links.Members()[j].Value))
			}
		}
		f := sut.Frame{}
		if content := answer.Get("content"); content != nil {
			for j := range content.Members() {
				kind, _, _ := strings.Cut(content.Members()[j].Key.Text, ";")
				f.Types = append(f.Types, strings.ToLower(strings.TrimSpace(kind)))
			}
		}
		if headers := answer.Get("headers"); headers != nil {
			for j := range headers.Members() {
				m := &headers.Members()[j]
				h := d.follow(&m.Value)
				if strings.EqualFold(m.Key.Text, "Content-Type") {
					continue
				}
				one := sut.Header{Name: m.Key.Text, Required: h.Get("required").Truthy()}
				if schema := h.Get("schema"); schema != nil {
					one.Type, one.Schema = d.kind(schema), d.closed(schema.JSON(), receiving)
				}
				f.Headers = append(f.Headers, one)
			}
		}
		if f.Types != nil || f.Headers != nil {
			if o.Frames == nil {
				o.Frames = make(map[string]sut.Frame)
			}
			o.Frames[key] = f
		}
	}
}

// example returns the schema of a parameter with the parameter's own example.
func (d *document) example(p *doctree.Node) *doctree.Node {
	schema := parameterSchema(p)
	at := p.Member("example")
	if schema == nil || at == nil || schema.Get("$ref") != nil || schema.Kind != doctree.Map {
		return schema
	}
	with := *schema
	with = with.WithMembers(append(slices.Clone(schema.Members()), *at))
	return &with
}

// held returns the schema of an answer's content in a type; nil if there is none.
func held(n *doctree.Node, is func(kind string) bool) *doctree.Node {
	content := n.Get("content")
	if content == nil {
		return nil
	}
	for i := range content.Members() {
		kind, _, _ := strings.Cut(content.Members()[i].Key.Text, ";")
		if is(strings.ToLower(strings.TrimSpace(kind))) {
			return content.Members()[i].Value.Get("schema")
		}
	}
	return nil
}

// link adds a link of an answer. A value that is not an expression is left to the schema.
func (d *document) link(o *sut.Operation, n *doctree.Node) {
	l := sut.Link{To: value(n, "operationId")}
	if ref := value(n, "operationRef"); strings.HasPrefix(ref, "#/") && l.To == "" {
		if steps := jsontree.Steps(ref); len(steps) == 3 && steps[0] == "paths" {
			l.To = steps[2] + " " + steps[1]
			if to := d.root.Get("paths").Get(steps[1]).Get(steps[2]); value(to, "operationId") != "" {
				l.To = value(to, "operationId")
			}
		}
	}
	if list := n.Get("parameters"); list != nil {
		for i := range list.Members() {
			m := &list.Members()[i]
			name := m.Key.Text
			for _, in := range []string{"path.", "query.", "header.", "cookie."} {
				name = strings.TrimPrefix(name, in)
			}
			if strings.HasPrefix(m.Value.Text, "$") {
				l.Values = append(l.Values, [2]string{name, m.Value.Text})
			}
		}
	}
	if from := value(n, "requestBody"); strings.HasPrefix(from, "$") {
		l.Values = append(l.Values, [2]string{"body", from})
	}
	if l.To != "" && len(l.Values) > 0 {
		o.Links = append(o.Links, l)
	}
}
