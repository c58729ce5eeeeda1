package spectest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/port/exchange"
)

// formPart is a part of a multipart body.
type formPart struct{ name, text, file, kind, filename string }

// multipart reads the parts of a body, in order.
func (d *decoder) multipart(n *doctree.Node) {
	for i := 0; n != nil && i < len(n.Members()); i++ {
		m := &n.Members()[i]
		p, where := formPart{name: textOf(&m.Key)}, "request.multipart."+textOf(&m.Key)
		if m.Value.Kind != doctree.Map {
			p.text = textOf(&m.Value)
			d.c.http.parts = append(d.c.http.parts, p)
			continue
		}
		s := d.strict(true, func() *doctree.Section {
			return d.Section(&m.Value, where, format().part)
		})
		read := func(key string) string {
			if v := s.Node(key); !v.IsNull() {
				return textOf(v)
			}
			return ""
		}
		p.text, p.file, p.kind, p.filename = read("text"), read("file"), read("type"), read("filename")
		if s.Given("text") == s.Given("file") {
			d.schema(&m.Value, "request", where, "%s must have one of text and file", where)
		}
		if at := s.Node("file"); !at.IsNull() && (strings.TrimSpace(p.file) == "" || filepath.IsAbs(p.file)) {
			d.schema(at, "request", where+".file", "%s.file must be a path relative to the document", where)
		}
		d.c.http.parts = append(d.c.http.parts, p)
	}
}

// transport reads the certificates, the proxy and the cookies of a request.
func (d *decoder) transport(q *doctree.Section, wrong func(key, format string, args ...any)) {
	r := d.c.http
	for key, to := range map[string]*string{"cacert": &r.caFile, "cert": &r.certFile, "key": &r.keyFile} {
		if n := q.Node(key); !n.IsNull() {
			if *to = trimmed(n); *to == "" || filepath.IsAbs(*to) {
				wrong(key, "must be a path relative to the document")
			}
		}
	}
	if r.keyFile != "" && r.certFile == "" {
		wrong("key", "is for a certificate, and cert names none")
	}
	if r.insecure && r.caFile != "" {
		wrong("cacert", "and request.insecure exclude each other")
	}
	if n := q.Node("proxy"); !n.IsNull() {
		r.proxy = trimmed(n)
		if u, err := url.Parse(r.proxy); r.proxy != "none" && !strings.Contains(r.proxy, "${") && (err != nil || u.Host == "" || scheme(r.proxy) == "") {
			wrong("proxy", "must be a URL such as http://localhost:3128, or none")
		}
	}
	var pairs []string
	for name, n := q.Value("cookies"), 0; name != nil && n < len(name.Members()); n++ {
		m := &name.Members()[n]
		if pair := textOf(&m.Key) + "=" + textOf(&m.Value); strings.ContainsAny(pair, ";\r\n\x00") {
			wrong("cookies", "cannot hold %q", textOf(&m.Key))
		} else {
			pairs = append(pairs, pair)
		}
	}
	if pairs != nil {
		if r.has("Cookie") {
			wrong("cookies", "and the header Cookie exclude each other")
		}
		r.headers = append(r.headers, [2]string{"Cookie", strings.Join(pairs, "; ")})
	}
}

// outgoing is the request as it is sent, with the content of its files.
func (x *executor) outgoing(r *httpCall) (exchange.Request, *Failure) {
	q := exchange.Request{
		Method: r.method, URL: r.url, Headers: r.headers, Body: r.body, Timeout: r.timeout, MaxBody: maxBody,
		Redirects: r.redirects, Insecure: r.insecure, Proxy: r.proxy,
	}
	if r.jar {
		if x.chain == nil { // a case that runs alone begins without cookies
			x.jar++
		}
		q.Jar = x.jar
	}
	for _, f := range []struct {
		name, key string
		to        *[]byte
	}{{r.bodyFile, "body_file", &q.Body}, {r.caFile, "cacert", &q.CA}, {r.certFile, "cert", &q.Cert}, {r.keyFile, "key", &q.Key}} {
		if f.name == "" {
			continue
		}
		data, fault := x.readInRoot(f.name, "api.http request."+f.key)
		if fault != nil {
			return q, fault
		}
		*f.to = data
	}
	if q.Key == nil {
		q.Key = q.Cert
	}
	if r.parts == nil {
		return q, nil
	}
	body, kind, f := x.parts(r.parts)
	q.Body = body
	if !r.has("Content-Type") {
		q.Headers = append(q.Headers[:len(q.Headers):len(q.Headers)], [2]string{"Content-Type", kind})
	}
	return q, f
}

// parts encodes a multipart body. The boundary is derived from the parts, so that equal requests
// have equal bodies.
func (x *executor) parts(list []formPart) (body []byte, kind string, f *Failure) {
	texts := make([][]byte, len(list))
	sum := fnv.New64a()
	for i, p := range list {
		texts[i] = []byte(p.text)
		if p.file != "" {
			if texts[i], f = x.readInRoot(p.file, "api.http request.multipart."+p.name+".file"); f != nil {
				return nil, "", f
			}
		}
		sum.Write(texts[i])
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(fmt.Sprintf("thresh-%016x", sum.Sum64())); err != nil {
		return nil, "", &Failure{Category: Runtime, Message: err.Error()}
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "%0D", "\n", "%0A").Replace
	for i, p := range list {
		h := textproto.MIMEHeader{}
		disposition := `form-data; name="` + quoted(p.name) + `"`
		if p.file != "" && p.filename == "" {
			p.filename = filepath.Base(p.file)
		}
		if p.filename != "" {
			disposition += `; filename="` + quoted(p.filename) + `"`
		}
		if p.kind == "" && p.file != "" {
			if p.kind = mime.TypeByExtension(filepath.Ext(p.file)); p.kind == "" {
				p.kind = "application/octet-stream"
			}
		}
		h.Set("Content-Disposition", disposition)
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = part.Write(texts[i])
		}
		if err != nil {
			return nil, "", &Failure{Category: Runtime, Message: err.Error()}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", &Failure{Category: Runtime, Message: err.Error()}
	}
	return b.Bytes(), w.FormDataContentType(), nil
}
