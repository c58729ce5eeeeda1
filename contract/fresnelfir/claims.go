package fresnelfir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/port/dut"
)

// What a binding claims about its action is checked against the module:
//
//	mutates: false     no observer answers differently after the call
//	idempotent: true   a second call changes nothing and does not fail, and applying
//	                   the effect a second time does not change the model
//	reads, writes      a call that mutates nothing gives the same answer for the same
//	                   arguments until an action writes something that it reads
//
// Calls are atomic, and the actors' schedule is the order in which they were made. If the model,
// which takes the same steps, explains each answer, one order therefore explains all. That is what
// lockstep checks. The last line above checks the same for answers that the model does not predict.

// claims is what the bindings claim, by action.
type claims struct {
	binding *ir.ActionBinding
	reads   []int // entities
	writes  []int // entities; nil: all, if the action mutates
	steady  bool  // answers must stay the same until something that it reads is written
	twice   bool  // the action is occasionally called twice
	// again and refusing describe a second call and a refusal in findings.
	again, refusing string
}

// hooked reports whether the document's event hooks capture something about an action. Arguments
// and answers are in every trace.
func (p *plan) hooked(action, what string) bool {
	b := &p.doc.Bindings
	return slices.Contains(b.Observe, action) && slices.Contains(b.Capture, what)
}

func (p *plan) compileClaims() {
	for _, a := range p.program.Actions() {
		c := claims{binding: a.Binding, again: "a second " + a.Name, refusing: "refusing " + a.Name}
		if b := a.Binding; b != nil {
			entities := func(names []string) (list []int) {
				for _, n := range names {
					if e := p.program.Entity(n); e >= 0 {
						list = append(list, e)
					}
				}
				return list
			}
			c.reads, c.writes = entities(b.Reads), entities(b.Writes)
			c.steady = !b.Mutates && len(c.reads) > 0 && b.Returns != ""
			c.twice = b.Idempotent && a.Assigns() < 0
		}
		p.claims = append(p.claims, c)
	}
}

// memo is an answer that must not change until versions do.
type memo struct {
	action   int
	args     uint64
	versions int
	answer   dut.Value
}

// maxMemos is how many of the latest answers are kept in one traversal.
const maxMemos = 64

// written notes that an action may have changed what it claims to write.
func (t *traversal) written(action int) {
	c := &t.p.claims[action]
	switch {
	case c.binding == nil || !c.binding.Mutates:
	case len(c.writes) == 0:
		for e := range t.versions {
			t.versions[e]++
		}
	default:
		for _, e := range c.writes {
			t.versions[e]++
		}
	}
}

// checkStable checks whether an answer is the same as before for the same arguments.
func (t *traversal) checkStable(action int) {
	c := &t.p.claims[action]
	if !c.steady {
		return
	}
	m := memo{action: action, args: hashValues(t.lastArgs), answer: t.lastReply.Value}
	for _, e := range c.reads {
		m.versions += t.versions[e]
	}
	at := slices.IndexFunc(t.memos, func(x memo) bool { return x.action == m.action && x.args == m.args })
	if at < 0 {
		if len(t.memos) == maxMemos {
			t.memos = slices.Delete(t.memos, 0, 1)
		}
		t.memos = append(t.memos, m)
		return
	}
	if was := t.memos[at]; was.versions == m.versions && was.answer != m.answer {
		name := t.p.program.Actions()[action].Name
		t.note(fmt.Sprintf("%s, and was %s before", m.answer, was.answer))
		t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: name, cause: "answers otherwise", at: c.binding.Place,
			title: name + " answers otherwise though nothing that it reads was written"})
	}
	t.memos[at] = m
}

func hashValues(args []dut.Value) uint64 {
	h := uint64(len(args))
	for _, a := range args {
		h = choice.Key(h, uint64(a.Kind), uint64(a.Int), uint64(len(a.Str)))
		for i := range len(a.Str) {
			h = choice.Key(h, uint64(a.Str[i]))
		}
	}
	return h
}

// readings calls the observers without a derived function. The model cannot predict their answers,
// but some actions must not change them.
func (t *traversal) readings(list []dut.Value) []dut.Value {
	t.readers = t.readers[:0]
	for _, x := range t.dev.mod.unpaired {
		left := maxReadings
		t.tuple = t.tuple[:0]
		t.eachInstances(x.params, &left, func() bool {
			reply := t.dev.ask(x.observer, t.tuple)
			if reply.Cause != dut.None {
				reply.Value = dut.Text(reply.Cause.String())
			}
			list, t.readers = append(list, reply.Value), append(t.readers, x.observer)
			return true
		})
	}
	return list
}

// maxReadings limits the combinations of instances for which an observer is called.
const maxReadings = 16

// unchanged fails if readings differ that a call must not change.
func (t *traversal) unchanged(action int, why string) {
	t.after = t.readings(t.after[:0])
	if slices.Equal(t.before, t.after) {
		return
	}
	name := t.p.program.Actions()[action].Name
	if k, again := differs(t.after, t.readings(nil)); k >= 0 {
		f := t.p.doc.Functions[t.readers[k]]
		t.note(fmt.Sprintf("%s answers %s, and %s when it is asked again", f.Name, t.after[k], again))
		t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: f.Name, cause: "asked again", at: f.Place,
			title: f.Name + " answers otherwise when it is asked again"})
		return
	}
	if k, after := differs(t.before, t.after); k >= 0 {
		t.note(fmt.Sprintf("%s answers %s, and %s before", t.p.doc.Functions[t.readers[k]].Name, after, t.before[k]))
	}
	t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: name, cause: why, at: t.p.claims[action].binding.Place,
		title: name + " changes what observers see, though " + why})
}

// differs returns the index and the new value of the first reading that differs between two lists;
// -1 if there is none.
func differs(a, b []dut.Value) (int, dut.Value) {
	for k := range a {
		if k < len(b) && a[k] != b[k] {
			return k, b[k]
		}
	}
	return -1, dut.Value{}
}

// callTwice calls an action a second time with the same arguments. The traversal continues from
// there, because the effect of a second call may show only later.
func (t *traversal) callTwice(action int) {
	if !t.p.claims[action].twice {
		return
	}
	if t.setTopic(topicPlain, 1); t.src.Weighted(onceInFour) == 0 {
		return
	}
	d := t.dev
	name := t.p.program.Actions()[action].Name
	if t.trace != nil {
		note := t.trace.Steps[len(t.trace.Steps)-1].Answer
		defer func() {
			if t.failed == nil {
				t.note(note + ", and the same when called twice")
			}
		}()
	}
	t.before = t.readings(t.before[:0])
	want, told := t.expected(action)
	as := &d.mod.actions[action].returns
	switch d.reply = d.inst.Call(d.mod.actions[action].binding, t.lastArgs); {
	case t.failed != nil, t.full():
		return
	case d.refused(action):
	case d.reply.Cause != dut.None:
		f := t.moduleFailed(name)
		f.title = strings.Replace(f.title, name, "a second "+name, 1)
		f.cause += " when called twice"
		t.fail(f)
		return
	case told && !d.agrees(d.reply.Value, as, want), !told && !t.p.claims[action].binding.Mutates && d.reply.Value != t.lastReply.Value:
		is := d.want(want, d.reply.Value.Kind)
		if !told {
			is = d.read(t.lastReply.Value, as)
		}
		t.note(fmt.Sprintf("%s when called twice, and should be %s", d.read(d.reply.Value, as), is))
		t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: name, cause: "returns when called twice", at: t.p.claims[action].binding.Place,
			title: "a second " + name + " returns what it should not"})
		return
	}
	if t.compare(t.p.claims[action].again); t.failed == nil {
		t.unchanged(action, "it is idempotent and was called twice")
	}
}
