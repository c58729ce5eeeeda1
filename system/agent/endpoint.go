package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/system/program"
)

// endpoint is an agent that is called through HTTP requests.
type endpoint struct {
	lead
	dialect
	direct  *http.Transport
	around  *proxyTransport // through the last proxy used
	jar     *cookiejar.Jar
	session string // the session whose cookies are in jar
	calls   int
	late    bool // the last call timed out: the agent may still be working on it
}

// dialect builds the requests to a kind of agent and reads its replies.
type dialect struct {
	retries int
	build   func(c *agentcall.Call, session string) (request, error)
	read    reader
	chat    *chat // nil: not chat completions
}

func openEndpoint(l lead) (agentcall.Agent, error) {
	e := &endpoint{lead: l, direct: newTransport()}
	if l.plan.HTTP == nil {
		e.dialect = chatDialect(l.plan.Chat)
	} else {
		var err error
		if e.dialect, err = httpDialect(l.plan.HTTP); err != nil {
			return nil, err
		}
	}
	e.dialect.read.most = l.plan.MaxReply
	return e, e.dropCookies()
}

func newTransport() *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: maxHeaders, ForceAttemptHTTP2: true}
}

// maxHeaders is the maximum size of a reply's headers, in bytes.
const maxHeaders = 1 << 20

// dropCookies starts with an empty cookie jar.
func (e *endpoint) dropCookies() error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return fmt.Errorf("make room for cookies: %w", err)
	}
	e.jar, e.session = jar, ""
	return nil
}

// Call implements agentcall.Agent.
func (e *endpoint) Call(ctx context.Context, c agentcall.Call) (agentcall.Reply, error) {
	if err := e.check(&c); err != nil {
		return agentcall.Reply{}, err
	}
	done, err := e.shared.acquire(ctx)
	if err != nil {
		return agentcall.Reply{}, err
	}
	defer done()
	e.endedBefore()
	fresh, err := e.revive(ctx)
	if err != nil {
		return agentcall.Reply{}, err
	}
	session := c.Session
	e.calls++
	if session == "" || session != e.session {
		if err := e.dropCookies(); err != nil {
			return agentcall.Reply{}, err
		}
		e.session = session
	}
	if session == "" {
		session = fmt.Sprintf("thresh-%d-%d", e.lane, e.calls)
	}
	client, err := e.client(c.Via)
	if err != nil {
		return agentcall.Reply{}, err
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	earlier := ""
	if e.service != nil {
		earlier = e.service.Printed()
	}
	var reply agentcall.Reply
	for again := true; again; again = e.chat.retryDifferently(&reply) {
		request, err := e.shaped(ctx, &c, session)
		if err != nil {
			return agentcall.Reply{}, err
		}
		reply = e.copies(limited, client, request, c)
	}
	if ctx.Err() != nil {
		return agentcall.Reply{}, ctx.Err()
	}
	reply.Fresh = fresh
	e.late = reply.End == agentcall.TimedOut
	if e.service != nil {
		died := e.judgeDeath(ctx, &reply)
		reply.Printed, reply.Earlier = earlier+e.service.Printed(), len(earlier)
		e.called(&reply, died)
	}
	return reply, nil
}

// shaped builds the request of a call, with the changes that the call wants.
func (e *endpoint) shaped(ctx context.Context, c *agentcall.Call, session string) (request, error) {
	q, err := e.build(c, session)
	if err == nil {
		q.url = e.address(q.url)
		err = q.shape(c.Wire)
	}
	if err == nil {
		_, err = q.http(ctx) // a request that cannot be sent is not the agent's fault
	}
	if err != nil {
		return q, fmt.Errorf("make the request: %w", program.Plain(err))
	}
	return q, nil
}

// revive restarts an agent that Thresh started if it has died.
func (e *endpoint) revive(ctx context.Context) (fresh bool, err error) {
	if e.service == nil {
		return false, nil
	}
	fresh, err = e.service.Ensure(ctx)
	if fresh {
		e.direct.CloseIdleConnections()
	}
	return fresh, err
}

// judgeDeath attributes a failed call to the death of the agent's program, if it has died.
func (e *endpoint) judgeDeath(ctx context.Context, r *agentcall.Reply) (died *program.Child) {
	if r.End != agentcall.Cut && r.End != agentcall.Unreachable {
		return nil
	}
	if died = e.service.Died(ctx); died != nil {
		r.End, r.Error, r.Fresh = agentcall.Died, "the agent's program ended during the call: "+died.End(), true
	} else if ctx.Err() == nil && r.End == agentcall.Unreachable && e.plan.OwnProcess() {
		r.End, r.Error, r.Fresh, e.late = agentcall.Died, "the agent's program is running but no longer accepts connections", true, true
	}
	return died
}

// copies sends the requested number of copies of the request at once. It returns the first failed
// reply with all replies as its Copies.
func (e *endpoint) copies(ctx context.Context, client *http.Client, q request, c agentcall.Call) agentcall.Reply {
	n := 1
	if c.Wire != nil && c.Wire.Copies > 1 {
		n = c.Wire.Copies
	}
	if n == 1 {
		return e.attempts(ctx, client, q, &c)
	}
	replies := make([]agentcall.Reply, n)
	var group sync.WaitGroup
	for i := range replies {
		group.Go(func() { replies[i] = e.attempts(ctx, client, q, &c) })
	}
	group.Wait()
	told := replies[0]
	for i := range replies {
		if !replies[i].OK() {
			told = replies[i]
			break
		}
	}
	told.Copies = replies
	return told
}

// soon is the longest wait that an endpoint may ask for and get, asked five times at most.
const soon, often = 10 * time.Second, 5

// attempts sends the request until a reply arrives, of whatever kind, or the retries are used up.
// An endpoint that runs elsewhere is called again if it asks for fewer calls, unless a proxy may have said so.
func (e *endpoint) attempts(ctx context.Context, client *http.Client, q request, c *agentcall.Call) agentcall.Reply {
	for attempt := 1; ; attempt++ {
		r := e.attempt(ctx, client, q, c.Timeout)
		r.Attempts = attempt
		failed, most := r.End == agentcall.Unreachable || r.End == agentcall.Cut, e.retries
		if r.Status == http.StatusTooManyRequests && e.service == nil && c.Via.Proxy == "" && r.Wait <= soon {
			if failed = true; r.Wait > 0 {
				most = max(most, often)
			}
		}
		if !failed || attempt > most || e.service != nil && e.service.HasDied() {
			return r
		}
		// Wait half a second, then a second, and so on: users' agents expect these intervals.
		t := time.NewTimer(max(r.Wait, time.Duration(attempt)*500*time.Millisecond))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return r
		}
	}
}

// attempt makes one attempt.
func (e *endpoint) attempt(ctx context.Context, client *http.Client, q request, limit time.Duration) agentcall.Reply {
	began := time.Now()
	r := func() agentcall.Reply {
		hq, err := q.http(ctx)
		if err != nil {
			return failure(ctx, err, limit)
		}
		answer, err := client.Do(hq)
		if err != nil {
			return failure(ctx, err, limit)
		}
		defer answer.Body.Close()
		return e.read.reply(ctx, answer, began, limit)
	}()
	r.Latency = time.Since(began)
	return r
}

// Reset implements agentcall.Agent.
func (e *endpoint) Reset(ctx context.Context, limit time.Duration) error {
	if err := e.dropCookies(); err != nil {
		return err
	}
	p := &e.plan.Reset
	e.endedBefore()
	late := e.late && e.service != nil && e.plan.OwnProcess() // its late calls would be attributed to the next case
	if e.late = false; p.Renew || late {
		e.direct.CloseIdleConnections()
		return e.service.Renew(ctx)
	}
	if p.URL == "" {
		return nil
	}
	fresh, err := e.revive(ctx)
	if err != nil {
		return err
	}
	clear := func() error { return postReset(ctx, e.direct, e.address(e.plan.Address()), e.address(p.URL), limit) }
	err = clear()
	if _, ok := errors.AsType[*exchange.UnreachableError](err); ok && e.service != nil && e.plan.OwnProcess() && !fresh {
		if err := e.service.Renew(ctx); err != nil { // the agent stopped listening after its last reply
			return err
		}
		return clear()
	}
	return err
}

// postReset calls a reset endpoint, whose URL may be relative to the agent's.
func postReset(ctx context.Context, t *http.Transport, base, ref string, limit time.Duration) error {
	doing := "reset the agent by " + ref
	if limit <= 0 {
		return errors.New(doing + ": no time is left")
	}
	at, err := url.Parse(base)
	if err == nil {
		at, err = at.Parse(ref)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	q, err := http.NewRequestWithContext(limited, http.MethodPost, at.String(), http.NoBody)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, program.Plain(err))
	}
	// Following a redirect would turn the request into a GET.
	client := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(q)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f := failure(limited, err, limit)
		if f.End == agentcall.Unreachable {
			return &exchange.UnreachableError{Server: at.Host, Reason: doing + ": " + f.Error}
		}
		return fmt.Errorf("%s: %s", doing, f.Error)
	}
	defer answer.Body.Close()
	text := excerpt(answer.Body)
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s", doing, strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", answer.StatusCode, text), ": "))
	}
	return nil
}

// Forgets implements agentcall.Agent.
func (e *endpoint) Forgets() bool { return e.plan.Reset.URL != "" || e.plan.Reset.Renew }

// Notes implements agentcall.Agent.
func (e *endpoint) Notes() []string {
	if e.chat == nil {
		return e.notes()
	}
	return append(e.notes(), e.chat.notes...)
}

// Close implements agentcall.Agent.
func (e *endpoint) Close() error {
	e.direct.CloseIdleConnections()
	e.around.close()
	return e.lead.close()
}

// proxyTransport is a transport and the proxy it goes through.
type proxyTransport struct {
	via       agentcall.Via
	transport *http.Transport
}

func (d *proxyTransport) close() {
	if d != nil {
		d.transport.CloseIdleConnections()
	}
}

// client makes the client for a call, with its transport and cookies. It follows no redirects,
// which are not answers of an agent.
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

// newProxyTransport makes a transport that uses a proxy for every address, including this machine's
// own.
func newProxyTransport(via agentcall.Via) (*http.Transport, error) {
	t := newTransport()
	if via.Proxy != "" {
		u, err := url.Parse(via.Proxy)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("the proxy's address %q is invalid", via.Proxy)
		}
		t.Proxy = http.ProxyURL(u)
	}
	if via.CA != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // a system without certificates: the proxy's suffices
		}
		if !pool.AppendCertsFromPEM(via.CA) {
			return nil, errors.New("the proxy's certificate authority is not a PEM certificate")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return t, nil
}
