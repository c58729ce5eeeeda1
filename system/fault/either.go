package fault

import (
	"bufio"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
)

// either is a listener at an address that the user chose: clients that use it in place of a
// server's address may speak TLS to it, as they would to the server.
type either struct {
	net.Listener
	authority *authority
}

func (l either) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &undecided{Conn: c, authority: l.authority}, nil
}

// undecided is a connection that switches to TLS if its first byte says so.
type undecided struct {
	net.Conn
	authority *authority
	first     sync.Once
	inner     net.Conn // set once the first byte has arrived
	err       error
	secure    atomic.Pointer[tls.Conn] // inner, if it uses TLS
}

func (u *undecided) decide() {
	p := &peekedConn{u.Conn, bufio.NewReader(u.Conn)}
	first, err := p.reader.Peek(1)
	u.inner, u.err = p, err
	if err != nil || first[0] != handshakeRecord {
		return
	}
	secure := tls.Server(p, &tls.Config{
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName != "" {
				return u.authority.leaf(hello.ServerName)
			}
			host, _, err := net.SplitHostPort(u.LocalAddr().String())
			if err != nil {
				return nil, err
			}
			return u.authority.leaf(host)
		},
	})
	u.inner = secure
	u.secure.Store(secure)
}

func (u *undecided) Read(b []byte) (int, error) {
	u.first.Do(u.decide)
	if u.err != nil {
		return 0, u.err
	}
	return u.inner.Read(b)
}

func (u *undecided) Write(b []byte) (int, error) {
	u.first.Do(u.decide)
	if u.err != nil {
		return 0, u.err
	}
	return u.inner.Write(b)
}

// Close implements net.Conn. It tells a TLS client that the connection ends.
func (u *undecided) Close() error {
	if c := u.secure.Load(); c != nil {
		return c.Close()
	}
	return u.Conn.Close()
}
