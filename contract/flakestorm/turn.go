package flakestorm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/verify"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/fault"
)

// cell is one independent invocation of the agent: its memory cleared, with its own counters of
// faults and its own seed.
type cell struct {
	x         *executor
	j         injection
	faults    fault.Cell // nil: there is no port
	ledger    *fault.Ledger
	session   string // name of the case in what is stored
	sent      string // name of the case for the agent
	seen      int    // tool calls of earlier turns
	opened    int    // index of the turn that began the conversation
	talking   string // the golden prompt of the conversation
	within    bool   // the next turn continues the conversation
	calls     int    // exchanges of earlier turns
	events    int    // of earlier turns: events of the injector, and of the reply's ledger
	replies   int
	in, out   int64
	uncounted int
	turns     []turn
	began     time.Time
}

// turn is one question and its answer.
type turn struct {
	Prompt string          `json:"prompt"`
	Sent   string          `json:"sent,omitempty"` // if an attack changed the prompt
	Reply  agentcall.Reply `json:"reply"`
	Tools  []verify.Tool   `json:"tools,omitempty"`
	Checks []checked       `json:"checks,omitempty"`
	// Injected is what Thresh injected into the call of the agent itself; "": nothing. replaced
	// says that nothing of the reply is the agent's.
	Injected string `json:"injected,omitempty"`
	replaced bool
	observe  verify.Reply
	// Exchanges is how many the cell had at the end of the turn.
	Exchanges int `json:"exchanges,omitempty"`
	First     int `json:"first,omitempty"` // first turn of the conversation, by its index in the cell
	script    int // its place in the script of the conversation, from 1; 0: not part of a script
	// conversation is the golden prompt of its conversation, if it belongs to one.
	conversation string
}

// checked is one check of a reply.
type checked struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Passed  bool   `json:"passed"`
	Reason  string `json:"reason"`
	Measure string `json:"measure,omitempty"`
}

// How much of each body that an agent sends or receives is kept: in a run, and in a session that is
// recorded, for which all of it is wanted.
const (
	captured   = 64 << 10
	recordable = 8 << 20
)

// setting says how to enter a cell.
type setting struct {
	j        injection
	name     string // of the case; decides the seed
	recorded []fault.Recorded
	before   int // calls that after_calls counts as already made
}

// enter clears the agent's memory and opens a cell. If it returns an error, the case has no result.
func (x *executor) enter(ctx context.Context, s setting) (*cell, error) {
	if err := x.agent.Reset(ctx, resetLimit); err != nil {
		if errors.Is(err, agentcall.ErrGone) {
			return nil, &campaign.FatalError{Err: err}
		}
		return nil, fmt.Errorf("the agent's memory could not be cleared before the case, so that it would not be independent: %w", err)
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s", x.c.seed, s.name)
	plan := fault.Plan{Seed: h.Sum64(), Before: s.before, Recorded: s.recorded, Capture: captured, Secrets: x.c.secrets, Harmless: x.c.cfg.Effects.Harmless, Own: x.own}
	if x.shared.seeing {
		plan.Capture = recordable
	}
	plan.Rules = s.j.rules
	for _, g := range x.c.cfg.Agent.Gateways {
		plan.Names = append(plan.Names, fault.Named{Tool: g.Key, URL: fault.Literal(g.Value) + "*"})
	}
	if !x.c.reach.own && !x.c.reach.model {
		plan.Self = fault.Literal(x.c.cfg.Agent.Endpoint) + "*" // asking the agent is not a tool call
	}
	cl := &cell{x: x, j: s.j, session: fmt.Sprintf("%016x", h.Sum64()), began: time.Now()}
	cl.sent = unused(cl.session)
	if len(s.j.reply) > 0 {
		l, err := fault.NewLedger(fault.Plan{Seed: plan.Seed, Before: s.before, Rules: s.j.reply}, func() time.Duration { return time.Since(cl.began) })
		if err != nil {
			return nil, fmt.Errorf("planning the faults of the reply: %w", err)
		}
		cl.ledger = l
	}
	if x.port != nil {
		f, err := x.port.Enter(plan)
		if err != nil {
			return nil, fmt.Errorf("planning the faults of the case: %w", err)
		}
		cl.faults = f
	}
	return cl, nil
}

// askAgent asks the agent once, inside the cell.
func (c *cell) askAgent(ctx context.Context, prompt string, wire *agentcall.Wire, history []agentcall.Message) (*turn, error) {
	x := c.x
	if !c.within {
		c.opened = len(c.turns)
	}
	call := agentcall.Call{Prompt: prompt, History: history, Session: c.sent, Timeout: x.c.cfg.Agent.Timeout, Wire: wire}
	if c.opened > 0 { // another name, so that the agent does not remember the case's other conversations
		call.Session = fmt.Sprintf("%s-%d", c.sent, c.opened)
	}
	if c.faults != nil {
		call.Prompt = c.faults.Prompt(prompt)
		switch {
		case x.c.agent.Python != nil:
			if x.c.reach.tools {
				call.Watcher = c.faults.Watcher()
			}
		case x.c.agent.Command != nil:
			call.Env = c.faults.Env(x.c.agent.Command.Env)
		case x.c.agent.Shapes():
			call.Headers = c.faults.Headers()
			if c.j.via {
				call.Via = agentcall.Via{Proxy: c.faults.Proxy(), CA: x.ca}
			}
		}
	}
	reply, err := x.agent.Call(ctx, call)
	if err != nil {
		if errors.Is(err, agentcall.ErrGone) {
			return nil, &campaign.FatalError{Err: err}
		}
		return nil, fmt.Errorf("calling the agent: %w", err)
	}
	c.renameReply(&reply)
	c.strikeReply(&reply)
	x.shared.timing.add(reply.Latency)
	t := turn{Prompt: prompt, Reply: reply}
	if call.Prompt != prompt {
		t.Sent = call.Prompt
	}
	t.First, t.conversation = c.opened, c.talking
	c.noteAgentFaults(&t)
	if a := &x.c.agent; reply.Status == http.StatusTooManyRequests && t.Injected == "" && a.Shapes() && a.Start == nil {
		return nil, campaign.Transient("the agent's endpoint asks for fewer calls: %s; lower advanced.concurrency", diag.FirstLine(reply.Error))
	}
	c.observed(&t)
	c.turns = append(c.turns, t)
	return &c.turns[len(c.turns)-1], nil
}

// noteAgentFaults records what faults did to the call of the agent itself, which Thresh makes. It
// records nothing if the faults struck the agent's own calls.
func (c *cell) noteAgentFaults(t *turn) {
	reach := &c.x.c.reach
	var list []string
	look := func(r fault.Report, seen *int) {
		for _, e := range r.Events[min(*seen, len(r.Events)):] {
			if e.Missed || e.Call == 0 || e.Rule == "" || slices.Contains(fault.Modes(fault.Context), e.Mode) {
				continue
			}
			if text := fmt.Sprintf("%s (%s)", e.Change, e.Rule); !slices.Contains(list, text) { // each retry is struck
				list = append(list, text)
			}
			t.replaced = t.replaced || !t.Reply.OK() || slices.Contains(replacing, e.Mode)
		}
		*seen = len(r.Events)
	}
	if c.faults != nil && (!reach.own || reach.mcp) {
		look(c.report(), &c.events)
	}
	if c.ledger != nil {
		look(c.ledger.Report(), &c.replies)
	}
	t.Injected = strings.Join(list, ", ")
}

// replacing lists the modes that leave nothing of an answer.
var replacing = []fault.Mode{fault.Timeout, fault.Error, fault.Malformed, fault.Malicious, fault.Reset, fault.RateLimit}

// strikeReply applies LLM faults to the reply of an agent whose own calls cannot be reached.
func (c *cell) strikeReply(r *agentcall.Reply) {
	if c.ledger == nil || !r.OK() {
		return
	}
	d := c.ledger.Decide(fault.Call{Kind: fault.ModelCall, Names: []string{"agent"}})
	for i := range d.Strikes {
		s := &d.Strikes[i]
		switch s.Rule.Mode {
		case fault.Timeout, fault.Error, fault.RateLimit:
			r.End, r.Text = agentcall.Refused, ""
			r.Error = fmt.Sprintf("the LLM fault %s, put in place of the reply", s.Rule.Mode)
			if s.Rule.Mode == fault.Timeout {
				r.End = agentcall.TimedOut
			}
			c.ledger.Fired(d, s, "an error in place of the reply")
		default:
			text, why := s.Text(r.Text)
			if text == r.Text {
				c.ledger.Missed(d, s, why)
				continue
			}
			r.Text = text
			c.ledger.Fired(d, s, "a changed reply")
		}
	}
}

// observed collects what was seen of a turn.
func (c *cell) observed(t *turn) {
	o := verify.Reply{Prompt: t.Prompt, Text: t.Reply.Text, Latency: t.Reply.Latency}
	for _, u := range t.Reply.Tools {
		o.Tools = append(o.Tools, verify.Tool{Name: u.Tool, Names: u.Names, Args: u.Args})
	}
	o.InputTokens, o.OutputTokens, o.TokensKnown = t.Reply.Tokens.Prompt, t.Reply.Tokens.Completion, t.Reply.Tokens.Known
	if c.faults != nil {
		r := c.report()
		o.Own = c.owned(&r)
		if len(o.Tools) == 0 { // otherwise the reply lists the same calls
			for _, s := range r.ToolCalls[min(c.seen, len(r.ToolCalls)):] {
				o.Tools = append(o.Tools, called(s))
			}
		}
		c.seen = len(r.ToolCalls)
		o.Uncounted = r.Uncounted - c.uncounted
		if n := r.InputTokens + r.OutputTokens - c.in - c.out; n > 0 && !o.TokensKnown && o.Uncounted == 0 {
			o.InputTokens, o.OutputTokens, o.TokensKnown = r.InputTokens-c.in, r.OutputTokens-c.out, true
		}
		asked := func(x fault.Exchange) bool { return x.Kind == fault.ModelCall }
		if o.Uncounted == 0 && slices.ContainsFunc(r.Exchanges[min(c.calls, len(r.Exchanges)):], asked) {
			o.TokensKnown = true // perhaps none: an LLM that fails costs nothing, as may an answer that a fault wrote
		}
		c.in, c.out, c.uncounted, c.calls = r.InputTokens, r.OutputTokens, r.Uncounted, len(r.Exchanges)
	}
	o.Blind = len(o.Tools) == 0 && !c.seesTools()
	t.Tools, t.observe, t.Exchanges = o.Tools, o, c.calls
}

// called returns a call with its arguments as they were seen: JSON, or the query or form of a
// request.
func called(s fault.SeenCall) verify.Tool {
	t := verify.Tool{Name: s.Tool, Path: s.Names}
	if json.Valid([]byte(s.Arguments)) {
		t.Args = json.RawMessage(s.Arguments)
		return t
	}
	values, err := url.ParseQuery(s.Arguments)
	if s.Source != fault.SeenOnWire || err != nil || s.Arguments != "" && !strings.Contains(s.Arguments, "=") {
		return t
	}
	fields := make(map[string]any, len(values))
	for key, list := range values {
		fields[key] = list
		if len(list) == 1 {
			fields[key] = list[0]
		}
	}
	t.Args, _ = json.Marshal(fields) // strings cannot fail
	t.Texts = true
	return t
}

// seesTools reports whether tool calls would have been seen.
func (c *cell) seesTools() bool {
	r := &c.x.c.reach
	return r.model || r.mcp || c.faults != nil && r.own && (!r.python || r.tools)
}

// leave closes the cell and returns what chaos did in it.
func (c *cell) leave() fault.Report {
	var r fault.Report
	if c.faults != nil {
		r = c.renamed(c.faults.Close())
	} else {
		for _, rule := range c.j.rules {
			r.Tallies = append(r.Tallies, fault.Tally{Rule: rule.ID})
		}
	}
	if c.ledger != nil {
		more := c.ledger.Report()
		r.Tallies, r.Events = append(r.Tallies, more.Tallies...), append(r.Events, more.Events...)
	}
	return r
}
