package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/diag"
)

// Names on the server. Everything of the fleet is below them, so that an
// account's permissions can be kept to them.
const (
	prefix       = "thresh"
	runsSubject  = prefix + ".runs"  // announcements, with the run
	helloSubject = prefix + ".hello" // of workers that want to hear of all runs
	statsSubject = prefix + ".stats"
)

// announceFor is how long an announcement lasts that is not renewed; a
// coordinator renews its own three times as often.
const announceFor = 90 * time.Second

// Access is how to reach a server.
type Access struct {
	// URL is nats://host:4222 or several of them with commas, tls://…, or
	// "embedded", "embedded:PORT", "embedded:HOST:PORT" for a server inside this
	// process.
	URL   string
	Token string // at least MinToken characters; the embedded server makes one if there is none
	Creds string // NATS credentials file
	CA    string // PEM file of certificates to trust, for tls://
	Cert  string // PEM files of a client certificate and its key
	Key   string
	Dir   string // where an embedded server keeps its files
}

// Link is a connection to a server.
type Link struct {
	nc       *nats.Conn
	embedded *broker
	url      string
	token    string // the embedded server's

	mu      sync.Mutex
	objects map[string][]byte // that this side has, by name
}

// Connect reaches the server, or starts the embedded one.
func Connect(ctx context.Context, a Access, name string) (*Link, error) {
	l := &Link{url: a.URL}
	for _, token := range append(tokens(a.URL), a.Token) {
		if token != "" && len(token) < MinToken {
			return nil, diag.Refused("the fleet's token has %d characters; a token needs at least %d", len(token), MinToken)
		}
	}
	if rest, ok := strings.CutPrefix(a.URL, "embedded"); ok {
		if err := l.embed(&a, strings.TrimPrefix(rest, ":")); err != nil {
			return nil, err
		}
	}
	opts := []nats.Option{
		nats.Name("thresh " + name), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.Timeout(5 * time.Second),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		// What is lost to a flooded bus is leased again; the library would print each error.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if a.Token != "" {
		opts = append(opts, nats.Token(a.Token))
	}
	if a.Creds != "" {
		opts = append(opts, nats.UserCredentials(a.Creds))
	}
	if a.CA != "" {
		opts = append(opts, nats.RootCAs(a.CA))
	}
	if a.Cert != "" || a.Key != "" {
		opts = append(opts, nats.ClientCert(a.Cert, a.Key))
	}
	var err error
	if l.embedded != nil {
		opts = append(opts, nats.InProcessServer(l.embedded))
	}
	if l.nc, err = nats.Connect(l.url, opts...); err != nil {
		l.Close()
		if bad := new(url.Error); errors.As(err, &bad) {
			err = bad.Err // without the URL
		}
		return nil, diag.WithHint(diag.Environment("reach the fleet's server at %s: %w", redact(l.url), err),
			"thresh run --fleet embedded needs no server of your own")
	}
	return l, nil
}

// tokens are those that URLs have in the place of a user.
func tokens(urls string) (list []string) {
	for s := range strings.SplitSeq(urls, ",") {
		if u, err := url.Parse(s); err == nil {
			if _, password := u.User.Password(); !password {
				list = append(list, u.User.Username())
			}
		}
	}
	return list
}

// redact leaves passwords and tokens out of URLs for people.
func redact(urls string) string {
	list := strings.Split(urls, ",")
	for i, s := range list {
		u, err := url.Parse(s)
		if at := strings.LastIndexByte(s, '@'); err != nil && at >= 0 {
			list[i] = "..." + s[at:]
			continue
		} else if err != nil || u.User == nil {
			continue
		}
		if _, password := u.User.Password(); !password { // NATS takes it for a token
			u.User = url.User("xxxxx")
		}
		list[i] = u.Redacted()
	}
	return strings.Join(list, ",")
}

// embed starts a server in this process.
func (l *Link) embed(a *Access, at string) error {
	host, port := "127.0.0.1", 0
	if at != "" {
		p := at
		if h, rest, err := net.SplitHostPort(at); err == nil {
			host, p = h, rest
		}
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 65535 {
			return diag.Refused("--fleet embedded:%s: want embedded, embedded:PORT or embedded:HOST:PORT", at)
		}
		port = n
	}
	dir := filepath.Join(a.Dir, "fleet")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return diag.Environment("make the folder of the embedded server: %w", err)
	}
	var err error
	if a.Token, err = keptToken(filepath.Join(dir, TokenFile), a.Token); err != nil {
		return diag.Environment("write the token of the embedded server: %w", err)
	}
	if l.embedded, err = listen(net.JoinHostPort(host, strconv.Itoa(port)), a.Token); err != nil {
		return diag.Environment("start the embedded server: %w", err)
	}
	l.url, l.token = l.embedded.url(), a.Token
	return nil
}

// URL returns where workers reach the server.
func (l *Link) URL() string { return l.url }

// Token returns what the embedded server asks of workers; "" of any other server.
func (l *Link) Token() string { return l.token }

// Embedded reports whether the server is in this process.
func (l *Link) Embedded() bool { return l.embedded != nil }

// Close leaves the server, and ends it if it is the embedded one.
func (l *Link) Close() {
	if l.nc != nil {
		l.nc.Close()
	}
	if l.embedded != nil {
		l.embedded.shutdown()
	}
}

// MinToken is how many characters a token has at least: fewer can be guessed.
const MinToken = 16

// TokenFile is where the embedded server's token is, in the folder "fleet" of
// the store; only its owner can read it.
const TokenFile = "token"

// keptToken leaves a token in a file. Without one it is that of the file, so
// that workers find a coordinator again that was killed, or else a random one.
func keptToken(file, token string) (string, error) {
	if token == "" {
		if fi, err := os.Stat(file); err == nil && fi.Mode().Perm()&0o077 == 0 {
			if data, err := os.ReadFile(file); err == nil {
				token = strings.TrimSpace(string(data))
			}
		}
		if len(token) < MinToken {
			token = rand.Text()
		}
	}
	f, err := os.CreateTemp(strings.TrimSuffix(file, TokenFile), TokenFile+"-*") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, token)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // what remains of it is in a folder of its owner
	}
	return token, err
}
