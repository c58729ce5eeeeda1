package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
)

// service is an agent that Thresh starts and keeps running.
type service struct {
	plan  *agentcall.Plan
	extra []string

	mu       sync.Mutex
	child    *child
	drawn    string // port
	starts   int
	failures int // starts in a row without an agent that got ready
}

// maxFailures is how often in a row an agent is started in vain.
const maxFailures = 3

// maxDraws is how often a port is drawn that is still free.
const maxDraws = 5

func newService(p *agentcall.Plan, extra []string) *service {
	return &service{plan: p, extra: extra}
}

// ensure starts the agent unless it runs; fresh says that it had to. It is
// started again when it has died, but not for ever.
func (s *service) ensure(ctx context.Context) (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil && s.child.alive() {
		return false, nil
	}
	if s.failures >= maxFailures {
		return false, diag.Environment("it was started %d times in a row without getting ready: %w", s.failures, agentcall.ErrGone)
	}
	again := s.starts > 0
	if err := s.start(ctx, maxDraws); err != nil {
		if ctx.Err() == nil {
			s.failures++
		}
		if again {
			err = fmt.Errorf("%w: %w", agentcall.ErrGone, err)
		}
		return false, err
	}
	s.failures = 0
	return again, nil
}

// start starts the agent and waits until it is ready; again if others took the
// port that was drawn for it, a few times. The lock is held.
func (s *service) start(ctx context.Context, draws int) error {
	p := s.plan.Start
	var port string
	put := func(text string) string { return strings.ReplaceAll(text, agentcall.PortMark, port) }
	for tries := 1; ; tries++ {
		var err error
		if port, err = freePort(ctx); err != nil {
			return err
		}
		host := hostPort(put(s.plan.Address()))
		if listens(ctx, host) != nil {
			break
		}
		// A drawn port may be taken by another program a moment later.
		if tries == maxDraws || !strings.Contains(s.plan.Address(), agentcall.PortMark) {
			return diag.WithHint(diag.Environment("start the agent %s: somebody else listens on %s already", p.Argv[0], host),
				"stop that program, or put {port} into the address so that a free port is used")
		}
	}
	prog := program{dir: p.Dir, limits: p.Limits, env: []string{"PORT=" + port}}
	for _, a := range p.Argv {
		prog.argv = append(prog.argv, put(a))
	}
	for _, e := range append(append([]string(nil), p.Env...), s.extra...) {
		prog.env = append(prog.env, put(e))
	}
	c, err := startChild(prog)
	if err != nil {
		return err
	}
	s.starts++
	s.child, s.drawn = c, port
	ready, cancel := context.WithTimeout(ctx, p.Patience)
	defer cancel()
	if err := s.awaitReady(ready, c, put); err != nil {
		wrote, ended := c.output.last(), !c.alive()
		c.stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if ended && draws > 1 && strings.Contains(s.plan.Address(), agentcall.PortMark) && taken(ctx, port) {
			return s.start(ctx, draws-1)
		}
		return diag.WithHint(diag.Environment("start the agent %s: %w%s", p.Argv[0], err, wrote),
			"it must listen on the port that PORT or {port} names; its readiness and how long to wait for it can be configured")
	}
	return nil
}

// awaitReady asks until the agent answers. It has to ask in intervals: nothing
// says when a program begins to listen.
func (s *service) awaitReady(ctx context.Context, c *child, put func(string) string) error {
	ask := s.probe(put)
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		err := ask(ctx)
		if !c.alive() {
			return fmt.Errorf("it ended before it was ready (%s)", c.end)
		}
		if err == nil {
			return nil
		}
		if c.endsWithin(ctx, pause) {
			return fmt.Errorf("it ended before it was ready (%s)", c.end)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("it was not ready within %s (%v)", s.plan.Start.Patience, plain(err))
		}
	}
}

// probe is how the agent is asked whether it is ready.
func (s *service) probe(put func(string) string) func(context.Context) error {
	if ready := s.plan.Start.Ready; ready != "" {
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
	host := hostPort(put(s.plan.Address()))
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
		return address // the request says what is wrong with it
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
		if port == "" {
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// freePort draws a port that nobody listens on just now.
func freePort(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("draw a port: %w", err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// taken reports whether a port cannot be listened on.
func taken(ctx context.Context, port string) bool {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:"+port)
	if err == nil {
		l.Close()
	}
	return err != nil
}

// port is the agent's, as text.
func (s *service) port() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawn
}

// died waits a moment to learn whether the agent has ended, and how.
func (s *service) died(ctx context.Context) (how string, ok bool) {
	s.mu.Lock()
	c := s.child
	s.mu.Unlock()
	if c == nil || !c.endsWithin(ctx, 200*time.Millisecond) {
		return "", false
	}
	return c.end, true
}

// hasDied reports whether the agent is known to have ended.
func (s *service) hasDied() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.child != nil && !s.child.alive()
}

// printed is what the agent wrote since the last time.
func (s *service) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil {
		return ""
	}
	return s.child.output.take()
}

// renew replaces the process.
func (s *service) renew(ctx context.Context) error {
	if err := s.close(); err != nil {
		return err
	}
	_, err := s.ensure(ctx)
	return err
}

func (s *service) notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starts < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the agent's program was started %d times", s.starts)}
}

// close stops the agent.
func (s *service) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		s.child.stop()
		s.child = nil
	}
	return nil
}

// plain is an error without the method and URL, with a port that was drawn, that
// net/http puts before it.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
