// Package exchange holds the values of one request to a server and of its
// answer, so that contracts can describe HTTP without touching a network.
// Package system/http sends the request. The package is pure values: nothing is
// sent here.
package exchange

import (
	"context"
	"time"
)

// Request is one request.
type Request struct {
	Method  string
	URL     string      // absolute: http or https
	Headers [][2]string // name and value, in the order given; the same name may stand twice
	Body    []byte      // nil: none
	Timeout time.Duration
	// MaxBody is how much of the answer's body is read; a longer one is an error.
	MaxBody int64
	// Redirects is how many are followed; the answer that asks for one more is the
	// answer. nil: ten, and more are an error.
	Redirects *int
	Insecure  bool // certificates are not checked
	// Proxy is the URL of a proxy, "" for that of the environment, "none" for none.
	Proxy string
	// Jar is the number of the jar that cookies are taken from and kept in, 0 for
	// none. Another number than that of the request before begins an empty one.
	Jar int
	// CA are certificates that the server's is checked by in place of those of this
	// machine; Cert and Key those that the client shows. All are PEM.
	CA, Cert, Key []byte
}

// Response is an answer, whatever its status.
type Response struct {
	Status  int
	Headers [][2]string // name and value, sorted by name; values of one name in their order
	Body    []byte      // as UTF-8 if the answer names another charset that is known
	Raw     []byte      // the body before it was decoded, nil if it was not
	Elapsed time.Duration
	// Sent are the lines of the requests as they went, without bodies, each followed
	// by that of the redirect that answered it. URL is where the last one went.
	Sent      []string
	URL       string
	Redirects int // that were followed
}

// UnreachableError says that no connection to a server came about: it has not
// been sent anything.
type UnreachableError struct {
	Server string // scheme, host and port
	Reason string
}

func (e *UnreachableError) Error() string { return e.Reason }

// Client sends requests; it may be used by one goroutine at a time.
type Client interface {
	// Do sends one request and follows redirects. An error means that no whole
	// answer came: cut, too slow, too large; an [*UnreachableError] that there is
	// nobody to answer.
	Do(ctx context.Context, r Request) (Response, error)
	Close() error
}

// Opener makes a client for a lane. A case sees no connection state of another.
type Opener func() (Client, error)
