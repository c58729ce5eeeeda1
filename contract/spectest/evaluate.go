package spectest

import (
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/engine/speclang"
)

// Budget bounds the evaluation of one expression.
type Budget struct {
	speclang.Limits
	Time time.Duration // 0: none
}

// DefaultBudget is that of a case which names none.
func DefaultBudget() Budget { return Budget{speclang.DefaultLimits(), defaultPredicateTime} }

// Evaluation is the answer to an expression.
type Evaluation struct {
	JSON   []byte // {"value": V} or {"error": {"category": C, "message": M}}, and "steps" and "nodes"
	Failed bool   // it is an error
}

// Evaluate evaluates a spec-lang expression against a subject, by itself.
func Evaluate(expr speclang.Form, subject speclang.Value, b Budget) Evaluation {
	p := speclang.Compile(expr, speclang.Options{})
	e := newEvaluator()
	e.c = &Case{limits: b.Limits, timeout: b.Time}
	r := e.eval(p, subject)
	out := fmt.Appendf(nil, `{"value":%s`, r.Value.JSON())
	if r.Err != nil {
		quoted := func(s string) string { return speclang.StringValue(s).JSON() }
		out = fmt.Appendf(nil, `{"error":{"category":%s,"message":%s}`, quoted(string(r.Err.Category)), quoted(r.Err.Message))
		if hint := r.Err.Advice(); hint != "" {
			out = fmt.Appendf(out[:len(out)-1], `,"hint":%s}`, quoted(hint))
		}
	}
	return Evaluation{JSON: fmt.Appendf(out, `,"steps":%d,"nodes":%d}`, r.Steps, p.Nodes), Failed: r.Err != nil}
}

// newEvaluator is one that asks this machine what an expression asks for.
func newEvaluator() *evaluator {
	e := &evaluator{}
	e.host.PathExists, e.host.Expired = pathExists, e.expired
	return e
}
