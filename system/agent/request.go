package agent

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// request is a request that can be sent repeatedly.
type request struct {
	method, url string
	query       [][2]string // added to the URL's query
	headers     [][2]string // in order; names may repeat
	body        []byte      // nil: none
	chunked     bool
	trickle     time.Duration
}

// httpDialect returns the dialect of an agent behind any HTTP endpoint.
func httpDialect(p *agentcall.HTTP) (dialect, error) {
	answer, err := agentcall.ParsePath(p.ResponsePath)
	if err != nil {
		return dialect{}, fmt.Errorf("the response path: %w", err)
	}
	method := strings.ToUpper(p.Method)
	if !slices.Contains([]string{"GET", "DELETE", "POST", "PUT", "PATCH"}, method) {
		return dialect{}, fmt.Errorf("%q is not an HTTP method for calling an agent", p.Method)
	}
	text := p.Template
	text = cmp.Or(text, defaultTemplate)
	t := agentcall.ParseTemplate(text)
	build := func(c *agentcall.Call, session string) (request, error) {
		v := agentcall.Values{Prompt: c.Prompt, Session: session, History: c.History}
		if p.Fields {
			v.Fields = agentcall.Fields(c.Prompt)
		}
		q := request{method: method, url: p.URL, query: slices.Clone(p.Query)}
		q.setHeaders(p.Headers, c.Headers, session)
		return q, q.fill(&t, v)
	}
	return dialect{retries: p.Retries, build: build, read: reader{answer: answer}}, nil
}

const defaultTemplate = `{"input": "{prompt}"}`

// setHeaders sets the headers of the plan and the call; the call's win.
func (q *request) setHeaders(plan, call [][2]string, session string) {
	for _, h := range plan {
		replaced := slices.ContainsFunc(call, func(o [2]string) bool { return strings.EqualFold(o[0], h[0]) })
		if !replaced {
			q.headers = append(q.headers, [2]string{h[0], strings.ReplaceAll(h[1], "{session}", session)})
		}
	}
	q.headers = append(q.headers, call...)
}

// header returns the value of a header; "" if it is not set.
func (q *request) header(name string) string {
	for _, h := range q.headers {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// fill puts the filled template into the query or the body.
func (q *request) fill(t *agentcall.Template, v agentcall.Values) error {
	kind := strings.ToLower(q.header("Content-Type"))
	inQuery := q.method == http.MethodGet || q.method == http.MethodDelete
	switch form := t.Form(); {
	case form == agentcall.FormJSON && inQuery:
		return q.overlay(t.JSON(v))
	case form == agentcall.FormJSON:
		q.send([]byte(t.JSON(v)), "application/json")
	case form == agentcall.FormPairs && inQuery:
		q.query = replacing(q.query, t.Pairs(v))
	case inQuery:
		q.query = replacing(q.query, [][2]string{{"q", t.Text(v, agentcall.EscapeNone)}})
	case form == agentcall.FormPairs && (kind == "" || strings.HasPrefix(kind, "application/x-www-form-urlencoded")):
		var b strings.Builder
		for i, p := range t.Pairs(v) {
			if i > 0 {
				b.WriteByte('&')
			}
			b.WriteString(url.QueryEscape(p[0]) + "=" + url.QueryEscape(p[1]))
		}
		q.send([]byte(b.String()), "application/x-www-form-urlencoded")
	default:
		escape := agentcall.EscapeNone
		if strings.Contains(kind, "xml") {
			escape = agentcall.EscapeXML
		}
		q.send([]byte(t.Text(v, escape)), "text/plain; charset=utf-8")
	}
	return nil
}

// send sets the body, and its content type unless the document has set one.
func (q *request) send(body []byte, kind string) {
	q.body = body
	if q.header("Content-Type") == "" {
		q.headers = append(q.headers, [2]string{"Content-Type", kind})
	}
}

// overlay sets query parameters from the members of a JSON object.
func (q *request) overlay(text string) error {
	doc, err := jsontree.Parse([]byte(text), jsontree.Python())
	if err != nil {
		return fmt.Errorf("the template gives no JSON: %w", err)
	}
	if doc.Root.Kind != jsontree.Object {
		q.query = replacing(q.query, [][2]string{{"q", agentcall.Text(&doc.Root)}})
		return nil
	}
	var pairs [][2]string
	for i := range doc.Root.Members {
		m := &doc.Root.Members[i]
		items := []jsontree.Node{m.Value}
		if m.Value.Kind == jsontree.Array {
			items = m.Value.Items
		}
		for j := range items {
			text := agentcall.Text(&items[j])
			if items[j].Kind == jsontree.Bool {
				text = strings.ToLower(text)
			}
			pairs = append(pairs, [2]string{m.Key, text})
		}
	}
	q.query = replacing(q.query, pairs)
	return nil
}

// replacing returns list with the pairs of with in place of those with the same names.
func replacing(list, with [][2]string) [][2]string {
	kept := slices.DeleteFunc(list, func(p [2]string) bool {
		return slices.ContainsFunc(with, func(w [2]string) bool { return w[0] == p[0] })
	})
	return append(kept, with...)
}

// shape changes the request as a call demands.
func (q *request) shape(w *agentcall.Wire) error {
	if w == nil {
		return nil
	}
	if w.Method != "" {
		q.method = w.Method
	}
	q.query = append(q.query, w.Query...)
	if w.Pad > 0 {
		q.body = append(slices.Clone(q.body), bytes.Repeat([]byte(" "), w.Pad)...)
	}
	kind := w.ContentType
	switch w.Encoding {
	case "":
	case "chunked":
		q.chunked = true
	case "gzip":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(q.body); err != nil {
			return fmt.Errorf("compress the body: %w", err)
		}
		if err := z.Close(); err != nil {
			return fmt.Errorf("compress the body: %w", err)
		}
		q.body = b.Bytes()
		q.headers = append(q.headers, [2]string{"Content-Encoding", "gzip"})
	case "utf-16":
		body, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(q.body)
		if err != nil {
			return fmt.Errorf("encode the body: %w", err)
		}
		q.body = body
		if kind == "" {
			kind, _, _ = strings.Cut(q.header("Content-Type"), ";")
			kind += "; charset=utf-16"
		}
	default:
		return fmt.Errorf("%q is not an encoding of a body; chunked, gzip and utf-16 are", w.Encoding)
	}
	if kind != "" {
		q.headers = slices.DeleteFunc(q.headers, func(h [2]string) bool { return strings.EqualFold(h[0], "Content-Type") })
		q.headers = append(q.headers, [2]string{"Content-Type", kind})
	}
	q.headers = append(q.headers, w.Headers...)
	q.trickle = w.Trickle
	return nil
}

// unsettable lists headers that follow from the request itself.
var unsettable = []string{"Content-Length", "Transfer-Encoding", "Trailer"}

// http builds the HTTP request for one attempt.
func (q *request) http(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	if q.body != nil {
		body = bytes.NewReader(q.body)
		if q.trickle > 0 && len(q.body) > 0 {
			body = &slowBody{ctx: ctx, left: q.body, piece: len(q.body)/pieces + 1, pause: q.trickle / pieces}
		} else if q.chunked {
			body = struct{ io.Reader }{body} // hides the length
		}
	}
	hq, err := http.NewRequestWithContext(ctx, q.method, q.url, body)
	if err != nil {
		return nil, err
	}
	if q.trickle > 0 && !q.chunked {
		hq.ContentLength = int64(len(q.body))
	}
	for _, p := range q.query {
		if hq.URL.RawQuery != "" {
			hq.URL.RawQuery += "&"
		}
		hq.URL.RawQuery += url.QueryEscape(p[0]) + "=" + url.QueryEscape(p[1])
	}
	for _, h := range q.headers {
		name := textproto.CanonicalMIMEHeaderKey(h[0])
		switch {
		case slices.Contains(unsettable, name):
			return nil, fmt.Errorf("the header %s follows from the body, it cannot be set", name)
		case !sendable(h):
			return nil, fmt.Errorf("the header %q with the value %q cannot be sent", h[0], h[1])
		case name == "Host":
			hq.Host = h[1]
		default:
			hq.Header.Add(name, h[1])
		}
	}
	if hq.Header["User-Agent"] == nil {
		hq.Header.Set("User-Agent", "thresh")
	}
	return hq, nil
}

// sendable reports whether HTTP allows a header: its name must be a token, its value without
// control characters other than tabs.
func sendable(h [2]string) bool {
	odd := func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return h[0] != "" && !strings.ContainsFunc(h[0], odd) && !strings.ContainsFunc(h[1], control)
}

// pieces is the number of parts in which a slow body is sent.
const pieces = 16

// slowBody is a request body that is sent slowly.
type slowBody struct {
	ctx   context.Context
	left  []byte
	piece int
	pause time.Duration
}

func (t *slowBody) Read(p []byte) (int, error) {
	if len(t.left) == 0 {
		return 0, io.EOF
	}
	timer := time.NewTimer(t.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		return 0, t.ctx.Err()
	}
	n := copy(p, t.left[:min(t.piece, len(t.left))])
	t.left = t.left[n:]
	return n, nil
}
