package http

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/curl"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

const formType = "application/x-www-form-urlencoded"

// request builds the HTTP request of an operation.
func (e *edge) request(ctx context.Context, op *sut.Operation, c *sut.Call) (*http.Request, error) {
	args, raw, err := system.Arguments(e.site.Plan, op, c)
	if err != nil {
		return nil, err
	}
	f := filler{args: args, op: op}
	path := f.path(op.Path)
	if len(f.missing) > 0 {
		return nil, diag.Environment("call %s of the system %s: the path has no value for %s", op.Name, e.site.Plan.Name, strings.Join(f.missing, ", "))
	}
	at := e.address + path
	query := f.query(op.Query)
	for _, q := range e.site.Plan.Query {
		query.Set(q[0], q[1])
	}
	if len(query) > 0 {
		between := "?"
		if strings.Contains(path, between) {
			between = "&"
		}
		at += between + query.Encode()
	}
	body, kind := c.Input, "application/octet-stream"
	if json.Valid(body) {
		kind = "application/json"
	}
	if !raw {
		template, err := e.template(op)
		if err == nil {
			body, err = f.body(template)
		}
		if err != nil {
			return nil, fmt.Errorf("make the body of %s: %w", op.Name, err)
		}
		if body != nil {
			body, kind = written(op, body, e.bytesOf(op, c))
		}
	}
	var reader io.Reader = http.NoBody
	if body != nil {
		reader = bytes.NewReader(body)
	}
	q, err := http.NewRequestWithContext(ctx, op.Method, at, reader)
	if err != nil {
		return nil, fmt.Errorf("make the request of %s: %w", op.Name, withoutURL(err))
	}
	if body != nil {
		q.Header.Set("Content-Type", kind)
	}
	e.headers(q, op, &f)
	if body != nil && !raw && strings.HasPrefix(kind, sut.Multipart+";") { // includes the boundary
		q.Header.Set("Content-Type", kind)
	}
	return q, nil
}

// template returns the body of an operation with its placeholders; nil if it has none.
func (e *edge) template(op *sut.Operation) (*jsontree.Node, error) {
	if op.JSON == nil {
		return nil, nil
	}
	if n := e.templates[op.Name]; n != nil {
		return n, nil
	}
	doc, err := jsontree.Parse(op.JSON, jsontree.Python())
	if err != nil {
		return nil, err
	}
	if e.templates == nil {
		e.templates = make(map[string]*jsontree.Node)
	}
	e.templates[op.Name] = &doc.Root
	return &doc.Root, nil
}

// bytesOf returns a case's input, by member of the body, if it is the content of a file. As an
// argument it would have to be text.
func (e *edge) bytesOf(op *sut.Operation, c *sut.Call) map[string][]byte {
	if c.Input == nil || len(op.Files) == 0 {
		return nil
	}
	template, err := e.template(op)
	if err != nil {
		return nil
	}
	for _, file := range op.Files {
		if m := template.Get(file.Member); m != nil && m.Text == "{"+e.site.Plan.Input.Argument+"}" {
			return map[string][]byte{file.Member: c.Input}
		}
	}
	return nil
}

// written encodes a body as the operation's Content-Type header says: JSON, a form, parts, or plain
// text.
func written(op *sut.Operation, body []byte, files map[string][]byte) (as []byte, kind string) {
	kind = "application/json"
	for _, h := range op.Headers {
		if strings.EqualFold(h[0], "Content-Type") {
			kind = h[1]
		}
	}
	if len(op.Files) > 0 {
		kind = sut.Multipart
	}
	media, _, _ := strings.Cut(kind, ";")
	switch media = strings.ToLower(strings.TrimSpace(media)); {
	case media == formType:
		return form(body), kind
	case media == sut.Multipart:
		return parts(op, body, files)
	case media != "application/json" && !strings.HasSuffix(media, "+json") && len(body) > 0 && body[0] == '"':
		return []byte(plainText(body)), kind
	}
	return body, kind
}

// members returns a JSON object's members in order: a list as several members with the same name,
// null as none. ok is false for anything but an object.
func members(body []byte) (list []sut.Named, ok bool) {
	doc, err := jsontree.Parse(body, jsontree.Python())
	if err != nil || doc.Root.Kind != jsontree.Object {
		return nil, false
	}
	for i := range doc.Root.Members {
		m := &doc.Root.Members[i]
		values := []jsontree.Node{m.Value}
		switch m.Value.Kind {
		case jsontree.Null:
			continue
		case jsontree.Array:
			values = m.Value.Items
		}
		for k := range values {
			list = append(list, sut.Named{Name: m.Key, Value: []byte(jsontree.Style{Kept: true}.Format(&values[k]))})
		}
	}
	return list, true
}

// form encodes a JSON object as form fields; anything else is returned unchanged.
func form(body []byte) []byte {
	list, ok := members(body)
	if !ok {
		return body
	}
	values := url.Values{}
	for _, m := range list {
		values.Add(m.Name, plainText(m.Value))
	}
	return []byte(values.Encode())
}

// parts encodes a JSON object as multipart form data, some of whose parts are files; an object
// becomes a JSON part. Equal bodies have equal bytes.
func parts(op *sut.Operation, body []byte, files map[string][]byte) (as []byte, kind string) {
	list, ok := members(body)
	if !ok {
		list = []sut.Named{{Name: "body", Value: body}}
	}
	boundary := "thresh-part"
	contents := make([][]byte, len(list))
	for i, m := range list {
		contents[i] = []byte(plainText(m.Value))
		if content, ok := files[m.Name]; ok {
			contents[i] = content
		}
		for bytes.Contains(contents[i], []byte(boundary)) {
			boundary += "-x"
		}
	}
	var b bytes.Buffer
	quote := strings.NewReplacer("\\", "\\\\", `"`, "\\\"", "\r", "%0D", "\n", "%0A")
	for i, m := range list {
		kind := ""
		disposition := fmt.Sprintf(`form-data; name="%s"`, quote.Replace(m.Name))
		if at := slices.IndexFunc(op.Files, func(f sut.File) bool { return f.Member == m.Name }); at >= 0 {
			file := op.Files[at]
			disposition += fmt.Sprintf(`; filename="%s"`, quote.Replace(file.Name))
			if kind = file.Type; kind == "" {
				kind = "application/octet-stream"
			}
		} else if m.Value[0] == '{' {
			kind = "application/json"
		}
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: %s\r\n", boundary, disposition)
		if kind != "" {
			fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
		}
		fmt.Fprintf(&b, "\r\n%s\r\n", contents[i])
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes(), sut.Multipart + "; boundary=" + boundary
}

// headers sets the system's headers, then the operation's.
func (e *edge) headers(q *http.Request, op *sut.Operation, f *filler) {
	q.Header.Set("User-Agent", "thresh")
	set := func(name, value string) {
		if strings.EqualFold(name, "Host") {
			q.Host = value
			return
		}
		q.Header.Set(name, value)
	}
	for _, h := range e.site.Plan.Headers {
		set(h[0], h[1])
	}
	if op == nil {
		return
	}
	for _, h := range op.Headers {
		f.missing = nil
		v := f.text(h[1], headerValue)
		if a := f.wholeArgument(h[1]); a != nil && len(f.missing) == 0 {
			v = joined(a.Name, f.value(a.Name), a.Style, headerValue)
		}
		if len(f.missing) == 0 {
			set(h[0], v)
		}
	}
	for _, a := range op.Arguments {
		if v := f.value(a.Name); a.In == "cookie" && v != nil {
			cookie := a.Name + "=" + joined(a.Name, v, a.Style, headerValue)
			if have := q.Header.Get("Cookie"); have != "" {
				cookie = have + "; " + cookie
			}
			q.Header.Set("Cookie", cookie)
		}
	}
}

// headerValue replaces the characters of a text that a header cannot hold.
func headerValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

// curl returns a request as a command line. It hides the values that the system file sends with
// every request, which may be secret, and values that have the name of a secret and are not
// arguments; the reader has to fill them in.
func (e *edge) curl(q *http.Request, args []sut.Named) string {
	address, query, _ := strings.Cut(q.URL.String(), "?")
	if query != "" {
		pairs := strings.Split(query, "&")
		for i, pair := range pairs {
			key, _, _ := strings.Cut(pair, "=")
			name, err := url.QueryUnescape(key)
			is := func(n string) bool { return n == name }
			if err == nil && (slices.ContainsFunc(e.site.Plan.Query, func(q [2]string) bool { return is(q[0]) }) ||
				secret.IsName(name) && !slices.ContainsFunc(args, func(a sut.Named) bool { return is(a.Name) })) {
				pairs[i] = key + "=..."
			}
		}
		address += "?" + strings.Join(pairs, "&")
	}
	line := curl.Request{Method: q.Method, URL: address}
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		value := q.Header.Get(name)
		if slices.ContainsFunc(e.site.Plan.Headers, func(h [2]string) bool { return strings.EqualFold(h[0], name) }) || secret.IsName(name) {
			value = "..."
		}
		if name != "User-Agent" {
			line.Headers = append(line.Headers, [2]string{name, value})
		}
	}
	if q.GetBody != nil {
		if r, err := q.GetBody(); err == nil {
			if body, err := io.ReadAll(r); err == nil && len(body) > 0 {
				line.Body = body
			}
		}
	}
	return line.String()
}
