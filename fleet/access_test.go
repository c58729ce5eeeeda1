package fleet_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/fleet"
)

// A worker waits for a server that is not there yet, but not for one that does not let it in.
func TestAwaitedServer(t *testing.T) {
	t.Parallel() // mostly waits
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	said := 0
	a := fleet.Access{URL: "nats://" + at, Token: "a token of the fleet"}
	link, err := fleet.Await(t.Context(), a, "worker", func(format string, args ...any) {
		said++
		server, err := fleet.Connect(t.Context(), fleet.Access{URL: "embedded:" + at, Token: a.Token, Dir: t.TempDir()}, "coordinator")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		if line := fmt.Sprintf(format, args...); !strings.Contains(line, "no server answers at nats://"+at) {
			t.Error(line)
		}
	})
	if err != nil || said != 1 {
		t.Fatal(err, said)
	}
	link.Close()
	a.Token = "another token entirely"
	if _, err := fleet.Await(t.Context(), a, "worker", func(string, ...any) { said++ }); said != 1 || !strings.Contains(diag.Hint(err), "--fleet-token") {
		t.Error(err, diag.Hint(err), said)
	}
}

// secured starts a server that wants TLS and a token, and returns its address
// and the file of the certificate to trust.
func secured(t *testing.T, token string) (url, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), Authorization: token, NoLog: true, NoSigs: true,
		TLS: true, TLSTimeout: 5, TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not come up")
	}
	return fmt.Sprintf("tls://%s", s.Addr()), ca
}

func TestAccess(t *testing.T) {
	url, ca := secured(t, "s3cret-s3cret-s3cret")
	for _, c := range []struct {
		name   string
		access fleet.Access
		fault  string // "" for none
	}{
		{"certificate and token", fleet.Access{URL: url, CA: ca, Token: "s3cret-s3cret-s3cret"}, ""},
		{"no token", fleet.Access{URL: url, CA: ca}, "Authorization"},
		{"unknown certificate", fleet.Access{URL: url, Token: "s3cret-s3cret-s3cret"}, "certificate"},
		{"nobody there", fleet.Access{URL: "nats://127.0.0.1:1"}, "no servers available"},
		{"open to all", fleet.Access{URL: "embedded:0.0.0.0:0", Dir: t.TempDir()}, ""},
		{"a token that can be guessed", fleet.Access{URL: "embedded", Dir: t.TempDir(), Token: "123456789012345"}, "has 15 characters; a token needs at least 16"},
		{"one for a server elsewhere", fleet.Access{URL: url, CA: ca, Token: "s3cret"}, "a token needs at least 16"},
		{"not a port", fleet.Access{URL: "embedded:many", Dir: t.TempDir()}, "want embedded"},
		{"with a token", fleet.Access{URL: "embedded:0.0.0.0:0", Dir: t.TempDir(), Token: "1234567890123456"}, ""},
	} {
		link, err := fleet.Connect(t.Context(), c.access, "test")
		if err == nil {
			link.Close()
		}
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// An embedded server asks for a token that nobody had to think of, and keeps it
// where its owner alone can read it.
func TestEmbeddedServerHasAToken(t *testing.T) {
	dir := t.TempDir()
	link, err := fleet.Connect(t.Context(), fleet.Access{URL: "embedded", Dir: dir}, "test")
	if err != nil {
		t.Fatal(err)
	}
	token, url := link.Token(), link.URL()
	for given, ok := range map[string]bool{token: true, "": false, strings.Repeat("x", 26): false} {
		other, err := fleet.Connect(t.Context(), fleet.Access{URL: url, Token: given}, "worker")
		if err == nil {
			other.Close()
		}
		if (err == nil) != ok {
			t.Errorf("with token %q: %v", given, err)
		}
	}
	file := filepath.Join(dir, "fleet", fleet.TokenFile)
	fi, err := os.Stat(file)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("the token's file: %v, %v", fi, err)
	}
	if data, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(data)) != token || len(token) < fleet.MinToken {
		t.Errorf("the file has %q, the server %q: %v", data, token, err)
	}
	link.Close()
	if link, err = fleet.Connect(t.Context(), fleet.Access{URL: "embedded", Dir: dir}, "test"); err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if link.Token() != token {
		t.Error("a server that comes back has another token: workers that wait for it stay out")
	}
}

// A URL may hold a token, which is no shorter than any other and is not shown.
func TestTokensInURLs(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"nats://fifteen-letters@127.0.0.1:1", "the fleet's token has 15 characters"},
		{"nats://127.0.0.1:1,nats://fifteen-letters@127.0.0.1:2", "the fleet's token has 15 characters"},
		{"nats://sixteen-letters-1@127.0.0.1:1", "at nats://xxxxx@127.0.0.1:1:"},
		{"nats://anna:sixteen-letters-1@127.0.0.1:1", "at nats://anna:xxxxx@127.0.0.1:1:"},
		{"nats://sixteen-letters-1%zz@127.0.0.1:1", "at ...@127.0.0.1:1:"},
	} {
		_, err := fleet.Connect(t.Context(), fleet.Access{URL: c.url}, "test")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sixteen-letters") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}
