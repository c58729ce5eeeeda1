package fault

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
)

// agentPort is a port that one agent calls through.
type agentPort struct {
	proxy  *Proxy
	stands bool // at an address that the user chose: any path there belongs to the first gateway
	listen net.Listener
	server *http.Server
	inner  *handoff // connections from tunnels
	cancel context.CancelFunc

	mu       sync.Mutex
	closed   bool
	gateways []gateway
	tokens   map[string]*cell // open cells by token
	traces   map[string]*cell // open cells by trace, and closed ones for a while
	retired  []string         // traces of closed cells, oldest first
	open     []*cell
}

// gateway is an upstream and its tool name.
type gateway struct {
	tool     string
	upstream *url.URL
}

// maxRetired is the number of closed cells whose late calls are still recognized.
const maxRetired = 1024

func openPort(p *Proxy, address string) (*agentPort, error) {
	l, err := net.Listen("tcp", cmp.Or(address, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("open a port for the agent: %w", err)
	}
	if address != "" {
		l = either{l, p.authority}
	}
	ctx, cancel := context.WithCancel(p.context)
	d := &agentPort{
		proxy: p, stands: address != "", listen: l, inner: newHandoff(l.Addr()), cancel: cancel,
		tokens: map[string]*cell{}, traces: map[string]*cell{},
	}
	d.server = &http.Server{
		Handler: d, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	p.work.Go(func() { d.server.Serve(l) })
	p.work.Go(func() { d.server.Serve(d.inner) })
	// The port ends with the run's context.
	stop := context.AfterFunc(ctx, func() { d.server.Close() })
	d.server.RegisterOnShutdown(func() { stop() })
	return d, nil
}

type connKey struct{}

// Proxy implements fault.Port.
func (d *agentPort) Proxy() string { return "http://" + d.listen.Addr().String() }

// CAFile implements fault.Port.
func (d *agentPort) CAFile() string { return d.proxy.caFile() }

// Env implements fault.Port.
func (d *agentPort) Env(given []string) []string {
	return d.environment(d.Proxy(), "", given)
}

// Gateway implements fault.Port.
func (d *agentPort) Gateway(tool, upstream string) (string, error) {
	return d.gateway(tool, upstream, "-")
}

// gatewayPath is the prefix of gateway paths: /gateway/NUMBER/TOKEN/rest.
const gatewayPath = "/gateway/"

func (d *agentPort) gateway(tool, upstream, token string) (string, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return "", fmt.Errorf("gateway for %s: %w", tool, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("gateway for %s: %q is no http or https URL", tool, upstream)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := slices.IndexFunc(d.gateways, func(g gateway) bool { return g.tool == tool && g.upstream.String() == u.String() })
	if n < 0 {
		n = len(d.gateways)
		d.gateways = append(d.gateways, gateway{tool, u})
	}
	return fmt.Sprintf("%s%s%d/%s", d.Proxy(), gatewayPath, n, token), nil
}

// Enter implements fault.Port.
func (d *agentPort) Enter(p fault.Plan) (fault.Cell, error) {
	c := &cell{port: d, token: secret(8), trace: secret(16), began: time.Now()}
	l, err := fault.NewLedger(p, func() time.Duration { return time.Since(c.began) })
	if err != nil {
		return nil, err
	}
	c.ledger = l
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("the port is closed")
	}
	c.context, c.cancel = context.WithCancel(d.proxy.context)
	d.tokens[c.token], d.traces[c.trace] = c, c
	d.open = append(d.open, c)
	return c, nil
}

// leave unregisters a cell.
func (d *agentPort) leave(c *cell) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tokens, c.token)
	d.open = slices.DeleteFunc(d.open, func(o *cell) bool { return o == c })
	if _, ok := d.traces[c.trace]; ok {
		d.traces[c.trace] = nil
		d.retired = append(d.retired, c.trace)
	}
	if len(d.retired) > maxRetired {
		delete(d.traces, d.retired[0])
		d.retired = d.retired[1:]
	}
}

// attribute returns the cell that a call belongs to. If there is none, it returns nil and writes a
// note where somebody will read it.
func (d *agentPort) attribute(token string, h http.Header, what string) *cell {
	d.mu.Lock()
	c, late := d.tokens[token], false
	if c == nil && token != "" {
		late = true
	}
	if c == nil && !late {
		c, late = d.traces[traceOf(h)]
		late = late && c == nil // a closed cell
	}
	if c == nil && !late && len(d.open) == 1 {
		c = d.open[0]
	}
	open := slices.Clone(d.open)
	d.mu.Unlock()
	switch {
	case c != nil:
	case late:
		d.proxy.note(fmt.Sprintf("a call of %s came after its cell was over; it passed without faults", what))
	case len(open) == 0:
		d.proxy.note(fmt.Sprintf("a call of %s came while no cell was open; it passed without faults", what))
	default:
		for _, o := range open {
			o.ledger.Note(fmt.Sprintf("a call of %s could be of any of %d cells that were open; it passed without faults", what, len(open)))
		}
	}
	return c
}

// Close implements fault.Port.
func (d *agentPort) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	open := slices.Clone(d.open)
	d.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
	d.cancel()
	err := d.server.Close()
	d.listen.Close()
	d.inner.Close()
	d.proxy.mu.Lock()
	delete(d.proxy.ports, d)
	d.proxy.mu.Unlock()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ServeHTTP handles what an agent sends to the port or through a tunnel. The proxy's Close waits
// for it.
func (d *agentPort) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.proxy.begin() {
		abort(w, false)
		return
	}
	defer d.proxy.work.Done()
	if t, ok := r.Context().Value(connKey{}).(*tunnelled); ok {
		u := *r.URL
		u.Scheme, u.Host = t.scheme, t.host
		d.exchange(w, r, &u, t.token, "")
		return
	}
	token := basicUser(r.Header.Get("Proxy-Authorization"))
	switch {
	case r.Method == http.MethodConnect:
		d.tunnel(w, r, token)
	case r.URL.IsAbs():
		d.exchange(w, r, r.URL, token, "")
	case strings.HasPrefix(r.URL.Path, gatewayPath):
		number, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), gatewayPath), "/")
		token, rest, _ := strings.Cut(rest, "/")
		n, err := strconv.Atoi(number)
		if err != nil {
			n = -1
		}
		d.throughGateway(w, r, n, strings.TrimPrefix(token, "-"), rest)
	case r.URL.Path == shimPath:
		d.shimmed(w, r)
	case d.stands:
		d.throughGateway(w, r, 0, "", strings.TrimPrefix(r.URL.EscapedPath(), "/"))
	default:
		http.Error(w, "This is a fault proxy of Thresh. Use it as HTTP_PROXY, or through a gateway URL.", http.StatusNotFound)
	}
}

func (d *agentPort) throughGateway(w http.ResponseWriter, r *http.Request, n int, token, rest string) {
	d.mu.Lock()
	var g gateway
	if n >= 0 && n < len(d.gateways) {
		g = d.gateways[n]
	}
	d.mu.Unlock()
	if g.upstream == nil {
		http.Error(w, "no such gateway", http.StatusNotFound)
		return
	}
	u := *g.upstream
	u.RawQuery = joined(u.RawQuery, r.URL.RawQuery, "&")
	path := u.EscapedPath()
	if rest != "" || strings.HasSuffix(r.URL.Path, "/") {
		path = strings.TrimSuffix(path, "/") + "/" + rest
	}
	u.RawPath = path
	if plain, err := url.PathUnescape(path); err == nil {
		u.Path = plain
	}
	r.Host = u.Host
	d.exchange(w, r, &u, token, g.tool)
}

func joined(a, b, sep string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}

// traceOf returns the trace id of a request; "" if it has none.
func traceOf(h http.Header) string {
	if parts := strings.Split(h.Get("Traceparent"), "-"); len(parts) == 4 {
		return strings.ToLower(parts[1])
	}
	return ""
}

// basicUser returns the user of a basic authorization header.
func basicUser(header string) string {
	kind, data, _ := strings.Cut(header, " ")
	plain, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !strings.EqualFold(kind, "basic") {
		return ""
	}
	user, _, _ := strings.Cut(string(plain), ":")
	return user
}

// secret returns n random bytes in hexadecimal.
func secret(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails, see crypto/rand
	return hex.EncodeToString(b)
}
