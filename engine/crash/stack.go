package crash

import "slices"

// Stack is what a look at the stopped program said of a death that no report
// tells of: what it did, and the places in its own code that led there.
type Stack struct {
	Kind   string   // "null pointer read"
	Fault  string   // what enters the layers in its place; "": Kind
	Places []string // innermost first; they enter the layers as they are
	Vague  bool     // libraries cannot be distinguished from the program: the first place means nothing to people
}

// Untold says whether a cause names a signal and no place, so that a [Stack]
// would tell more.
func (c Cause) Untold() bool {
	switch c.Class {
	case ClassSignal, ClassMemoryCorruption, ClassException, ClassStackOverflow:
		return len(c.Frames) == 0 && slices.ContainsFunc(c.Layers[:min(len(c.Layers), 3)], faulty)
	}
	return false
}

// faulty says whether a layer is a signal that a fault or an abort raises.
func faulty(layer string) bool {
	switch layer {
	case "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS",
		"SIGILL in a child", "SIGTRAP in a child", "SIGABRT in a child", "SIGBUS in a child", "SIGFPE in a child", "SIGSEGV in a child", "SIGSYS in a child":
		return true
	}
	return false
}

// take adds a stack to a report without frames.
func (r *report) take(s *Stack) {
	if s == nil || len(r.frames) > 0 {
		return
	}
	if r.class == ClassSignal {
		r.access, r.what = s.Kind, r.kind+": "+s.Kind
	}
	if r.frames = s.Places; len(s.Places) > 0 {
		r.placed, r.vague, r.fault = true, s.Vague, s.Fault
		if r.class == ClassSignal {
			r.message = "" // the last words before a fault may be the input's
		}
	}
}
