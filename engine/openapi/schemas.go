package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/sut"
)

// schemas says what the arguments and the answers of an operation look like. What
// schemas refer to is given along.
func (d *document) schemas(o *sut.Operation, params []*doctree.Node, n *doctree.Node) {
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
		if in := value(p, "in"); in == "path" || in == "query" || in == "header" {
			add(value(p, "name"), d.example(p), p.Get("required").Truthy() || in == "path")
		}
	}
	whole := jsontree.Node{Kind: jsontree.Object, Members: []jsontree.Member{{Key: "type", Value: jsontree.Node{Kind: jsontree.String, Text: "object"}}}}
	if body, form, _ := d.sent(n.Get("requestBody")); body != nil {
		inner := d.follow(body)
		if list := inner.Get("properties"); list != nil && list.Kind == doctree.Map {
			for i := range list.Members() {
				name := list.Members()[i].Key.Text
				add(name, &list.Members()[i].Value, requires(inner, name))
			}
			if extra := inner.Get("additionalProperties"); extra != nil && extra.Kind == doctree.Bool && !extra.Bool && len(params) == 0 {
				whole.Members = append(whole.Members, jsontree.Member{Key: "additionalProperties", Value: extra.JSON()})
			}
		} else if !form {
			add("body", body, d.follow(n.Get("requestBody")).Get("required").Truthy())
		}
	}
	whole.Members = append(whole.Members, jsontree.Member{Key: "properties", Value: properties})
	if len(required.Items) > 0 {
		whole.Members = append(whole.Members, jsontree.Member{Key: "required", Value: required})
	}
	o.Schema = d.closed(whole)
	answers := n.Get("responses")
	if answers == nil || answers.Kind != doctree.Map || len(answers.Members()) == 0 {
		return
	}
	o.Answers = make(map[string]json.RawMessage, len(answers.Members()))
	for i := range answers.Members() {
		key := answers.Members()[i].Key.Text
		o.Answers[key] = json.RawMessage("null")
		if schema, _ := d.held(&answers.Members()[i].Value, isJSON); schema != nil {
			o.Answers[key] = d.closed(schema.JSON())
		}
	}
}

// example is the schema of a parameter with the parameter's own example.
func (d *document) example(p *doctree.Node) *doctree.Node {
	schema := p.Get("schema")
	at := p.Member("example")
	if schema == nil || at == nil || schema.Get("$ref") != nil || schema.Kind != doctree.Map {
		return schema
	}
	with := *schema
	with = with.WithMembers(append(slices.Clone(schema.Members()), *at))
	return &with
}

// held is the schema of what a request or an answer holds in a type, nil if it has
// none; ok is false if it holds no such thing.
func (d *document) held(n *doctree.Node, is func(kind string) bool) (schema *doctree.Node, ok bool) {
	if n == nil {
		return nil, false
	}
	content := d.follow(n).Get("content")
	if content == nil {
		return nil, false
	}
	for i := range content.Members() {
		kind, _, _ := strings.Cut(content.Members()[i].Key.Text, ";")
		if is(strings.TrimSpace(kind)) {
			return content.Members()[i].Value.Get("schema"), true
		}
	}
	return nil, false
}

// closed is a schema that holds what it refers to.
func (d *document) closed(schema jsontree.Node) json.RawMessage {
	text := jsontree.Style{Kept: true}.Format(&schema)
	if components := d.root.Get("components"); components != nil && strings.Contains(text, "#/components/") && schema.Kind == jsontree.Object {
		schema.Members = append(slices.Clone(schema.Members), jsontree.Member{Key: "components", Value: components.JSON()})
		text = jsontree.Style{Kept: true}.Format(&schema)
	}
	return json.RawMessage(text)
}
