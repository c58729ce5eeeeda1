package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// PortMark is the placeholder for the port chosen for a service, in its command, environment and
// address.
const PortMark = "{port}"

// ErrGone reports that a service can no longer be started.
var ErrGone = errors.New("it cannot be started again")

// ServiceSpec describes a program that is started and called at an address.
type ServiceSpec struct {
	Spec
	Address string // a URL that may hold PortMark
	// Ready is a URL that answers with a status below 500 when the service is ready; Log matches a
	// line that it writes when it is ready. Without either, it is ready when the address accepts a
	// connection.
	Ready    string
	Log      *regexp.Regexp
	Patience time.Duration // time limit for getting ready; > 0
	Gone     error         // wrapped by errors when it can no longer be started; nil: ErrGone
}

// Service is a program that Thresh starts and keeps running.
type Service struct {
	spec ServiceSpec

	mu       sync.Mutex
	child    *Child
	drawn    string // port, reused for later starts
	told     *Child // a caller knows of its end
	unseen   *Child // replaced before a caller knew of its end
	starts   int
	failures int // consecutive starts that failed to get ready
}

// MaxFailures is the number of consecutive failed starts after which no more are tried.
const MaxFailures = 3

// maxDraws is how often to look for a free port.
const maxDraws = 5

// NewService returns a service that has not been started.
func NewService(s ServiceSpec) *Service {
	if s.Gone == nil {
		s.Gone = ErrGone
	}
	return &Service{spec: s}
}

// Ensure starts the service unless it runs; fresh reports a restart. A service that died is
// restarted, but not after MaxFailures consecutive failures.
func (s *Service) Ensure(ctx context.Context) (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil && s.child.Alive() {
		return false, nil
	}
	if s.child != s.told {
		s.unseen = s.child
	}
	if s.failures >= MaxFailures {
		return false, diag.Environment("it was started %d times in a row without getting ready: %w", s.failures, s.spec.Gone)
	}
	again := s.starts > 0
	if err := s.start(ctx, maxDraws); err != nil {
		if ctx.Err() == nil {
			s.failures++
		}
		if again {
			err = fmt.Errorf("%w: %w", s.spec.Gone, err)
		}
		return false, err
	}
	s.failures = 0
	return again, nil
}

// start starts the service and waits until it is ready. If another program has taken its port, it
// tries again with another, a few times. The caller must hold the lock.
func (s *Service) start(ctx context.Context, draws int) error {
	p := &s.spec
	if _, err := url.Parse(strings.ReplaceAll(p.Address, PortMark, "80")); err != nil { // do not quote the address, which may contain a password
		hint := "a user and a password in it must be percent-encoded"
		if _, after, unset := strings.Cut(p.Address, "${"); unset {
			name, _, _ := strings.Cut(after, "}")
			hint = name + " is not set: export " + name + "=..."
		}
		return diag.WithHint(diag.Environment("start the %s %s: its address is not a URL", p.Noun, p.Argv[0]), hint)
	}
	port := s.drawn // a restart keeps the port: the service may name its files after it
	again := draws == maxDraws && port != ""
	put := func(text string) string { return strings.ReplaceAll(text, PortMark, port) }
	for tries := 1; ; tries++ {
		if again = again && tries == 1; !again {
			var err error
			if port, err = FreePort(ctx); err != nil {
				return err
			}
		}
		host := hostPort(put(s.spec.Address))
		if listens(ctx, host) != nil {
			break
		}
		// Another program may take the chosen port a moment later.
		if tries == maxDraws || !strings.Contains(s.spec.Address, PortMark) {
			return diag.WithHint(diag.Environment("start the %s %s: %s is already in use", p.Noun, p.Argv[0], host),
				"stop that program, or put {port} into the address so that a free port is used")
		}
	}
	prog := p.Spec
	prog.Argv, prog.Env = nil, []string{"PORT=" + port}
	for _, a := range p.Argv {
		prog.Argv = append(prog.Argv, put(a))
	}
	for _, e := range p.Env {
		prog.Env = append(prog.Env, put(e))
	}
	var logged atomic.Bool
	if p.Log != nil {
		prog.Watch = func(line string) {
			if !logged.Load() && p.Log.MatchString(line) {
				logged.Store(true)
			}
		}
	}
	c, err := Start(prog)
	if err != nil {
		return err
	}
	s.starts++
	s.child, s.drawn = c, port
	ready, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	if err := s.awaitReady(ready, c, s.probe(put, &logged)); err != nil {
		wrote, ended := c.Output.Last(), !c.Alive()
		c.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if ended && draws > 1 && strings.Contains(s.spec.Address, PortMark) && (again || vacant(ctx, port) != nil) {
			return s.start(ctx, draws-1)
		}
		return diag.WithHint(diag.Environment("start the %s %s: %w%s", p.Noun, p.Argv[0], err, wrote),
			"it must listen on the port that PORT or {port} names; its readiness and how long to wait for it can be configured")
	}
	return nil
}

// awaitReady asks until the service is ready. It has to poll, because nothing announces that a
// program starts to listen.
func (s *Service) awaitReady(ctx context.Context, c *Child, ask func(context.Context) error) error {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		err := ask(ctx)
		if !c.Alive() {
			return fmt.Errorf("it ended before it was ready (%s)", c.end)
		}
		if err == nil {
			return nil
		}
		if c.EndsWithin(ctx, pause) {
			return fmt.Errorf("it ended before it was ready (%s)", c.end)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("it was not ready within %s (%v)", s.spec.Patience, Plain(err))
		}
	}
}

// probe returns the function that checks whether the service is ready.
func (s *Service) probe(put func(string) string, logged *atomic.Bool) func(context.Context) error {
	if s.spec.Log != nil {
		return func(context.Context) error {
			if !logged.Load() {
				return fmt.Errorf("no line of its output matches %s", s.spec.Log)
			}
			return nil
		}
	}
	if ready := s.spec.Ready; ready != "" {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		return func(ctx context.Context) error {
			q, err := http.NewRequestWithContext(ctx, http.MethodGet, put(ready), nil)
			if err != nil {
				return err
			}
			answer, err := client.Do(q)
			if err != nil {
				return err
			}
			answer.Body.Close()
			if answer.StatusCode >= 500 {
				return fmt.Errorf("it answers with status %d", answer.StatusCode)
			}
			return nil
		}
	}
	host := hostPort(put(s.spec.Address))
	return func(ctx context.Context) error { return listens(ctx, host) }
}

// listens returns nil if somebody accepts connections at host.
func listens(ctx context.Context, host string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return conn.Close()
}

// hostPort returns the host and port of a URL.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // start refuses it
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		port = cmp.Or(port, "80")
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Port returns the service's port as text.
func (s *Service) Port() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn
}

// Died waits a moment for the program's end and returns the program if it has ended by itself, nil
// otherwise.
func (s *Service) Died(ctx context.Context) *Child {
	s.mu.Lock()
	c := s.child
	s.mu.Unlock()
	if c == nil || !c.EndsWithin(ctx, 200*time.Millisecond) {
		return nil
	}
	s.mu.Lock()
	s.told = c
	s.mu.Unlock()
	return c
}

// Left returns the program if it has ended by itself and no caller knew of that; nil otherwise. It
// reports each end only once.
func (s *Service) Left() *Child {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.unseen
	if c == nil && s.child != s.told {
		c = s.child
	}
	if c == nil || c.Alive() {
		return nil
	}
	s.unseen, s.told = nil, c
	return c
}

// HasDied reports whether the program has ended.
func (s *Service) HasDied() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.child != nil && !s.child.Alive()
}

// Printed returns what the program wrote since the last call.
func (s *Service) Printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil {
		return ""
	}
	return s.child.Output.Take()
}

// PID returns the process id; 0 while there is no process.
func (s *Service) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil {
		return 0
	}
	return s.child.cmd.Process.Pid
}

// Starts returns how often the program was started.
func (s *Service) Starts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts
}

// Renew replaces the process.
func (s *Service) Renew(ctx context.Context) error {
	if err := s.Close(); err != nil {
		return err
	}
	_, err := s.Ensure(ctx)
	return err
}

// Kill kills the process without warning.
func (s *Service) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		s.told = s.child
		s.child.Kill()
	}
}

// Notes reports repeated starts.
func (s *Service) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starts < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the %s's program was started %d times", s.spec.Noun, s.starts)}
}

// Close stops the service.
func (s *Service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		s.child.Stop()
		s.child, s.told = nil, nil
	}
	return nil
}

// Plain removes the method and URL, which may contain a chosen port, that net/http puts in front of
// an error.
func Plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// Ports of services are below the ephemeral ports (32768 to 60999 on Linux, from 49152 by RFC
// 6335). Otherwise any program could get a service's port before the service listens, and those
// waiting for the service would reach that program.
const (
	firstPort = 20000
	portCount = 32768 - firstPort
)

// portCursor is where the search for the next port starts. It begins at a random port, because
// other processes search too, and advances, so that no two services of this process get the same
// port.
var portCursor = func() *atomic.Uint32 {
	c := new(atomic.Uint32)
	c.Store(rand.Uint32N(portCount))
	return c
}()

// FreePort returns a TCP port for a service on which nothing listens on this machine.
func FreePort(ctx context.Context) (string, error) {
	var err error
	for range portCount {
		port := strconv.Itoa(firstPort + int(portCursor.Add(1)%portCount))
		if err = vacant(ctx, port); err == nil {
			return port, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("finding a free port: %w", err)
}

// vacant returns nil if a process can listen on a port. On Linux, a process started meanwhile
// inherits the listening socket until it executes its program, so a client would connect and then
// be cut off; therefore the lock keeps processes from being started. (Elsewhere Listen takes the
// lock itself.)
func vacant(ctx context.Context, port string) error {
	if runtime.GOOS == "linux" {
		syscall.ForkLock.Lock()
		defer syscall.ForkLock.Unlock()
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return err
	}
	return l.Close()
}
