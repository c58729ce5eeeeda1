// Package openapi reads the operations of a service from its description in OpenAPI
// 3.0 or 3.1, in JSON or YAML: names, methods, paths, and arguments with their types.
// It ignores everything else in a document.
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

// maxReferences is the longest chain of references.
const maxReferences = 20

var methods = []string{"get", "post", "put", "patch", "delete", "head", "options"}

// Operations returns the operations of a description, sorted by name. The name is the
// operationId, or else method and path ("get /orders/{order}"). Parameters that every
// call of the plan has already are no arguments.
func Operations(text []byte, p *sut.Plan) ([]sut.Operation, error) {
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	}
	d := &document{root: &doc.Root, tree: doc.Root.JSON(), plan: p}
	version := doc.Root.Get("openapi")
	if version == nil || !strings.HasPrefix(version.Text, "3.") {
		return nil, errors.New("it is not an OpenAPI document of version 3")
	}
	paths := doc.Root.Get("paths")
	if paths == nil || paths.Kind != doctree.Map {
		return nil, errors.New("it has no paths")
	}
	var list []sut.Operation
	prefix := d.prefix()
	for i := range paths.Members() {
		path := paths.Members()[i].Key.Text
		item, err := d.resolve(&paths.Members()[i].Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
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

type document struct {
	root *doctree.Node
	tree jsontree.Node // the same as JSON
	plan *sut.Plan     // every call has its headers and query; nil: none
}

// prefix returns the path of the first server, with the defaults of its variables.
func (d *document) prefix() string {
	servers := d.root.Get("servers")
	if servers == nil || len(servers.Items()) == 0 {
		return ""
	}
	at := servers.Items()[0].Get("url")
	if at == nil {
		return ""
	}
	text := at.Text
	if list := servers.Items()[0].Get("variables"); list != nil {
		for i := range list.Members() {
			m := &list.Members()[i]
			text = strings.ReplaceAll(text, "{"+m.Key.Text+"}", value(&m.Value, "default"))
		}
	}
	u, err := url.Parse(text)
	if err != nil || strings.Contains(u.Path, "{") {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// follow returns what a node refers to within the document, or the node itself.
func (d *document) follow(n *doctree.Node) *doctree.Node {
	for range maxReferences {
		ref := n.Get("$ref")
		if ref == nil {
			return n
		}
		if !strings.HasPrefix(ref.Text, "#/") {
			return &doctree.Node{}
		}
		if n = d.root.Along(jsontree.Steps(ref.Text)); n == nil {
			return &doctree.Node{}
		}
	}
	return &doctree.Node{}
}

// resolve is follow for something that an operation needs.
func (d *document) resolve(n *doctree.Node) (*doctree.Node, error) {
	found := d.follow(n)
	if ref := n.Get("$ref"); ref != nil && found.Kind != doctree.Map {
		err := fmt.Errorf("%q points to nothing in the document", ref.Text)
		if !strings.HasPrefix(ref.Text, "#") {
			err = diag.WithHint(fmt.Errorf("%w, and no other file is read", err), "bundle the files into one document, and try that")
		}
		return nil, err
	}
	return found, nil
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
			p, err := d.resolve(&from.Items()[i])
			if err != nil {
				return o, err
			}
			same := func(q *doctree.Node) bool {
				return value(q, "name") == value(p, "name") && value(q, "in") == value(p, "in")
			}
			if !slices.ContainsFunc(params, same) && !d.given(value(p, "in"), value(p, "name")) {
				params = append(params, p)
			}
		}
	}
	for _, p := range params {
		a := sut.Argument{Name: value(p, "name"), In: value(p, "in"), Type: d.kind(parameterSchema(p)), Required: p.Get("required").Truthy(), Style: style(p)}
		place := "{" + a.Name + "}"
		switch a.In {
		case "path":
			if !strings.Contains(path, place) {
				return o, fmt.Errorf("the path has no place for the parameter %q", a.Name)
			}
		case "query":
			o.Query = append(o.Query, [2]string{a.Name, place})
		case "header":
			if ruled(a.Name) {
				continue
			}
			o.Headers = append(o.Headers, [2]string{a.Name, place})
		case "cookie":
		default:
			continue
		}
		o.Arguments = append(o.Arguments, a)
	}
	sent := n.Get("requestBody")
	if sent != nil {
		if _, err := d.resolve(sent); err != nil {
			return o, err
		}
	}
	s := d.sent(sent)
	d.body(&o, s)
	d.schemas(&o, params, s)
	d.answers(&o, n.Get("responses"))
	return o, nil
}

// ruled reports whether a header is described elsewhere in the document, so that a
// parameter of its name has no meaning.
func ruled(header string) bool {
	return slices.ContainsFunc([]string{"Accept", "Content-Type", "Authorization"}, func(h string) bool { return strings.EqualFold(h, header) })
}

// parameterSchema returns the schema of a parameter, or that of its only content.
func parameterSchema(p *doctree.Node) *doctree.Node {
	if c := p.Get("content"); c != nil && len(c.Members()) == 1 {
		return c.Members()[0].Value.Get("schema")
	}
	return p.Get("schema")
}

// style says how a parameter with several values is written; "": as usual.
func style(p *doctree.Node) string {
	if p.Get("content") != nil {
		return sut.StyleJSON
	}
	if in := value(p, "in"); in == "path" || in == "header" {
		style := strings.TrimPrefix(value(p, "style"), "simple")
		if p.Get("explode").Truthy() {
			style += sut.Exploded
		}
		return style
	} else if in != "query" {
		return ""
	}
	joined := p.Get("explode") != nil && !p.Get("explode").Truthy()
	switch s := value(p, "style"); {
	case s == "deepObject":
		return sut.StyleDeep
	case s == "spaceDelimited" && joined:
		return sut.StyleSpaces
	case s == "pipeDelimited" && joined:
		return sut.StylePipes
	case joined:
		return sut.StyleCommas
	}
	return ""
}

// body makes an argument of every property of a body that is JSON, a form or
// multipart; any other body is the argument "body".
func (d *document) body(o *sut.Operation, s *request) {
	if s == nil {
		return
	}
	if s.kind != "application/json" {
		o.Headers = append(o.Headers, [2]string{"Content-Type", s.kind})
	}
	if s.properties == nil {
		o.JSON = []byte(`"{body}"`)
		o.Arguments = append(o.Arguments, sut.Argument{Name: "body", In: "body", Type: d.kind(s.schema), Required: s.required})
		return
	}
	tree := jsontree.Node{Kind: jsontree.Object}
	for _, m := range s.properties {
		tree.Members = append(tree.Members, jsontree.Member{Key: m.name, Value: jsontree.Node{Kind: jsontree.String, Text: "{" + m.name + "}"}})
		o.Arguments = append(o.Arguments, sut.Argument{Name: m.name, In: "body", Type: d.kind(m.schema), Required: m.required})
		if s.kind == sut.Multipart && d.isFile(m.schema) {
			f := sut.File{Member: m.name, Name: "file", Type: value(s.encoding.Get(m.name), "contentType")}
			f.Type, _, _ = strings.Cut(f.Type, ",")
			o.Files = append(o.Files, f)
		}
	}
	o.JSON = []byte(jsontree.Style{Kept: true}.Format(&tree))
}

// isFile reports whether a schema describes a file, or several.
func (d *document) isFile(schema *doctree.Node) bool {
	n := d.follow(schema)
	if items := n.Get("items"); items != nil {
		n = d.follow(items)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list := n.Get(key); list != nil {
			for i := range list.Items() {
				if d.isFile(&list.Items()[i]) {
					return true
				}
			}
		}
	}
	media := value(n, "contentMediaType")
	return value(n, "format") == "binary" || media != "" && !isJSON(media) && n.Get("contentEncoding") == nil
}

// request describes the body of a call.
type request struct {
	kind       string        // the media type
	schema     *doctree.Node // nil: not described
	encoding   *doctree.Node
	required   bool
	properties []property // nil: it is one value
}

type property struct {
	name     string
	schema   *doctree.Node
	required bool
}

// sent returns the request body of a node, in JSON if possible; nil if there is none.
func (d *document) sent(n *doctree.Node) *request {
	if n == nil {
		return nil
	}
	n = d.follow(n)
	content := n.Get("content")
	if content == nil || len(content.Members()) == 0 {
		return nil
	}
	var s *request
	best := len(preferred)
	for i := range content.Members() {
		m := &content.Members()[i]
		kind, _, _ := strings.Cut(m.Key.Text, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
		rank := slices.IndexFunc(preferred, func(is func(string) bool) bool { return is(kind) })
		if rank < best {
			if kind == "*/*" || kind == "application/*" {
				kind = "application/json"
			}
			best, s = rank, &request{kind: kind, schema: m.Value.Get("schema"), encoding: m.Value.Get("encoding"), required: n.Get("required").Truthy()}
		}
	}
	if s == nil || !isJSON(s.kind) && s.kind != formType && s.kind != sut.Multipart || s.schema == nil {
		return s
	}
	inner := d.follow(s.schema)
	list := inner.Get("properties")
	if list == nil || list.Kind != doctree.Map || len(list.Members()) == 0 || composed(inner) {
		return s
	}
	for i := range list.Members() {
		m := &list.Members()[i]
		if d.follow(&m.Value).Get("readOnly").Truthy() {
			continue
		}
		s.properties = append(s.properties, property{m.Key.Text, &m.Value, requires(inner, m.Key.Text)})
	}
	return s
}

// composed reports whether a schema says more about an object than its properties.
func composed(schema *doctree.Node) bool {
	return slices.ContainsFunc([]string{"allOf", "oneOf", "anyOf", "not", "if", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
		"propertyNames", "patternProperties", "discriminator", "unevaluatedProperties"}, func(key string) bool { return schema.Get(key) != nil })
}

// formType is the media type of a body that is sent as a form.
const formType = "application/x-www-form-urlencoded"

// preferred are media types of bodies, those that can express most first.
var preferred = []func(kind string) bool{
	func(kind string) bool { return kind == "application/json" },
	isJSON,
	func(kind string) bool { return kind == "*/*" || kind == "application/*" },
	func(kind string) bool { return kind == formType },
	func(kind string) bool { return kind == sut.Multipart },
	func(kind string) bool { return !strings.HasSuffix(kind, "/*") },
	func(string) bool { return true },
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

func requires(schema *doctree.Node, name string) bool {
	list := schema.Get("required")
	return list != nil && slices.ContainsFunc(list.Items(), func(n doctree.Node) bool { return n.Text == name })
}

// kind returns the type of a schema; of several, the first that is not null.
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
