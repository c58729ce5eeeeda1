package http

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"

	"github.com/thresh-dev/thresh/port/exchange"
)

// noProxy is what a request names for none.
const noProxy = "none"

// clientFor is the client as a request asks for it; leave closes what it holds.
func (c *Client) clientFor(r exchange.Request) (one *http.Client, leave func(), err error) {
	own := *c.client
	if r.Redirects != nil {
		own.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
			if len(via) > *r.Redirects {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	if r.Jar != 0 {
		if c.jar == nil || c.jarNumber != r.Jar {
			if c.jar, err = cookiejar.New(nil); err != nil {
				return nil, nil, err
			}
			c.jarNumber = r.Jar
		}
		own.Jar = c.jar
	}
	if !r.Insecure && r.Proxy == "" && r.CA == nil && r.Cert == nil {
		return &own, func() {}, nil
	}
	t := c.transport.Clone()
	if r.Insecure || r.CA != nil || r.Cert != nil {
		t.DialTLSContext, t.TLSClientConfig = nil, &tls.Config{InsecureSkipVerify: r.Insecure} // as the case asks
	}
	if r.CA != nil {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(r.CA) {
			return nil, nil, errors.New("the file of cacert holds no certificate in PEM")
		}
	}
	if r.Cert != nil {
		pair, err := tls.X509KeyPair(r.Cert, r.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("the client's certificate cannot be used: %w", err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	switch r.Proxy {
	case "":
	case noProxy:
		t.Proxy = nil
	default:
		u, err := url.Parse(r.Proxy)
		if err != nil || u.Host == "" {
			return nil, nil, fmt.Errorf("%q is no URL of a proxy", r.Proxy)
		}
		t.Proxy = http.ProxyURL(u)
	}
	own.Transport = t
	return &own, t.CloseIdleConnections, nil
}
