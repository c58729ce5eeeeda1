package fresnelfir

import (
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
)

// handle is the module's number for an instance of the model.
type handle struct {
	number int64
	origin origin
}

// origin is how the module learned of an instance.
type origin uint8

const (
	invented origin = iota // created by the harness; unknown to the module
	given                  // created by the harness and passed in a call
	created                // created by the module
	replaced               // created by the module, which has since given its number to another, as it may
)

// handle returns the module's number for an instance: the one that it returned when it created the
// instance, else a number that counts the entity's instances from 1.
func (d *device) handle(i int32) int64 {
	for int(i) >= len(d.handles) {
		e := d.machine.EntityOf(int32(len(d.handles)))
		d.made[e]++
		d.handles = append(d.handles, handle{number: d.made[e]})
	}
	return d.handles[i].number
}

// exposeHandle is handle for an argument of an action. From then on the module knows the instance.
func (d *device) exposeHandle(i int32) int64 {
	n := d.handle(i)
	if x := &d.handles[i]; x.origin == invented {
		x.origin = given
	}
	return n
}

// Knows implements [model.Observer]: it reports whether the module can be asked about instances.
// The module knows those that it created. If it creates no instances of an entity, it also knows
// those that were passed to it; otherwise such a number may belong to an instance of its own.
func (d *device) Knows(list ...int32) bool {
	for _, i := range list {
		if int(i) >= len(d.handles) || d.handles[i].origin == invented || d.handles[i].origin == replaced || d.handles[i].origin == given && d.p.makes[d.machine.EntityOf(i)] {
			return false
		}
	}
	return true
}

// instance returns the instance of an entity with a handle, or None. It prefers the module's own if
// the harness created one with the same number.
func (d *device) instance(entity int, number int64) int32 {
	found := model.None
	for _, i := range d.machine.Live(entity) {
		if d.handle(i) != number || d.handles[i].origin == replaced {
			continue
		}
		if d.handles[i].origin == created {
			return i
		}
		if found == model.None {
			found = i
		}
	}
	return found
}

// recordHandle gives an instance that an action has created the handle that the module returned or,
// if it returned none, the instance's number among those it created. If the binding says whose
// handles a new instance may get, it reports whether the handle still belongs to another one.
func (d *device) recordHandle(action int, i int32) (clash bool) {
	d.handle(i)
	e, number := d.machine.EntityOf(i), int64(1)
	if c := &d.mod.actions[action]; c.returns.entity >= 0 && c.returns.entity == e {
		number = d.reply.Value.Int
	} else {
		for _, k := range d.machine.Live(e) {
			if d.handles[k].origin == created {
				number++
			}
		}
	}
	d.handles[i] = handle{number, created}
	if gone := d.mod.actions[action].reuses; gone != nil {
		for _, k := range d.machine.Live(e) {
			switch x := &d.handles[k]; {
			case k == i || *x != d.handles[i]:
			case d.machine.Is(gone, k):
				x.origin = replaced
			default:
				clash = true
			}
		}
	}
	return clash
}

// replaced reports whether the module has given the handle of an instance that is gone to another:
// every call with that handle concerns the other.
func (d *device) replaced(i int32) bool {
	return i >= 0 && int(i) < len(d.handles) && d.handles[i].origin == replaced
}

// misdirected reports whether a call with the variables as they are would reach another instance
// than the model means.
func (d *device) misdirected(action int) bool {
	return d != nil && slices.ContainsFunc(d.mod.actions[action].passed, func(slot int) bool { return d.replaced(d.machine.Var(slot)) })
}

// discard gives the instances that the module has replaced no weight.
func (d *device) discard(choices []int32, weights []float64) {
	for k, i := range choices {
		if d.replaced(i) {
			weights[k] = 0
		}
	}
}

// agrees reports whether a module's value is the one that the model wants. A reference to an
// instance that was replaced is still the handle that it had.
func (d *device) agrees(v dut.Value, as *result, want model.Value) bool {
	if v.Kind == dut.Ref && want.Kind == model.Symbol && want.N < 0 && d.replaced(int32(^want.N)) {
		return v.Int == d.handle(int32(^want.N))
	}
	return d.answer(v, as) == want
}
