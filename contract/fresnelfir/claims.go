package fresnelfir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/dut"
)

// What a binding says of its action is held against the module:
//
//	mutates: false     no observer answers otherwise after the call
//	idempotent: true   a second call changes nothing, and does not fail
//	reads, writes      a call that mutates nothing answers the same for the same
//	                   arguments until an action was taken that writes something
//	                   that it reads
//
// Calls are atomic and the schedule of the actors is the order in which they
// were made, so that one order explains all answers if the model, which takes
// the same steps, explains each: that is what lockstep looks at, and the last
// line above is the same for answers of which the model has nothing to say.

// claims is what the bindings say, by action.
type claims struct {
	binding *ir.ActionBinding
	reads   []int // entities
	writes  []int // entities; nil: all, if it mutates
	steady  bool  // answers are to be the same while nothing is written that it reads
	twice   bool  // is to be called twice now and then
}

// hooked reports whether the document's event hooks capture something of an
// action. Arguments and answers are in every trace.
func (p *plan) hooked(action, what string) bool {
	b := &p.doc.Bindings
	return slices.Contains(b.Observe, action) && slices.Contains(b.Capture, what)
}

func (p *plan) compileClaims() {
	for _, a := range p.program.Actions() {
		c := claims{binding: a.Binding}
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

// memo is an answer that is to stay the same while versions do.
type memo struct {
	action   int
	args     uint64
	versions int
	answer   dut.Value
}

// maxMemos bounds the answers that are kept in one traversal: the latest.
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

// steady looks whether an answer is what it was for the same arguments.
func (t *traversal) steady(action int) {
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

// readings asks the observers that no derived function answers for; the model
// cannot say what they should be, but some actions must not change them.
func (t *traversal) readings(list []dut.Value) []dut.Value {
	for _, x := range t.dev.mod.unpaired {
		left := maxReadings
		t.tuple = t.tuple[:0]
		t.each(x.params, &left, func() bool {
			reply := t.dev.ask(x.observer, t.tuple)
			if reply.Cause != dut.None {
				reply.Value = dut.Text(reply.Cause.String())
			}
			list = append(list, reply.Value)
			return true
		})
	}
	return list
}

// maxReadings bounds the combinations of instances for which an observer is read.
const maxReadings = 16

// unchanged fails if readings differ that a call must not have changed.
func (t *traversal) unchanged(action int, why string) {
	t.after = t.readings(t.after[:0])
	if slices.Equal(t.before, t.after) {
		return
	}
	name := t.p.program.Actions()[action].Name
	if again := t.readings(nil); !slices.Equal(t.after, again) {
		t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: "observers", cause: "asked again", at: t.p.doc.Bindings.Place,
			title: "an observer answers otherwise when it is asked again"})
		return
	}
	for i := range t.before {
		if i < len(t.after) && t.before[i] != t.after[i] {
			t.note(fmt.Sprintf("an observer answers %s, and %s before", t.after[i], t.before[i]))
			break
		}
	}
	t.fail(&failure{kind: kindDiscrepancy, level: byModule, subject: name, cause: why, at: t.p.claims[action].binding.Place,
		title: name + " changes what observers see, though " + why})
}

// twice calls an action a second time, with the same arguments, and takes that
// back.
func (t *traversal) twice(action int) {
	if !t.p.claims[action].twice || t.src.Weighted(onceInFour) == 0 {
		return
	}
	d := t.dev
	name := t.p.program.Actions()[action].Name
	was, note := d.inst.Snapshot(), ""
	if t.trace != nil {
		note = t.trace.answer()
		defer func() {
			if t.failed == nil {
				t.note(note + ", and the same when called twice")
			}
		}()
	}
	t.before = t.readings(t.before[:0])
	d.reply = d.inst.Call(d.mod.actions[action].binding, t.lastArgs)
	switch {
	case d.refused(action):
	case d.reply.Cause != dut.None:
		f := t.moduleFailed(name)
		f.title = strings.Replace(f.title, name, "a second "+name, 1)
		f.cause += " when called twice"
		t.fail(f)
		return
	}
	if t.compare("a second " + name); t.failed == nil {
		t.unchanged(action, "it is idempotent and was called twice")
	}
	if t.failed != nil {
		return
	}
	if err := d.inst.Restore(was); err != nil {
		d.broken = fmt.Errorf("going back to before a second %s: %w", name, err)
	}
}
