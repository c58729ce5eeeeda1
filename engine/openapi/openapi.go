// Package openapi reads the operations of a service from its description in
// OpenAPI 3.0 or 3.1, in JSON or YAML: names, methods, paths, and arguments with
// their types. What a document says beyond that is not looked at.
//
// The package is pure. Start at [Operations].
package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/sut"
)

// maxReferences is how many references may lead on to each other.
const maxReferences = 20

var methods = []string{"get", "post", "put", "patch", "delete", "head", "options"}

// Operations are what a description offers, sorted by name. An operation is
// called by its operationId, else by method and path ("get /orders/{order}").
func Operations(text []byte) ([]sut.Operation, error) {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	}
	d := &document{root: &doc.Root}
	version := doc.Root.Get("openapi")
	if version == nil || !strings.HasPrefix(version.Text, "3.") {
		return nil, errors.New("it is no OpenAPI document of version 3")
	}
	paths := doc.Root.Get("paths")
	if paths == nil || paths.Kind != doctree.Map {
		return nil, errors.New("it has no paths")
	}
	var list []sut.Operation
	prefix := d.prefix()
	for i := range paths.Members() {
		path, item := paths.Members()[i].Key.Text, d.follow(&paths.Members()[i].Value)
		for _, method := range methods {
			n := item.Get(method)
			if n == nil {
				continue
			}
			o, err := d.operation(prefix, path, method, item, n)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", strings.ToUpper(method), path, err)
			}
			if _, twice := sut.Find(list, o.Name); twice {
				return nil, fmt.Errorf("two operations have the name %q", o.Name)
			}
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("it has no operations")
	}
	slices.SortFunc(list, func(a, b sut.Operation) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

type document struct{ root *doctree.Node }

// prefix is the path of the first server.
func (d *document) prefix() string {
	servers := d.root.Get("servers")
	if servers == nil || len(servers.Items()) == 0 {
		return ""
	}
	at := servers.Items()[0].Get("url")
	if at == nil {
		return ""
	}
	u, err := url.Parse(at.Text)
	if err != nil || strings.Contains(u.Path, "{") {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// follow is what a node refers to within the document, or itself.
func (d *document) follow(n *doctree.Node) *doctree.Node {
	for range maxReferences {
		ref := n.Get("$ref")
		if ref == nil {
			return n
		}
		rest, ok := strings.CutPrefix(ref.Text, "#/")
		if !ok {
			return &doctree.Node{}
		}
		n = d.root
		for _, step := range strings.Split(rest, "/") {
			step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
			if unescaped, err := url.PathUnescape(step); err == nil {
				step = unescaped
			}
			if n = n.Get(step); n == nil {
				return &doctree.Node{}
			}
		}
	}
	return &doctree.Node{}
}

func (d *document) operation(prefix, path, method string, item, n *doctree.Node) (sut.Operation, error) {
	o := sut.Operation{Name: method + " " + path, Method: strings.ToUpper(method), Path: prefix + path}
	if id := n.Get("operationId"); id != nil && id.Text != "" {
		o.Name = id.Text
	}
	for _, key := range []string{"summary", "description"} {
		if s := n.Get(key); s != nil && o.Description == "" {
			o.Description = diag.FirstLine(strings.TrimSpace(s.Text))
		}
	}
	var params []*doctree.Node
	for _, from := range []*doctree.Node{n.Get("parameters"), item.Get("parameters")} { // those of the operation come first
		if from == nil {
			continue
		}
		for i := range from.Items() {
			p := d.follow(&from.Items()[i])
			same := func(q *doctree.Node) bool {
				return value(q, "name") == value(p, "name") && value(q, "in") == value(p, "in")
			}
			if !slices.ContainsFunc(params, same) {
				params = append(params, p)
			}
		}
	}
	for _, p := range params {
		a := sut.Argument{Name: value(p, "name"), In: value(p, "in"), Type: d.kind(p.Get("schema")), Required: p.Get("required").Truthy()}
		place := "{" + a.Name + "}"
		switch a.In {
		case "path":
			if !strings.Contains(path, place) {
				return o, fmt.Errorf("the path has no place for the parameter %q", a.Name)
			}
		case "query":
			o.Query = append(o.Query, [2]string{a.Name, place})
		case "header":
			o.Headers = append(o.Headers, [2]string{a.Name, place})
		default: // of cookies nothing is sent
			continue
		}
		o.Arguments = append(o.Arguments, a)
	}
	d.body(&o, n.Get("requestBody"))
	d.schemas(&o, params, n)
	return o, nil
}

// formType is the type of a body that is sent as a form.
const formType = "application/x-www-form-urlencoded"

// body makes an argument of every property of a body in JSON or of a form; one that
// is no object is the argument "body".
func (d *document) body(o *sut.Operation, n *doctree.Node) {
	if n == nil {
		return
	}
	n = d.follow(n)
	schema, form, ok := d.sent(n)
	if !ok {
		return
	}
	if schema == nil {
		schema = &doctree.Node{}
	}
	schema = d.follow(schema)
	properties := schema.Get("properties")
	if properties == nil || properties.Kind != doctree.Map {
		if !form {
			o.JSON = []byte(`"{body}"`)
			o.Arguments = append(o.Arguments, sut.Argument{Name: "body", In: "body", Type: d.kind(schema), Required: n.Get("required").Truthy()})
		}
		return
	}
	tree := jsontree.Node{Kind: jsontree.Object}
	for j := range properties.Members() {
		name := properties.Members()[j].Key.Text
		tree.Members = append(tree.Members, jsontree.Member{Key: name, Value: jsontree.Node{Kind: jsontree.String, Text: "{" + name + "}"}})
		o.Arguments = append(o.Arguments, sut.Argument{Name: name, In: "body", Type: d.kind(&properties.Members()[j].Value), Required: requires(schema, name)})
	}
	o.JSON = []byte(jsontree.Style{Kept: true}.Format(&tree))
	if form {
		o.Headers = append(o.Headers, [2]string{"Content-Type", formType})
	}
}

// sent is the schema of what a request holds, as JSON if it may; ok is false if it
// holds something else.
func (d *document) sent(n *doctree.Node) (schema *doctree.Node, form, ok bool) {
	if schema, ok = d.held(n, isJSON); ok {
		return schema, false, true
	}
	schema, ok = d.held(n, func(kind string) bool { return kind == formType })
	return schema, true, ok
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

func requires(schema *doctree.Node, name string) bool {
	list := schema.Get("required")
	return list != nil && slices.ContainsFunc(list.Items(), func(n doctree.Node) bool { return n.Text == name })
}

// kind is the type of a schema; of several the first that is not null.
func (d *document) kind(schema *doctree.Node) string {
	if schema == nil {
		return ""
	}
	t := d.follow(schema).Get("type")
	if t == nil {
		return ""
	}
	for i := range t.Items() {
		if t.Items()[i].Text != "null" {
			return t.Items()[i].Text
		}
	}
	return t.Text
}

func value(n *doctree.Node, key string) string {
	if v := n.Get(key); v != nil {
		return v.Text
	}
	return ""
}
