package spectest

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsonpath"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/xpath"
)

// capture is a value that a case takes from its observation for later cases.
type capture struct {
	name, what string // what: name of the header or cookie, or the path or pattern
	source     string // json, header, cookie, regex, or text for the whole target
	target     string // what is searched; "": the default target of the case type
	path       agentcall.Path
	places     *jsonpath.Expr // used instead of path if several places may match
	pattern    *regexp.Regexp
	xpath      *xpath.Expr
	filters    []valueFilter
	secret     bool
	line       int
}

// answersWith is the default capture target of each case type.
var answersWith = map[string]string{typeTextFile: "text", typeCLI: "stdout", typeHTTP: "body_text", typeSystem: "value"}

// captures reads capture: names of variables, each with a JSON path or with a mapping that says
// where the value is.
func (d *decoder) captures(s *doctree.Section) {
	n := s.Value("capture")
	if n != nil && len(n.Members()) == 0 {
		d.schema(n, "capture", "capture", "capture must be a mapping of names to the places of their values, such as token: $.access")
		return
	}
	for i := 0; n != nil && i < len(n.Members()); i++ {
		m := &n.Members()[i]
		c, where := capture{name: textOf(&m.Key), line: m.Key.Pos.Line}, "capture."+textOf(&m.Key)
		if !variableName().MatchString(c.name) {
			d.schema(&m.Key, "capture", where, "%q is not a name of a variable: letters, digits, _, - and points", c.name)
		}
		switch v := &m.Value; {
		case v.Kind == doctree.Map:
			d.captureFrom(v, &c, where)
		case v.Kind == doctree.String && strings.HasPrefix(v.Text, "$"):
			c.source, c.what = "json", v.Text
		default:
			d.schema(v, "capture", where, "%s must be a JSON path such as $.access, or a mapping with one of %s", where, oneOf(captureSources))
		}
		var err error
		switch c.source {
		case "json":
			err = c.readPath()
		case "regex":
			c.pattern, err = regexp.Compile(c.what)
		case "xpath":
			c.xpath, err = xpath.Compile(c.what)
		case "header", "cookie":
			if d.c.Type != typeHTTP {
				err = fmt.Errorf("%s has no %ss; api.http has", d.c.Type, c.source)
			}
		}
		if err != nil {
			d.schema(&m.Value, "capture", where, "%s: %v", where, err)
		}
		d.c.captures = append(d.c.captures, c)
	}
}

func (d *decoder) captureFrom(v *doctree.Node, c *capture, where string) {
	s := d.strict(true, func() *doctree.Section { return d.Section(v, where, format().captured) })
	c.source, c.secret = "text", s.Node("secret").Truthy()
	if t := s.Node("target"); t != nil {
		c.target = textOf(t)
		if list := targets(d.c.Type); !slices.Contains(list, c.target) {
			d.schema(t, "capture", where+".target", "%s has no target %q: it has %s", d.c.Type, c.target, oneOf(list))
		}
	}
	if n := s.Node("filter"); !n.IsNull() {
		text := " | " + textOf(n)
		filters, length, err := readFilters(text)
		if c.filters = filters; err == nil && strings.TrimSpace(text[length:]) != "" {
			err = fmt.Errorf("expected filters with | between them, such as split(\",\") | last, not %q", strings.TrimSpace(text[length:]))
		}
		if err != nil {
			d.schema(n, "capture", where+".filter", "%s.filter: %v", where, err)
		}
	}
	for i := range v.Members() {
		switch m := &v.Members()[i]; {
		case !slices.Contains(captureSources, m.Key.Text):
		case c.source != "text":
			d.schema(&m.Key, "capture", where, "%s gives the value's place twice: %s and %s", where, c.source, m.Key.Text)
		default:
			c.source, c.what = m.Key.Text, textOf(&m.Value)
		}
	}
}

// readPath compiles the JSON path of a capture.
func (c *capture) readPath() (err error) {
	if c.path, err = agentcall.ParsePath(c.what); err == nil {
		return nil
	}
	places, perr := jsonpath.Compile(c.what)
	if perr != nil {
		if strings.ContainsAny(c.what, "?*:,") || strings.Contains(c.what, "..") {
			return perr
		}
		return err
	}
	c.places = places
	return nil
}

// find returns the value at the path, a list if several places match, or nil if none does.
func (c *capture) find(root *jsontree.Node) *jsontree.Node {
	if c.places == nil {
		return c.path.In(root)
	}
	list, err := c.places.In(root)
	switch {
	case err != nil || len(list) == 0:
		return nil
	case len(list) == 1:
		return list[0]
	}
	all := &jsontree.Node{Kind: jsontree.Array}
	for _, n := range list {
		all.Items = append(all.Items, *n)
	}
	return all
}

// lookUp finds the value in the observation of a case and applies the filters.
func (c *capture) lookUp(kind string, s subjects) (given, *Failure) {
	g, f := c.found(kind, s)
	if f != nil || c.filters == nil {
		return g, f
	}
	v, err := speclang.ParseJSON(string(jsonBytes(&g.node)))
	if err == nil {
		v = filtered(v, c.filters)
	}
	if err != nil || v.Kind() == speclang.Null {
		return c.missing(cmp.Or(c.target, answersWith[kind]), "its filters give nothing for %s", diag.Cut(g.text(), 60))
	}
	doc, err := jsontree.Parse([]byte(v.JSON()), jsontree.Options{})
	if err != nil {
		return c.missing(c.target, "%v", err)
	}
	return c.given(given{node: doctree.OfJSON(&doc.Root, func(int) doctree.Pos { return doctree.Pos{} })})
}

// missing is the failure of a capture without a value, with the reason.
func (c *capture) missing(target, format string, args ...any) (given, *Failure) {
	why := fmt.Sprintf(format, args...)
	return given{}, &Failure{Category: Assertion, Path: "capture." + c.name, Target: target, Op: "capture", Line: c.line,
		Message: why, Want: "a value for ${" + c.name + "}: " + why}
}

// found is the captured value before filters.
func (c *capture) found(kind string, s subjects) (given, *Failure) {
	target := cmp.Or(c.target, answersWith[kind])
	missing := func(format string, args ...any) (given, *Failure) { return c.missing(target, format, args...) }
	if a, ok := s.(*answer); ok && (c.source == "header" || c.source == "cookie") {
		h := http.Header{}
		for _, kv := range a.headers {
			h.Add(kv[0], kv[1])
		}
		if c.source == "header" {
			if list := h.Values(c.what); len(list) > 0 {
				return c.given(textValue(list[0]))
			}
			return missing("the answer has no header %s", c.what)
		}
		for _, k := range (&http.Response{Header: h}).Cookies() {
			if k.Name == c.what {
				return c.given(textValue(k.Value))
			}
		}
		return missing("the answer sets no cookie %s", c.what)
	}
	v, f := s.subject(target)
	if f != nil {
		return missing("%s", f.Message)
	}
	text, isText := v.Str()
	if !isText || target == "body_json" {
		text = v.JSON()
	}
	switch c.source {
	case "regex":
		m, found := firstGroup(c.pattern, text)
		if !found {
			return missing("nothing in %s matches %s", target, pattern(c.what))
		}
		return c.given(textValue(m))
	case "xpath":
		v, err := c.xpath.In([]byte(text))
		switch found, isText := v.Str(); {
		case err != nil:
			return missing("%s: %v", target, err)
		case v.Kind() == speclang.Null:
			return missing("%s has nothing at %s", target, c.what)
		case isText:
			return c.given(textValue(found))
		}
		return c.given(textValue(v.JSON()))
	case "text":
		return c.given(textValue(strings.TrimRight(text, "\r\n")))
	}
	if isValue(target) {
		text = v.JSON()
	}
	doc, err := jsontree.Parse([]byte(text), jsontree.Options{})
	if err != nil {
		return missing("%s is not JSON", target)
	}
	at := c.find(&doc.Root)
	if at == nil {
		return missing("%s has nothing at %s", target, c.what)
	}
	return c.given(given{node: doctree.OfJSON(at, func(int) doctree.Pos { return doctree.Pos{} })})
}

func (c *capture) given(g given) (given, *Failure) {
	g.secret = c.secret
	return g, nil
}
