package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// object is an agent that is a Python object, in this lane's own process.
type object struct {
	lead
	caller pyhost.Caller
}

func openPython(ctx context.Context, l lead, extra []string, open pyhost.AgentOpener) (agentcall.Agent, error) {
	p := l.plan.Python.Plan
	extra = append(slices.Clone(l.plan.Python.Env), extra...)
	if len(extra) > 0 {
		if p.Environ == nil {
			p.Environ = os.Environ()
		}
		p.Environ = append(append([]string(nil), p.Environ...), extra...)
	}
	caller, err := open(ctx, p)
	if err != nil {
		return nil, err // the error says what was being done
	}
	return &object{l, caller}, nil
}

// Call implements agentcall.Agent.
func (o *object) Call(ctx context.Context, c agentcall.Call) (agentcall.Reply, error) {
	if err := o.check(&c); err != nil {
		return agentcall.Reply{}, err
	}
	done, err := o.shared.acquire(ctx)
	if err != nil {
		return agentcall.Reply{}, err
	}
	defer done()
	input, err := o.input(&c)
	if err != nil {
		return agentcall.Reply{}, err
	}
	seen := &recorder{watcher: c.Watcher}
	reply, err := o.caller.Call(ctx, pyhost.AgentCall{Input: input, Timeout: c.Timeout, Watcher: seen})
	if ctx.Err() != nil {
		return agentcall.Reply{}, ctx.Err()
	}
	if err != nil {
		if _, ok := errors.AsType[*pyhost.FaultError](err); ok { // it loaded before and no longer does
			err = fmt.Errorf("%w: %w", agentcall.ErrGone, err)
		}
		return agentcall.Reply{}, err
	}
	r := agentcall.Reply{Text: strings.ToValidUTF8(reply.Text, "�"), Value: reply.Value, Tools: seen.calls, Attempts: 1,
		Latency: reply.Latency, Size: int64(len(reply.Text)), Printed: strings.ToValidUTF8(reply.Printed, "�"), Fresh: reply.Fresh}
	switch reply.End {
	case pyhost.Answered:
		r.End = agentcall.Answered
		if r.Size > o.plan.MaxReply {
			r.Text = strings.ToValidUTF8(reply.Text[:o.plan.MaxReply], "�")
			r.Value = nil
			return fail(r, agentcall.TooLarge, "the reply is larger than %d bytes", o.plan.MaxReply), nil
		}
	case pyhost.AgentRaise:
		r = fail(r, agentcall.Raised, "%s", reply.Fault)
	case pyhost.AgentHung:
		r = fail(r, agentcall.TimedOut, "no whole reply within %s", c.Timeout)
	default:
		r = fail(r, agentcall.Died, "the agent's process ended during the call: %s", reply.Fault)
	}
	return r, nil
}

// input returns the value that the agent is called with.
func (o *object) input(c *agentcall.Call) (json.RawMessage, error) {
	prompt := c.Prompt
	if p := o.plan.Python; p.Template != "" {
		text, form := filled(p.Template, p.Fields, c)
		if form == agentcall.FormJSON {
			return json.RawMessage(text), nil
		}
		prompt = text
	}
	input, err := json.Marshal(prompt)
	if err != nil {
		return nil, fmt.Errorf("write the prompt: %w", err)
	}
	return input, nil
}

// recorder records tool calls on their way to a watcher.
type recorder struct {
	watcher pyhost.ToolWatcher
	calls   []agentcall.ToolCall
	open    []int // calls without a result yet, the latest last
}

// Called implements pyhost.ToolWatcher.
func (w *recorder) Called(c pyhost.ToolCall) pyhost.ToolAnswer {
	call := agentcall.ToolCall{Tool: c.Tool, Names: c.Names(), Args: c.Kwargs}
	if text := strings.TrimSpace(string(c.Named)); text != "" && text != "null" {
		call.Args = c.Named
	} else if text := strings.TrimSpace(string(c.Args)); text != "" && text != "[]" && text != "null" {
		call.Args = c.Args
		if named := strings.TrimSpace(string(c.Kwargs)); named != "" && named != "{}" && named != "null" {
			call.Args = json.RawMessage(`{"args": ` + text + `, "kwargs": ` + named + `}`)
		}
	}
	w.calls = append(w.calls, call)
	i := len(w.calls) - 1
	var answer pyhost.ToolAnswer
	if w.watcher != nil {
		answer = w.watcher.Called(c)
	}
	if answer.Action == pyhost.Raise || answer.Action == pyhost.Replace {
		w.noteOutcome(i, answer)
		return answer
	}
	w.open = append(w.open, i)
	return answer
}

// Returned implements pyhost.ToolWatcher.
func (w *recorder) Returned(c pyhost.ToolCall, result json.RawMessage, fault *pyhost.Fault) pyhost.ToolAnswer {
	i := w.close(c.Tool)
	if i >= 0 {
		w.calls[i].Result, w.calls[i].Error = result, fault.String()
		if fault != nil {
			w.calls[i].Result = nil
		}
	}
	if w.watcher == nil {
		return pyhost.ToolAnswer{}
	}
	answer := w.watcher.Returned(c, result, fault)
	if i >= 0 {
		w.noteOutcome(i, answer)
	}
	return answer
}

// noteOutcome records the final result of a call, as the agent saw it.
func (w *recorder) noteOutcome(i int, a pyhost.ToolAnswer) {
	call := &w.calls[i]
	switch a.Action {
	case pyhost.Raise:
		call.Result, call.Error = nil, strings.TrimSuffix(a.Class+": "+a.Message, ": ")
	case pyhost.Replace:
		call.Result, call.Error = a.Value, ""
	}
}

// close removes the latest open call of a tool and returns its index; -1 if there is none.
func (w *recorder) close(tool string) int {
	for k := len(w.open) - 1; k >= 0; k-- {
		if i := w.open[k]; w.calls[i].Tool == tool {
			w.open = append(w.open[:k], w.open[k+1:]...)
			return i
		}
	}
	return -1
}

// Reset implements agentcall.Agent.
func (o *object) Reset(ctx context.Context, limit time.Duration) error {
	switch {
	case o.plan.Python.Plan.Reset != "":
		return o.caller.Reset(ctx, limit)
	case o.plan.Reset.Renew:
		return o.caller.Restart(ctx)
	case o.plan.Reset.URL != "":
		t := newTransport()
		defer t.CloseIdleConnections()
		return postReset(ctx, t, "", o.plan.Reset.URL, limit)
	}
	return nil
}

// Forgets implements agentcall.Agent.
func (o *object) Forgets() bool {
	return o.plan.Python.Plan.Reset != "" || o.plan.Reset.Renew || o.plan.Reset.URL != ""
}

// Notes implements agentcall.Agent.
func (o *object) Notes() []string { return append(o.notes(), o.caller.Notes()...) }

// Close implements agentcall.Agent.
func (o *object) Close() error { return errors.Join(o.caller.Close(), o.lead.close()) }
