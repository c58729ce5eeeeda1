package spectest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// defaultRequestTime is the time limit of an HTTP request.
const defaultRequestTime = 5 * time.Second

// retry is how often and at which interval a request is repeated until its assertions hold.
type retry struct {
	times int
	every time.Duration
}

func (d *decoder) textFile(p *doctree.Node) {
	f := &textFile{self: true}
	d.c.text = f
	if p.IsNull() {
		return
	}
	f.path, f.self, d.c.about = textOf(p), false, p.Pos
	switch {
	case strings.TrimSpace(f.path) == "":
		d.warn(p, "path", "path", "an empty path is the folder of the document: the case fails", "name a file, or remove the key to check the document itself")
	case filepath.IsAbs(f.path):
		d.schema(p, "path", "path", "text.file path must be relative: %s", f.path)
	}
}

func (d *decoder) httpCall(q *doctree.Section) {
	r := &httpCall{timeout: defaultRequestTime, insecure: q.True("insecure"), jar: q.True("jar")}
	d.c.http = r
	if !q.There() {
		return
	}
	wrong := func(key, format string, args ...any) {
		d.schema(q.Node(key), "request", "request."+key, "api.http request."+key+" "+format, args...)
	}
	if m := q.Node("method"); m != nil {
		if r.method = strings.ToUpper(trimmed(m)); m.IsNull() || r.method == "" || strings.ContainsAny(r.method, " \t\r\n/") {
			wrong("method", "is not a method: %s", r.method)
		}
	}
	if u := q.Node("url"); u != nil {
		r.url, d.c.about = trimmed(u), u.Pos
		if u.IsNull() || r.url == "" {
			wrong("url", "is required")
		} else if scheme(r.url) == "" && filepath.IsAbs(r.url) {
			wrong("url", "relative path must not be absolute")
		}
	}
	if h := q.Value("headers"); h != nil {
		for i := range h.Members() {
			m := &h.Members()[i]
			name, all := trimmed(&m.Key), m.Value.Items()
			if m.Value.Kind != doctree.Seq {
				all = []doctree.Node{m.Value}
			}
			for j := range all {
				value := trimmed(&all[j])
				if name == "" || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(value, "\r\n\x00") {
					d.schema(&m.Key, "request", "request.headers", "api.http request.headers cannot hold %q", name)
					break
				}
				r.headers = append(r.headers, [2]string{name, value})
			}
		}
	}
	if v := values(q.Value("query")); v != nil && r.url != "" {
		sign := "?"
		if strings.Contains(r.url, "?") {
			sign = "&"
		}
		r.url += sign + strings.ReplaceAll(v.Encode(), "+", "%20") // a + is a blank in forms only
	}
	d.body(q, wrong)
	d.transport(q, wrong)
	authorize := func(key, value string) {
		if r.has("Authorization") {
			wrong(key, "and another authorization exclude each other")
		}
		r.headers = append(r.headers, [2]string{"Authorization", value})
	}
	if n := q.Node("bearer"); !n.IsNull() {
		authorize("bearer", "Bearer "+trimmed(n))
	}
	if b := q.Sub("basic"); b.Given("user") && b.Given("password") {
		authorize("basic", "Basic "+base64.StdEncoding.EncodeToString([]byte(textOf(b.Node("user"))+":"+textOf(b.Node("password")))))
	}
	if n := q.Node("redirects"); n != nil && n.Kind == doctree.Bool && !n.Bool {
		r.redirects = new(int)
	} else if n := q.Value("redirects"); n != nil {
		most := q.Integer("redirects")
		if r.redirects = &most; n.Kind != doctree.Int {
			wrong("redirects", "must be the number to follow, from 0 to 100, or false for none")
		}
	}
	if again := q.Sub("retry"); again.There() {
		r.retry = retry{again.Integer("times"), time.Second}
		if e := again.Node("every"); !e.IsNull() {
			every, err := time.ParseDuration(textOf(e))
			if s, number := e.Float(); number {
				every, err = time.Duration(s*float64(time.Second)), nil
			}
			if r.retry.every = every; err != nil || every < 0 {
				d.schema(e, "request", "request.retry.every", "api.http request.retry.every must be a time such as 500ms, or seconds")
			}
		}
	}
	d.limit(&r.timeout)
	d.repeatable(slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE"}, r.method) || scheme(r.url) == "" || scheme(r.url) == "file")
}

// body reads the body of a request; several body keys are an error.
func (d *decoder) body(q *doctree.Section, wrong func(key, format string, args ...any)) {
	r, first := d.c.http, ""
	for _, key := range []string{"body_text", "body_json", "body_file", "form", "multipart"} {
		n := q.Node(key)
		if n == nil || n.Kind == doctree.Null && key != "body_json" {
			continue
		}
		if first != "" {
			d.schema(n, "request", "request."+key, "api.http request.%s and request.%s exclude each other", first, key)
		}
		first = key
		switch key {
		case "body_text":
			r.body = []byte(textOf(n))
		case "body_json":
			j := n.JSON()
			r.body = jsontree.Style{Kept: true}.Append(nil, &j)
			r.typed("application/json")
		case "body_file":
			if r.bodyFile = trimmed(n); r.bodyFile == "" || filepath.IsAbs(r.bodyFile) {
				wrong(key, "must be a path relative to the document")
			}
		case "form":
			if v := values(q.Value(key)); v != nil {
				r.body = []byte(v.Encode())
				r.typed("application/x-www-form-urlencoded")
			}
		case "multipart":
			d.multipart(q.Value(key))
		}
	}
}

// typed sets the content type of the body unless a header gives it.
func (r *httpCall) typed(kind string) {
	if !r.has("Content-Type") {
		r.headers = append(r.headers, [2]string{"Content-Type", kind})
	}
}

func (r *httpCall) has(header string) bool {
	return slices.ContainsFunc(r.headers, func(h [2]string) bool { return strings.EqualFold(h[0], header) })
}

// values converts names with one value or a list of values each; nil if there are none.
func values(n *doctree.Node) url.Values {
	if n == nil {
		return nil
	}
	v := url.Values{}
	for i := range n.Members() {
		m := &n.Members()[i]
		list := []doctree.Node{m.Value}
		if m.Value.Kind == doctree.Seq {
			list = m.Value.Items()
		}
		for k := range list {
			v.Add(textOf(&m.Key), textOf(&list[k]))
		}
	}
	return v
}

// callUntil repeats a request until its assertions hold or its tries are used up.
func (x *executor) callUntil(ctx context.Context, c *Case) (*Failure, evidence, error) {
	for n := 0; ; n++ {
		f, notes, err := x.call(ctx, c)
		if err != nil || f == nil || n >= c.http.retry.times {
			if f != nil && n > 0 {
				f.Message += fmt.Sprintf(" (after %d tries)", n+1)
			}
			return f, notes, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(c.http.retry.every):
		}
	}
}

// scheme is the scheme of a URL in lower case, "" for a path.
func scheme(u string) string {
	name, _, ok := strings.Cut(u, ":")
	if !ok || name == "" {
		return ""
	}
	for i, c := range strings.ToLower(name) {
		if c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || strings.ContainsRune("+-.", c)) {
			continue
		}
		return ""
	}
	return strings.ToLower(name)
}
