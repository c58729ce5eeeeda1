package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/sut"
)

// Systems sets the opener for agents that a system file describes.
func (a *Agents) Systems(open sut.Opener) *Agents {
	a.systems = open
	return a
}

// described is a system used as an agent: a prompt is the input of its operation.
type described struct {
	lead
	system sut.System
}

func (a *Agents) openDescribed(ctx context.Context, l lead) (agentcall.Agent, error) {
	if a.systems == nil {
		return nil, diag.Environment("systems cannot be reached here")
	}
	x, err := a.systems(ctx, l.plan.System, sut.Worker{Index: l.lane, Of: l.lane + 1})
	if err != nil {
		return nil, err
	}
	return &described{l, x}, nil
}

// agentEnds maps the ends of a system's calls to those of an agent's.
var agentEnds = map[sut.End]agentcall.End{
	sut.Answered: agentcall.Answered, sut.Refused: agentcall.Refused, sut.Crashed: agentcall.Died, sut.Hung: agentcall.TimedOut,
	sut.Flooded: agentcall.TooLarge, sut.Unreachable: agentcall.Unreachable,
}

// Call implements agentcall.Agent.
func (d *described) Call(ctx context.Context, c agentcall.Call) (agentcall.Reply, error) {
	if err := d.check(&c); err != nil {
		return agentcall.Reply{}, err
	}
	done, err := d.shared.acquire(ctx)
	if err != nil {
		return agentcall.Reply{}, err
	}
	defer done()
	call := sut.Call{Input: []byte(c.Prompt), Text: true, Timeout: c.Timeout}
	for _, m := range c.History {
		call.History = append(call.History, sut.Message{Role: m.Role, Text: m.Text})
	}
	o, err := d.system.Call(ctx, call)
	if err != nil {
		return agentcall.Reply{}, err
	}
	r := agentcall.Reply{End: agentEnds[o.End], Error: o.Why, Status: o.Status, Attempts: 1, Latency: max(o.Elapsed, time.Nanosecond),
		Size: int64(len(o.Output)), Printed: string(o.Printed), Text: strings.ToValidUTF8(string(o.Output), "\uFFFD")}
	if json.Valid(o.Output) {
		r.Value = json.RawMessage(o.Output)
	}
	if o.End == sut.Answered && o.Value != nil {
		if r.Text = string(o.Value); json.Unmarshal(o.Value, &r.Text) != nil {
			r.Text = string(o.Value)
		}
	}
	if root, err := agentcall.ParseReply(o.Output); err == nil && o.End == sut.Answered && o.Value == nil && d.plan.System.Reply != "" {
		if complaint := agentcall.Complaint(root); complaint != "" { // instead of the reply that the file describes
			return fail(r, agentcall.Reported, "%s", complaint), nil
		}
	}
	switch {
	case o.End == sut.Crashed && o.Status >= 500:
		r.End = agentcall.Refused
	case o.End == sut.Crashed && o.Signal == 0 && o.Exit == 0 && d.plan.System.Kind == sut.Python:
		r.End = agentcall.Raised
	}
	for _, e := range o.Events {
		if e.Kind == "tool" {
			r.Tools = append(r.Tools, agentcall.ToolCall{Tool: e.Name, Args: e.Args, Result: e.Result, Error: e.Error})
		}
	}
	return r, nil
}

// Reset implements agentcall.Agent.
func (d *described) Reset(ctx context.Context, _ time.Duration) error { return d.system.Reset(ctx) }

// Forgets implements agentcall.Agent.
func (d *described) Forgets() bool { return d.plan.System.ResetBy() != sut.ResetNone }

// Notes implements agentcall.Agent.
func (d *described) Notes() []string { return d.system.Notes() }

// Close implements agentcall.Agent.
func (d *described) Close() error { return errors.Join(d.system.Close(), d.lead.close()) }
