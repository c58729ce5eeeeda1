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

func (d *decoder) operation(file *doctree.Section, e doctree.Entry, kind sut.Kind) sut.Operation {
	o := sut.Operation{Name: e.Name, At: e.Key.Pos.In(d.File).String()}
	if e.Node.IsNull() && kind != sut.HTTP { // only a name
		return o
	}
	s := file.Open(e.Node, e.Path, format().operation)
	if !s.There() {
		return o
	}
	if kind == sut.HTTP || kind == "" { // an invalid kind may have been meant as HTTP
		d.request(&o, s)
	}
	d.arguments(&o, s, kind)
	o.Returns = d.path(s, "returns")
	d.rejects(&o, s, kind)
	return o
}

// arguments decodes names, in the order of formats that bind by position.
func (d *decoder) arguments(o *sut.Operation, s *doctree.Section, kind sut.Kind) {
	list := s.Texts("arguments")
	if len(list) == 0 {
		return
	}
	placed := o.Arguments
	o.Arguments = nil
	for i, name := range list {
		if kind == sut.HTTP && !slices.ContainsFunc(placed, func(a sut.Argument) bool { return a.Name == name }) {
			d.refuse(s.Node("arguments").Items()[i].Pos, s.At("arguments"), codeName, diag.DidYouMean(name, argumentNames(placed)),
				"the request has no placeholder {%s}", name)
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

func (d *decoder) rejects(o *sut.Operation, s *doctree.Section, kind sut.Kind) {
	n, path := s.Value("rejects"), s.At("rejects")
	if n == nil {
		return
	}
	if n.Kind == doctree.Bool {
		o.Refuses = n.Bool
		return
	}
	o.Rejects, o.Refuses = []string{}, len(n.Items()) > 0 // an empty list: nothing counts as refused
	if o.Refuses && (kind == sut.Driver || kind == sut.MCP || kind == sut.Chat) {
		d.refuse(n.Pos, path, "type", "", "must be true: a system of kind %s says itself what it refuses; true says that it refuses what a model does not allow", kind)
		return
	}
	o.Rejects = append(o.Rejects, s.Texts("rejects")...)
	for i := range n.Items() {
		item := &n.Items()[i]
		v, number := item.Int64()
		hint := ""
		if strings.Trim(item.Text, "0123456789") == "" && item.Quoted() {
			hint = "write " + item.Text + " without quotes"
		}
		switch {
		case kind == sut.HTTP && (!number || v < 300 || v > 499):
			d.refuse(item.Pos, path, codeValue, hint, "must be an HTTP status from 300 to 499, got %s", d.Describe(item))
		case kind != "" && kind != sut.HTTP && kind != sut.Python && (!number || v < 1 || v > 255):
			d.refuse(item.Pos, path, codeValue, hint, "must be an exit code from 1 to 255, got %s", d.Describe(item))
		}
	}
}

// request decodes the request of an HTTP operation.
func (d *decoder) request(o *sut.Operation, s *doctree.Section) {
	body := s.Node("json")
	if o.Method = s.Text("method"); o.Method == "" {
		if o.Method = "GET"; body != nil {
			o.Method = "POST"
		}
	}
	if o.Path = s.Text("path"); o.Path != "" && !strings.HasPrefix(o.Path, "/") {
		d.refuse(s.PosOf("path"), s.At("path"), codeValue, "", "must begin with a slash, got %q", o.Path)
	} else if reference.MatchString(o.Path) {
		d.refuse(s.PosOf("path"), s.At("path"), codeValue, "query and headers take variables", "takes no variable of the environment: {NAME} stands for an argument of the call")
	} else {
		d.closed(s, "path", place.ReplaceAllString(o.Path, ""), "{NAME}")
	}
	o.Query, o.Headers = d.pairs(s, "query"), d.pairs(s, "headers")
	if body != nil {
		tree := body.JSON()
		o.JSON = []byte(jsontree.Style{Kept: true}.Format(&tree))
		if !json.Valid(o.JSON) {
			d.refuse(body.Pos, s.At("json"), codeValue, "", "contains a number that JSON cannot represent")
		}
	}
	d.files(o, s, body)
	o.Arguments = Places(o)
}

// files decodes which members of the body are sent as files.
func (d *decoder) files(o *sut.Operation, s *doctree.Section, body *doctree.Node) {
	var members []string
	if body != nil {
		for i := range body.Members() {
			members = append(members, d.TextOf(&body.Members()[i].Key))
		}
	}
	for _, e := range s.Entries("files") {
		file := sut.File{Member: e.Name, Name: e.Name}
		if !slices.Contains(members, file.Member) {
			d.refuse(e.Key.Pos, s.At("files"), codeName, diag.DidYouMean(file.Member, members), "json has no member %q", file.Member)
		}
		if !e.Node.IsNull() {
			x := d.Section(e.Node, e.Path, format().upload)
			if x.Given("name") {
				file.Name = x.Text("name")
			}
			if file.Type = x.Text("type"); file.Type != "" && !strings.Contains(file.Type, "/") {
				d.refuse(x.PosOf("type"), x.At("type"), codeValue, "", "must be a media type such as image/png, got %q", file.Type)
			}
		}
		o.Files = append(o.Files, file)
	}
}

var place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// Places returns the arguments for which a request has places, in the order of
// their first place.
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

// walkTexts visits the strings of a tree in order.
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
