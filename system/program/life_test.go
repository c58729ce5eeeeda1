//go:build unix

package program

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// listener is a service that is ready once it accepts connections.
func listener(t *testing.T) *Service {
	t.Helper()
	s := NewService(ServiceSpec{
		Spec:    Spec{Noun: "system", Argv: []string{os.Args[0]}, Env: []string{"LISTEN_IN_A_TEST=1"}},
		Address: "http://127.0.0.1:{port}", Patience: 20 * time.Second,
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// crash has the program of a service end by itself.
func crash(t *testing.T, s *Service) *Child {
	t.Helper()
	c := s.child
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.gone
	return c
}

func begin(t *testing.T, s *Service, again bool) {
	t.Helper()
	if fresh, err := s.Ensure(t.Context()); err != nil || fresh != again {
		t.Fatalf("started again: %t, %v", fresh, err)
	}
}

// That a program has ended by itself is learned once, be it by who called it or by who asks
// later, also when another runs by then.
func TestWhoLearnsOfAnEnd(t *testing.T) {
	s := listener(t)
	if s.Died(t.Context()) != nil || s.Left() != nil || s.HasDied() || s.Printed() != "" || s.PID() != 0 || s.Notes() != nil {
		t.Error("a service that has not been started says something of its program")
	}
	s.Kill()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	begin(t, s, false)
	begin(t, s, false) // it runs
	if s.Left() != nil || s.HasDied() || s.Notes() != nil {
		t.Error("a program that runs has ended")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Died(over) != nil {
		t.Error("a program that runs has died")
	}
	s.Kill()
	if !s.HasDied() || s.Left() != nil {
		t.Error("a program that was killed has ended by itself")
	}
	begin(t, s, true)
	c := crash(t, s)
	if !s.HasDied() || s.Left() != c || s.Left() != nil {
		t.Error("the end of a program is not learned once")
	}
	begin(t, s, true)
	c = crash(t, s)
	if s.Died(over) != c || s.Left() != nil {
		t.Error("the end of a program that the caller knows is learned again")
	}
	begin(t, s, true)
	c = crash(t, s)
	begin(t, s, true)
	if s.HasDied() || s.Left() != c || s.Left() != nil {
		t.Error("the end of a program is not learned once another runs")
	}
	if got := s.Notes(); !slices.Equal(got, []string{"the system's program was started 5 times"}) {
		t.Errorf("%q", got)
	}
	first := s.PID()
	if err := s.Renew(t.Context()); err != nil || s.PID() == first || s.Left() != nil {
		t.Errorf("replaced: %v", err)
	}
}

// A service is ready when its own address, a URL or a line says so.
func TestWhatReadyMeans(t *testing.T) {
	asked := make(chan string, 1<<10)
	var busy atomic.Int64
	health := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path
		if busy.Add(-1) >= 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(499)
	}))
	defer health.Close()
	s := listener(t)
	s.spec.Ready = health.URL + "/is/{port}"
	busy.Store(2)
	begin(t, s, false)
	if n := len(asked); n != 3 {
		t.Errorf("asked %d times", n)
	}
	if got, want := <-asked, "GET /is/"+s.Port(); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	s.Close()
	s.spec.Patience = 10 * time.Millisecond
	busy.Store(1 << 20)
	if _, err := s.Ensure(t.Context()); err == nil || !strings.Contains(err.Error(), "it was not ready within 10ms (it answers with status 500)") &&
		!strings.Contains(err.Error(), "(context deadline exceeded)") { // that of a request under way
		t.Error(err)
	}
	s = NewService(ServiceSpec{Spec: Spec{Noun: "agent", Argv: []string{"sh", "-c", "echo begins; sleep 0.2; echo it is ready; sleep 60"}}, Address: "http://127.0.0.1:{port}",
		Log: regexp.MustCompile("^it is ready$"), Patience: 20 * time.Second})
	defer s.Close()
	begin(t, s, false)
	if got := s.Printed(); got != "begins\nit is ready\n" {
		t.Errorf("it wrote %q", got)
	}
}

// An address that another program has is refused, and so are programs that cannot be run.
func TestServicesThatCannotStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for want, spec := range map[string]ServiceSpec{
		l.Addr().String() + " is already in use":    {Spec: Spec{Argv: []string{os.Args[0]}}, Address: "http://" + l.Addr().String()},
		"find the system's program no-such-program": {Spec: Spec{Argv: []string{"no-such-program"}}, Address: "http://127.0.0.1:{port}"},
		"start the system " + broken:                {Spec: Spec{Argv: []string{broken}}, Address: "http://127.0.0.1:{port}"},
	} {
		spec.Noun, spec.Patience = "system", 20*time.Second
		s := NewService(spec)
		if _, err := s.Ensure(t.Context()); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrGone) || s.Starts() != 0 {
			t.Errorf("%v, want %s", err, want)
		}
		s.Close()
	}
}

// A URL leads to the port that it names, or to that of its scheme.
func TestHostPort(t *testing.T) {
	for address, want := range map[string]string{
		"http://a": "a:80", "https://a/x": "a:443", "http://a:8080/x": "a:8080", "https://[::1]": "[::1]:443", "http://a:b": "http://a:b",
	} {
		if got := hostPort(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// Errors are said without a URL, whose port was drawn, whatever they are wrapped in.
func TestPlain(t *testing.T) {
	for _, err := range []error{
		syscall.ECONNREFUSED, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		&url.Error{Op: "Get", URL: "http://127.0.0.1:20000", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}},
	} {
		if got := Plain(err); !errors.Is(got, syscall.ECONNREFUSED) || got.Error() != "connection refused" {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// What a program writes is kept to its last bytes, taken once, and handed on by lines.
func TestTail(t *testing.T) {
	var lines []string
	tail := &Tail{watch: func(line string) { lines = append(lines, line) }}
	if got := tail.Last(); got != "; it wrote nothing" {
		t.Error(got)
	}
	tail.add([]byte("one\r\ntwo"))
	tail.add([]byte("\n\nth\xffee"))
	if first, second := tail.Take(), tail.Take(); first != "one\r\ntwo\n\nth\uFFFDee" || second != "" {
		t.Errorf("%q, then %q", first, second)
	}
	if !slices.Equal(lines, []string{"one", "two", ""}) {
		t.Errorf("lines %q", lines)
	}
	tail.add([]byte("\n4\n5\n6\n7\n"))
	if got := tail.Take(); got != "\n4\n5\n6\n7\n" {
		t.Errorf("%q", got)
	}
	if got := tail.Last(); got != "; it wrote last:\nth\uFFFDee\n4\n5\n6\n7" {
		t.Errorf("%q", got)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("early"); err != nil {
		t.Fatal(err)
	}
	early := &Tail{}
	early.follow(r)
	if got := early.Take(); got != "early" {
		t.Errorf("%q of what was written before", got)
	}
	said := make(chan string)
	r, w, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	(&Tail{watch: func(line string) { said <- line }}).follow(r)
	for _, want := range []string{"first", "second", "third"} { // though nobody takes them
		if _, err := w.WriteString(want + "\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-said; got != want {
			t.Errorf("%q in place of %q", got, want)
		}
	}
	long := strings.Repeat("a", tailSize) + strings.Repeat("b", 100)
	tail.add([]byte(long + "\n"))
	if got := tail.Take(); got != long[101:]+"\n" {
		t.Errorf("%d bytes of a long line are kept", len(got))
	}
	if got := lines[len(lines)-1]; got != long[:tailSize] {
		t.Errorf("%d bytes of a long line are handed on", len(got))
	}
}

// How a program ended is known once it has, and only an error is a failure.
func TestEndsOfChildren(t *testing.T) {
	for script, want := range map[string]string{"": "exit status 0", "exit 4": "exit status 4", "kill -9 $$": "signal: killed"} {
		c, err := Start(Spec{Noun: "agent", Argv: []string{"sh", "-c", "read line; " + script}, Env: []string{"A=b"}, Talks: true})
		if err != nil {
			t.Fatal(err)
		}
		if c.State() != nil || c.Failed() != nil || c.End() != "it has not ended" || !c.Alive() {
			t.Errorf("%q: it runs, and has ended: %s", script, c.End())
		}
		if _, err := c.Stdin.Write([]byte("go\n")); err != nil {
			t.Error(err)
		}
		if !c.EndsWithin(t.Context(), 20*time.Second) || c.End() != want || c.State() == nil || (c.Failed() != nil) != (script != "") {
			t.Errorf("%q: %s, want %s; failed: %t", script, c.End(), want, c.Failed() != nil)
		}
		c.Stop()
	}
	deaf, err := Start(Spec{Noun: "agent", Argv: []string{"sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 60; done"}, Talks: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deaf.Stdout.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if deaf.Stop(); deaf.End() != "signal: killed" {
		t.Errorf("a program that does not end when it is asked to: %s", deaf.End())
	}
	if _, err := deaf.Stdout.Read(make([]byte, 5)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its output is still open: %v", err)
	}
	polite, err := Start(Spec{Noun: "agent", Argv: []string{"sh", "-c", "trap 'exit 5' TERM; echo here; while :; do sleep 0.01; done"}, Talks: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := polite.Stdout.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if polite.Stop(); polite.End() != "exit status 5" && polite.End() != "signal: killed" { // a busy machine may not let it end in time
		t.Errorf("a program that ends when it is asked to: %s", polite.End())
	}
}

// A program on the streams of this one gives its exit code, and 1 if a signal ends it.
func TestAttached(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, `test "$THRESH_ATTACHED" = yes`: 0, "kill -9 $$": 1} {
		if code, err := Attached(t.Context(), []string{"sh", "-c", script}, []string{"THRESH_ATTACHED=yes"}); err != nil || code != want {
			t.Errorf("%s: %d, %v, want %d", script, code, err, want)
		}
	}
	if code, err := Attached(t.Context(), []string{"no-such-program"}, nil); err == nil || code != 0 || !strings.Contains(err.Error(), "starting no-such-program: ") {
		t.Errorf("%d, %v", code, err)
	}
}
