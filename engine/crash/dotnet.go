package crash

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// readDotnet reads what .NET and Mono print about an uncaught exception, about an end by
// Environment.FailFast or a failed assertion, and about a stack overflow. The innermost exception
// is the root, and its frames come first.
func readDotnet(t text) (report, bool) {
	head, says := dotnetHead(t)
	if head < 0 {
		return readMonoCrash(t)
	}
	frames := head + 1
	for frames < len(t.lines) && !dotnetFrame(t.lines[frames]) && !dotnetInnerEnd(t.lines[frames]) {
		frames++
	}
	says = strings.Join(append([]string{says}, t.lines[head+1:min(frames, head+maxScan)]...), "\n")
	for _, words := range dotnetHeads {
		says = strings.TrimPrefix(says, words)
	}
	says = strings.TrimSpace(says)
	var r report
	switch terminated, ok := strings.CutPrefix(says, "Process terminated."); {
	case strings.HasPrefix(says, "Stack overflow."):
		r = exception("System.StackOverflowException", "", nil)
	case ok:
		asserted, failed := strings.CutPrefix(strings.TrimSpace(terminated), "Assertion failed.")
		if r = (report{class: ClassException, kind: "Environment.FailFast", message: strings.TrimSpace(asserted)}); failed {
			r.class, r.kind = ClassAssert, "assertion failure"
		}
	default:
		if at := dotnetInner().FindAllStringIndex(says, -1); len(at) > 0 {
			says = says[at[len(at)-1][0]:]
			says = says[strings.Index(says, "> ")+2:]
		}
		kind, msg := says, ""
		if i := strings.IndexAny(says, ":\n"); i >= 0 {
			kind, msg = says[:i], says[i+1:]
		}
		if kind == "StackOverflowException" { // Mono, if it can no longer look up a name
			kind = "System." + kind
		}
		r = exception(kind, strings.TrimSpace(msg), nil)
	}
	r.dotnetStack(t, frames)
	if dotnetEnds(t.lines[head]) {
		r.ends = []int{134, 1, 255} // SIGABRT as a shell reports it; Mono's first thread, and its others
	}
	return r, true
}

// dotnetHeads are the words before an exception that ends the program.
var dotnetHeads = [...]string{"Unhandled exception. ", "Unhandled Exception:", "[ERROR] FATAL UNHANDLED EXCEPTION: "}

// dotnetEnds reports whether a runtime ends a program with this line.
func dotnetEnds(s string) bool {
	for _, words := range dotnetHeads {
		if strings.HasPrefix(s, words) {
			return true
		}
	}
	return s == "Stack overflow." || strings.HasPrefix(s, "Process terminated.")
}

func dotnetInnerEnd(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, " "), "--- End of inner exception stack trace ---")
}

var (
	// dotnetInner is the head of an inner exception, followed by its type.
	dotnetInner = lazy.Pattern(`(?:^|\s)---> (?:[A-Za-z_]\w*[.+][\w.+]*|\w*Exception)(?:` + "`" + `\d+\[[^\n]*\])?(?::|\n|$)`)
	// dotnetPrinted is the head of an exception that a program prints.
	dotnetPrinted = lazy.Pattern(`(?:^|[\s:\]])((?:[A-Za-z_]\w*[.+])+\w*Exception(?:: .*| ---> .*|$))`)
)

// dotnetHead returns the line at which a report begins, and its text; -1 if there is no report.
// Mono prints two for an exception that ends the program; only the second shows the frames of a
// stack overflow.
func dotnetHead(t text) (int, string) {
	first := -1
	for i, s := range t.lines {
		switch {
		case strings.HasPrefix(s, dotnetHeads[1]):
			if again := t.lastPrefix(dotnetHeads[2]); again > i {
				i = again
			}
			return i, t.lines[i]
		case strings.HasPrefix(s, dotnetHeads[0]), s == "Stack overflow.",
			strings.HasPrefix(s, "Process terminated.") && dotnetFrame(t.line(t.index(i, "   at "))):
			return i, s
		case first < 0 && strings.HasPrefix(s, "  ") && dotnetFrame(s): // Java's frames begin with a tab
			first = i
		}
	}
	for i := first - 1; i >= 0 && i > first-10; i-- {
		if m := dotnetPrinted().FindStringSubmatch(t.lines[i]); m != nil && !strings.HasPrefix(strings.TrimLeft(t.lines[i], " "), "---> ") {
			return i, m[1]
		}
	}
	return -1, ""
}

// dotnetFrame recognizes `   at A.F(Int32 n) in /src/a.cs:line 3` and Mono's
// `  at A.F (System.Int32 n) [0x00018] in /src/a.cs:3 `.
func dotnetFrame(s string) bool {
	f := strings.TrimLeft(s, " \t")
	return len(f) < len(s) && strings.HasPrefix(f, "at ") && (strings.Contains(f, "(") || strings.HasSuffix(f, ">"))
}

// dotnetStack reads the frames from a line on. Of libraries it keeps the function that the program
// called: what that calls does not distinguish callers. If no frame of an exception is the
// program's own, it takes those of the exception that wraps it.
func (r *report) dotnetStack(t text, i int) {
	var own, libraries []string
scan:
	for ; i < len(t.lines) && len(own)+len(libraries) < maxScan; i++ {
		s := t.lines[i]
		switch {
		case dotnetFrame(s):
		case dotnetInnerEnd(s):
			if len(own) > 0 {
				break scan
			}
			continue
		case strings.HasPrefix(s, "--- End of stack trace from"), strings.HasPrefix(s, "Repeat "), strings.HasPrefix(s, "-----"):
			continue
		default:
			break scan
		}
		f, library := dotnetFunc(s)
		if library {
			if len(own) == 0 {
				libraries = append(libraries, f)
			}
			continue
		}
		if own = append(own, f); r.owner == "" {
			r.owner = f
		}
		if place := dotnetPlace(s); r.place == "" && place != "" {
			r.place, r.owner = place, f
		}
	}
	if n := len(libraries); n > 0 && len(own) > 0 && r.class == ClassException {
		libraries = libraries[n-1:]
	} else if len(own) > 0 {
		libraries = nil
	}
	r.frames = append(libraries, own...)
}

// dotnetFunc returns the function of a frame, and whether it belongs to the runtime or a library.
func dotnetFunc(s string) (name string, library bool) {
	s = strings.TrimPrefix(strings.TrimLeft(s, " \t"), "at ")
	library = strings.HasPrefix(s, "(wrapper ")
	if library {
		_, s, _ = strings.Cut(s, ") ")
	}
	if name, _, ok := strings.Cut(s, "("); ok {
		s = name
	} else if name, _, ok := strings.Cut(s, " <0x"); ok {
		s = strings.Replace(name, ":", ".", 1)
	}
	s = strings.ReplaceAll(strings.TrimSpace(s), "+", ".")
	for _, p := range [...]string{"System.", "Microsoft.", "Internal.", "Mono.", "Interop.", "<Module>", "<unknown>"} {
		library = library || strings.HasPrefix(s, p)
	}
	// A`1[T].F[U] is F of A, <Main>b__0 is a lambda in Main, <Parse>d__3.MoveNext an async method.
	s = dotnetArguments().ReplaceAllString(s, "")
	if m := dotnetGenerated().FindStringSubmatch(s); m != nil {
		s = m[1] + m[2]
	}
	return clip(s, 120), library
}

var (
	dotnetArguments = lazy.Pattern("`[0-9]+|\\[[^\\]]*\\]")
	dotnetGenerated = lazy.Pattern(`^((?:[^<]*\.)?)<[^\w]*(?:[^<]*<)*?(\w+)>`)
)

// dotnetPlace returns the file and line of a frame or, if Mono has no debugging information, the
// offset in the function.
func dotnetPlace(s string) string {
	s = strings.TrimRight(s, " ")
	_, at, ok := cutLast(s, " in ")
	if !ok {
		return ""
	}
	file, line, ok := cutLast(at, ":")
	if line = strings.TrimPrefix(line, "line "); !ok || !allDigits(line) {
		return ""
	}
	if strings.HasPrefix(file, "<") {
		offset, _ := between(s, " [0x", "] in ")
		return offset
	}
	return base(file) + ":" + line
}

// readMonoCrash reads what Mono prints when a signal or Environment.FailFast stops it in native
// code.
func readMonoCrash(t text) (report, bool) {
	head := t.index(0, " while executing native code. This usually indicates")
	stack := t.lastPrefix("\tManaged Stacktrace:")
	if head < 0 || stack < head {
		return report{}, false
	}
	name, _ := between(t.lines[head], "Got a ", " while")
	r := report{class: ClassSignal, kind: name}
	if i := t.index(0, "CLR: Managed code called FailFast, saying "); i >= 0 {
		_, said, _ := strings.Cut(t.lines[i], ", saying ")
		r.class, r.kind, r.message = ClassException, "Environment.FailFast", strings.Trim(said, `"`)
	}
	r.dotnetStack(t, stack+2)
	return r, true
}
