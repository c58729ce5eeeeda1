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
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/thresh-dev/thresh/diag"
)

// Names on the server. Everything of the fleet is below them, so that an
// account's permissions can be kept to them.
const (
	prefix       = "thresh"
	runsBucket   = "thresh_runs"
	objectBucket = "thresh_objects"
	statsSubject = prefix + ".stats"
)

// announceFor is how long an announcement lasts that is not renewed; a
// coordinator renews its own three times as often.
const announceFor = 90 * time.Second

// objectsFor is how long documents and logs of runs are kept.
const objectsFor = 7 * 24 * time.Hour

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
	js       jetstream.JetStream
	embedded *server.Server
	url      string
	token    string // the embedded server's
	replicas int
}

// Connect reaches the server, or starts the embedded one.
func Connect(ctx context.Context, a Access, name string) (*Link, error) {
	l := &Link{url: a.URL, replicas: 1}
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
	if l.js, err = jetstream.New(l.nc); err != nil {
		l.Close()
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	if err := l.buckets(ctx); err != nil {
		l.Close()
		return nil, diag.WithHint(diag.Environment("prepare the fleet's server at %s: %w", redact(l.url), err), "the server needs JetStream: nats-server -js")
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

// buckets makes what all runs share. In a cluster of three everything is kept
// three times.
func (l *Link) buckets(ctx context.Context) error {
	if len(l.nc.DiscoveredServers())+1 >= 3 || len(l.nc.Servers()) >= 3 {
		l.replicas = 3
	}
	return retryElection(ctx, func() error {
		ctx, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		_, err := l.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: runsBucket, Description: "runs that want workers", TTL: announceFor, Replicas: l.replicas,
		})
		if err == nil {
			_, err = l.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
				Bucket: objectBucket, Description: "documents and logs of runs", TTL: objectsFor, Replicas: l.replicas,
			})
		}
		return err
	})
}

// retryElection does what a cluster refuses while it elects its leaders, as when it
// comes up or has lost a server, again and again for a minute.
func retryElection(ctx context.Context, do func() error) error {
	for end := time.Now().Add(time.Minute); ; {
		err := do()
		if err == nil || ctx.Err() != nil || !settling(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// settling reports an error that a cluster gives while it has no leader, or a
// connection that was cut while an object came over it.
func settling(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503 || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// embed starts a server in this process.
func (l *Link) embed(a *Access, at string) error {
	host, port := "127.0.0.1", server.RANDOM_PORT
	if at != "" {
		p := at
		if h, rest, err := net.SplitHostPort(at); err == nil {
			host, p = h, rest
		}
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 65535 {
			return diag.Refused("--fleet embedded:%s: want embedded, embedded:PORT or embedded:HOST:PORT", at)
		}
		if n > 0 {
			port = n
		}
	}
	dir := filepath.Join(a.Dir, "fleet")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return diag.Environment("make the folder of the embedded server: %w", err)
	}
	var err error
	if a.Token, err = keptToken(filepath.Join(dir, TokenFile), a.Token); err != nil {
		return diag.Environment("write the token of the embedded server: %w", err)
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "thresh", Host: host, Port: port, JetStream: true, StoreDir: dir, Authorization: a.Token,
		NoSigs: true, NoLog: true, MaxPayload: 8 << 20, WriteDeadline: 10 * time.Second,
	})
	if err != nil {
		return diag.Environment("start the embedded server: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return diag.Environment("the embedded server does not answer at %s", net.JoinHostPort(host, strconv.Itoa(max(port, 0))))
	}
	l.embedded, l.url, l.token = s, s.ClientURL(), a.Token
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
		l.embedded.Shutdown()
		l.embedded.WaitForShutdown()
	}
}

// put keeps an object under the digest of its content, unless it is there.
func (l *Link) put(ctx context.Context, name string, data []byte) error {
	return retryElection(ctx, func() error {
		objects, err := l.js.ObjectStore(ctx, objectBucket)
		if err != nil {
			return fmt.Errorf("open the objects of the fleet: %w", err)
		}
		if _, err := objects.GetInfo(ctx, name); err == nil {
			return nil
		}
		if _, err := objects.PutBytes(ctx, name, data); err != nil {
			return fmt.Errorf("store an object of %d bytes for the fleet: %w", len(data), err)
		}
		return nil
	})
}

func (l *Link) get(ctx context.Context, name string) (data []byte, err error) {
	err = retryElection(ctx, func() error {
		objects, err := l.js.ObjectStore(ctx, objectBucket)
		if err != nil {
			return fmt.Errorf("open the objects of the fleet: %w", err)
		}
		if data, err = objects.GetBytes(ctx, name); err != nil {
			return fmt.Errorf("fetch object %s of the fleet: %w", name, err)
		}
		return nil
	})
	return data, err
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
