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

// Names on the server. All subjects of the fleet are below prefix, so that an account's permissions
// can be limited to it.
const (
	prefix       = "thresh"
	runsSubject  = prefix + ".runs"  // announcements, one subject per run
	helloSubject = prefix + ".hello" // from workers that want all announcements
	statsSubject = prefix + ".stats"
)

// announceFor is how long an announcement is valid. A coordinator renews its own three times as
// often.
const announceFor = 90 * time.Second

// Access says how to reach a server.
type Access struct {
	// URL is nats://host:4222, several such addresses separated by commas, tls://…, or "embedded",
	// "embedded:PORT" or "embedded:HOST:PORT" for a server in this process.
	URL   string
	Token string // at least MinToken characters; the embedded server generates one if it is ""
	Creds string // NATS credentials file
	CA    string // PEM file of certificates to trust for tls://
	Cert  string // PEM files of a client certificate and its key
	Key   string
	Dir   string // folder of the embedded server's files
}

// Link is a connection to a server.
type Link struct {
	nc       *nats.Conn
	embedded *broker
	url      string
	token    string // of the embedded server
	patience time.Duration

	mu      sync.Mutex
	objects map[string][]byte // offered by this side, by name
}

// Connect connects to the server, or starts the embedded one.
func Connect(ctx context.Context, a Access, name string) (*Link, error) {
	l := &Link{url: a.URL, patience: patience}
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
		// A flooded bus loses only messages whose leases are given out again; by default the
		// library prints each error.
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
			err = bad.Err // omits the URL, which may contain the token
		}
		hint := "thresh run --fleet embedded needs no server of your own"
		if errors.Is(err, nats.ErrAuthorization) {
			hint = "give the server's token by --fleet-token or THRESH_FLEET_TOKEN, or --fleet-creds"
		}
		return nil, diag.WithHint(diag.Environment("reach the fleet's server at %s: %w", redact(l.url), err), hint)
	}
	return l, nil
}

// Await connects to a server as [Connect] does, and waits for one that does not answer yet: a worker
// may be there before the run that starts the server.
func Await(ctx context.Context, a Access, name string, say func(format string, args ...any)) (*Link, error) {
	for said := false; ; {
		l, err := Connect(ctx, a, name)
		dial := new(net.OpError)
		if err == nil || !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout) && !(errors.As(err, &dial) && dial.Op == "dial") {
			return l, err
		}
		if !said {
			say("no server answers at %s yet; waiting for it", redact(a.URL))
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// Place returns the server's address without secrets.
func (l *Link) Place() string { return redact(l.url) }

// tokens returns the tokens that URLs have in place of a user.
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

// redact removes passwords and tokens from URLs that people see.
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
		if _, password := u.User.Password(); !password { // NATS takes a user without a password for a token
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

// Token returns the token that the embedded server requires; "" for any other server.
func (l *Link) Token() string { return l.token }

// Embedded reports whether the server is in this process.
func (l *Link) Embedded() bool { return l.embedded != nil }

// Close disconnects from the server, and shuts it down if it is embedded.
func (l *Link) Close() {
	if l.nc != nil {
		l.nc.Close()
	}
	if l.embedded != nil {
		l.embedded.shutdown()
	}
}

// MinToken is the smallest number of characters of a token; shorter ones can be guessed.
const MinToken = 16

// TokenFile is the file with the embedded server's token, in the folder "fleet" of the store. Only
// its owner can read it.
const TokenFile = "token"

// keptToken writes a token to a file and returns it. Without a token it uses the one in the file,
// so that workers find a killed coordinator again, or else a random one.
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
		_ = os.Remove(f.Name()) // a leftover is in a folder of the same owner
	}
	return token, err
}
