package agent

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/thresh-dev/thresh/engine/agentcall"
)

// proxyTransport is a transport through a proxy.
type proxyTransport struct {
	via       agentcall.Via
	transport *http.Transport
}

func (d *proxyTransport) close() {
	if d != nil {
		d.transport.CloseIdleConnections()
	}
}

// client makes the client for a call: its transport, its cookies, and no
// redirects, which are no answers of an agent.
func (e *endpoint) client(via agentcall.Via) (*http.Client, error) {
	c := &http.Client{Transport: e.direct, Jar: e.jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if via.Proxy == "" && via.CA == nil {
		return c, nil
	}
	if e.around == nil || e.around.via.Proxy != via.Proxy || !bytes.Equal(e.around.via.CA, via.CA) {
		t, err := newProxyTransport(via)
		if err != nil {
			return nil, err
		}
		e.around.close()
		e.around = &proxyTransport{via, t}
	}
	c.Transport = e.around.transport
	return c, nil
}

// newProxyTransport makes a transport that takes a proxy for every address, this machine's
// own included.
func newProxyTransport(via agentcall.Via) (*http.Transport, error) {
	t := newTransport()
	if via.Proxy != "" {
		u, err := url.Parse(via.Proxy)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("the proxy's address %q is none", via.Proxy)
		}
		t.Proxy = http.ProxyURL(u)
	}
	if via.CA != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // a system without any: the proxy's is enough
		}
		if !pool.AppendCertsFromPEM(via.CA) {
			return nil, errors.New("the proxy's certificate authority is no PEM certificate")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return t, nil
}
