package process

import "context"

// Crash is what a program that a fatal signal had stopped said of it.
type Crash struct {
	Kind   string   // "null pointer read", "stack overflow", "abort: double free or corruption"
	Fault  string   // the kind without what chance or the input decides: "read", "heap damage"; "": Kind
	Layers []string // the places that distinguish it from other crashes of the kind; none: it has no code of its own
	Frames []string // the program's own calls, innermost first
	By     string   // what named them
	Vague  bool     // libraries cannot be distinguished from the program
	Hint   string   // guess at what it could be used for: one of the constants below
}

// What a crash could be used for, by its kind alone: a heuristic, no proof.
const (
	Exploitable      = "likely exploitable"
	MaybeExploitable = "possibly exploitable"
	NotExploitable   = "probably not exploitable"
)

// Tracer is implemented by runners that can run a case once more, cold, and stop
// it at its crash. A nil crash means that it did not crash again, or not by a
// fault of its own; the error says why stacks cannot be read here at all.
type Tracer interface {
	Trace(ctx context.Context, c Case) (*Crash, error)
}
