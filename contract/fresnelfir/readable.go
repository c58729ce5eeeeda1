package fresnelfir

import (
	"fmt"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// A module's answers in the model's words.

// read formats a module's value for people, with the names of enum values and instances.
func (d *device) read(v dut.Value, as *result) string {
	switch x := d.answer(v, as); {
	case v.Kind == dut.Enum && x == model.Foreign:
		return fmt.Sprintf("%d, which is the place of no value", v.Int)
	case v.Kind == dut.Enum, v.Kind == dut.Ref && x != model.Foreign && d.machine.Text(x) != "":
		return d.machine.Text(x)
	}
	return d.number(v)
}

// number formats a module's value as it is. For a system's handle that is the handle's text.
func (d *device) number(v dut.Value) string {
	if s, ok := d.inst.(*systemInstance); ok && v.Kind == dut.Ref {
		if handle, ok := s.ids.of(v.Int); ok {
			return handle
		}
	}
	return v.String()
}

// took formats the answer of an action that the module took. If a new instance got a handle that
// another one already has, the handle is shown as a number.
func (d *device) took(action int) string {
	as := &d.mod.actions[action].returns
	if x := d.p.program.Actions()[action].Effect.Creates; x != nil && as.entity >= 0 && d.p.program.Entity(x.Entity) == as.entity {
		if i := d.instance(as.entity, d.reply.Value.Int); i != model.None && d.handles[i].origin == created {
			return d.number(d.reply.Value) + ", the handle of " + d.machine.Name(i)
		}
	}
	return d.read(d.reply.Value, as)
}

// shared names an instance in the list whose handle the module also gave to another instance: its
// answer may be about that one.
func (d *device) shared(list []int32) string {
	for _, i := range list {
		for _, other := range d.machine.Live(d.machine.EntityOf(i)) {
			if other != i && d.handle(other) == d.handle(i) && d.handles[other].origin == created && d.handles[i].origin == created {
				return fmt.Sprintf("; %s and %s have the same handle", d.machine.Name(min(i, other)), d.machine.Name(max(i, other)))
			}
		}
	}
	return ""
}

// sharedArgs is shared for the instances that an action is called with.
func (d *device) sharedArgs(action int) string {
	var list []int32
	for _, a := range d.mod.actions[action].args {
		if a.kind == dut.Ref && a.slot >= 0 && d.machine.Var(a.slot) != model.None {
			list = append(list, d.machine.Var(a.slot))
		}
	}
	return d.shared(list)
}

// want formats the model's value for people, where the module answers with a kind of value.
func (d *device) want(v model.Value, kind dut.Kind) string {
	of := ir.NoType
	switch kind {
	case dut.String:
		of = ir.String
	case dut.Ref:
		of = ir.Ref
	}
	return sayValue(d.machine, v, of)
}
