package system

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/program"
)

// Patience is the time limit for a started program to get ready.
const Patience = 30 * time.Second

// Edge reaches a system of one kind.
type Edge interface {
	Operations() []sut.Operation
	// Call calls once and waits at most c.Timeout. It returns soon after ctx ends.
	Call(ctx context.Context, c sut.Call) (sut.Observation, error)
	Notes() []string
	Close() error
}

// Fresher is implemented by edges with their own way to give a case a fresh state, within limit or
// a limit of their own. An observation other than Answered says why that failed.
type Fresher interface {
	Fresh(ctx context.Context, limit time.Duration) (sut.Observation, error)
}

// Mortal is implemented by edges whose process may have ended, so that they must be opened again.
type Mortal interface{ Dead() bool }

// Site is what an edge needs to open.
type Site struct {
	Plan    *sut.Plan        // variables resolved
	Service *program.Service // nil: Thresh has not started a program with an address
	Worker  sut.Worker
}

// Address returns a URL with the port of the started program filled in.
func (s *Site) Address(url string) string {
	if s.Service == nil {
		return url
	}
	return strings.ReplaceAll(url, program.PortMark, s.Service.Port())
}

// Spec returns how to start the plan's program to talk to it over its streams.
func (s *Site) Spec() program.Spec {
	x := started(s.Plan, s.Worker)
	x.Talks = true
	return x
}

// crowdThreads is the number of threads of programs that several actors call at the same time.
const crowdThreads = 16

// started returns how to start the plan's program for a worker. Runtimes use as many threads as
// there are processors, and one of them waits for input: on two processors, calls of some
// microseconds would run one after another. With more threads than processors, the kernel preempts
// them in the middle of a call.
func started(p *sut.Plan, w sut.Worker) program.Spec {
	x := program.Spec{Noun: "system", Argv: p.Command, Dir: p.StartDir()}
	for _, name := range []string{"GOMAXPROCS", "TOKIO_WORKER_THREADS"} {
		if _, set := os.LookupEnv(name); w.Crowd && !set && runtime.NumCPU() < crowdThreads {
			x.Env = append(x.Env, name+"="+strconv.Itoa(crowdThreads))
		}
	}
	return x
}

// Kind opens the edges of one kind of system.
type Kind func(ctx context.Context, s Site) (Edge, error)

// Systems opens systems and holds what workers share.
type Systems struct {
	kinds  map[sut.Kind]Kind
	mu     sync.Mutex
	shared map[string]*shared
}

// New returns an opener of systems of the given kinds. A program needs only one.
func New(kinds map[sut.Kind]Kind) *Systems {
	return &Systems{kinds: kinds, shared: make(map[string]*shared)}
}

// shared is what the workers of one plan share.
type shared struct {
	key     string
	workers int
	places  chan struct{} // limits concurrent calls; nil: no limit
	pace    limiter
	flight  flight
	service *program.Service // for a plan with one instance per run
	edge    *oneEdge         // likewise, for edges that talk to a process
	cut     atomic.Bool      // an answer was abandoned: the program may later report a lost connection
}

// oneEdge is an edge that several workers use in turn.
type oneEdge struct {
	mu   sync.Mutex
	edge Edge
}

// Open implements sut.Opener.
func (s *Systems) Open(ctx context.Context, plan *sut.Plan, w sut.Worker) (sut.System, error) {
	kind := s.kinds[plan.Kind]
	if kind == nil {
		return nil, diag.Environment("systems of kind %s cannot be reached here", plan.Kind)
	}
	resolved, err := resolve(plan)
	if err != nil {
		return nil, err
	}
	sh, err := s.join(resolved, w)
	if err != nil {
		return nil, err
	}
	x := &session{all: s, shared: sh, plan: resolved, kind: kind, site: Site{Plan: resolved, Worker: w}, gate: campaign.GateOf(ctx), life: campaign.LifeOf(ctx)}
	if resolved.Limits.Timeout == 0 {
		x.limit = sut.DefaultTimeout
	} else {
		x.limit = resolved.Limits.Timeout
	}
	if addressed(resolved) {
		if x.site.Service = sh.service; x.site.Service == nil {
			x.site.Service, x.own = newService(resolved, w), true
		}
	}
	back := x.borrowShared()
	err = x.ensure(ctx)
	back()
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	x.clean = x.alone()
	return x, nil
}

// addressed reports whether the plan's program is started and called at an address; other programs
// are reached over their streams.
func addressed(p *sut.Plan) bool {
	return len(p.Command) > 0 && p.URL != "" && (p.Kind == sut.HTTP || p.Kind == sut.Chat || p.Kind == sut.MCP)
}

func newService(p *sut.Plan, w sut.Worker) *program.Service {
	return program.NewService(program.ServiceSpec{
		Spec:    started(p, w),
		Address: p.URL, Ready: p.Ready.URL, Log: p.Ready.Log, Patience: Patience,
	})
}

// resolve returns a copy of the plan with the values of variables filled in.
func resolve(plan *sut.Plan) (*sut.Plan, error) {
	p := *plan
	put := func(where, text string) (string, error) {
		names, _ := systemfile.Variables(text)
		for _, name := range names {
			value, ok := os.LookupEnv(name)
			if !ok {
				return "", diag.WithHint(diag.Environment("the variable %s, which %s of the system %s uses, is not set", name, where, p.Name),
					"export "+name+"=...")
			}
			text = strings.ReplaceAll(text, "${"+name+"}", value)
		}
		return text, nil
	}
	var err error
	if p.URL, err = put("url", p.URL); err != nil {
		return nil, err
	}
	if p.Ready.URL, err = put("ready", p.Ready.URL); err != nil {
		return nil, err
	}
	p.Headers, p.Query = slices.Clone(p.Headers), slices.Clone(p.Query)
	for i, h := range p.Headers {
		if p.Headers[i][1], err = put("headers."+h[0], h[1]); err != nil {
			return nil, err
		}
		// Base64 has no colon, so this is the unencoded pair.
		if pair, basic := strings.CutPrefix(p.Headers[i][1], "Basic "); basic && strings.Contains(pair, ":") && strings.EqualFold(h[0], "Authorization") {
			p.Headers[i][1] = "Basic " + base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(pair)))
		}
	}
	for i, q := range p.Query {
		if p.Query[i][1], err = put("query."+q[0], q[1]); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// join returns what the workers of a plan share, making it if necessary. Cold workers have their
// own started programs.
func (s *Systems) join(p *sut.Plan, w sut.Worker) (*shared, error) {
	key := p.Digest
	if key == "" {
		text, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("tell systems apart: %w", err)
		}
		key = string(text)
	}
	if w.Cold && len(p.Command) > 0 {
		key += " cold"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shared[key]
	if sh == nil {
		sh = &shared{key: key, pace: newPace(p.Limits.Rate)}
		if p.Limits.Concurrency > 0 {
			sh.places = make(chan struct{}, p.Limits.Concurrency)
		}
		if p.Per == sut.PerRun {
			if addressed(p) {
				sh.service = newService(p, w)
			} else if len(p.Command) > 0 && p.Kind != sut.Command {
				sh.edge = &oneEdge{}
			}
		}
		s.shared[key] = sh
	}
	sh.workers++
	return sh, nil
}

// leave stops what the workers share when the last has left.
func (s *Systems) leave(sh *shared) error {
	s.mu.Lock()
	sh.workers--
	last := sh.workers == 0
	if last {
		delete(s.shared, sh.key)
	}
	s.mu.Unlock()
	if !last {
		return nil
	}
	var err error
	if sh.edge != nil && sh.edge.edge != nil {
		err = sh.edge.edge.Close()
	}
	if sh.service != nil {
		err = errors.Join(err, sh.service.Close())
	}
	return err
}
