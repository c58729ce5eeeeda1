// Package httpcall sends HTTP requests: it turns an exchange.Request into an
// exchange.Response. Its [Open] is an exchange.Opener.
//
// An answer is an answer whatever its status. What goes wrong on the way is an
// error whose text names no address of this machine and no port that was drawn
// for the occasion, so that equal failures read the same. Cookies are not kept,
// proxies are taken from the environment, redirects are followed, and a body
// that is larger than asked for is an error and not a part of one.
//
// The package knows no contract; its values stand in engine/exchange.
package httpcall

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/thresh-dev/thresh/engine/exchange"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 10

// maxHeaders is how much an answer's headers may take.
const maxHeaders = 1 << 20

// Client sends requests, one at a time, each on a connection of its own.
type Client struct {
	transport *http.Transport
	client    *http.Client
}

// Open makes a client; it is an exchange.Opener.
func Open() (exchange.Client, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DisableCompression: true,
		ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeaders,
	}
	c := &http.Client{Transport: t, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		return nil
	}}
	return &Client{t, c}, nil
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
	q, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return exchange.Response{}, fmt.Errorf("make the request: %w", plain(err))
	}
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], "Host") {
			q.Host = h[1] // Go sends no other
			continue
		}
		q.Header.Add(h[0], h[1])
	}
	start := time.Now()
	answer, err := c.client.Do(q)
	if err != nil {
		return exchange.Response{}, told(ctx, r, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, r.MaxBody+1))
	if err != nil {
		return exchange.Response{}, told(ctx, r, fmt.Errorf("read the answer: %w", err))
	}
	if int64(len(data)) > r.MaxBody {
		return exchange.Response{}, fmt.Errorf("the answer is larger than %d bytes", r.MaxBody)
	}
	out := exchange.Response{Status: answer.StatusCode, Body: decoded(data, answer.Header.Get("Content-Type")), Elapsed: time.Since(start)}
	for name, values := range answer.Header {
		for _, v := range values {
			out.Headers = append(out.Headers, [2]string{name, v})
		}
	}
	slices.SortStableFunc(out.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out, nil
}

// decoded is a body in UTF-8, if its type names another charset that is known.
func decoded(body []byte, kind string) []byte {
	_, params, err := mime.ParseMediaType(kind)
	charset := params["charset"]
	if err != nil || charset == "" || strings.EqualFold(charset, "utf-8") {
		return body
	}
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return body
	}
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return text
}

// Close implements exchange.Client.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

// told is an error in words that do not differ from run to run.
func told(ctx context.Context, r exchange.Request, err error) error {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no whole answer within %s: %w", r.Timeout, context.DeadlineExceeded)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server cut the connection")
	case errors.As(err, &dns):
		return fmt.Errorf("the host %s is not known", dns.Name)
	case errors.As(err, &unknown):
		return errors.New("the server's certificate is signed by nobody known")
	}
	return plain(err)
}

// plain is an error without the method and URL that net/http puts before it.
func plain(err error) error {
	var u interface{ Unwrap() error }
	if errors.As(err, &u) && strings.HasPrefix(fmt.Sprintf("%T", err), "*url.") {
		return u.Unwrap()
	}
	return err
}
