//go:build unix

package python

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// callable is a function or object as a system: the warm interpreter loads it once and forks for
// each case.
type callable struct {
	plan    *sut.Plan
	lane    *lane
	session *session // nil: fork one first
	ops     []sut.Operation
}

// OpenSystem is a system.Kind.
func OpenSystem(ctx context.Context, s system.Site) (system.Edge, error) {
	dir, err := filepath.Abs(s.Plan.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", s.Plan.Dir, err)
	}
	file, name, _ := strings.Cut(s.Plan.Entry, ":")
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	l, err := newLane(ctx, "", "", &preload{Dir: filepath.Dir(file), Home: dir, File: file, Name: name, at: s.Plan.EntryAt})
	if err != nil {
		return nil, err
	}
	c := &callable{plan: s.Plan, lane: l, ops: slices.Clone(s.Plan.Operations)}
	for _, o := range l.zygote.operations {
		found := sut.Operation{Name: o.Name, Description: o.Description}
		for _, a := range o.Arguments {
			if a.Type == "bytes" {
				a.Type = "string"
			}
			found.Arguments = append(found.Arguments, sut.Argument{Name: a.Name, Type: a.Type, Required: a.Required})
		}
		at := slices.IndexFunc(c.ops, func(p sut.Operation) bool { return p.Name == o.Name })
		switch {
		case at < 0:
			c.ops = append(c.ops, found)
		case c.ops[at].Arguments == nil:
			c.ops[at].Arguments = found.Arguments
		}
	}
	for _, o := range s.Plan.Operations {
		if !slices.ContainsFunc(l.zygote.operations, func(f operationNote) bool { return f.Name == o.Name }) {
			return nil, errors.Join(system.Unknown(s.Plan, o.Name, c.ops[len(s.Plan.Operations):]), c.Close())
		}
	}
	slices.SortStableFunc(c.ops, func(a, b sut.Operation) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

// Operations implements system.Edge.
func (c *callable) Operations() []sut.Operation { return c.ops }

// Notes implements system.Edge.
func (c *callable) Notes() []string { return c.lane.notes() }

// Close implements system.Edge.
func (c *callable) Close() error {
	c.drop()
	return c.lane.close()
}

func (c *callable) drop() *ending {
	if c.session == nil {
		return nil
	}
	end := c.session.finish(0)
	c.session = nil
	return end
}

// Fresh implements system.Fresher.
func (c *callable) Fresh(ctx context.Context, _ time.Duration) (sut.Observation, error) {
	c.drop()
	o := sut.Observation{End: sut.Answered}
	fault, err := c.ensure(ctx)
	if fault != nil {
		o.End, o.Why = sut.Crashed, fault.String()
	}
	return o, err
}

// systemFrame is a frame from a system's child.
type systemFrame struct {
	Value json.RawMessage `json:"value"`
	Fault *pyhost.Fault   `json:"fault"`
}

// ensure forks a process if there is none. A class also has to make its object.
func (c *callable) ensure(ctx context.Context) (*pyhost.Fault, error) {
	if c.session != nil {
		return nil, nil
	}
	s, err := c.lane.open(ctx, "", agentPrinted, nil)
	if err != nil {
		return nil, err
	}
	c.session = s
	if !c.lane.zygote.class {
		return nil, nil
	}
	frame, err := c.exchange(ctx, nil, time.Now().Add(startLimit))
	if err == nil && frame.Fault == nil {
		return nil, nil
	}
	end := c.drop()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		return frame.Fault, nil
	case errors.Is(err, errEnded):
		return &pyhost.Fault{Class: "ProcessEnded", Message: "the process ended: " + describe(end)}, nil
	}
	return nil, fmt.Errorf("make %s: %w", c.plan.Entry, err)
}

// exchange sends an order, if not nil, and waits for the child's answer.
func (c *callable) exchange(ctx context.Context, order any, deadline time.Time) (systemFrame, error) {
	defer c.lane.follow(ctx)()
	s := c.session
	var frame systemFrame
	if order != nil {
		if err := s.channel.send(order, deadline); err != nil {
			return frame, err
		}
	}
	data, err := s.next(ctx, deadline, false)
	if err != nil {
		return frame, err
	}
	if len(data) > sut.MaxOutput {
		return frame, errTooMuch
	}
	if json.Unmarshal(data, &frame) != nil {
		return frame, errEnded // the system has found the channel and sends garbage
	}
	return frame, nil
}

// Call implements system.Edge.
func (c *callable) Call(ctx context.Context, call sut.Call) (sut.Observation, error) {
	op, err := system.Operation(c.plan, call.Operation, c.ops)
	if err != nil {
		return sut.Observation{}, err
	}
	order := map[string]any{"name": op.Name}
	if len(call.Positional) > 0 {
		order["args"] = call.Positional
	} else {
		list, raw, err := system.Arguments(c.plan, op, &call)
		if err != nil {
			return sut.Observation{}, err
		}
		order["args"] = system.Object(list)
		if raw {
			order["body"] = base64.StdEncoding.EncodeToString(call.Input)
			order["text"] = call.Text
		}
	}
	o := sut.Observation{End: sut.Answered}
	fault, err := c.ensure(ctx)
	if err != nil {
		return o, err
	}
	if fault != nil {
		return o, diag.Environment("make %s: %s", c.plan.Entry, fault)
	}
	began := time.Now()
	deadline := began.Add(call.Timeout)
	frame, err := c.exchange(ctx, order, deadline)
	o.Elapsed = time.Since(began)
	o.Printed = []byte(c.session.printed())
	switch {
	case err == nil:
		c.readAnswer(&o, op, &frame)
		return o, nil
	case ctx.Err() != nil:
		c.drop()
		return o, ctx.Err()
	case errors.Is(err, errTooMuch):
		system.Flood(&o)
	case errors.Is(err, errEnded):
		end := c.drop()
		o.End, o.Why = sut.Crashed, "the process ended: "+describe(end)
		if end.status.Signaled() {
			o.Signal = int(end.status.Signal())
		} else {
			o.Exit = end.status.ExitStatus()
		}
		return o, nil
	case errors.Is(err, errDeadline):
		system.Late(&o, call.Timeout)
	default:
		c.drop()
		return o, fmt.Errorf("call %s of %s: %w", op.Name, c.plan.Entry, err)
	}
	c.drop()
	return o, nil
}

// readAnswer interprets a child's answer.
func (c *callable) readAnswer(o *sut.Observation, op *sut.Operation, f *systemFrame) {
	if f.Fault == nil {
		if f.Value == nil {
			f.Value = json.RawMessage("null")
		}
		o.Output = f.Value
		o.Value = system.Returned(op, f.Value)
		return
	}
	o.Why = strings.TrimSuffix(f.Fault.Class+": "+f.Fault.Message, ": ")
	rejected := func(name string) bool {
		return f.Fault.Is(name) || slices.ContainsFunc(f.Fault.Bases, func(b string) bool { return strings.HasSuffix(b, "."+name) })
	}
	if slices.ContainsFunc(op.Rejects, rejected) {
		o.End = sut.Refused
		return
	}
	o.End = sut.Crashed
	o.Printed = append(o.Printed, f.Fault.Traceback...)
}
