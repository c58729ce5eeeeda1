package fresnelfir

import (
	"fmt"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// What a module answers, in the words of the model.

// read is a module's value as people read it: the value of an enum and an
// instance by their names.
func (d *device) read(v dut.Value, as *result) string {
	switch x := d.answer(v, as); {
	case v.Kind == dut.Enum && x == model.Foreign:
		return fmt.Sprintf("%d, which is the place of no value", v.Int)
	case v.Kind == dut.Enum, v.Kind == dut.Ref && x != model.Foreign && d.machine.Text(x) != "":
		return d.machine.Text(x)
	}
	return d.number(v)
}

// number is a module's value as it is: a handle of a system by its text.
func (d *device) number(v dut.Value) string {
	if s, ok := d.inst.(*systemInstance); ok && v.Kind == dut.Ref {
		if handle, ok := s.ids.of(v.Int); ok {
			return handle
		}
	}
	return v.String()
}

// took is the answer of an action that the module took. A handle of something new that
// something else has already is shown as the number that it is.
func (d *device) took(action int) string {
	as := &d.mod.actions[action].returns
	if x := d.p.program.Actions()[action].Effect.Creates; x != nil && as.entity >= 0 && d.p.program.Entity(x.Entity) == as.entity {
		if i := d.instance(as.entity, d.reply.Value.Int); i != model.None && d.handles[i].origin == created {
			return d.number(d.reply.Value) + ", the handle of " + d.machine.Name(i)
		}
	}
	return d.read(d.reply.Value, as)
}

// shared says which of some instances the module gave a handle that it gave another one
// too: it may have meant that one.
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

// want is the model's value where the module answers with a kind of value, as people read it.
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
