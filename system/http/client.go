// Package http reaches services over HTTP: [Open] is a system.Kind, and [OpenClient] an
// exchange.Opener for contracts that make single requests.
//
// The client returns an answer whatever its status. Failures before that are errors whose text
// contains neither an address of this machine nor a port chosen for the occasion, so that equal
// failures read the same. It keeps cookies on request, takes proxies from the environment, follows
// redirects and unpacks gzip bodies. A body larger than the request allows is an error and is not
// truncated. Header names are returned as the server writes them.
//
// The package knows no contract; its values are in port/exchange.
package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/thresh-dev/thresh/engine/curl"
	"github.com/thresh-dev/thresh/port/exchange"
)

// maxRedirects is the number of redirects that are followed.
const maxRedirects = 10

// maxHeaders is the maximum size of an answer's headers, in bytes.
const maxHeaders = 1 << 20

// Client sends requests, one at a time, each on its own connection.
type Client struct {
	transport *http.Transport
	client    *http.Client
	jar       http.CookieJar
	jarNumber int
}

// OpenClient makes a client; it is an exchange.Opener.
func OpenClient() (exchange.Client, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: maxHeaders, DialContext: dial, DialTLSContext: dialTLS,
	}
	c := &http.Client{Transport: t, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		return nil
	}}
	return &Client{transport: t, client: c}, nil
}

var errRedirects = fmt.Errorf("more than %d redirects", maxRedirects)

// Do implements exchange.Client.
func (c *Client) Do(ctx context.Context, r exchange.Request) (exchange.Response, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	var out exchange.Response
	var conn net.Conn // the last request's connection, after redirects
	var reached atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { conn = i.Conn },
		WroteHeaderField: func(name string, values []string) {
			for _, v := range values {
				out.Sent = append(out.Sent, name+": "+v)
			}
		},
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				reached.Store(true)
			}
		},
	})
	q, err := http.NewRequestWithContext(ctx, r.Method, curl.Address(r.URL), body)
	if err != nil {
		return exchange.Response{}, fmt.Errorf("make the request: %w", withoutURL(err))
	}
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], "Host") {
			q.Host = h[1] // net/http takes Host only from here
			continue
		}
		q.Header.Add(h[0], h[1])
	}
	start := time.Now()
	client, leave, err := c.clientFor(r)
	if err != nil {
		return exchange.Response{}, err
	}
	defer leave()
	follow := client.CheckRedirect
	client.CheckRedirect = func(q *http.Request, via []*http.Request) error {
		err := follow(q, via)
		if err == nil {
			out.Sent = append(out.Sent, "", fmt.Sprintf("redirected to %s", q.URL))
			out.Redirects, out.URL = len(via), q.URL.String()
		}
		return err
	}
	out.URL = q.URL.String()
	answer, err := client.Do(q)
	if err != nil {
		why := stableError(ctx, r, err)
		if !reached.Load() && neverConnected(err) && !errors.Is(why, context.Canceled) {
			server := q.URL.Scheme + "://" + q.URL.Host
			if r.Proxy != "" {
				server = "the proxy " + r.Proxy
			}
			return exchange.Response{}, &exchange.UnreachableError{Server: server, Reason: why.Error()}
		}
		return exchange.Response{}, why
	}
	defer answer.Body.Close()
	data, err := read(answer, r.MaxBody)
	if err != nil {
		if _, packed := errors.AsType[unpackError](err); packed { // the body arrived completely: no connection was cut
			return exchange.Response{}, err
		}
		return exchange.Response{}, stableError(ctx, r, fmt.Errorf("read the answer: %w", err))
	}
	if int64(len(data)) > r.MaxBody {
		return exchange.Response{}, fmt.Errorf("the answer is larger than %d bytes", r.MaxBody)
	}
	out.Status, out.Body, out.Elapsed = answer.StatusCode, data, time.Since(start)
	if text := decoded(data, answer.Header.Get("Content-Type")); text != nil {
		out.Body, out.Raw = text, data
	}
	if len(answer.TransferEncoding) > 0 { // net/http has removed it
		answer.Header["Transfer-Encoding"] = answer.TransferEncoding
	}
	var written map[string]string
	if c, ok := conn.(*headConn); ok {
		written = c.names()
	}
	for name, values := range answer.Header {
		if n := written[name]; n != "" {
			name = n
		}
		for _, v := range values {
			out.Headers = append(out.Headers, [2]string{name, v})
		}
	}
	slices.SortStableFunc(out.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out, nil
}

// read reads a body, and unpacks it if the server packed it: the request did not ask for that, but
// some servers always do.
func read(answer *http.Response, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	coding := strings.ToLower(answer.Header.Get("Content-Encoding"))
	if err != nil || len(data) == 0 || int64(len(data)) > most || coding != "gzip" && coding != "x-gzip" {
		return data, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, unpackError{"the Content-Encoding is " + coding + ", but the body does not begin as gzip does"}
	}
	if data, err = io.ReadAll(io.LimitReader(unpacked, most+1)); errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, unpackError{"the body ends before its gzip does"}
	} else if err != nil {
		return nil, unpackError{"the body cannot be unpacked: " + err.Error()}
	}
	return data, nil
}

// unpackError is why a completely received body cannot be unpacked.
type unpackError struct{ why string }

func (e unpackError) Error() string { return e.why }

// decoded returns a body in UTF-8 if its type names another known charset, else nil.
func decoded(body []byte, kind string) []byte {
	_, params, err := mime.ParseMediaType(kind)
	charset := params["charset"]
	if err != nil || charset == "" || strings.EqualFold(charset, "utf-8") {
		return nil
	}
	enc, err := htmlindex.Get(charset)
	for _, dash := range []string{"-", ""} { // servers in Python say latin-1 and utf_16
		if err != nil {
			enc, err = htmlindex.Get(strings.NewReplacer("_", dash, "-", dash).Replace(charset))
		}
	}
	if err != nil {
		return nil
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(enc.NewDecoder()), body)
	if err != nil {
		return nil
	}
	return text
}

// Close implements exchange.Client.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// stableError rewrites an error in words that do not differ from run to run.
func stableError(ctx context.Context, r exchange.Request, err error) error {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return late{r.Timeout}
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server cut the connection")
	case errors.As(err, &dns):
		return fmt.Errorf("the host %s cannot be resolved", dns.Name)
	case errors.As(err, &unknown):
		return errors.New("the server's certificate is signed by an unknown authority")
	}
	return withoutURL(err)
}

// neverConnected reports whether a request failed because no connection was made, other than
// because its address is invalid.
func neverConnected(err error) bool {
	var op *net.OpError
	var address *net.AddrError
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") && !errors.As(err, &address)
}

// late is the error of a request that exceeded its time limit.
type late struct{ limit time.Duration }

func (e late) Error() string { return fmt.Sprintf("no whole answer within %s", e.limit) }
func (late) Unwrap() error   { return context.DeadlineExceeded }

// withoutURL removes the method and URL that net/http puts in front of an error.
func withoutURL(err error) error {
	var u interface{ Unwrap() error }
	if errors.As(err, &u) && strings.HasPrefix(fmt.Sprintf("%T", err), "*url.") {
		return u.Unwrap()
	}
	return err
}

// noProxy is the Proxy of a request that uses none.
const noProxy = "none"

// clientFor returns the client configured for a request; leave releases its connections.
func (c *Client) clientFor(r exchange.Request) (one *http.Client, leave func(), err error) {
	own := *c.client
	if r.Redirects != nil {
		own.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
			if len(via) > *r.Redirects {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	if r.Jar != 0 {
		if c.jar == nil || c.jarNumber != r.Jar {
			if c.jar, err = cookiejar.New(nil); err != nil {
				return nil, nil, err
			}
			c.jarNumber = r.Jar
		}
		own.Jar = c.jar
	}
	if !r.Insecure && r.Proxy == "" && r.CA == nil && r.Cert == nil {
		return &own, func() {}, nil
	}
	t := c.transport.Clone()
	if r.Insecure || r.CA != nil || r.Cert != nil {
		t.DialTLSContext, t.TLSClientConfig = nil, &tls.Config{InsecureSkipVerify: r.Insecure} // the case asks for it
	}
	if r.CA != nil {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(r.CA) {
			return nil, nil, errors.New("the file of cacert holds no certificate in PEM")
		}
	}
	if r.Cert != nil {
		pair, err := tls.X509KeyPair(r.Cert, r.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("the client's certificate cannot be used: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	switch r.Proxy {
	case "":
	case noProxy:
		t.Proxy = nil
	default:
		u, err := url.Parse(r.Proxy)
		if err != nil || u.Host == "" {
			return nil, nil, fmt.Errorf("%q is not a URL of a proxy", r.Proxy)
		}
		t.Proxy = http.ProxyURL(u)
	}
	own.Transport = t
	return &own, t.CloseIdleConnections, nil
}
