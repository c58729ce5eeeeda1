package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system/command"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/python"
)

// Agents opens agents and holds what the lanes of a plan share.
type Agents struct {
	mu    sync.Mutex
	plans map[string]*shared
	turns map[string]*turns
	// systems opens agents that a system file describes; nil: unsupported.
	systems sut.Opener
	note    func(line string) // nil: no reader
}

// Noting sets the function that reports slow steps before the first call.
func (a *Agents) Noting(note func(line string)) *Agents {
	a.note = note
	return a
}

// New returns an Agents without open agents. A program needs only one.
func New() *Agents {
	return &Agents{plans: make(map[string]*shared), turns: make(map[string]*turns)}
}

// shared is what the lanes of one plan share.
type shared struct {
	key     string
	lanes   int
	turns   *turns
	service *program.Service // a started agent without a process per lane
}

// turns limits concurrent calls. Lanes share it even if their plans differ in something that does
// not distinguish agents, such as a proxy.
type turns struct {
	key    string
	plans  int
	places chan struct{} // nil: no limit
}

// Open implements agentcall.Opener.
func (a *Agents) Open(ctx context.Context, plan agentcall.Plan, lane int, extra []string) (agentcall.Agent, error) {
	if err := check(&plan, extra); err != nil {
		return nil, err
	}
	plan.MaxReply = cmp.Or(plan.MaxReply, agentcall.DefaultMaxReply)
	if plan.Packages != nil {
		if err := a.equip(ctx, &plan); err != nil {
			return nil, err
		}
	}
	s, err := a.join(&plan)
	if err != nil {
		return nil, err
	}
	common := lead{plan: plan, lane: lane, shared: s, life: campaign.LifeOf(ctx), leave: func() error { return a.leave(s) }}
	if plan.Start != nil {
		if common.service = s.service; common.service == nil {
			common.service, common.own = newService(&plan, extra), true
		}
		if _, err := common.service.Ensure(ctx); err != nil {
			return nil, errors.Join(err, common.close())
		}
	}
	var agent agentcall.Agent
	switch {
	case plan.System != nil:
		agent, err = a.openDescribed(ctx, common)
	case plan.HTTP != nil, plan.Chat != nil:
		agent, err = openEndpoint(common)
	case plan.Python != nil:
		agent, err = openPython(ctx, common, extra, python.OpenAgent)
	case plan.Command != nil:
		agent, err = openCommand(common, extra, command.Open)
	default:
		agent, err = openMCP(ctx, common, extra)
	}
	if err != nil {
		return nil, errors.Join(err, common.close())
	}
	return agent, nil
}

func check(p *agentcall.Plan, extra []string) error {
	kinds := 0
	for _, set := range []bool{p.System != nil, p.HTTP != nil, p.Chat != nil, p.Python != nil, p.Command != nil, p.MCP != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("a plan is of one kind of agent, not of %d", kinds)
	case p.MCP != nil && (len(p.MCP.Argv) > 0) == (p.MCP.URL != ""):
		return errors.New("an MCP server needs either a command or a URL")
	case p.Start != nil && (p.Python != nil || p.Command != nil || p.MCP != nil && p.MCP.URL == ""):
		return errors.New("an agent that is started for its calls cannot be started beforehand as well")
	case p.Start != nil && (len(p.Start.Argv) == 0 || p.Start.Patience <= 0):
		return errors.New("an agent that Thresh starts needs a command and a time limit for getting ready")
	case p.Command != nil && len(p.Command.Argv) == 0:
		return errors.New("the agent's command is empty")
	case p.Reset.Renew && p.Start == nil && p.Python == nil && (p.MCP == nil || p.MCP.URL != ""):
		return errors.New("an agent that Thresh has not started cannot be replaced by it")
	case len(extra) > 0 && !p.OwnProcess():
		return errors.New("this agent has no process per worker, so its environment cannot be set")
	case p.Concurrency < 0 || p.MaxReply < 0:
		return errors.New("limits are not negative")
	}
	return nil
}

// join returns what the lanes of a plan share, making it if necessary.
func (a *Agents) join(p *agentcall.Plan) (*shared, error) {
	key, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("tell plans of agents apart: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.plans[string(key)]
	if s == nil {
		s = &shared{key: string(key), turns: a.turnsOf(p)}
		if p.Start != nil && !p.OwnProcess() {
			s.service = newService(p, nil)
		}
		a.plans[s.key] = s
	}
	s.lanes++
	return s, nil
}

// turnsOf returns the turns of an agent, making them if necessary. The caller must hold the lock.
func (a *Agents) turnsOf(p *agentcall.Plan) *turns {
	name := p.Address()
	switch {
	case p.Python != nil:
		name = p.Python.Plan.Target
	case p.Command != nil:
		name = strings.Join(p.Command.Argv, "\x00")
	case p.MCP != nil:
		name = "mcp"
	case p.System != nil:
		name = p.System.Digest
	}
	key := fmt.Sprintf("%d %s", p.Concurrency, name)
	t := a.turns[key]
	if t == nil {
		t = &turns{key: key}
		if p.Concurrency > 0 {
			t.places = make(chan struct{}, p.Concurrency)
		}
		a.turns[key] = t
	}
	t.plans++
	return t
}

// leave stops the shared service when the last lane has left.
func (a *Agents) leave(s *shared) error {
	a.mu.Lock()
	s.lanes--
	last := s.lanes == 0
	if last {
		delete(a.plans, s.key)
		if s.turns.plans--; s.turns.plans == 0 {
			delete(a.turns, s.turns.key)
		}
	}
	a.mu.Unlock()
	if last && s.service != nil {
		return s.service.Close()
	}
	return nil
}

// acquire waits until another concurrent call is allowed.
func (s *shared) acquire(ctx context.Context) (done func(), err error) {
	places := s.turns.places
	if places == nil {
		return func() {}, nil
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lead is the part common to agents of every kind.
type lead struct {
	plan    agentcall.Plan
	lane    int
	shared  *shared
	service *program.Service      // nil: Thresh has not started the agent
	own     bool                  // the service belongs to this lane
	life    *campaign.Life        // of the cases; nil: not watched
	gone    func() *program.Child // left for a program that is not a service; nil: none
	leave   func() error
}

// address returns a URL with the port of the started agent filled in.
func (l *lead) address(url string) string {
	if l.service == nil {
		return url
	}
	return strings.ReplaceAll(url, agentcall.PortMark, l.service.Port())
}

// check refuses a call with requests that this agent cannot fulfil.
func (l *lead) check(c *agentcall.Call) error {
	p := &l.plan
	switch {
	case c.Timeout <= 0:
		return errors.New("a call of an agent needs a time limit")
	case len(c.History) > 0 && !p.TakesHistory():
		return errors.New("this agent cannot receive the earlier turns of a conversation")
	case c.Format != nil && p.Chat == nil:
		return errors.New("this agent cannot be asked for a form of reply")
	case !p.Shapes() && (c.Wire != nil || len(c.Headers) > 0 || c.Via.Proxy != "" || c.Via.CA != nil):
		return errors.New("this agent is not called by a request, so its shape cannot be changed")
	case len(c.Env) > 0 && p.Command == nil:
		return errors.New("this agent is not started for each call, so its environment cannot be set for one")
	case c.Watcher != nil && p.Python == nil:
		return errors.New("the tools of this agent cannot be watched from inside")
	}
	return nil
}

func (l *lead) notes() []string {
	if l.service == nil {
		return nil
	}
	return l.service.Notes()
}

// close stops the lane's own service and leaves the shared one.
func (l *lead) close() error {
	var err error
	if l.own {
		err = l.service.Close()
	}
	return errors.Join(err, l.leave())
}

const (
	// grace is how long to wait for something that should happen at once.
	grace = time.Second
	// tailSize is how many bytes of a program's output are kept.
	tailSize = 64 << 10
)

// newService returns the service of a plan with a Start.
func newService(p *agentcall.Plan, extra []string) *program.Service {
	return program.NewService(program.ServiceSpec{
		Spec:    program.Spec{Noun: "agent", Argv: p.Start.Argv, Dir: p.Start.Dir, Env: append(slices.Clip(p.Start.Env), extra...)},
		Address: p.Address(), Ready: p.Start.Ready, Patience: p.Start.Patience, Gone: agentcall.ErrGone,
	})
}
