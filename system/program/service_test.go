package program

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

func TestMain(m *testing.M) {
	if os.Getenv("LISTEN_IN_A_TEST") != "" { // the service of the tests
		l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
		if err != nil {
			os.Exit(1)
		}
		for {
			if c, err := l.Accept(); err == nil {
				c.Close()
			}
		}
	}
	os.Exit(m.Run())
}

// A service that was killed comes back where it was, unless somebody else is there by now.
func TestServiceKeepsItsPort(t *testing.T) {
	s := NewService(ServiceSpec{
		Spec:    Spec{Noun: "system", Argv: []string{os.Args[0]}, Env: []string{"LISTEN_IN_A_TEST=1"}},
		Address: "http://127.0.0.1:{port}", Patience: 20 * time.Second,
	})
	defer s.Close()
	begin := func() string {
		t.Helper()
		if _, err := s.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.Port()
	}
	port := begin()
	s.Kill()
	if again := begin(); again != port {
		t.Errorf("it was at %s and is at %s", port, again)
	}
	s.Kill()
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if again := begin(); again == port {
		t.Error("somebody else listens there")
	}
}

// What is not a URL is said at once, and nothing of the password that makes it none.
func TestAddressIsNoURL(t *testing.T) {
	for password, hint := range map[string]string{"pass/w0rd": "percent-encoded", "${KEY}": "KEY is not set"} {
		s := NewService(ServiceSpec{
			Spec:    Spec{Noun: "system", Argv: []string{os.Args[0]}, Env: []string{"LISTEN_IN_A_TEST=1"}},
			Address: "http://me:" + password + "@127.0.0.1:{port}", Patience: time.Second,
		})
		defer s.Close()
		_, err := s.Ensure(t.Context())
		if err == nil || !strings.Contains(err.Error(), "its address is not a URL") || strings.Contains(err.Error(), "w0rd") || !strings.Contains(diag.Hint(err), hint) {
			t.Errorf("%v (%s), want %s", err, diag.Hint(err), hint)
		}
	}
}
