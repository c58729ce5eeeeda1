package http

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/port/sut"
)

// A server asks to be left alone for some seconds or until a time.
func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 1 ": time.Second, "0": 0, "-1": 0, "soon": 0, "1.5": 0,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := retryAfter(time.Now().Add(48 * time.Hour).UTC().Format(http.TimeFormat)); got < 47*time.Hour || got > 48*time.Hour {
		t.Errorf("in two days: %s", got)
	}
}

// A request that found no server is not one that a server broke.
func TestNeverConnected(t *testing.T) {
	for _, x := range []struct {
		err  error
		want bool
	}{
		{context.DeadlineExceeded, true},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		{&net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}, true},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false},
		{&net.OpError{Op: "dial", Err: &net.AddrError{Err: "no port", Addr: "x"}}, false},
		{&net.AddrError{Err: "no port", Addr: "x"}, false},
		{errors.New("x"), false},
	} {
		if got := neverConnected(x.err); got != x.want {
			t.Errorf("%v: %t", x.err, got)
		}
	}
}

// Why a call got no whole answer is said in words that do not differ from run to run.
func TestBrokenCalls(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	refused := &net.OpError{Op: "dial", Addr: &net.TCPAddr{Port: 20000}, Err: syscall.ECONNREFUSED}
	for _, x := range []struct {
		ctx    context.Context
		status int
		err    error
		end    sut.End
		why    string
	}{
		{t.Context(), 0, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "nobody"}}, sut.Unreachable, "the host nobody cannot be resolved"},
		{t.Context(), 0, x509.UnknownAuthorityError{}, sut.Unreachable, "the server's certificate cannot be trusted"},
		{t.Context(), 0, x509.HostnameError{Host: "x", Certificate: &x509.Certificate{}}, sut.Unreachable, "the server's certificate cannot be trusted"},
		{over, 0, refused, sut.Unreachable, "no connection to the server: connection refused"},
		{t.Context(), 0, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}, sut.Unreachable, "no connection to the server in time"},
		{t.Context(), 0, &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, sut.Unreachable, "no connection to the server in time"},
		{over, 0, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, sut.Hung, "no whole answer within 2s"},
		{t.Context(), 200, syscall.ECONNRESET, sut.Crashed, "the connection ended before the answer did"},
		{t.Context(), 0, errors.New("malformed HTTP status"), sut.Crashed, "the answer is not HTTP"},
		{t.Context(), 0, syscall.ECONNRESET, sut.Crashed, cut},
	} {
		o := sut.Observation{Status: x.status}
		if broken(x.ctx, &o, x.err, 2*time.Second); o.End != x.end || o.Why != x.why || o.Status != 0 {
			t.Errorf("%v: %+v, want %s %q", x.err, o, x.end, x.why)
		}
	}
	limit := exchange.Request{Timeout: 2 * time.Second}
	for _, x := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), context.Canceled, "context canceled"}, {t.Context(), context.DeadlineExceeded, "no whole answer within 2s"}, {over, errors.New("x"), "no whole answer within 2s"},
		{t.Context(), refused, "the connection was refused"}, {t.Context(), syscall.ECONNRESET, "the server cut the connection"}, {t.Context(), &net.DNSError{Name: "nobody"}, "the host nobody cannot be resolved"},
		{t.Context(), x509.UnknownAuthorityError{}, "the server's certificate is signed by an unknown authority"}, {t.Context(), errors.New("anything"), "anything"},
	} {
		if got := stableError(x.ctx, limit, x.err).Error(); got != x.want {
			t.Errorf("%v: %s, want %s", x.err, got, x.want)
		}
	}
}

// What a status means is what the operation says of it, and a reason is no more than a first line.
func TestWhatStatusesMean(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, x := range []struct {
		status     int
		body       string
		rejects    []string
		end        sut.End
		why        string
		undeclared bool
	}{
		{200, "7", nil, sut.Answered, "", false}, {399, "7", []string{"409"}, sut.Answered, "", false},
		{400, "", nil, sut.Refused, "HTTP 400", false}, {400, " no \nmore", []string{"409"}, sut.Refused, "HTTP 400: no ", true},
		{409, long, []string{"404", "409"}, sut.Refused, "HTTP 409: " + long[:200], false}, {200, "no", []string{"200"}, sut.Refused, "HTTP 200: no", false},
		{404, "a\xff", nil, sut.Refused, "HTTP 404: a\uFFFD", false}, {499, "x", []string{}, sut.Refused, "HTTP 499: x", true},
		{500, "no", []string{"500"}, sut.Crashed, "HTTP 500", false},
	} {
		o := sut.Observation{End: sut.Answered, Status: x.status, Output: []byte(x.body)}
		judge(&o, &sut.Operation{Rejects: x.rejects})
		if o.End != x.end || o.Why != x.why || o.Undeclared != x.undeclared || (o.Value != nil) != (x.end == sut.Answered) {
			t.Errorf("%d %q: %+v", x.status, x.rejects, o)
		}
	}
}

func TestHeaderValue(t *testing.T) {
	if got := headerValue("a\tb\r\n\x7fé~ "); got != "a\tb???é~ " {
		t.Errorf("%q", got)
	}
}
