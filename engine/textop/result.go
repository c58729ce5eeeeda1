package textop

import "github.com/thresh-dev/thresh/engine/pyrand"

// Operator turns a text into a variant of it. It draws only from rng and keeps nothing
// between calls: equal arguments give equal results.
//
// Call operators through [Run], which enforces the contract for any operator.
type Operator interface {
	// Meta describes the operator. It always returns the same value, which the caller
	// must not change.
	Meta() *Meta
	// Apply makes a child of seed, which is valid UTF-8 with newlines
	// normalised ([Normalize]).
	Apply(seed string, ctx *Context, rng *pyrand.Rand) Result
}

// Status is how an application ended: section 4 of the contract.
type Status string

// The statuses.
const (
	OK      Status = "OK"      // the child is a mutation of the seed
	Skipped Status = "SKIPPED" // not applicable here; the child is the seed
	Invalid Status = "INVALID" // failed; the child is the seed and Error says why
)

// Reasons for which [Run] and the built-in operators skip; operators may have others.
// The trace parameter "reason" has the reason.
const (
	ReasonEmpty    = "empty"              // nothing to mutate
	ReasonSurface  = "surface_mismatch"   // the operator does not serve this surface
	ReasonBucket   = "bucket_mismatch"    // the operator does not serve this bucket
	ReasonNoChange = "no_change"          // the child would have been the seed
	ReasonLength   = "max_chars_exceeded" // the child would have been too long
)

// Result is the result of an application.
type Result struct {
	Status Status
	Child  string
	Trace  Step
	Error  string // a short message if Status is Invalid
	// Breaches are the rules of the contract that the operator broke and Run corrected,
	// such as a false length. Built-in operators have none.
	Breaches []string
	// Advice lists recommendations of the contract that the operator does not follow.
	Advice []string
	// Unchanged means that the operator said OK of a child that is the seed; Run made that SKIPPED.
	Unchanged bool
}

// Step is the trace of one application: OC-5.1 of the contract.
type Step struct {
	OpID      string
	Status    Status
	Params    Params
	LenBefore int // code points of the seed
	LenAfter  int // code points of the child
	// Extra are further top-level keys of the trace, which plug-ins may have.
	Extra Params
}

// Params are named values in a fixed order. A value is nil, bool, int, int64,
// float64, string, []any, map[string]any, Params, or anything that encoding/json writes.
type Params []Param

// Param is one of Params.
type Param struct {
	Key   string
	Value any
}

// Get returns the value of a key, or nil.
func (p Params) Get(key string) any {
	for i := range p {
		if p[i].Key == key {
			return p[i].Value
		}
	}
	return nil
}

// Int returns the value of a key if it is a whole number, or 0.
func (p Params) Int(key string) int {
	switch v := p.Get(key).(type) {
	case int:
		return v
	case int64:
		return int(v)
	case float64: // from JSON
		return int(v)
	}
	return 0
}

// Text returns the value of a key if it is a text, or "".
func (p Params) Text(key string) string {
	s, _ := p.Get(key).(string)
	return s
}

// Reason returns why the step was skipped, or "".
func (s *Step) Reason() string { return s.Params.Text("reason") }
