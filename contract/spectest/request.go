package spectest

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// defaultRequestTime is how long an HTTP request may take.
const defaultRequestTime = 5 * time.Second

func (d *decoder) textFile(n *doctree.Node) {
	f := &textFile{self: true}
	d.c.text = f
	p := n.Get("path")
	if p.IsNull() {
		return
	}
	f.path, f.self, d.c.about = textOf(p), false, p.Pos
	if filepath.IsAbs(f.path) {
		d.schema(p, "path", "path", "text.file path must be relative: %s", f.path)
	}
}

func (d *decoder) httpCall(n, harness *doctree.Node) {
	d.otherHarness(harness)
	r := &httpCall{timeout: defaultRequestTime}
	d.c.http = r
	q := n.Get("request")
	if q == nil || q.Kind != doctree.Map {
		d.schema(q, "request", "request", "api.http requires a request mapping")
		return
	}
	d.strange(q, "request", requestKeys()...)
	if m := q.Get("method"); !m.IsNull() {
		r.method = strings.ToUpper(trimmed(m))
	}
	if r.method == "" {
		d.schema(q, "request", "request.method", "api.http request.method is required")
	}
	if strings.ContainsAny(r.method, " \t\r\n/") {
		d.schema(q.Get("method"), "request", "request.method", "api.http request.method is no method: %s", r.method)
	}
	if u := q.Get("url"); !u.IsNull() {
		r.url, d.c.about = trimmed(u), u.Pos
	}
	if r.url == "" {
		d.schema(q, "request", "request.url", "api.http request.url is required")
	} else if scheme(r.url) == "" && filepath.IsAbs(r.url) {
		d.schema(q.Get("url"), "request", "request.url", "api.http request.url relative path must not be absolute")
	}
	if h := q.Get("headers"); !h.IsNull() {
		if h.Kind != doctree.Map {
			d.schema(h, "request", "request.headers", "api.http request.headers must be a mapping")
		} else {
			for i := range h.Members {
				m := &h.Members[i]
				name, value := trimmed(&m.Key), trimmed(&m.Value)
				if name == "" || strings.ContainsAny(name, " \t\r\n:") || strings.ContainsAny(value, "\r\n\x00") {
					d.schema(&m.Key, "request", "request.headers", "api.http request.headers cannot hold %q", name)
					continue
				}
				r.headers = append(r.headers, [2]string{name, value})
			}
		}
	}
	text, json := q.Get("body_text"), q.Get("body_json")
	if !text.IsNull() && json != nil {
		d.schema(json, "request", "request", "api.http request.body_text and request.body_json exclude each other")
	}
	switch {
	case !text.IsNull():
		r.body = []byte(textOf(text))
	case json != nil:
		j := toJSON(json)
		r.body = jsontree.Style{Kept: true}.Append(nil, &j)
		typed := false
		for _, h := range r.headers {
			typed = typed || h[0] == "Content-Type"
		}
		if !typed {
			r.headers = append(r.headers, [2]string{"Content-Type", "application/json"})
		}
	}
	d.requestMore(q)
	d.limit(harness, &r.timeout)
	d.repeatable(harness, slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE"}, r.method) || scheme(r.url) == "" || scheme(r.url) == "file")
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
