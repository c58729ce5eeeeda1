//go:build unix

package python

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/pyhost"
)

const (
	// agentPrinted is how many bytes of an agent's output during a call are kept.
	agentPrinted = 64 << 10
	// agentGrace is the time an agent's process gets beyond a call's limit to cancel what it awaits
	// and to report that. Then it is killed.
	agentGrace = 500 * time.Millisecond
)

// OpenAgent implements pyhost.AgentOpener.
func OpenAgent(ctx context.Context, plan pyhost.AgentPlan) (pyhost.Caller, error) {
	if plan.LoadLimit <= 0 {
		return nil, errors.New("an agent needs a time limit for loading")
	}
	path, err := absolute(plan.SearchPath)
	if err != nil {
		return nil, err
	}
	l, err := newLane(ctx, plan.Python, "", nil)
	if err != nil {
		return nil, err
	}
	a := &agent{lane: l, plan: plan, path: path}
	stop := l.follow(ctx)
	err = a.ensure(ctx)
	if stop(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// agent is an agent in a child process that has loaded it.
type agent struct {
	lane    *lane
	plan    pyhost.AgentPlan
	path    []string
	session *session // nil: create one first
	hung    int
}

type agentRequest struct {
	Role     string            `json:"role"`
	Target   string            `json:"target"`
	Style    pyhost.Style      `json:"style"`
	Path     []string          `json:"path"`
	Environ  []string          `json:"environ"`
	Reset    string            `json:"reset"`
	Tools    []string          `json:"tools"`
	Registry string            `json:"registry"`
	Sources  map[string]string `json:"sources"`
}

type agentOrder struct {
	Reset bool            `json:"reset,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	Limit float64         `json:"limit"` // seconds
}

// agentFrame is a frame from an agent's child.
type agentFrame struct {
	pyhost.AgentReply
	Called   *pyhost.ToolCall `json:"called"`
	Returned *pyhost.ToolCall `json:"returned"`
	Result   json.RawMessage  `json:"result"`
}

// Notes implements pyhost.Caller.
func (a *agent) Notes() []string {
	notes := a.lane.notes()
	if a.hung > 0 {
		notes = append(notes, "the agent's process was replaced "+diag.Plural(a.hung, "time")+" because it did not answer or ended itself")
	}
	return notes
}

// Close implements pyhost.Caller.
func (a *agent) Close() error {
	a.drop()
	return a.lane.close()
}

func (a *agent) drop() *ending {
	if a.session == nil {
		return nil
	}
	end := a.session.finish(0)
	a.session = nil
	return end
}

// Restart implements pyhost.Caller.
func (a *agent) Restart(ctx context.Context) error {
	defer a.lane.follow(ctx)()
	a.drop()
	return a.ensure(ctx)
}

// ensure loads the agent unless it is loaded.
func (a *agent) ensure(ctx context.Context) error {
	if a.session != nil {
		return nil
	}
	s, err := a.lane.open(ctx, "", agentPrinted, nil)
	if err != nil {
		return err
	}
	a.session = s
	doing := "load the agent " + a.plan.Target
	request := agentRequest{
		Role: "agent", Target: a.plan.Target, Style: a.plan.Style, Path: a.path, Environ: a.plan.Environ,
		Reset: a.plan.Reset, Tools: list(a.plan.Tools), Registry: a.plan.Registry, Sources: a.plan.Sources,
	}
	request.Style = cmp.Or(request.Style, pyhost.Plain)
	if request.Sources == nil {
		request.Sources = map[string]string{}
	}
	frame, err := a.exchange(ctx, request, a.plan.LoadLimit, nil)
	printed := s.printed()
	switch {
	case err == nil && frame.Fault == nil:
		return nil
	case err == nil:
		a.drop()
		return &pyhost.FaultError{Doing: doing, Fault: frame.Fault}
	}
	fault := a.endSession(err, a.plan.LoadLimit)
	if ctx.Err() != nil || fault == nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if printed != "" {
		fault.Message += "; it printed: " + printed
	}
	return &pyhost.FaultError{Doing: doing, Fault: fault}
}

// endSession ends a process that did not answer and returns why; nil if the agent is not to blame.
func (a *agent) endSession(why error, limit time.Duration) *pyhost.Fault {
	end := a.drop()
	switch {
	case errors.Is(why, errDeadline):
		a.hung++
		return &pyhost.Fault{Class: "TimeLimit", Message: fmt.Sprintf("no answer within %v", limit)}
	case errors.Is(why, errEnded):
		a.hung++
		return &pyhost.Fault{Class: "ProcessEnded", Message: "the process ended: " + describe(end)}
	}
	return nil
}

// exchange sends an order and answers the tool calls until the reply arrives.
func (a *agent) exchange(ctx context.Context, order any, limit time.Duration, watcher pyhost.ToolWatcher) (agentFrame, error) {
	s := a.session
	deadline := time.Now().Add(limit)
	if err := s.channel.send(order, deadline); err != nil {
		return agentFrame{}, err
	}
	for {
		data, err := s.next(ctx, deadline, false)
		if err != nil {
			return agentFrame{}, err
		}
		var frame agentFrame
		if err := json.Unmarshal(data, &frame); err != nil {
			return frame, errEnded // the agent has found the channel and sends garbage
		}
		var answer pyhost.ToolAnswer
		switch {
		case frame.Called != nil:
			if watcher != nil {
				answer = watcher.Called(*frame.Called)
			}
		case frame.Returned != nil:
			if watcher != nil {
				answer = watcher.Returned(*frame.Returned, frame.Result, frame.Fault)
			}
		default:
			return frame, nil
		}
		if err := s.channel.send(answer, deadline); err != nil {
			return frame, errDeadline
		}
	}
}

// Call implements pyhost.Caller.
func (a *agent) Call(ctx context.Context, c pyhost.AgentCall) (pyhost.AgentReply, error) {
	if c.Timeout <= 0 {
		return pyhost.AgentReply{}, errors.New("a call of an agent needs a time limit")
	}
	input := c.Input
	if input == nil {
		input = json.RawMessage("null")
	}
	return a.call(ctx, agentOrder{Input: input, Limit: c.Timeout.Seconds()}, c.Timeout, c.Watcher)
}

// Reset implements pyhost.Caller.
func (a *agent) Reset(ctx context.Context, limit time.Duration) error {
	doing := "reset the agent by " + a.plan.Reset
	if a.plan.Reset == "" {
		return errors.New("the agent has no function that resets it")
	}
	reply, err := a.call(ctx, agentOrder{Reset: true, Limit: limit.Seconds()}, limit, nil)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	case reply.End == pyhost.AgentHung:
		return &pyhost.FaultError{Doing: doing, Fault: &pyhost.Fault{Class: "TimeLimit", Message: fmt.Sprintf("no answer within %v", limit)}}
	case reply.Fault != nil:
		return &pyhost.FaultError{Doing: doing, Fault: reply.Fault}
	}
	return nil
}

func (a *agent) call(ctx context.Context, order agentOrder, limit time.Duration, watcher pyhost.ToolWatcher) (pyhost.AgentReply, error) {
	defer a.lane.follow(ctx)()
	if err := a.ensure(ctx); err != nil {
		return pyhost.AgentReply{}, err
	}
	began := time.Now()
	frame, err := a.exchange(ctx, order, limit+agentGrace, watcher)
	reply := frame.AgentReply
	if a.session != nil {
		reply.Printed = a.session.printed()
	}
	if err == nil {
		if reply.Latency > limit { // it answered too late, just before it would have been killed
			reply = pyhost.AgentReply{End: pyhost.AgentHung, Latency: reply.Latency, Printed: reply.Printed}
		}
		return reply, nil
	}
	fault := a.endSession(err, limit)
	if ctx.Err() != nil {
		return reply, ctx.Err()
	}
	if fault == nil {
		return reply, err
	}
	reply.End, reply.Latency, reply.Fresh = pyhost.AgentDied, time.Since(began), true
	if errors.Is(err, errDeadline) {
		reply.End = pyhost.AgentHung
	}
	reply.Fault = fault
	return reply, nil
}

// printed returns and drops what was printed since the last call.
func (s *session) printed() string {
	s.drain()
	var text []byte
	for i := range s.out {
		text = append(text, s.out[i].buf...)
		s.out[i].buf = s.out[i].buf[:0]
	}
	return string(text[:min(int64(len(text)), s.out[0].limit)])
}
