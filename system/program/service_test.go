package program

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

func TestMain(m *testing.M) {
	if os.Getenv("LISTEN_IN_A_TEST") != "" { // the service of the tests
		if refused, err := os.ReadFile(os.Getenv("LISTEN_IN_A_TEST")); err == nil && (len(refused) == 0 || string(refused) == os.Getenv("PORT")) {
			os.Exit(3) // as one whose port another program has, but does not listen on
		}
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

// A service that ends where it was before is started elsewhere, once; one that ends on a port
// that is free does so by its own fault.
func TestServiceThatEndsAtItsPort(t *testing.T) {
	refused := filepath.Join(t.TempDir(), "port")
	s := NewService(ServiceSpec{
		Spec:    Spec{Noun: "system", Argv: []string{os.Args[0]}, Env: []string{"LISTEN_IN_A_TEST=" + refused}},
		Address: "http://127.0.0.1:{port}", Patience: 20 * time.Second,
	})
	defer s.Close()
	refuse := func(port string) {
		s.Kill()
		if err := os.WriteFile(refused, []byte(port), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	port := s.Port()
	refuse(port)
	if fresh, err := s.Ensure(t.Context()); err != nil || !fresh || s.Port() == port || s.HasDied() || s.Starts() != 3 {
		t.Errorf("fresh: %t, %v; it was at %s and is at %s, dead: %t, after %d starts", fresh, err, port, s.Port(), s.HasDied(), s.Starts())
	}
	refuse("") // any
	const want = "it ended before it was ready (exit status 3)"
	if _, err := s.Ensure(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrGone) || s.Starts() != 5 {
		t.Errorf("%v after %d starts, want %s", err, s.Starts(), want)
	}
}

// A service that is not ready in time is told so, and given up when that goes on; if it is the
// run that ends, nothing is held against the service.
func TestServiceThatIsNeverReady(t *testing.T) {
	s := NewService(ServiceSpec{
		Spec:    Spec{Noun: "system", Argv: []string{os.Args[0]}, Env: []string{"LISTEN_IN_A_TEST=1"}},
		Address: "http://127.0.0.1:{port}", Log: regexp.MustCompile("ready"), Patience: 20 * time.Second,
	})
	defer s.Close()
	for range MaxFailures {
		over, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := s.Ensure(over); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the run has ended: %v", err)
		}
		cancel()
	}
	s.spec.Patience = 10 * time.Millisecond
	const late, often = "it was not ready within 10ms (no line of its output matches ready)", "it was started 3 times in a row without getting ready"
	for i, want := range []string{late, late, late, often} {
		if _, err := s.Ensure(t.Context()); err == nil || !strings.Contains(err.Error(), want) || (i < MaxFailures) != (diag.Hint(err) != "") {
			t.Errorf("try %d: %v (%s), want %s", i+1, err, diag.Hint(err), want)
		}
	}
}
