package systemfile

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/port/sut"
)

// httpKeys are keys of operations that say how a request is made.
var httpKeys = []string{"method", "path", "json", "query", "headers", "files"}

// operationKeys are keys of operations of every kind.
var operationKeys = []string{"arguments", "returns", "rejects"}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

func (d *decoder) operation(name string, n *doctree.Node, kind sut.Kind) sut.Operation {
	o := sut.Operation{Name: name}
	path := "operations." + name
	if n.IsNull() && kind != sut.HTTP { // a name alone
		return o
	}
	if !d.fields(n, path, append(slices.Clone(httpKeys), operationKeys...)...) {
		return o
	}
	if kind == sut.HTTP {
		d.request(&o, n, path)
	} else {
		for _, key := range httpKeys {
			if m := n.Member(key); m != nil {
				d.foreign(m, path+"."+key, kind, []sut.Kind{sut.HTTP})
			}
		}
	}
	if a := n.Get("arguments"); a != nil {
		d.arguments(&o, a, path+".arguments", kind)
	}
	if r := n.Get("returns"); r != nil {
		o.Returns = d.path(r, path+".returns")
	}
	if r := n.Get("rejects"); r != nil {
		d.rejects(&o, r, path+".rejects", kind)
	}
	return o
}

// arguments decodes names, in the order of formats that bind by position.
func (d *decoder) arguments(o *sut.Operation, n *doctree.Node, path string, kind sut.Kind) {
	if n.Kind == doctree.Seq && len(n.Items()) == 0 {
		return
	}
	list := d.texts(n, path, "[order, amount]")
	placed := o.Arguments
	o.Arguments = nil
	for i, name := range list {
		if kind == sut.HTTP {
			if !slices.ContainsFunc(placed, func(a sut.Argument) bool { return a.Name == name }) {
				d.refuse(n.Items()[i].Pos, path, codeName, diag.DidYouMean(name, argumentNames(placed)),
					"the request has no place {%s}", name)
			}
		}
		o.Arguments = append(o.Arguments, sut.Argument{Name: name, Required: true})
	}
	for _, a := range placed {
		if !slices.Contains(list, a.Name) {
			o.Arguments = append(o.Arguments, a)
		}
	}
}

func argumentNames(list []sut.Argument) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

func (d *decoder) rejects(o *sut.Operation, n *doctree.Node, path string, kind sut.Kind) {
	if n.Kind == doctree.Bool {
		o.Refuses = n.Bool
		return
	}
	o.Rejects, o.Refuses = []string{}, true
	if n.Kind == doctree.Seq && len(n.Items()) == 0 {
		o.Refuses = false
		return // nothing counts as refused
	}
	if kind == sut.Driver || kind == sut.MCP || kind == sut.Chat {
		d.refuse(n.Pos, path, codeType, "", "must be true: a system of kind %s says itself what it refuses; true says that it refuses what a model does not allow", kind)
		return
	}
	for i, text := range d.texts(n, path, map[sut.Kind]string{sut.Python: "[ValueError]"}[kind]+map[bool]string{true: "[409, 422]"}[kind != sut.Python]) {
		v, number := n.Items()[i].Int64()
		switch {
		case kind == sut.HTTP && (!number || v < 300 || v > 499):
			d.refuse(n.Items()[i].Pos, path, codeValue, "", "must be an HTTP status from 300 to 499, got %q", text)
		case kind != sut.HTTP && kind != sut.Python && (!number || v < 1 || v > 255):
			d.refuse(n.Items()[i].Pos, path, codeValue, "", "must be an exit code from 1 to 255, got %q", text)
		}
		o.Rejects = append(o.Rejects, text)
	}
}

// request decodes how an operation of HTTP is asked.
func (d *decoder) request(o *sut.Operation, n *doctree.Node, path string) {
	o.Method = "GET"
	if n.Get("json") != nil {
		o.Method = "POST"
	}
	if m := n.Get("method"); m != nil {
		o.Method = d.word(m, path+".method", methods...)
	}
	if p := n.Get("path"); p == nil {
		d.refuse(n.Pos, path+".path", codeMissing, "", "must be given, such as /orders/{order}")
	} else if o.Path = d.text(p, path+".path"); o.Path != "" && !strings.HasPrefix(o.Path, "/") {
		d.refuse(p.Pos, path+".path", codeValue, "", "must begin with a slash, got %q", o.Path)
	}
	if q := n.Get("query"); q != nil {
		o.Query = d.pairs(q, path+".query")
	}
	if h := n.Get("headers"); h != nil {
		o.Headers = d.pairs(h, path+".headers")
	}
	body := n.Get("json")
	if body != nil {
		tree := body.JSON()
		o.JSON = []byte(jsontree.Style{Kept: true}.Format(&tree))
		if !json.Valid(o.JSON) {
			d.refuse(body.Pos, path+".json", codeValue, "", "holds a number that JSON has no form for")
		}
	}
	if f := n.Get("files"); f != nil {
		d.files(o, f, body, path+".files")
	}
	o.Arguments = Places(o)
}

// files decodes which members of the body are sent as files.
func (d *decoder) files(o *sut.Operation, n, body *doctree.Node, path string) {
	if n.Kind != doctree.Map {
		d.refuse(n.Pos, path, codeType, "", "must be a mapping of members of json to files, such as {photo: {name: photo.png, type: image/png}}, got %s", n.Kind)
		return
	}
	var members []string
	if body != nil {
		for i := range body.Members() {
			members = append(members, keyText(&body.Members()[i]))
		}
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		file := sut.File{Member: keyText(m), Name: keyText(m)}
		if !slices.Contains(members, file.Member) {
			d.refuse(m.Key.Pos, path, codeName, diag.DidYouMean(file.Member, members), "json has no member %q", file.Member)
		}
		if m.Value.IsNull() {
			o.Files = append(o.Files, file)
			continue
		}
		if !d.fields(&m.Value, path+"."+file.Member, "name", "type") {
			continue
		}
		if name := m.Value.Get("name"); name != nil {
			file.Name = d.text(name, path+"."+file.Member+".name")
		}
		if kind := m.Value.Get("type"); kind != nil {
			if file.Type = d.text(kind, path+"."+file.Member+".type"); file.Type != "" && !strings.Contains(file.Type, "/") {
				d.refuse(kind.Pos, path+"."+file.Member+".type", codeValue, "", "must be a media type such as image/png, got %q", file.Type)
			}
		}
		o.Files = append(o.Files, file)
	}
}

var place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// Places are the arguments that a request has places for, in the order of their
// first place.
func Places(o *sut.Operation) (list []sut.Argument) {
	add := func(text, in string) {
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(list, func(a sut.Argument) bool { return a.Name == m[1] }) {
				list = append(list, sut.Argument{Name: m[1], In: in, Required: in == "path" || in == "body"})
			}
		}
	}
	add(o.Path, "path")
	for _, q := range o.Query {
		add(q[1], "query")
	}
	for _, h := range o.Headers {
		add(h[1], "header")
	}
	if o.JSON != nil {
		if doc, err := jsontree.Parse(o.JSON, jsontree.Options{}); err == nil {
			walkTexts(&doc.Root, func(s string) { add(s, "body") })
		}
	}
	return list
}

// walkTexts visits the strings of a tree in their order.
func walkTexts(n *jsontree.Node, f func(string)) {
	if n.Kind == jsontree.String {
		f(n.Text)
	}
	for i := range n.Items {
		walkTexts(&n.Items[i], f)
	}
	for i := range n.Members {
		walkTexts(&n.Members[i].Value, f)
	}
}
