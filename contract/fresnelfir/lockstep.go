package fresnelfir

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/dut"
)

// lockstep calls an action on the module before its effect is applied to the model. It reports
// whether to apply the effect, that is, whether the module took the action. The module may refuse
// an action that a property forbids.
func (t *traversal) lockstep(action int, forbidden bool) bool {
	d := t.dev
	name := t.p.program.Actions()[action].Name
	want, told := t.expected(action)
	if t.before = t.before[:0]; len(d.mod.unpaired) > 0 && !t.p.claims[action].binding.Mutates {
		t.before = t.readings(t.before)
	}
	if err := d.call(action, t.given); err != nil {
		t.fail(&failure{kind: kindSpec, level: byModel, title: name + " cannot be called: " + err.Error(), subject: name, cause: err.Error(), at: t.p.doc.Effect(name).Place})
		return false
	}
	if d.refused(action) {
		t.note("refuses" + d.sharedArgs(action))
		if !forbidden {
			t.fail(&failure{kind: kindDiscrepancy, level: byModule, title: "the " + d.mod.noun + " refuses " + name + ", which the model allows", subject: name, cause: "refused", at: t.p.doc.Binding(name).Place})
		}
		return false
	}
	if t.full() {
		return false
	}
	if d.reply.Cause != dut.None {
		f := t.moduleFailed(name)
		t.note(f.title)
		t.fail(f)
		return false
	}
	if t.trace != nil {
		t.note(d.took(action))
	}
	c := &t.p.claims[action]
	if c.steady || c.twice {
		t.lastArgs, t.lastReply = append(t.lastArgs[:0], d.args...), d.reply
	}
	if as := &d.mod.actions[action].returns; told && !d.agrees(d.reply.Value, as, want) {
		t.note(fmt.Sprintf("%s, the model says %s", d.read(d.reply.Value, as), d.want(want, d.reply.Value.Kind)))
		t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: name, cause: "returns", at: t.p.claims[action].binding.Answer.Place,
			title: "what " + name + " returns differs from the model"})
		return false
	}
	if len(d.mod.unpaired) > 0 && !c.binding.Mutates {
		t.unchanged(action, "it mutates nothing")
	}
	return t.failed == nil
}

// full reports whether the module had no room left for the texts of the last call. The traversal
// then ends, because nothing is known about how it would have continued.
func (t *traversal) full() bool {
	if t.dev.reply.Cause != dut.NoRoom {
		return false
	}
	t.note("no room left for its texts; the sequence ends here")
	t.alive = t.alive[:0]
	return true
}

// expected returns the predicted answer of an action, if the document predicts one.
func (t *traversal) expected(action int) (model.Value, bool) {
	code := t.dev.mod.actions[action].answer
	if code == nil {
		return model.Value{}, false
	}
	v, ok := t.m.Value(code)
	if ok {
		return v, true
	}
	if f := t.m.Fault(); f.Spec() {
		name := t.p.program.Actions()[action].Name
		t.fail(t.faulty(f, "the answer of "+name, name))
	}
	return v, false
}

// moduleFailed returns the failure of the last call.
func (t *traversal) moduleFailed(name string) *failure {
	x := &failure{kind: kindCrash, level: byModule, subject: name, cause: t.dev.reply.Cause.String()}
	if b := t.p.doc.Binding(name); b != nil {
		x.at = b.Place
	}
	if f := t.dev.inst.Fault(); f != nil {
		x.cause = f.Signature()
		switch {
		case f.Cause == dut.Timeout:
			x.kind, x.cause = kindTimeout, "fuel"
			x.title = name + " does not end within its fuel"
			if t.dev.mod.noun == "system" {
				x.title = name + " does not end: " + f.Message
			}
			return x
		case f.Cause == dut.Argument:
			x.kind, x.level = kindSpec, byModel
		}
		x.title = name + " fails: " + f.Error()
		return x
	}
	x.title = name + " fails: " + x.cause
	return x
}

func (t *traversal) note(answer string) {
	if t.trace != nil && len(t.trace.Steps) > 0 {
		t.trace.Steps[len(t.trace.Steps)-1].Answer = answer
	}
}

// maxTuples limits the combinations of instances for which an observer is called after one step.
// Those of the newest instances come first.
const maxTuples = 64

// compare calls every observer that the model can answer for, and fails at the first answer that
// differs.
func (t *traversal) compare(after string) {
	for k := range t.dev.mod.pairs {
		x := &t.dev.mod.pairs[k]
		left := maxTuples
		if t.wide {
			left *= wider
		}
		if len(x.params) == 1 { // the usual case
			live := t.m.Live(x.params[0])
			for i := len(live) - 1; i >= max(0, len(live)-left) && t.failed == nil; i-- {
				if !t.dev.Knows(live[i]) {
					continue
				}
				t.tuple = append(t.tuple[:0], live[i])
				t.ask(x, after)
			}
		} else {
			t.tuple = t.tuple[:0]
			t.eachInstances(x.params, &left, func() bool {
				t.ask(x, after)
				return t.failed == nil
			})
		}
		if t.failed != nil {
			return
		}
	}
}

// wider is the factor for maxTuples once answers have differed.
const wider = 8

// eachInstances visits the combinations of instances that an observer may be asked about, in
// t.tuple, until left is used up or visit returns true.
func (t *traversal) eachInstances(params []int, left *int, visit func() bool) bool {
	if len(t.tuple) == len(params) {
		*left--
		return visit()
	}
	live := t.m.Live(params[len(t.tuple)])
	for i := len(live) - 1; i >= 0 && *left > 0; i-- {
		if !t.dev.Knows(live[i]) {
			continue
		}
		t.tuple = append(t.tuple, live[i])
		more := t.eachInstances(params, left, visit)
		t.tuple = t.tuple[:len(t.tuple)-1]
		if !more {
			return false
		}
	}
	return true
}

func (t *traversal) ask(x *pair, after string) {
	want, ok := t.m.ValueWith(x.model, t.tuple)
	if !ok {
		return // the model predicts nothing for these instances
	}
	d := t.dev
	reply := d.ask(x.observer, t.tuple)
	if reply.Cause != dut.None {
		d.reply = reply
		bad := t.moduleFailed(t.p.doc.Functions[x.observer].Name)
		bad.at = t.p.doc.Functions[x.observer].Place
		t.fail(bad)
		return
	}
	as := &d.mod.observers[x.observer].returns
	if d.agrees(reply.Value, as, want) {
		return
	}
	name := t.p.doc.Functions[x.observer].Name
	args := seq.Map(t.tuple, t.m.Name)
	t.note(fmt.Sprintf("%s(%s) is %s, the model says %s%s", name, strings.Join(args, ", "), d.read(reply.Value, as), d.want(want, reply.Value.Kind), d.shared(t.tuple)))
	t.fail(&failure{kind: kindDiscrepancy, level: byModule, title: fmt.Sprintf("%s differs from the model after %s", name, after),
		subject: name, cause: "after " + after, at: t.p.doc.Functions[x.observer].Place})
}
