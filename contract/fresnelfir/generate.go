package fresnelfir

import (
	"fmt"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
)

// generate brings the model to a generator's start state. The variables that its actions bind are
// then bound in every thread. Each thread keeps its own actor, whoever acted in the generator.
func (t *traversal) generate(s *start) {
	t.m.Act(0)
	actor, own := t.p.program.Slot("actor"), model.None
	if actor >= 0 {
		own = t.m.Var(actor)
	}
	for i := range s.steps {
		x := &s.steps[i]
		t.thread = 0
		for k := range x.binds {
			if !t.bind(&x.binds[k]) {
				return
			}
		}
		t.in.draw(&t.src, t.m, t.p.guarded, nil)
		t.in.draw(&t.src, t.m, t.p.asked[x.action], nil)
		for d, v := range x.inputs {
			t.m.SetInput(d, v)
		}
		if t.trace != nil {
			t.trace.noteBranch("generator " + s.gen.Name)
		}
		t.given = x.given
		if !t.pick(x.action, x.binds, false) {
			t.fail(&failure{kind: kindSpec, level: byModel, title: fmt.Sprintf("the generator %q finds nothing to choose for %s", s.gen.Name, t.p.program.Actions()[x.action].Name), subject: "generator " + s.gen.Name, cause: "choice", at: s.gen.Place})
			return
		}
		t.perform(x.action)
		if t.given = nil; t.failed != nil {
			return
		}
	}
	t.condition(s)
	if actor >= 0 {
		t.m.Bind(actor, own)
	}
	for i := 1; i < t.threads; i++ {
		for slot := range t.p.program.Vars() {
			if slot != actor {
				t.m.Act(0)
				v := t.m.Var(slot)
				t.m.Act(i)
				t.m.Bind(slot, v)
			}
		}
	}
	t.m.Act(0)
}

// condition checks a generator's postcondition.
func (t *traversal) condition(s *start) {
	if s.post.Code == nil {
		return
	}
	v, f := t.m.Eval(s.post.Code)
	if f.Cause == model.Unobservable || v == model.True {
		return
	}
	what := fmt.Sprintf("the postcondition of generator %q", s.gen.Name)
	if f.Cause != model.NoFault {
		t.fail(t.faulty(f, what, "generator "+s.gen.Name))
	} else {
		t.fail(&failure{kind: kindSpec, level: byModel, title: what + " does not hold", subject: "generator " + s.gen.Name, cause: "postcondition", at: s.gen.Postcondition.Place})
	}
}

// bind binds a variable to an instance: the named one if it exists already, else a new one for
// which the condition holds.
func (t *traversal) bind(b *startBind) bool {
	i := model.None
	if b.name >= 0 {
		i = t.m.Var(b.name)
	}
	if i == model.None {
		t.src.Begin()
		i = t.instance(b.entity, nil)
		ok := b.where == nil || t.satisfy(i, b)
		t.src.End()
		if !ok {
			return false
		}
		if b.name >= 0 {
			t.m.Bind(b.name, i)
		}
	}
	t.m.Bind(b.slot, i)
	return true
}

// maxAssignments limits the search for an instance that a generator asks for.
const maxAssignments = 4096

// satisfy changes the fields that a condition depends on until it holds, trying the current values
// first.
func (t *traversal) satisfy(i int32, b *startBind) bool {
	fields := t.p.doc.Entities[b.entity].Fields
	total := uint64(1)
	for _, k := range b.fields {
		total *= fieldValues(fields[k])
		total = min(total, maxAssignments)
	}
	var last model.Fault
	for n := range total + 1 {
		if n > 0 {
			t.assignment(i, b, fields, n-1)
		}
		v, f := t.m.Holds(b.where, i)
		if v == model.True {
			return true
		}
		last = f
	}
	subject := "generator"
	if last.Spec() {
		t.fail(t.faulty(last, "the condition on a generated instance", subject))
	} else {
		t.fail(&failure{kind: kindSpec, level: byModel, title: "no instance was found for which a generator's condition holds", subject: subject, cause: b.at.Path(), at: b.at})
	}
	return false
}

// assignment sets the fields to combination n of their values, counting like an odometer.
func (t *traversal) assignment(i int32, b *startBind, fields []*ir.Field, n uint64) {
	for _, k := range b.fields {
		size := fieldValues(fields[k])
		t.m.Set(i, k, t.fieldValue(i, k, fields[k], n%size))
		n /= size
	}
}
