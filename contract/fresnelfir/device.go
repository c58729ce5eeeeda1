package fresnelfir

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// module is a module under test, with its bindings to the document's names.
type module struct {
	open      dut.Opener
	plan      dut.Plan
	actions   []call  // by action; binding -1: none
	observers []call  // by function; binding -1: not an observer
	pairs     []pair  // observers that the model can answer for
	unpaired  []pair  // observers that it cannot answer for
	places    []bound // of the plan's bindings
	bound     int     // how many of the bindings belong to actions
	noun      string  // "module" or "system", for messages
}

// call is an export that the document names.
type call struct {
	binding int // in the plan
	args    []argument
	returns result
	refuses func(int64) bool
	answer  model.Code // predicted return value, evaluated before the effect; nil: none
	trap    bool       // a trap counts as a refusal
	reuses  model.Code // instances whose handles a new one may get; nil: none
	passed  []int      // variables whose instances a call passes to the system, if handles are reused
}

// pair is an observer with the derived function that predicts its answers.
type pair struct {
	observer int
	params   []int // entities
	model    model.Code
}

// newModule builds the plan for calling a module. Bindings of actions come first, then those of
// observers.
func newModule(p *plan, binary []byte, open dut.Opener, seed uint64) *module {
	m := &module{open: open, noun: "module", plan: dut.Plan{Binary: binary, Seed: seed, Coverage: true, Compares: p.space.wide()}}
	for _, a := range p.program.Actions() {
		m.actions = append(m.actions, m.action(p, a))
	}
	if slices.ContainsFunc(m.actions, func(c call) bool { return c.reuses != nil }) {
		for k, a := range p.program.Actions() {
			if a.Binding != nil {
				m.actions[k].passed = p.passed(a.Binding)
			}
		}
	}
	m.bound = len(m.plan.Bindings)
	for i, f := range p.doc.Functions {
		c := call{binding: -1}
		if f.Observer {
			b := dut.Binding{Function: f.Binding, Part: f.Part, Result: resultKinds[f.Result.Type], Nested: holdsJSON(f.Result.Values...), Unsigned: f.Result.Unsigned}
			for _, x := range f.Params {
				b.Params = append(b.Params, dut.Param{Name: x.Name, Kind: dut.Ref})
			}
			c.returns = p.result(f.Result)
			c.binding = len(m.plan.Bindings)
			m.plan.Bindings = append(m.plan.Bindings, b)
			m.places = append(m.places, bound{f.Place, "binding", "params"})
		}
		m.observers = append(m.observers, c)
		if !f.Observer {
			continue
		}
		x := pair{observer: i}
		for _, param := range f.Params {
			x.params = append(x.params, p.program.Entity(param.Entity))
		}
		if pf := p.doc.Pair(f); pf != nil {
			x.model = p.program.Call(pf.Name)
			m.pairs = append(m.pairs, x)
		} else {
			m.unpaired = append(m.unpaired, x)
		}
	}
	return m
}

func (m *module) action(p *plan, a model.Action) call {
	c := call{binding: -1}
	x := a.Binding
	if x == nil {
		return c
	}
	b := dut.Binding{Function: x.Function, Part: x.Part, Result: resultKinds[x.Result.Type], Nested: holdsJSON(x.Result.Values...), Unsigned: x.Result.Unsigned}
	for _, name := range x.Args {
		src, _ := p.doc.ArgumentOf(x, name)
		arg := p.argumentOf(src)
		c.args = append(c.args, arg)
		b.Params = append(b.Params, dut.Param{Name: name, Kind: arg.kind})
	}
	c.returns = p.result(x.Result)
	if x.Answer != nil {
		c.answer = p.program.Condition(x.Answer).Code
	}
	if r := x.Rejects; r != nil {
		c.trap, c.refuses = r.Trap, refusing(r)
	}
	if x.Reuses != "" {
		c.reuses = p.program.Refined(x.Reuses)
	}
	c.binding = len(m.plan.Bindings)
	m.plan.Bindings = append(m.plan.Bindings, b)
	m.places = append(m.places, bound{x.Place, "function", "args"})
	return c
}

// comparisons maps the operators in "rejects".
var comparisons = map[string]ir.Op{"<": ir.Lt, "<=": ir.Lte, "==": ir.Eq, "!=": ir.Neq, ">=": ir.Gte, ">": ir.Gt}

// resultKinds maps types to the kinds in which values are passed.
var resultKinds = [...]dut.Kind{ir.NoType: dut.Void, ir.String: dut.String, ir.Bool: dut.Bool, ir.Int: dut.Int, ir.Enum: dut.Enum, ir.Ref: dut.Ref}

// holdsJSON reports whether some word is the JSON of a list or an object.
func holdsJSON(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(w) > 0 && strings.ContainsRune("[{", rune(w[0])) && json.Valid([]byte(w))
	})
}

// result is how an answer is converted for the model.
type result struct {
	entity int                    // of a handle; -1: not a handle
	values []model.Value          // of an enum, by the index that is passed
	nested map[string]model.Value // values that are JSON, by their form in [canonical]
}

func (p *plan) result(of ir.ValueType) result {
	r := result{entity: p.program.Entity(of.Entity)}
	for _, word := range of.Values {
		v, _ := p.program.Symbol(word)
		r.values = append(r.values, v)
		if holdsJSON(word) {
			if r.nested == nil {
				r.nested = make(map[string]model.Value)
			}
			r.nested[canonical(json.RawMessage(word))] = v
		}
	}
	return r
}

// device is one instance of a module, in lockstep with a machine.
type device struct {
	mod     *module
	p       *plan
	inst    dut.Instance
	handles []handle // by instance of the model
	made    []int64  // by entity: how many handles the harness has assigned
	args    []dut.Value
	reply   dut.Reply
	machine *model.Machine
	sites   []dut.Site
	broken  error // failure of the environment
}

// start opens an instance for a machine.
func (m *module) start(ctx context.Context, dev dut.Device, p *plan, machine *model.Machine) (*device, error) {
	inst, err := dev.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening an instance: %w", err)
	}
	return &device{mod: m, p: p, inst: inst, machine: machine, sites: dev.Info().Sites, made: make([]int64, len(p.doc.Entities))}, nil
}

// reset resets the module.
func (d *device) reset() {
	d.handles = d.handles[:0]
	clear(d.made)
	if err := d.inst.Reset(); err != nil {
		d.broken = fmt.Errorf("resetting the module: %w", err)
	}
}

// value converts a value of the model for the module.
func (d *device) value(v model.Value, a *argument) dut.Value {
	switch a.kind {
	case dut.String:
		return dut.Text(d.machine.Text(v))
	case dut.Enum:
		for i, word := range a.enum {
			if d.machine.Text(v) == word {
				return dut.Number(dut.Enum, int64(i))
			}
		}
		return dut.Number(dut.Enum, -1)
	case dut.Ref:
		if v.Kind == model.Symbol && v.N < 0 {
			return dut.Number(dut.Ref, d.exposeHandle(int32(^v.N)))
		}
		return dut.Number(dut.Ref, 0)
	}
	return dut.Number(a.kind, v.N)
}

// errNothing is the error for an action with an unbound variable.
var errNothing = errors.New("an argument stands for nothing yet")

// call calls an action's export with the model's arguments.
func (d *device) call(action int, given map[string]model.Value) error {
	c := &d.mod.actions[action]
	d.args = d.args[:0]
	for k := range c.args {
		v, ok := d.argument(&c.args[k], given)
		if !ok {
			return errNothing
		}
		d.args = append(d.args, v)
	}
	d.reply = d.called(c.binding)
	return nil
}

// argument returns the value of an argument; ok is false if its variable is unbound.
func (d *device) argument(a *argument, given map[string]model.Value) (v dut.Value, ok bool) {
	switch a.Kind {
	case ir.ArgInput:
		return d.value(d.machine.Input(a.domain), a), true
	case ir.ArgWith:
		return d.value(given[a.With], a), true
	case ir.ArgValue:
		v, ok := d.machine.Modelled(a.code)
		return d.value(v, a), ok
	}
	i := model.None
	if a.slot >= 0 {
		i = d.machine.Var(a.slot)
	} else if list := d.machine.Live(d.p.program.Entity(d.p.doc.Newest[a.Var])); len(list) > 0 {
		i = list[len(list)-1]
	}
	switch {
	case i == model.None:
		return v, false
	case a.Kind == ir.ArgField:
		return d.value(d.machine.Get(i, a.field), a), true
	}
	return dut.Number(dut.Ref, d.exposeHandle(i)), true
}

// called calls a binding and keeps a failure of the environment.
func (d *device) called(binding int) dut.Reply {
	reply := d.inst.Call(binding, d.args)
	if r, ok := d.inst.(dut.Reached); ok && d.broken == nil {
		d.broken = r.Broken()
	}
	return reply
}

// refused reports whether the last reply is a refusal.
func (d *device) refused(action int) bool {
	c := &d.mod.actions[action]
	if d.reply.Cause == dut.Refused {
		return true
	}
	if d.reply.Cause.Refuses() {
		return c.trap
	}
	return d.reply.Cause == dut.None && c.refuses != nil && c.refuses(d.reply.Value.Int)
}

// Observe implements [model.Observer].
func (d *device) Observe(function int, args []int32) (model.Value, error) {
	reply := d.ask(function, args)
	d.reply = reply
	if reply.Cause != dut.None {
		return model.Value{}, fmt.Errorf("%s: %s", d.mod.plan.Bindings[d.mod.observers[function].binding].Function, d.fault())
	}
	return d.answer(reply.Value, &d.mod.observers[function].returns), nil
}

func (d *device) ask(function int, args []int32) dut.Reply {
	d.args = d.args[:0]
	for _, i := range args {
		d.args = append(d.args, dut.Number(dut.Ref, d.handle(i)))
	}
	return d.called(d.mod.observers[function].binding)
}

// answer converts a module's value for the model.
func (d *device) answer(v dut.Value, as *result) model.Value {
	switch v.Kind {
	case dut.Enum:
		if v.Int >= 0 && v.Int < int64(len(as.values)) {
			return as.values[v.Int]
		}
		return model.Foreign
	case dut.Bool:
		if v.Int != 0 {
			return model.True
		}
		return model.False
	case dut.String:
		if x, ok := as.nested[v.Str]; ok { // however the document formats it
			return x
		}
		if x, ok := d.p.program.Symbol(v.Str); ok {
			return x
		}
		return model.Foreign
	case dut.Ref:
		if i := d.instance(as.entity, v.Int); i != model.None {
			return model.Identity(i)
		}
		if v.Int == 0 || v.Int == -1 { // no instance has it: it is how "" is passed, or the usual invalid handle
			nothing, _ := d.p.program.Symbol("")
			return nothing
		}
		return model.Foreign
	}
	return model.Number(v.Int)
}

// refusing returns a function that recognizes return values that are refusals; nil: none are.
func refusing(r *ir.Rejects) func(int64) bool {
	if r.Op == "" {
		return nil
	}
	op := comparisons[r.Op]
	return func(v int64) bool { return op.Compares(cmp.Compare(v, r.Value)) }
}

// fault describes the last call's fault for people.
func (d *device) fault() string {
	if f := d.inst.Fault(); f != nil {
		return f.Error()
	}
	return "no answer"
}
