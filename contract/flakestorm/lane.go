package flakestorm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// executor runs cases on one lane.
type executor struct {
	c       *Campaign
	shared  *shared
	lane    campaign.Lane
	agent   agentcall.Agent
	port    fault.Port                 // nil: the agent's calls are neither changed nor seen
	ca      []byte                     // of the port, for Thresh's own requests through it
	checker *verify.Checker            // nil: replies are not checked
	judge   agentcall.Agent            // nil: there is none
	users   map[string]agentcall.Agent // models that play users, by file

	recalled string   // which mutations come from earlier runs; "": none
	own      []string // see [known]
}

// watches reports whether the agent's calls go through an injector, which injects faults, answers
// from a recording, or only observes.
func (c *Campaign) watches() bool {
	for _, r := range c.rules {
		if !slices.ContainsFunc(c.replyRules(), func(x fault.Rule) bool { return x.ID == r.rule.ID }) {
			return true
		}
	}
	for _, s := range c.sessions {
		if len(s.recorded) > 0 && c.reach.own {
			return true
		}
	}
	sees := func(v config.Invariant) bool {
		return slices.Contains([]string{"tool_called", "tool_not_called", "tool_arguments", "tokens", "cost", "trace"}, v.Type)
	}
	return c.reach.own && (c.checksOn() || slices.ContainsFunc(c.invariantsOutsideMatrix(), sees) || slices.ContainsFunc(c.invariants, sees))
}

func (c *Campaign) replyRules() []fault.Rule {
	list := slices.Clone(c.chaos.reply)
	for _, j := range c.scenarios {
		list = append(list, j.reply...)
	}
	return list
}

// openLane reaches the agent for a lane. The lane has a port of its own if the agent's calls are to
// be changed or seen.
func (s *shared) openLane(ctx context.Context, lane campaign.Lane) (_ *executor, err error) {
	c := s.c
	x := &executor{c: c, shared: s, lane: lane}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	at := func(g config.Pair) (string, error) { return g.Value, nil }
	watched := s.seeing || c.watches()
	if watched {
		if err := x.openPort(ctx); err != nil {
			return nil, err
		}
		at = func(g config.Pair) (string, error) { return x.port.Gateway(g.Key, g.Value) }
	}
	plan, err := c.point(c.agent, at)
	if err != nil {
		return nil, err
	}
	var extra []string
	if watched {
		if plan, extra, err = x.behindProxy(plan); err != nil {
			return nil, err
		}
	}
	if x.agent, err = c.targets.Agents(ctx, plan, lane.Index, extra); err != nil {
		return nil, diag.Environment("reaching the agent: %w", err)
	}
	return x, nil
}

// openPort opens the port through which the agent of this lane makes its calls.
func (x *executor) openPort(ctx context.Context) error {
	c := x.c
	in, err := x.shared.faults(ctx)
	if err != nil {
		return err
	}
	port, err := in.Port("")
	if err != nil {
		return diag.Environment("opening the proxy that injects faults: %w", err)
	}
	x.port = port
	if c.reach.own || !viaAny(c) {
		return nil
	}
	if x.ca, err = os.ReadFile(port.CAFile()); err != nil {
		return diag.Environment("reading the proxy's certificate: %w", err)
	}
	return nil
}

func viaAny(c *Campaign) bool {
	return c.chaos.via || slices.ContainsFunc(c.scenarios, func(j injection) bool { return j.via })
}

// given returns the variables that the document sets for the agent's process.
func given(p agentcall.Plan) []string {
	switch {
	case p.Start != nil:
		return p.Start.Env
	case p.Command != nil:
		return p.Command.Env
	case p.MCP != nil:
		return p.MCP.Env
	case p.Python != nil:
		return p.Python.Env
	}
	return nil
}

// behindProxy connects the agent of a plan to the lane's port: by the environment of its process,
// or by a shim or a gateway around a server.
func (x *executor) behindProxy(plan agentcall.Plan) (agentcall.Plan, []string, error) {
	env := x.port.Env(given(plan))
	switch {
	case plan.MCP != nil && plan.MCP.URL == "":
		m := *plan.MCP
		argv, err := x.port.Shim("agent", m.Argv)
		if err != nil {
			return plan, nil, diag.Environment("putting the MCP server behind the proxy: %w", err)
		}
		m.Argv = argv
		plan.MCP = &m
	case plan.MCP != nil && plan.Start == nil:
		m := *plan.MCP
		u, err := x.port.Gateway("agent", m.URL)
		if err != nil {
			return plan, nil, diag.Environment("putting the MCP server behind the proxy: %w", err)
		}
		m.URL = u
		plan.MCP = &m
	case plan.MCP != nil: // its address is known only once it runs
		m := *plan.MCP
		ca, err := os.ReadFile(x.port.CAFile())
		if err != nil {
			return plan, nil, diag.Environment("reading the proxy's certificate: %w", err)
		}
		m.Via = agentcall.Via{Proxy: x.port.Proxy(), CA: ca}
		plan.MCP = &m
	}
	if plan.Start != nil && !plan.OwnProcess() { // one process for all lanes has only one port
		s := *plan.Start
		s.Env = append(s.Env[:len(s.Env):len(s.Env)], env...)
		plan.Start = &s
	}
	if !plan.OwnProcess() || plan.Command != nil {
		return plan, nil, nil // a program gets it at each call
	}
	return plan, env, nil
}

// openJudged reaches the agent and opens what checks need. Loading an encoder takes time, so lanes
// that check nothing do without.
func (s *shared) openJudged(ctx context.Context, lane campaign.Lane) (*executor, error) {
	x, err := s.openLane(ctx, lane)
	if err != nil {
		return nil, err
	}
	if err := x.openChecker(ctx); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// openChecker opens what checks need: a measure and a judge.
func (x *executor) openChecker(ctx context.Context) error {
	c := x.c
	x.checker = &verify.Checker{Schemas: c.schemas}
	if c.compares() {
		m, err := x.shared.openMeasure(ctx)
		if err != nil {
			return err
		}
		x.checker.Measure = m
	}
	if c.cfg.Judge != nil && c.judges() {
		plan, err := c.endpoint(c.cfg.Judge)
		if err != nil {
			return err
		}
		if x.judge, err = c.targets.Agents(ctx, plan, x.lane.Index, nil); err != nil {
			return diag.Environment("reaching the judge: %w", err)
		}
		x.checker.Judge = &modelJudge{agent: x.judge, timeout: c.cfg.Judge.Timeout}
	}
	return nil
}

// checks reports whether any invariant has one of the types.
func (c *Campaign) checks(types ...string) bool {
	is := func(v config.Invariant) bool { return slices.Contains(types, v.Type) }
	return slices.ContainsFunc(c.invariantsOutsideMatrix(), is) || slices.ContainsFunc(c.invariants, is) ||
		slices.ContainsFunc(c.sessions, func(s session) bool { return slices.ContainsFunc(s.checks, is) })
}

func (c *Campaign) compares() bool { return c.checks("similarity", "behavior_unchanged") }
func (c *Campaign) judges() bool   { return c.checks("llm_judge") }

// Notes says how cases were run.
func (x *executor) Notes() []string {
	var notes []string
	if x.agent != nil {
		notes = append(notes, x.agent.Notes()...)
	}
	if t := x.shared.timing.text(); t != "" {
		notes = append(notes, t)
	}
	if x.checker != nil && x.checker.Measure != nil {
		notes = append(notes, "texts were compared by "+x.checker.Measure.Name())
	}
	if x.recalled != "" {
		notes = append(notes, x.recalled)
	}
	return append(notes, x.shared.notes()...)
}

// Close implements [campaign.Executor].
func (x *executor) Close() error {
	var errs []error
	for _, a := range slices.AppendSeq([]agentcall.Agent{x.agent, x.judge}, maps.Values(x.users)) {
		if a != nil {
			errs = append(errs, a.Close())
		}
	}
	if x.port != nil {
		errs = append(errs, x.port.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the agent: %w", err)
	}
	return nil
}
