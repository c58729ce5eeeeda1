package crash

import (
	"slices"
	"strconv"
	"strings"
)

// Death is how a program ended and what it printed.
type Death struct {
	ExitCode    int // meaningful if Signal is 0
	Signal      int // 0: the program exited by itself
	TimedOut    bool
	OutputLimit bool // stopped because it printed too much
	CoreDumped  bool // depends on the machine's settings; not part of a cause
	Stderr      []byte
	Stdout      []byte
	Stack       *Stack // nil: the stack was not looked at
}

// Cause is why a program failed.
type Cause struct {
	// Class is one of the Class constants.
	Class string
	// Kind is the finer name within the class: "SIGSEGV",
	// "heap-buffer-overflow", "go panic: index out of range", "exit 3".
	Kind string
	// Title is one line for people. It holds no addresses, process ids,
	// absolute paths or clocks.
	Title string
	// Severity is one of the Severity constants.
	Severity string
	// Frames are the functions in which the failure happened, innermost first, at most
	// five, without frames of allocators, C libraries, sanitizers, language runtimes
	// and abort plumbing. A frame without a symbol is module+offset, which is stable
	// for one build. If memory ran out, the frames are random, and Layers and Title do
	// not contain them.
	Frames []string
	// Message is the failure's own words, masked.
	Message string
	// Uncaught means that the report is the one with which a language's runtime ends a
	// program, or a thread of it, after an exception or a panic that nothing caught.
	// For a program, the exit code is the runtime's own; for a thread, it is any. It is
	// a crash even if the user expects that exit code; a trace that a program logs
	// before it continues is not.
	Uncaught bool
	// Raised means that a statement of the program's own code raised the exception, as
	// a program does to refuse its input.
	Raised bool
	// Layers are the input of a fingerprint, outermost first: the class, how the
	// program ended, the kind, then the top frames or, if there are none, the message.
	Layers []string
}

// The classes.
const (
	ClassNone        = "none" // exit 0 and no report: no failure is visible
	ClassExit        = "exit"
	ClassSignal      = "signal"
	ClassTimeout     = "timeout"
	ClassOutputLimit = "output-limit"
	ClassMemoryLimit = "memory-limit"
	// ClassProcessLimit means that the program could not start a process or thread.
	ClassProcessLimit = "process-limit"
	ClassSanitizer    = "sanitizer"
	// ClassMemoryCorruption is damage that the C library noticed.
	ClassMemoryCorruption = "memory-corruption"
	ClassStackOverflow    = "stack-overflow"
	ClassAssert           = "assert"
	ClassPanic            = "panic"
	ClassException        = "exception"
)

// The severities.
const (
	SeverityCritical = "critical" // memory was written illegally
	SeverityHigh     = "high"     // memory was misused, or the machine stopped the program
	SeverityMedium   = "medium"   // the program stopped itself, or did not stop
	SeverityLow      = "low"      // the program said that it failed
)

const (
	maxFrames   = 5 // frames shown
	layerFrames = 3 // frames in a fingerprint: deeper ones distinguish callers, not bugs
)

// report is what one reader found in the text.
type report struct {
	class    string
	kind     string
	access   string // READ or WRITE, if a sanitizer says so
	what     string // what Title says instead of kind
	severity string
	frames   []string
	message  string
	// place is where in the program's own code, according to a language's runtime, the
	// failure was raised: file:line. It distinguishes two failures of one function.
	place string
	// owner is the function that contains place, if frames of libraries come before it.
	owner string
	// volatile means that it is random where the program noticed the failure, as when
	// memory runs out, so that frames and message must not enter the layers.
	volatile bool
	placed   bool   // frames come from a [Stack]
	vague    bool   // the first frame may be a library's
	fault    string // enters the layers too, instead of ending and kind
	// ends are the exit codes of a runtime that ends a program on what it reports; none
	// if a program may write the report and continue.
	ends []int
	// thread means that the runtime reports the end of a thread, which does not change
	// the exit code of the program.
	thread bool
	raised bool // by a statement of the program's own code
}

// reader looks for one tool's reports in a text.
type reader func(text) (report, bool)

// readers returns the readers in order of precedence: those that see the fault itself
// come before those that see its consequence in an outer program.
func readers() []reader {
	return []reader{
		readSanitizer, readValgrind, readUndefined, readMinimal,
		readGo, readRust,
		readFaulthandler, readPython, readDotnet, readJava, readNode, readRuby, readPHP,
		readAssert, readLibc, readTerminate, readOutOfMemory,
		readDebugger, readPerl,
	}
}

// Analyze names the cause of a death. It is pure: equal deaths give equal
// causes.
func Analyze(d Death) Cause {
	switch {
	case d.TimedOut:
		// What a killed program had printed by then is random, so none of it may enter
		// the cause.
		return Cause{Class: ClassTimeout, Kind: "timeout", Title: "timeout", Severity: SeverityMedium, Layers: []string{ClassTimeout}}
	case d.OutputLimit:
		return Cause{Class: ClassOutputLimit, Kind: "output limit", Title: "output limit exceeded", Severity: SeverityMedium, Layers: []string{ClassOutputLimit}}
	}
	errText := newText(d.Stderr)
	r, ok := read(errText)
	if !ok && (d.Signal != 0 || d.ExitCode != 0) && len(d.Stdout) > 0 {
		// Some runtimes and debuggers report on standard output.
		r, ok = read(newText(d.Stdout))
	}
	ending, plain := endingOf(d)
	if !ok {
		r = plain
		if r.class != ClassNone {
			if r.frames, r.place = looseStack(errText); len(r.frames) == 0 {
				r.message = lastWords(errText)
			}
		}
	}
	r.take(d.Stack)
	c := r.cause(ending)
	c.Uncaught = d.Signal == 0 && (r.thread || slices.Contains(r.ends, d.ExitCode))
	c.Raised = r.raised
	return c
}

func read(t text) (report, bool) {
	if len(t.lines) == 0 {
		return report{}, false
	}
	for _, f := range readers() {
		if r, ok := f(t); ok {
			return r, true
		}
	}
	return report{}, false
}

// cause completes a report.
func (r report) cause(ending string) Cause {
	if r.severity == "" {
		r.severity = severityOf(r.class)
	}
	frames := dedupe(r.frames)
	most := layerFrames
	switch {
	case r.placed:
		frames, most = r.frames, len(r.frames)
	case r.class == ClassStackOverflow || r.kind == "stack-overflow":
		frames = recursive(r.frames)
	}
	if len(frames) > maxFrames && !r.placed {
		frames = frames[:maxFrames]
	}
	c := Cause{Class: r.class, Kind: r.kind, Severity: r.severity, Frames: frames, Message: Mask(r.message)}

	layers := []string{r.class, ending}
	if r.kind != ending && r.kind != r.class {
		layers = append(layers, r.kind)
	}
	if r.access != "" {
		layers = append(layers, r.access)
	}
	if r.fault != "" {
		layers = []string{ClassSignal, r.fault} // the signal that ends it is random
	}
	switch {
	case r.volatile:
	case len(frames) > 0:
		layers = append(layers, frames[:min(len(frames), most)]...)
		if r.place != "" && r.place != frames[0] && r.class != ClassStackOverflow {
			layers = append(layers, r.place)
		}
	case c.Message != "":
		layers = append(layers, c.Message)
	}
	c.Layers = layers

	var b strings.Builder
	if b.WriteString(r.kind); r.what != "" {
		b.Reset()
		b.WriteString(r.what)
	}
	if len(frames) > 0 && !r.volatile && !r.vague {
		function := frames[0]
		if r.owner != "" && r.class != ClassStackOverflow {
			function = r.owner
		}
		if function == "operator()" && len(frames) > 1 { // g++ does not name the function around a lambda
			function += ", called by " + frames[1]
		}
		b.WriteString(" in " + function)
		file, line, lined := strings.Cut(r.place, ":")
		if (lined || strings.Contains(r.place, "+0x")) && r.place != function && r.class != ClassStackOverflow {
			if lined && strings.HasPrefix(function+":", file+":") {
				b.WriteString(" line " + line)
			} else {
				b.WriteString(" (" + r.place + ")")
			}
		}
	}
	if c.Message != "" && !r.volatile && !strings.Contains(b.String(), c.Message) {
		b.WriteString(": " + c.Message)
	}
	c.Title = clip(b.String(), 160)
	return c
}

func severityOf(class string) string {
	switch class {
	case ClassMemoryCorruption:
		return SeverityCritical
	case ClassSignal, ClassSanitizer, ClassStackOverflow:
		return SeverityHigh
	case ClassExit, ClassNone:
		return SeverityLow
	}
	return SeverityMedium
}

// endingOf names how the program ended, for the layers, and returns the report to use
// if the text has none.
func endingOf(d Death) (string, report) {
	if d.Signal != 0 {
		name := signalName(d.Signal)
		r := report{class: ClassSignal, kind: name, severity: signalSeverity(d.Signal)}
		if name == "SIGKILL" {
			r.what = "SIGKILL (killed from outside: out of memory?)"
		}
		return name, r
	}
	code := "exit " + strconv.Itoa(d.ExitCode)
	if d.ExitCode == 0 {
		return code, report{class: ClassNone, kind: code}
	}
	if n := d.ExitCode - 128; n > 0 && fatalSignal(n) {
		// Shells and wrappers report a child's signal this way.
		child := signalName(n) + " in a child"
		return code, report{class: ClassSignal, kind: child, what: code + " (" + child + ")", severity: signalSeverity(n)}
	}
	return code, report{class: ClassExit, kind: code, what: "exit status " + strconv.Itoa(d.ExitCode)}
}

// dedupe drops frames that repeat the previous one: the depth of a recursion is not
// part of its name.
func dedupe(frames []string) []string {
	return slices.Compact(slices.Clone(frames))
}

// recursive returns the functions that take part in an endless recursion. It is random
// where in the cycle the stack ran out, so it returns the functions that occur more
// than once, without those that occur far less than the others, in alphabetical order.
func recursive(frames []string) []string {
	seen, most := map[string]int{}, 0
	for _, f := range frames {
		seen[f]++
		most = max(most, seen[f])
	}
	var out []string
	for f, n := range seen {
		if n > 1 && n*4 >= most {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return dedupe(frames)
	}
	slices.Sort(out)
	return out
}

// Stack is what inspecting the stopped program showed about a death without a report:
// what the program did, and the places in its own code that led there.
type Stack struct {
	Kind   string   // "null pointer read"
	Fault  string   // enters the layers instead of Kind; "": Kind does
	Places []string // innermost first; they enter the layers unchanged
	Vague  bool     // libraries cannot be distinguished from the program, so the first place means nothing to people
}

// Untold reports whether a cause names a signal but no place, so that a [Stack] would
// help.
func (c Cause) Untold() bool {
	switch c.Class {
	case ClassSignal, ClassMemoryCorruption, ClassException, ClassStackOverflow:
		return len(c.Frames) == 0 && slices.ContainsFunc(c.Layers[:min(len(c.Layers), 3)], faulty)
	}
	return false
}

// faulty reports whether a layer is a signal that a fault or an abort raises.
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
			r.message = "" // the last words before a fault may come from the input
		}
	}
}

// signalName is the name of a Linux signal.
func signalName(n int) string {
	names := [...]string{1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
		"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
		"SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS"}
	if n > 0 && n < len(names) {
		return names[n]
	}
	return "signal " + strconv.Itoa(n)
}

// fatalSignal reports whether 128+n as an exit code means signal n rather than a code
// of the program's own.
func fatalSignal(n int) bool {
	switch signalName(n) {
	case "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGSEGV", "SIGPIPE", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS":
		return true
	}
	return false
}

func signalSeverity(n int) string {
	switch signalName(n) {
	case "SIGSEGV", "SIGBUS", "SIGILL", "SIGSYS":
		return SeverityHigh
	}
	return SeverityMedium
}
