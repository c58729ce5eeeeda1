// Package exchange holds the values of one request to a server and of its response, so that
// contracts can describe HTTP without touching a network. Package system/http sends the request.
// The package is pure values and sends nothing.
package exchange

import (
	"context"
	"time"
)

// Request is one request.
type Request struct {
	Method  string
	URL     string      // absolute: http or https
	Headers [][2]string // name and value, in the given order; names may repeat
	Body    []byte      // nil: none
	Timeout time.Duration
	// MaxBody is the largest response body in bytes; a longer one is an error.
	MaxBody int64
	// Redirects is how many redirects are followed; if there are more, the response that requests
	// the next one is the result. nil: ten, and more are an error.
	Redirects *int
	Insecure  bool // do not check certificates
	// Proxy is the URL of a proxy; "": the environment's proxy; "none": no proxy.
	Proxy string
	// Jar is the number of the cookie jar; 0: none. A number that differs from the previous
	// request's begins an empty jar.
	Jar int
	// CA holds certificates to check the server against, instead of those of this machine. Cert and
	// Key are the client's. All are PEM.
	CA, Cert, Key []byte
}

// Response is a response, whatever its status.
type Response struct {
	Status  int
	Headers [][2]string // sorted by name; values of one name in their original order
	Body    []byte      // as UTF-8 if the response names another known charset
	Raw     []byte      // the body before it was decoded; nil: it was not
	Elapsed time.Duration
	// Sent holds the request lines as sent, without bodies, each followed by the line of the
	// redirect that answered it. URL is the final address.
	Sent      []string
	URL       string
	Redirects int // number of redirects followed
}

// UnreachableError says that no connection to a server was established, so nothing was sent.
type UnreachableError struct {
	Server string // scheme, host and port
	Reason string
}

func (e *UnreachableError) Error() string { return e.Reason }

// Client sends requests. Only one goroutine uses it at a time.
type Client interface {
	// Do sends one request and follows redirects. An error means that no complete response arrived
	// (cut off, too slow, or too large); an [*UnreachableError] means that nobody was there to
	// respond.
	Do(ctx context.Context, r Request) (Response, error)
	Close() error
}

// Opener returns a client for a lane. A case shares no connection state with others.
type Opener func() (Client, error)
