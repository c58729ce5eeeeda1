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

// PortMark stands for the port that is drawn for a service, in its command, its
// environment and its address.
const PortMark = "{port}"

// ErrGone says that a service cannot be started any more.
var ErrGone = errors.New("it cannot be started again")

// ServiceSpec is a program that is started and called at an address.
type ServiceSpec struct {
	Spec
	Address string // a URL that may hold PortMark
	// Ready is a URL that answers with a status below 500 when the service is
	// ready, or Log matches a line that it writes; neither: the address accepts
	// a connection.
	Ready    string
	Log      *regexp.Regexp
	Patience time.Duration // how long it may take; > 0
	Gone     error         // what errors wrap when it cannot be started any more; nil: ErrGone
}

// Service is a program that Thresh starts and keeps running.
type Service struct {
	spec ServiceSpec

	mu       sync.Mutex
	child    *Child
	drawn    string // port; once it is known, that of later starts
	told     *Child // whose end is known to a caller
	unseen   *Child // that was replaced before anybody knew that it had ended
	starts   int
	failures int // starts in a row without an agent that got ready
}

// MaxFailures is how often in a row an agent is started in vain.
const MaxFailures = 3

// maxDraws is how often a port is drawn that is still free.
const maxDraws = 5

// NewService returns a service that has not been started.
func NewService(s ServiceSpec) *Service {
	if s.Gone == nil {
		s.Gone = ErrGone
	}
	return &Service{spec: s}
}

// Ensure starts the agent unless it runs; fresh says that it had to. It is
// started again when it has died, but not for ever.
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

// start starts the agent and waits until it is ready; again if others took the
// port that was drawn for it, a few times. The lock is held.
func (s *Service) start(ctx context.Context, draws int) error {
	p := &s.spec
	if _, err := url.Parse(strings.ReplaceAll(p.Address, PortMark, "80")); err != nil { // it may hold a password
		hint := "a user and a password in it must be percent-encoded"
		if _, after, unset := strings.Cut(p.Address, "${"); unset {
			name, _, _ := strings.Cut(after, "}")
			hint = name + " is not set: export " + name + "=..."
		}
		return diag.WithHint(diag.Environment("start the %s %s: its address is not a URL", p.Noun, p.Argv[0]), hint)
	}
	port := s.drawn // started again, it is where it was: what it keeps may be named after its port
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
		// A drawn port may be taken by another program a moment later.
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

// awaitReady asks until the agent answers. It has to ask in intervals: nothing
// says when a program begins to listen.
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

// probe is how the agent is asked whether it is ready.
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

// listens is nil if somebody accepts connections there.
func listens(ctx context.Context, host string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return conn.Close()
}

// hostPort is where a URL leads to.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // refused when it is started
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		port = cmp.Or(port, "80")
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Port returns the agent's, as text.
func (s *Service) Port() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn
}

// Died waits a moment to learn whether the program has ended by itself, and returns it;
// nil: it has not.
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

// Left returns the program if it has ended without being asked to, while nobody who
// called it knew; nil otherwise. The caller is the one who knows.
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

// HasDied reports whether the agent is known to have ended.
func (s *Service) HasDied() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.child != nil && !s.child.Alive()
}

// Printed returns what the agent wrote since the last time.
func (s *Service) Printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil {
		return ""
	}
	return s.child.Output.Take()
}

// PID returns the process, 0 while there is none.
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

// Kill ends the process without notice.
func (s *Service) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		s.told = s.child
		s.child.Kill()
	}
}

// Notes says how often it was started.
func (s *Service) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starts < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the %s's program was started %d times", s.spec.Noun, s.starts)}
}

// Close stops the agent.
func (s *Service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		s.child.Stop()
		s.child, s.told = nil, nil
	}
	return nil
}

// Plain returns an error without the method and URL, with a port that was drawn, that
// net/http puts before it.
func Plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// Ports of services lie below those that systems hand out to whoever asks for any
// port (32768 to 60999 on Linux, from 49152 by RFC 6335): until the service listens,
// its port would else be anyone's, and what waits for the service would meet them.
const (
	firstPort = 20000
	portCount = 32768 - firstPort
)

// portCursor is where the next port is looked for. It begins anywhere, as other
// processes look for ports too, and moves on, so that no two services of this
// process have one port.
var portCursor = func() *atomic.Uint32 {
	c := new(atomic.Uint32)
	c.Store(rand.Uint32N(portCount))
	return c
}()

// FreePort returns a TCP port of this machine that nothing listens on, for a service.
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

// vacant is nil if a port can be listened on. Linux lets a process that is started
// meanwhile keep the port until it executes its program: a client would connect, and
// then be cut off. So no process is started meanwhile. (Elsewhere Listen takes the lock
// itself.)
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
