package fault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/system/scratch"
)

// Options configures a proxy.
type Options struct {
	// Shim is the command, such as {"/usr/bin/thresh", "flakestorm", "shim"}, that runs [Shim] with
	// the arguments appended to it. Empty: ports refuse to wrap the commands of MCP servers.
	Shim []string
	// Roots are the authorities that servers must be certified by; nil: the system's.
	Roots *x509.CertPool
	// Upstream selects the proxy for onward calls, as in http.Transport; nil: from the environment
	// of this process.
	Upstream func(*http.Request) (*url.URL, error)
}

// Proxy implements fault.Injector.
type Proxy struct {
	shim      []string
	authority *authority
	dir       *scratch.Folder // holds the certificates and the clients' files
	transport *http.Transport
	context   context.Context
	cancel    context.CancelFunc
	work      sync.WaitGroup
	buffers   sync.Pool

	mu     sync.Mutex
	closed bool
	ports  map[*agentPort]bool
	notes  []string
}

var _ fault.Injector = (*Proxy)(nil)

// Open starts a proxy; it is a fault.Opener. Nothing listens until a port is opened. The proxy ends
// with the context.
func (o Options) Open(ctx context.Context) (fault.Injector, error) {
	a, err := newAuthority()
	if err != nil {
		return nil, err
	}
	dir, err := scratch.Make("")
	if err != nil {
		return nil, err
	}
	p := &Proxy{shim: o.Shim, authority: a, dir: dir, ports: map[*agentPort]bool{}}
	if err := writeClients(dir.Path, a.bundle()); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if o.Upstream == nil {
		o.Upstream = http.ProxyFromEnvironment
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	p.transport = &http.Transport{
		Proxy: o.Upstream, DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: o.Roots},
		TLSHandshakeTimeout: 30 * time.Second, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
	}
	p.buffers.New = func() any { b := make([]byte, 32<<10); return &b }
	p.context, p.cancel = context.WithCancel(ctx)
	return p, nil
}

func (p *Proxy) caFile() string { return filepath.Join(p.dir.Path, authorityFile) }

// Port implements fault.Injector.
func (p *Proxy) Port(address string) (fault.Port, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the fault proxy is closed")
	}
	d, err := openPort(p, address)
	if err != nil {
		return nil, err
	}
	p.ports[d] = true
	return d, nil
}

// Notes implements fault.Injector.
func (p *Proxy) Notes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.notes)
}

const maxNotes = 100

func (p *Proxy) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) < maxNotes && !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// Close implements fault.Injector.
func (p *Proxy) Close() error {
	p.mu.Lock()
	ports := p.ports
	p.closed, p.ports = true, nil
	p.mu.Unlock()
	p.cancel()
	var errs []error
	for d := range ports {
		errs = append(errs, d.Close())
	}
	p.work.Wait()
	p.transport.CloseIdleConnections()
	return errors.Join(append(errs, p.dir.Close())...)
}

// begin counts work that Close waits for; it returns false if the proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Add(1)
	}
	return !p.closed
}
