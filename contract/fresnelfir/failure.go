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

// Kinds of failures, as the format's users know them. spec_error is an addition: the document
// itself is at fault.
const (
	kindProperty    = "property_violation"
	kindDiscrepancy = "discrepancy"
	kindCrash       = "crash"
	kindTimeout     = "timeout"
	kindSpec        = "spec_error"
)

// Who is at fault: the document, if the model alone shows the failure, or the module.
const (
	byModel  = "shown by the model alone"
	byModule = "shown by the module"
)

// failure is why a traversal failed. Kind, subject and cause identify a finding; they are the same
// in every run.
type failure struct {
	kind    string
	title   string
	subject string   // the property, or whatever is at fault
	cause   string   // the action, or the kind of fault
	level   string   // byModel or byModule
	at      ir.Place // in the document
	about   []int32  // the instances that break the property, for people
}

// sameFailure reports whether two failures look the same to people.
func (f *failure) sameFailure(x *failure) bool {
	return x != nil && f.kind == x.kind && f.title == x.title && f.subject == x.subject && f.cause == x.cause && f.level == x.level
}

// failureKey returns the key that identifies a failure.
func failureKey(kind, subject, cause string) string { return kind + "\x00" + subject + "\x00" + cause }

func (t *traversal) fail(f *failure) {
	if t.failed == nil {
		t.failed = f
	}
}

// breached fails if a property does not hold, unless the traversal passes it over, because a known
// failure of the model must not hide others. The traversal then continues, and fails for that
// property at the end if for nothing else.
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

// excess is a failure of the model: an effect assigned a value that the field's declaration
// excludes. It includes the last branch taken before. The traversal continues, so that the excess
// hides neither broken properties nor what the module does with the value.
type excess struct {
	failure
	blamed  event
	decided int // number of decisions that led to it
}

// knows reports whether an earlier epoch has shown the traversal's failure already, and it appears
// again only because the traversal continued after it.
func (t *traversal) knows(s *state) bool {
	f := t.failed
	return f != nil && (f == t.passed || s.failures[failureKey(f.kind, f.subject, f.cause)] &&
		slices.ContainsFunc(t.beyond, func(e excess) bool { return e.sameFailure(f) }))
}

// excessFirst is the bit, in the set of properties to pass over, that makes an excess the
// traversal's failure even if the traversal ends with another one. That one may follow from the
// excess each time and would hide it.
const excessFirst = uint64(1) << 63

// maxExcesses limits how many excesses are distinguished in one traversal.
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

// broken returns the failure of a property; when says when it occurred.
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

// inFull returns the title with the instances that it is about.
func (f *failure) inFull(m *model.Machine) string {
	names := seq.Map(f.about, m.Name)
	if len(names) == 0 {
		return f.title
	}
	return f.title + ": not for " + strings.Join(names, " and ")
}

// faulty returns the failure of an expression that cannot be evaluated.
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

// severity returns the severity of a kind of failure.
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

// environmentFault is a fault that the environment injects between and during calls.
type environmentFault string

// The faults that a document may request. A clock jump calls an operation of the system, named
// after the colon: "clock:advance".
const (
	faultKill  environmentFault = "kill"  // the program is killed and started again
	faultDrop  environmentFault = "drop"  // the actor never learns how its call ended
	faultDelay environmentFault = "delay" // the actor learns late how its call ended
	faultClock environmentFault = "clock" // the system's clock jumps
)

// faultWords lists the faults in the order of the documentation.
var faultWords = []string{string(faultKill), string(faultDrop), string(faultDelay), string(faultClock) + ":OPERATION"}

// kind returns the fault without the operation.
func (f environmentFault) kind() environmentFault {
	word, _, _ := strings.Cut(string(f), ":")
	return environmentFault(word)
}

// operation returns the operation that a clock jump calls.
func (f environmentFault) operation() string {
	_, op, _ := strings.Cut(string(f), ":")
	return op
}

// String describes the fault for people.
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

// seldom are the weights for injecting a fault before a step.
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
