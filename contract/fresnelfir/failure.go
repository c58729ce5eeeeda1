package fresnelfir

import (
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
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
}

// same reports whether two failures are the same to people.
func (f *failure) same(x *failure) bool {
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
		if f.kind != kindProperty || f.level != byModel || t.passing>>b.Property&1 == 0 {
			t.fail(f)
			return true
		}
		if t.passed == nil {
			t.passed, t.blamed = f, t.seen.last
		}
		if t.trace != nil {
			t.trace.passed = append(t.trace.passed, f.title)
		}
	}
	return false
}

// broken is the failure of a property; when says at which moment.
func (t *traversal) broken(b model.Breach, when string) *failure {
	name := t.p.program.Property(b.Property)
	if b.Fault.Cause != model.NoFault {
		return t.faulty(b.Fault, "the property "+name, name)
	}
	f := &failure{kind: kindProperty, title: name + " does not hold " + when, subject: name, cause: when, level: byModel, at: t.p.doc.Properties[b.Property].Place}
	if t.dev != nil && t.p.program.Observes(b.Property) {
		f.level = byModule
	}
	return f
}

// unanswered is the failure of a module that does not answer an observer.
func (t *traversal) unanswered(f model.Fault) *failure {
	x := t.moduleFailed(f.Detail)
	if f.Expr != nil {
		x.at = f.Expr.Place
	}
	return x
}

// faulty is the failure of an expression that cannot be evaluated.
func (t *traversal) faulty(f model.Fault, what, subject string) *failure {
	if f.Cause == model.Unanswered {
		return t.unanswered(f)
	}
	x := &failure{kind: kindSpec, level: byModel, title: what + " cannot be evaluated: " + f.String(), subject: subject, cause: f.String()}
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
