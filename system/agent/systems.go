package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/program"
)

// asked is an agent's client used as the edge of a system.
type asked struct {
	plan  *sut.Plan
	agent agentcall.Agent
	ops   []sut.Operation
	call  func(op *sut.Operation, c *sut.Call) (agentcall.Call, error)
}

// alone returns the lead of an agent that is used as a system, which has no limits or service of
// its own.
func alone(p agentcall.Plan, w sut.Worker) lead {
	p.MaxReply = sut.MaxOutput
	return lead{plan: p, lane: w.Index, shared: &shared{turns: &turns{}}, leave: func() error { return nil }}
}

// OpenMCP is a system.Kind: the operations are the tools of an MCP server.
func OpenMCP(ctx context.Context, s system.Site) (system.Edge, error) {
	m := &agentcall.MCP{Headers: s.Plan.Headers}
	if s.Plan.URL != "" {
		m.URL = s.Address(s.Plan.URL)
	} else {
		m.Argv, m.Dir = s.Plan.Command, s.Plan.StartDir()
	}
	agent, err := openMCP(ctx, alone(agentcall.Plan{MCP: m}, s.Worker), nil)
	if err != nil {
		return nil, err
	}
	x := &asked{plan: s.Plan, agent: agent, call: toolCall(s.Plan)}
	if server, ok := agent.(*server); ok {
		for _, t := range server.schemas {
			x.ops = append(x.ops, toolOperation(t, s.Plan))
		}
	}
	slices.SortFunc(x.ops, func(a, b sut.Operation) int { return strings.Compare(a.Name, b.Name) })
	for _, o := range s.Plan.Operations {
		if _, ok := sut.Find(x.ops, o.Name); !ok {
			return nil, errors.Join(system.Unknown(s.Plan, o.Name, x.ops), x.Close())
		}
	}
	return x, nil
}

// destroys matches the names of destructive tools, for tools without annotations.
var destroys = lazy.Pattern(`^(?:.*[_.-])?(?i:delete|drop|wipe|purge|erase|destroy|truncate|uninstall|terminate)(?:[_.-].*|[A-Z].*)?$`)

// toolOperation describes a tool as an operation: its required arguments come first, in their
// order, then the others.
func toolOperation(t *mcp.Tool, p *sut.Plan) sut.Operation {
	o := sut.Operation{Name: t.Name}
	o.Description = diag.FirstLine(strings.TrimSpace(t.Description))
	if h := t.Annotations; h != nil { // by the protocol, a tool that gives no hint may be destructive
		o.Reads = h.ReadOnlyHint
		o.Destroys = !h.ReadOnlyHint && (h.DestructiveHint == nil || *h.DestructiveHint)
	} else {
		o.Destroys = destroys().MatchString(t.Name)
	}
	if said, ok := sut.Find(p.Operations, t.Name); ok {
		o.Returns, o.Arguments = said.Returns, said.Arguments
	}
	text, err := json.Marshal(t.InputSchema)
	if err != nil {
		return o
	}
	o.Schema = text
	if out, err := json.Marshal(t.OutputSchema); err == nil && t.OutputSchema != nil {
		o.Answers = map[string]json.RawMessage{"0": out}
	}
	if len(o.Arguments) > 0 {
		return o
	}
	root, err := agentcall.ParseReply(text)
	if err != nil || root.Get("properties") == nil {
		return o
	}
	var schema struct{ Required []string }
	_ = json.Unmarshal(text, &schema) // a schema without such a list requires none
	properties := root.Get("properties")
	add := func(name string, required bool) {
		n := properties.Get(name)
		if n == nil || slices.ContainsFunc(o.Arguments, func(a sut.Argument) bool { return a.Name == name }) {
			return
		}
		kind := ""
		if t := n.Get("type"); t != nil {
			kind = t.Text
		}
		o.Arguments = append(o.Arguments, sut.Argument{Name: name, Type: kind, Required: required})
	}
	for _, name := range schema.Required { // in the server's order
		add(name, true)
	}
	for _, m := range properties.Members {
		add(m.Key, false)
	}
	return o
}

func toolCall(p *sut.Plan) func(*sut.Operation, *sut.Call) (agentcall.Call, error) {
	return func(op *sut.Operation, c *sut.Call) (agentcall.Call, error) {
		args, raw, err := system.Arguments(p, op, c)
		if err == nil && raw {
			name, ok := soleArgument(op)
			if !ok {
				err = diag.Environment("the system %s: input does not say which argument of the tool %s takes the text", p.Name, op.Name)
				err = diag.WithHint(err, "input: {operation: "+op.Name+", argument: NAME}")
			}
			args = append(slices.Clone(args), sut.Named{Name: name, Value: system.Text(string(c.Input))})
		}
		if err != nil {
			return agentcall.Call{}, err
		}
		prompt := append(append([]byte(`{"tool":`), system.Text(op.Name)...), `,"arguments":`...)
		return agentcall.Call{Prompt: string(append(append(prompt, system.Object(args)...), '}'))}, nil
	}
}

// soleArgument returns the argument that takes text, if the tool needs exactly one and it may be
// text.
func soleArgument(op *sut.Operation) (name string, ok bool) {
	for _, a := range op.Arguments {
		if a.Required || len(op.Arguments) == 1 {
			if ok || a.Type != "string" && a.Type != "" {
				return "", false
			}
			name, ok = a.Name, true
		}
	}
	return name, ok
}

// chatOperation is the only operation of a chat.
const chatOperation = "ask"

// OpenChat is a system.Kind: a model behind a chat API, called with prompts.
func OpenChat(_ context.Context, s system.Site) (system.Edge, error) {
	c := &agentcall.Chat{URL: s.Address(s.Plan.URL), Model: s.Plan.Model, System: s.Plan.System, Headers: s.Plan.Headers,
		Stream: s.Plan.Stream, API: s.Plan.API}
	agent, err := openEndpoint(alone(agentcall.Plan{Chat: c}, s.Worker))
	if err != nil {
		return nil, err
	}
	x := &asked{plan: s.Plan, agent: agent,
		ops: []sut.Operation{{Name: chatOperation, Description: "asks the model " + s.Plan.Model, Arguments: []sut.Argument{{Name: "prompt", Type: "string", Required: true}}}}}
	x.call = func(op *sut.Operation, c *sut.Call) (agentcall.Call, error) {
		if c.Input != nil {
			call := agentcall.Call{Prompt: strings.ToValidUTF8(string(c.Input), "\uFFFD")}
			for _, m := range c.History {
				call.History = append(call.History, agentcall.Message{Role: m.Role, Text: m.Text})
			}
			return call, nil
		}
		args, _, err := system.Arguments(s.Plan, op, c)
		for _, a := range args {
			var prompt string
			if a.Name == "prompt" && json.Unmarshal(a.Value, &prompt) == nil {
				return agentcall.Call{Prompt: prompt}, err
			}
		}
		return agentcall.Call{}, errors.Join(err, fmt.Errorf("the system %s is asked by a text, its argument prompt", s.Plan.Name))
	}
	return x, nil
}

// Operations implements system.Edge.
func (x *asked) Operations() []sut.Operation { return x.ops }

// Notes implements system.Edge.
func (x *asked) Notes() []string { return x.agent.Notes() }

// Close implements system.Edge.
func (x *asked) Close() error { return x.agent.Close() }

// Dead implements system.Mortal.
func (x *asked) Dead() bool {
	s, ok := x.agent.(*server)
	return ok && (s.session == nil || s.child != nil && !s.child.Alive())
}

// Left implements system.Leaver.
func (x *asked) Left() *program.Child {
	if s, ok := x.agent.(*server); ok && s.session != nil && s.child != nil {
		return s.child.Failed()
	}
	return nil
}

// Call implements system.Edge.
func (x *asked) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	op, err := system.Operation(x.plan, c.Operation, x.ops)
	if err != nil {
		return sut.Observation{}, err
	}
	call, err := x.call(op, &c)
	if err != nil {
		return sut.Observation{}, err
	}
	call.Timeout = c.Timeout
	began := time.Now()
	r, err := x.agent.Call(ctx, call)
	if err != nil || ctx.Err() != nil {
		if s, ok := x.agent.(*server); ok {
			err = errors.Join(err, s.drop()) // its current work must not affect the next call
		}
		return sut.Observation{}, errors.Join(err, ctx.Err())
	}
	o := sut.Observation{End: sut.Answered, Status: r.Status, Output: []byte(r.Text), Printed: []byte(r.Printed), Elapsed: r.Latency, Wait: r.Wait}
	if o.Elapsed <= 0 {
		o.Elapsed = time.Since(began)
	}
	for _, t := range r.Tools {
		if x.plan.Kind == sut.Chat {
			o.Events = append(o.Events, sut.Event{Kind: "tool", Name: t.Tool, Args: t.Args, Result: t.Result, Error: t.Error})
		}
	}
	x.judge(&o, op, &r, c.Input != nil)
	if r.End == agentcall.TimedOut {
		system.Late(&o, c.Timeout)
	}
	return o, nil
}

// judge interprets a reply; input says that it answers the prompt of a case.
func (x *asked) judge(o *sut.Observation, op *sut.Operation, r *agentcall.Reply, input bool) {
	o.Why = r.Error
	switch r.End {
	case agentcall.Answered:
		o.Value = x.value(op, r)
		if input && op.Returns == "" && x.plan.Kind == sut.MCP {
			o.Value = agentcall.Unwrapped(o.Value, []byte(r.Text))
		}
		if x.plan.Kind == sut.Chat && r.Value != nil {
			o.Output = r.Value
		}
	case agentcall.TooLarge:
		system.Flood(o)
	case agentcall.Unreachable:
		o.End = sut.Unreachable
	case agentcall.NoTool:
		o.End = sut.Refused
	case agentcall.Refused: // a status outside 2xx
		o.End = sut.Refused
		if r.Status >= 500 {
			o.End, o.Why = sut.Crashed, fmt.Sprintf("HTTP %d", r.Status)
		}
	case agentcall.Reported:
		o.End = sut.Crashed
		code := 0
		if n, _ := fmt.Sscanf(r.Error, "MCP error %d:", &code); x.plan.Kind == sut.MCP && (n == 0 || code == invalidParams) {
			o.End = sut.Refused // the tool reports an error or wrong arguments
		}
	default:
		o.End = sut.Crashed
		if s, ok := x.agent.(*server); ok && s.ended != nil && r.End == agentcall.Died {
			system.Died(o, s.ended.End(), s.ended.State())
			s.ended = nil
		}
	}
}

// invalidParams is JSON-RPC's code for invalid arguments.
const invalidParams = -32602

// value returns the operation's result.
func (x *asked) value(op *sut.Operation, r *agentcall.Reply) json.RawMessage {
	if op.Returns != "" {
		return system.Returned(op, r.Value)
	}
	if x.plan.Kind == sut.MCP && r.Value != nil {
		return r.Value
	}
	return system.Text(r.Text)
}
