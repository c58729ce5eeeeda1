package wasm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
)

// fuelPerSecond converts a time limit to instructions, so that a hang is the same on every machine.
const fuelPerSecond = 100_000_000

// startFunction is the operation of a WASI command, which reads a case's input from standard input.
const startFunction = "_start"

// module is a WebAssembly module as a system.
type module struct {
	plan     *sut.Plan
	device   dut.Device
	instance dut.Instance
	ops      []sut.Operation
	binds    []dut.Binding
	notes    []string
	doubt    string // why the answer to a prompt may be misread; "": no doubt
	fuel     int64
}

// OpenSystem is a system.Kind: the operations are the functions that the module exports.
func (e *Engine) OpenSystem(ctx context.Context, s system.Site) (system.Edge, error) {
	limit := s.Plan.Limits.Timeout
	limit = cmp.Or(limit, sut.DefaultTimeout)
	plan := dut.Plan{Binary: s.Plan.Module, Command: true,
		Limits: dut.Limits{Fuel: int64(limit.Seconds() * fuelPerSecond), StartFuel: int64(system.Patience.Seconds() * fuelPerSecond), Output: sut.MaxOutput}}
	m := &module{plan: s.Plan, fuel: plan.Limits.Fuel}
	probe, err := e.Open(ctx, plan)
	if err != nil {
		return nil, diag.Environment("open the module %s: %w", s.Plan.Entry, err)
	}
	exports := probe.Info().Exports
	if err := probe.Close(); err != nil {
		return nil, err
	}
	for _, x := range exports {
		if b, op, ok := m.operation(x); ok {
			m.binds, m.ops = append(m.binds, b), append(m.ops, op)
		}
	}
	for _, o := range s.Plan.Operations {
		if _, ok := sut.Find(m.ops, o.Name); !ok {
			return nil, system.Unknown(s.Plan, o.Name, m.ops)
		}
	}
	plan.Bindings = m.binds
	if m.device, err = e.Open(ctx, plan); err != nil {
		return nil, diag.Environment("open the module %s: %w", s.Plan.Entry, err)
	}
	for _, n := range m.device.Info().Notes {
		if !strings.Contains(n, "its _start is run once") {
			m.notes = append(m.notes, n)
		}
	}
	if m.instance, err = m.device.Open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the module %s: %w", s.Plan.Entry, err), m.device.Close())
	}
	return m, nil
}

// operation describes an export as an operation. If the system file names half as many arguments as
// the function has parameters, each is a string, passed by address and length; so is the argument
// that takes a case's input. A result from which the file reads a path is a string.
func (m *module) operation(x dut.Export) (dut.Binding, sut.Operation, bool) {
	b, op := dut.Binding{Function: x.Name, Result: dut.Void}, sut.Operation{Name: x.Name, Description: x.Sig.String()}
	if x.Kind != dut.Func || strings.HasPrefix(x.Name, "_") && x.Name != startFunction {
		return b, op, false
	}
	n := len(x.Sig.Params)
	said, ok := sut.Find(m.plan.Operations, x.Name)
	if ok {
		op.Rejects, op.Returns, op.Arguments = said.Rejects, said.Returns, said.Arguments
	}
	switch path := op.Returns + m.replyOf(x.Name); {
	case len(x.Sig.Results) > 0 && path != "":
		b.Result = dut.String
	case len(x.Sig.Results) == 1:
		b.Result = dut.Int
	case len(x.Sig.Results) > 1:
		return b, op, false
	}
	texts := len(op.Arguments) > 0 && 2*len(op.Arguments) == n ||
		n == 2 && len(op.Arguments) < 2 && m.plan.Input.Operation == x.Name
	if texts {
		n /= 2
	}
	if texts && b.Result == dut.Int && x.Sig.Results[0] == dut.TypeI64 && m.plan.Input.Operation == x.Name {
		m.doubt = fmt.Sprintf("the function %s of the system %s answers the prompt with an i64, not with a text: add reply: \"$\" if it is the address and length of one", x.Name, m.plan.Name)
	}
	for i := range n {
		kind, name := dut.Int, "a"+strconv.Itoa(i)
		if texts {
			kind = dut.String
		}
		if i < len(op.Arguments) {
			name = op.Arguments[i].Name
		} else {
			op.Arguments = append(op.Arguments, sut.Argument{Name: name})
		}
		op.Arguments[i].Type, op.Arguments[i].Required = map[dut.Kind]string{dut.Int: "integer", dut.String: "string"}[kind], true
		b.Params = append(b.Params, dut.Param{Name: name, Kind: kind})
	}
	return b, op, true
}

// replyOf returns the path of the reply if the function takes a case's input.
func (m *module) replyOf(function string) string {
	if m.plan.Input.Operation == function {
		return m.plan.Reply
	}
	return ""
}

// Operations implements system.Edge.
func (m *module) Operations() []sut.Operation { return m.ops }

// Notes implements system.Edge.
func (m *module) Notes() []string { return m.notes }

// Close implements system.Edge.
func (m *module) Close() error { return errors.Join(m.instance.Close(), m.device.Close()) }

// Fresh implements system.Fresher.
func (m *module) Fresh(context.Context, time.Duration) (sut.Observation, error) {
	return sut.Observation{End: sut.Answered}, m.instance.Reset()
}

// Call implements system.Edge.
func (m *module) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	name := cmp.Or(c.Operation, m.plan.Input.Operation)
	if name == "" && c.Input != nil {
		name = startFunction
	}
	if c.Text && m.doubt != "" {
		return sut.Observation{}, diag.Environment("%s", m.doubt)
	}
	for i := range m.ops {
		if m.ops[i].Name == name {
			return m.call(i, &c)
		}
	}
	return sut.Observation{}, system.Unknown(m.plan, name, m.ops)
}

func (m *module) call(i int, c *sut.Call) (sut.Observation, error) {
	op := &m.ops[i]
	given := c.Positional
	var err error
	if given == nil {
		if given, err = m.inOrder(op, c); err != nil {
			return sut.Observation{}, err
		}
	}
	if len(given) != len(m.binds[i].Params) {
		return sut.Observation{}, diag.Environment("the function %s of the system %s takes %d arguments, not %d", op.Name, m.plan.Name, len(m.binds[i].Params), len(given))
	}
	args := make([]dut.Value, len(given))
	for j, p := range m.binds[i].Params {
		if args[j], err = lowered(p, given[j]); err != nil {
			return sut.Observation{}, diag.Environment("the function %s of the system %s: %w", op.Name, m.plan.Name, err)
		}
	}
	if op.Name == startFunction {
		// A command starts over with every call.
		if err := m.instance.Reset(); err != nil {
			return sut.Observation{}, err
		}
		if f, ok := m.instance.(dut.Feeder); ok {
			f.Feed(c.Input)
		}
	}
	began := time.Now()
	r := m.instance.Call(i, args)
	o := sut.Observation{End: sut.Answered, Elapsed: max(1, time.Since(began))}
	o.Output, o.Printed = m.instance.Output()
	if m.judge(&o, i, r); len(o.Output) >= sut.MaxOutput {
		system.Flood(&o)
	}
	return o, nil
}

// inOrder returns the arguments of a call in the order of the function's parameters.
func (m *module) inOrder(op *sut.Operation, c *sut.Call) (list []json.RawMessage, err error) {
	named, raw, err := system.Arguments(m.plan, op, c)
	if err != nil {
		return nil, err
	}
	if raw && op.Name != startFunction && len(op.Arguments) > 0 {
		named = append(named, sut.Named{Name: op.Arguments[0].Name, Value: system.InputValue(op.Arguments[0].Type, c.Input)})
	}
	for _, a := range op.Arguments {
		for _, v := range named {
			if v.Name == a.Name {
				list = append(list, v.Value)
			}
		}
	}
	return list, nil
}

// lowered converts a JSON value to a parameter's.
func lowered(p dut.Param, v json.RawMessage) (dut.Value, error) {
	if p.Kind == dut.String {
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		return dut.Text(s), nil
	}
	var f float64
	var b bool
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return dut.Number(dut.Int, n), nil
	}
	switch {
	case json.Unmarshal(v, &b) == nil:
		return dut.Number(dut.Int, map[bool]int64{true: 1}[b]), nil
	case json.Unmarshal(v, &f) == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return dut.Number(dut.Int, int64(f)), nil
	}
	return dut.Value{}, fmt.Errorf("the argument %s must be an integer, got %.60s", p.Name, v)
}

// judge interprets a reply.
func (m *module) judge(o *sut.Observation, i int, r dut.Reply) {
	op, f := &m.ops[i], m.instance.Fault()
	switch {
	case r.Cause == dut.None && m.binds[i].Result == dut.Int:
		o.Value = json.RawMessage(strconv.FormatInt(r.Value.Int, 10))
	case r.Cause == dut.None && m.binds[i].Result == dut.String:
		o.Output, o.Printed = []byte(r.Value.Str), append(o.Output, o.Printed...)
		o.Value = system.Returned(op, o.Output)
	case r.Cause == dut.None && len(o.Output) > 0:
		o.Value = system.Returned(op, o.Output)
	case r.Cause == dut.None:
	case r.Cause == dut.Exit && f != nil && f.Code == 0:
		o.Value = system.Returned(op, o.Output)
	case r.Cause == dut.Exit && f != nil:
		o.End, o.Exit, o.Status, o.Why = sut.Crashed, int(f.Code), int(f.Code), fmt.Sprintf("exit code %d", f.Code)
		for _, code := range op.Rejects {
			if code == strconv.Itoa(o.Exit) {
				o.End = sut.Refused
			}
		}
	case r.Cause == dut.Timeout:
		o.End, o.Why = sut.Hung, fmt.Sprintf("no end within %d instructions", m.fuel)
	case r.Cause == dut.Argument || r.Cause == dut.NoRoom:
		o.End, o.Why = sut.Refused, "an argument does not fit its parameter"
		if f != nil {
			o.Why = f.Message
		}
	default:
		o.End, o.Trap, o.Why = sut.Crashed, r.Cause.String(), r.Cause.String()
		if f != nil {
			o.Why, o.Trap = f.Message, f.Signature()
		}
	}
}
