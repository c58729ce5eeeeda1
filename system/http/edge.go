package http

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// idle is how long a connection is kept between calls: shorter than servers do,
// so that no call meets one that is just being closed.
const idle = 500 * time.Millisecond

// edge is a service.
type edge struct {
	site      system.Site
	base      *url.URL
	transport *http.Transport
	ops       []sut.Operation
}

// Open implements system.Kind.
func Open(ctx context.Context, s system.Site) (system.Edge, error) {
	base, err := url.Parse(s.Address(s.Plan.URL))
	if err != nil {
		return nil, diag.Environment("the URL of the system %s: %w", s.Plan.Name, plain(err))
	}
	e := &edge{site: s, base: base, ops: s.Plan.Operations, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialQuick, DisableCompression: true, MaxResponseHeaderBytes: maxHeaders,
		IdleConnTimeout: idle, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: true,
	}}
	if s.Plan.OpenAPI == "" {
		return e, nil
	}
	if err := e.describe(ctx); err != nil {
		e.transport.CloseIdleConnections()
		return nil, err
	}
	return e, nil
}

// describe reads the operations from their description; those of the system
// file replace the ones of the same name.
func (e *edge) describe(ctx context.Context) error {
	p := e.site.Plan
	text := p.Document
	if systemfile.Remote(p.OpenAPI) {
		limited, cancel := context.WithTimeout(ctx, system.Patience)
		defer cancel()
		ref, err := e.base.Parse(p.OpenAPI)
		if err != nil {
			return diag.Environment("the address %s of operations: %w", p.OpenAPI, plain(err))
		}
		q, err := http.NewRequestWithContext(limited, http.MethodGet, ref.String(), http.NoBody)
		if err != nil {
			return diag.Environment("read the operations from %s: %w", p.OpenAPI, plain(err))
		}
		e.headers(q, nil, nil)
		answer, err := e.transport.RoundTrip(q)
		if err != nil {
			return diag.Environment("read the operations from %s: %w", p.OpenAPI, plain(err))
		}
		defer answer.Body.Close()
		if text, err = read(answer, sut.MaxOutput); err != nil {
			return diag.Environment("read the operations from %s: %w", p.OpenAPI, plain(err))
		}
		if answer.StatusCode/100 != 2 {
			return diag.Environment("read the operations from %s: HTTP %d", p.OpenAPI, answer.StatusCode)
		}
	}
	found, err := openapi.Operations(text)
	if err != nil {
		return diag.Environment("the operations in %s: %w", p.OpenAPI, err)
	}
	e.ops = slices.Clone(p.Operations)
	for _, o := range found {
		if _, ok := sut.Find(p.Operations, o.Name); !ok {
			e.ops = append(e.ops, o)
		}
	}
	slices.SortStableFunc(e.ops, func(a, b sut.Operation) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// Operations implements system.Edge.
func (e *edge) Operations() []sut.Operation { return e.ops }

// Notes implements system.Edge.
func (e *edge) Notes() []string { return nil }

// Close implements system.Edge.
func (e *edge) Close() error {
	e.transport.CloseIdleConnections()
	return nil
}

// Call implements system.Edge.
func (e *edge) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	name := c.Operation
	if name == "" {
		name = e.site.Plan.Input.Operation
	}
	op, ok := sut.Find(e.ops, name)
	if !ok {
		return sut.Observation{}, system.Unknown(e.site.Plan, name, e.ops)
	}
	q, err := e.request(ctx, op, &c)
	if err != nil {
		return sut.Observation{}, err
	}
	began := time.Now()
	o := sut.Observation{End: sut.Answered}
	answer, err := e.transport.RoundTrip(q)
	if err == nil {
		o.Status = answer.StatusCode
		o.Wait = retryAfter(answer.Header.Get("Retry-After"))
		o.Output, err = read(answer, sut.MaxOutput)
		answer.Body.Close()
	}
	o.Elapsed = time.Since(began)
	switch {
	case err != nil:
		broken(ctx, &o, err, began)
	case int64(len(o.Output)) > sut.MaxOutput:
		o.Output = o.Output[:sut.MaxOutput]
		system.Flood(&o)
	default:
		judge(&o, op)
	}
	return o, nil
}

// judge says what an answer's status means.
func judge(o *sut.Observation, op *sut.Operation) {
	why := func() string {
		line, _, _ := bytes.Cut(bytes.TrimSpace(o.Output[:min(len(o.Output), 200)]), []byte("\n"))
		return strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", o.Status, strings.ToValidUTF8(string(line), "\uFFFD")), ": ")
	}
	switch {
	case o.Status >= 500:
		o.End, o.Why = sut.Crashed, fmt.Sprintf("HTTP %d", o.Status)
	case slices.Contains(op.Rejects, strconv.Itoa(o.Status)):
		o.End, o.Why = sut.Refused, why()
	case o.Status >= 400:
		o.End, o.Why, o.Undeclared = sut.Refused, why(), op.Rejects != nil
	default:
		o.Value = system.Returned(op, o.Output)
	}
}

// broken says how a call ended that got no whole answer.
func broken(ctx context.Context, o *sut.Observation, err error, began time.Time) {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var wrongHost x509.HostnameError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		o.End, o.Why = sut.Unreachable, fmt.Sprintf("the host %s is not known", dns.Name)
	case errors.As(err, &unknown), errors.As(err, &wrongHost):
		o.End, o.Why = sut.Unreachable, "the server's certificate cannot be trusted"
	case errors.As(err, &op) && op.Op == "dial":
		o.End, o.Why = sut.Unreachable, "no connection to the server: "+op.Err.Error()
		if errors.Is(err, context.DeadlineExceeded) || op.Timeout() {
			o.Why = "no connection to the server in time"
		}
	case ctx.Err() != nil:
		deadline, _ := ctx.Deadline()
		system.Late(o, deadline.Sub(began).Round(time.Millisecond))
	case o.Status != 0:
		o.End, o.Why, o.Status = sut.Crashed, "the connection ended before the answer did", 0
	case strings.Contains(err.Error(), "malformed HTTP"):
		o.End, o.Why = sut.Crashed, "the answer is no HTTP"
	default:
		o.End, o.Why = sut.Crashed, "the server cut the connection"
	}
}

// retryAfter is how long a server asks to be left alone.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// request makes the request of an operation.
func (e *edge) request(ctx context.Context, op *sut.Operation, c *sut.Call) (*http.Request, error) {
	args, raw, err := system.Arguments(e.site.Plan, op, c)
	if err != nil {
		return nil, err
	}
	f := filler{args: args}
	path := f.text(op.Path, url.PathEscape)
	if len(f.missing) > 0 {
		return nil, diag.Environment("call %s of the system %s: the path has no value for %s", op.Name, e.site.Plan.Name, strings.Join(f.missing, ", "))
	}
	query := url.Values{}
	for _, q := range op.Query {
		f.missing = nil
		if list, ok := f.list(q[1]); ok { // name=a&name=b, as OpenAPI has it unless it says otherwise
			for _, v := range list {
				query.Add(q[0], plainText(v))
			}
			continue
		}
		if v := f.text(q[1], nil); len(f.missing) == 0 { // a parameter without its value is not sent
			query.Add(q[0], v)
		}
	}
	at := strings.TrimSuffix(e.base.String(), "/") + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	body, kind := c.Input, "application/octet-stream"
	if json.Valid(body) {
		kind = "application/json"
	}
	if !raw {
		if body, err = f.body(op.JSON); err != nil {
			return nil, fmt.Errorf("make the body of %s: %w", op.Name, err)
		}
		kind = "application/json"
		if body != nil && isForm(op) {
			body = form(body)
		}
	}
	var reader io.Reader = http.NoBody
	if body != nil {
		reader = bytes.NewReader(body)
	}
	q, err := http.NewRequestWithContext(ctx, op.Method, at, reader)
	if err != nil {
		return nil, fmt.Errorf("make the request of %s: %w", op.Name, plain(err))
	}
	if body != nil {
		q.Header.Set("Content-Type", kind)
	}
	e.headers(q, op, &f)
	return q, nil
}

// isForm reports whether the header Content-Type of an operation says that its body
// is a form.
func isForm(op *sut.Operation) bool {
	return slices.ContainsFunc(op.Headers, func(h [2]string) bool {
		kind, _, _ := strings.Cut(h[1], ";")
		return strings.EqualFold(h[0], "Content-Type") && strings.TrimSpace(kind) == "application/x-www-form-urlencoded"
	})
}

// form is a JSON object as fields of a form, a list as one field for each item; null
// is no field. Anything else stays what it is.
func form(body []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return body
	}
	values := url.Values{}
	for name, v := range fields {
		list := []json.RawMessage{v}
		if string(v) == "null" || v[0] == '[' && json.Unmarshal(v, &list) != nil {
			continue
		}
		for _, x := range list {
			values.Add(name, plainText(x))
		}
	}
	return []byte(values.Encode())
}

// headers sets those of the system, then those of the operation.
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
		if v := f.text(h[1], headerValue); len(f.missing) == 0 {
			set(h[0], v)
		}
	}
}

// headerValue is a text as a header can hold it.
func headerValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
