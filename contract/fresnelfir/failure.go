package fresnelfir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Kinds of failures, as the format's users know them; spec_error is ours: the
// document itself is at fault.
const (
	kindProperty    = "property_violation"
	kindDiscrepancy = "discrepancy"
	kindCrash       = "crash"
	kindTimeout     = "timeout"
	kindSpec        = "spec_error"
)

// Who is at fault: the document, as the model alone shows it, or the module.
const (
	byModel  = "shown by the model alone"
	byModule = "shown by the module"
)

// failure is why a traversal failed. Kind, subject and cause tell findings
// apart; what they hold is the same in every run.
type failure struct {
	kind    string
	title   string
	subject string   // the property, or what is at fault
	cause   string   // the action, or the kind of fault
	level   string   // byModel or byModule
	at      ir.Place // in the document
	about   []int32  // the instances for which the property does not hold, for people
}

// sameFailure reports whether two failures are the same to people.
func (f *failure) sameFailure(x *failure) bool {
	return x != nil && f.kind == x.kind && f.title == x.title && f.subject == x.subject && f.cause == x.cause && f.level == x.level
}

// failureKey tells failures apart.
func failureKey(kind, subject, cause string) string { return kind + "\x00" + subject + "\x00" + cause }

func (t *traversal) fail(f *failure) {
	if t.failed == nil {
		t.failed = f
	}
}

// breached fails if a property does not hold, unless it is passed over: what the
// model is known to break must not hide what else there is. A traversal goes on
// then, and fails for it in the end if for nothing else.
func (t *traversal) breached(when string) bool {
	for _, b := range t.breach {
		f := t.broken(b, when)
		if f.kind != kindProperty || f.level != byModel || (t.passing&^excessFirst)>>b.Property&1 == 0 {
			t.fail(f)
			return true
		}
		if t.passed == nil {
			t.passed, t.blamed = f, t.seen.last
		}
		if t.trace != nil {
			t.trace.passed = append(t.trace.passed, f.inFull(t.m))
		}
	}
	return false
}

// excess is the failure of a model that gives a field what its declaration excludes,
// and the branch that was taken last before. The traversal goes on: this must hide
// neither what properties say of the value nor what the module does with it.
type excess struct {
	failure
	blamed  event
	decided int // how many decisions led to it
}

// knows reports whether the traversal fails by what an earlier epoch has shown
// already, and would not have been told of again but for going on after it.
func (t *traversal) knows(s *state) bool {
	f := t.failed
	return f != nil && (f == t.passed || s.failures[failureKey(f.kind, f.subject, f.cause)] &&
		slices.ContainsFunc(t.beyond, func(e excess) bool { return e.sameFailure(f) }))
}

// excessFirst is the bit of the properties to pass over that lets an excess be what a
// traversal fails by, though it ends by something else: that may come of the excess
// each time, and would hide it.
const excessFirst = uint64(1) << 63

// maxExcesses bounds how many are distinguished in one traversal.
const maxExcesses = 16

// exceeds notes an excess of an action's effect.
func (t *traversal) exceeds(x model.Excess, action string) {
	f := failure{kind: kindProperty, level: byModel, subject: x.Entity + "." + x.Set.Field, cause: action + ": " + x.Why, at: x.Set.Value.Place,
		title: fmt.Sprintf("%s sets %s.%s %s", action, x.Entity, x.Set.Field, x.Why)}
	t.seen.beyond = true
	if t.trace != nil {
		t.trace.beyond = f.title
	}
	if len(t.beyond) < maxExcesses && !slices.ContainsFunc(t.beyond, func(e excess) bool { return e.sameFailure(&f) }) {
		t.beyond = append(t.beyond, excess{f, t.seen.last, t.src.Len()})
	}
}

// broken is the failure of a property; when says when.
func (t *traversal) broken(b model.Breach, when string) *failure {
	name := t.p.program.Property(b.Property)
	if b.Fault.Cause != model.NoFault {
		return t.faulty(b.Fault, "the property "+name, name)
	}
	f := &failure{kind: kindProperty, title: name + " does not hold " + when, subject: name, cause: when, level: byModel, at: t.p.doc.Properties[b.Property].Place}
	if t.dev != nil && t.p.program.Observes(b.Property) {
		f.level = byModule
	}
	switch {
	case t.trace == nil:
	case b.Instance != model.None:
		f.about = []int32{b.Instance}
	case t.p.doc.Properties[b.Property].Predicate != nil:
		f.about = t.m.Against(t.p.doc.Properties[b.Property].Predicate)
	}
	return f
}

// inFull is the title, and the instances that it is about.
func (f *failure) inFull(m *model.Machine) string {
	names := seq.Map(f.about, m.Name)
	if len(names) == 0 {
		return f.title
	}
	return f.title + ": not for " + strings.Join(names, " and ")
}

// faulty is the failure of an expression that cannot be evaluated.
func (t *traversal) faulty(f model.Fault, what, subject string) *failure {
	x := &failure{kind: kindSpec, level: byModel, title: what + " cannot be evaluated: " + f.String(), subject: subject, cause: f.String()}
	if f.Cause == model.Unanswered {
		x = t.moduleFailed(f.Detail)
	}
	if f.Expr != nil {
		x.at = f.Expr.Place
	}
	return x
}

// severity orders kinds of failures for people.
func (f *failure) severity() campaign.Severity {
	switch f.kind {
	case kindSpec:
		return campaign.SeverityLow
	case kindCrash:
		return campaign.SeverityCritical
	case kindDiscrepancy, kindTimeout:
		return campaign.SeverityHigh
	}
	if f.level == byModule {
		return campaign.SeverityHigh
	}
	return campaign.SeverityMedium
}

// environmentFault is something that the environment does to a system between and during calls.
type environmentFault string

// The faults that a document may ask for. A clock jump calls an operation of the system,
// which stands behind the colon: "clock:advance".
const (
	faultKill  environmentFault = "kill"  // the program is killed and started again
	faultDrop  environmentFault = "drop"  // the actor never hears how its call ended
	faultDelay environmentFault = "delay" // the actor hears late how its call ended
	faultClock environmentFault = "clock" // the system's clock jumps
)

// faultWords are the faults, in the order of the documentation.
var faultWords = []string{string(faultKill), string(faultDrop), string(faultDelay), string(faultClock) + ":OPERATION"}

// kind is the fault without the operation.
func (f environmentFault) kind() environmentFault {
	word, _, _ := strings.Cut(string(f), ":")
	return environmentFault(word)
}

// operation is what a clock jump calls.
func (f environmentFault) operation() string {
	_, op, _ := strings.Cut(string(f), ":")
	return op
}

// String returns the fault as people read it.
func (f environmentFault) String() string {
	switch f.kind() {
	case faultKill:
		return "the system is killed and started again"
	case faultDrop:
		return "the reply is dropped"
	case faultDelay:
		return "the reply is delayed"
	}
	return fmt.Sprintf("the clock jumps: %s", f.operation())
}

// seldom is the chance that one of the faults strikes before a step, as weights.
var seldom = []float64{15, 1}

// drawFaults draws the faults of a score.
func (t *traversal) drawFaults(s *score, list []string) {
	if len(list) == 0 {
		return
	}
	for i := s.setup; i < len(s.steps); i++ {
		t.setTopic(topicPlain, 2)
		if t.src.Weighted(seldom) == 1 {
			f := environmentFault(list[t.src.Draw(uint64(len(list)))])
			s.steps[i].faults = append(s.steps[i].faults, f)
		}
	}
}
