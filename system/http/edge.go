package http

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/openapi"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// idle is how long a connection is kept between calls: less than servers keep it, so that no call
// meets a connection that is just being closed.
const idle = 500 * time.Millisecond

// edge is a service.
type edge struct {
	site      system.Site
	base      *url.URL
	transport *http.Transport
	ops       []sut.Operation
	address   string                    // base without a trailing slash
	templates map[string]*jsontree.Node // bodies, by operation
}

// Open implements system.Kind.
func Open(ctx context.Context, s system.Site) (system.Edge, error) {
	base, err := url.Parse(s.Address(s.Plan.URL))
	if err != nil {
		return nil, diag.Environment("the URL of the system %s: %w", s.Plan.Name, withoutURL(err))
	}
	e := &edge{site: s, base: base, ops: s.Plan.Operations, address: strings.TrimSuffix(base.String(), "/"), transport: &http.Transport{
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

// describe reads the operations from their OpenAPI description; those of the system file replace
// the ones with the same name.
func (e *edge) describe(ctx context.Context) error {
	p := e.site.Plan
	text := p.Document
	if systemfile.Remote(p.OpenAPI) {
		var err error
		if text, err = e.fetch(ctx, p.OpenAPI); err != nil {
			err = diag.Environment("read the operations from %s: %w", p.OpenAPI, err)
			if st, statErr := os.Stat(p.OpenAPI); statErr == nil && st.Mode().IsRegular() {
				err = diag.WithHint(err, "a path that begins with / is one on the service; that of a file is relative to the system file")
			}
			return err
		}
	}
	found, err := openapi.Operations(text, p)
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

// fetch gets the description of the operations from a path on the service or a URL.
func (e *edge) fetch(ctx context.Context, at string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, system.Patience)
	defer cancel()
	ref, err := e.base.Parse(at)
	if err != nil {
		return nil, withoutURL(err)
	}
	q, err := http.NewRequestWithContext(limited, http.MethodGet, ref.String(), http.NoBody)
	if err != nil {
		return nil, withoutURL(err)
	}
	e.headers(q, nil, nil)
	answer, err := e.transport.RoundTrip(q)
	if err != nil {
		why := stableError(limited, exchange.Request{Timeout: system.Patience}, err)
		if neverConnected(err) {
			why = &exchange.UnreachableError{Server: e.address, Reason: why.Error()}
		}
		return nil, why
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("HTTP %d", answer.StatusCode)
	}
	text, err := read(answer, sut.MaxOutput)
	if err != nil {
		return nil, withoutURL(err)
	}
	return text, nil
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
	op, err := system.Operation(e.site.Plan, c.Operation, e.ops)
	if err != nil {
		return sut.Observation{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	q, err := e.request(ctx, op, &c)
	if err != nil {
		return sut.Observation{}, err
	}
	began := time.Now()
	o := sut.Observation{End: sut.Answered}
	sent, kept := false, false // sent completely; on a reused connection and unanswered
	q = q.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { kept = i.Reused },
		GotFirstResponseByte: func() { kept = false },
		WroteRequest:         func(i httptrace.WroteRequestInfo) { sent = sent || i.Err == nil },
	}))
	answer, err := e.transport.RoundTrip(q)
	if err != nil && kept && ctx.Err() == nil && q.GetBody != nil { // the server may have closed the connection before it saw the call
		e.transport.CloseIdleConnections()
		if q.Body, err = q.GetBody(); err != nil {
			return o, err
		}
		answer, err = e.transport.RoundTrip(q)
	}
	if err == nil {
		o.Status, o.Header = answer.StatusCode, answer.Header
		o.Wait = retryAfter(answer.Header.Get("Retry-After"))
		o.Output, err = read(answer, sut.MaxOutput)
		answer.Body.Close()
		if text := decoded(o.Output, answer.Header.Get("Content-Type")); text != nil && err == nil && int64(len(o.Output)) <= sut.MaxOutput {
			o.Output = text
		}
	}
	o.Elapsed = time.Since(began)
	switch {
	case err != nil:
		broken(ctx, &o, err, c.Timeout)
		if o.End == sut.Unreachable && sent {
			o.End, o.Why = sut.Crashed, cut
		}
		if o.End == sut.Crashed {
			o.Sent = e.curl(q, c.Named)
		}
	case int64(len(o.Output)) > sut.MaxOutput:
		o.Output = o.Output[:sut.MaxOutput]
		system.Flood(&o)
	default:
		judge(&o, op)
	}
	return o, nil
}

// judge interprets an answer's status.
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

const cut = "the server cut the connection"

// broken records how a call without a complete answer ended.
func broken(ctx context.Context, o *sut.Observation, err error, limit time.Duration) {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var wrongHost x509.HostnameError
	var op *net.OpError
	var packed unpackError
	switch {
	case errors.As(err, &packed):
		o.End, o.Why = sut.Crashed, packed.why
	case errors.As(err, &dns):
		o.End, o.Why = sut.Unreachable, fmt.Sprintf("the host %s cannot be resolved", dns.Name)
	case errors.As(err, &unknown), errors.As(err, &wrongHost):
		o.End, o.Why = sut.Unreachable, "the server's certificate cannot be trusted"
	case errors.As(err, &op) && op.Op == "dial":
		o.End, o.Why = sut.Unreachable, "no connection to the server: "+op.Err.Error()
		if errors.Is(err, context.DeadlineExceeded) || op.Timeout() {
			o.Why = "no connection to the server in time"
		}
	case ctx.Err() != nil:
		system.Late(o, limit)
	case o.Status != 0:
		o.End, o.Why, o.Status = sut.Crashed, "the connection ended before the answer did", 0
	case strings.Contains(err.Error(), "malformed HTTP"):
		o.End, o.Why = sut.Crashed, "the answer is not HTTP"
	default:
		o.End, o.Why = sut.Crashed, cut
	}
}

// retryAfter returns how long a server asks clients to wait.
func retryAfter(text string) time.Duration {
	if text == "" {
		return 0
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}
