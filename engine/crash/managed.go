package crash

import (
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// exception completes a report of an uncaught exception.
func exception(kind, message string, frames []string) report {
	r := report{class: ClassException, kind: clip(kind, 100), message: message, frames: frames}
	name := kind[strings.LastIndexAny(kind, ".:\\")+1:]
	switch name {
	case "AssertionError", "AssertionError [ERR_ASSERTION]", "AssertionFailedException":
		r.class = ClassAssert
	case "RecursionError", "StackOverflowError", "StackOverflowException", "SystemStackError":
		r.class = ClassStackOverflow
		r.message = ""
	case "MemoryError", "OutOfMemoryError", "OutOfMemoryException", "NoMemoryError":
		r.class, r.volatile, r.message = ClassMemoryLimit, true, ""
	case "RangeError":
		if strings.HasPrefix(message, "Maximum call stack size exceeded") {
			r.class, r.message = ClassStackOverflow, ""
		}
	}
	return r
}

// readPython reads the last traceback: of chained exceptions the one that ended the
// program or, if none of its frames is the program's own, as when a framework wraps
// what its handlers raise, the last before it that has such a frame.
func readPython(t text) (report, bool) {
	start := pythonHead(t, len(t.lines))
	if start < 0 {
		return report{}, false
	}
	last, whole := readTraceback(t, start)
	if worker := pythonHead(t, start); worker > 1 && t.lines[worker-1] == `"""` && strings.HasSuffix(strings.TrimSpace(t.lines[worker-2]), "RemoteTraceback:") {
		last, _ = readTraceback(t, worker) // of a pool's process, whose exception was raised here again
	}
	for end := start; whole && last.place == "" && len(last.frames) > 0; {
		before := pythonHead(t, end)
		if before < 0 || !slices.ContainsFunc(t.lines[before:end], pythonChained) {
			break
		}
		if r, _ := readTraceback(t, before); r.place != "" {
			last = r
		}
		end = before
	}
	group := start // the group ends the program, not an exception in it
	for group > 0 && strings.HasPrefix(strings.TrimLeft(t.lines[group], " "), "| ") {
		group = max(pythonHead(t, group), 0)
	}
	if whole && pythonEnds(t, group) {
		last.ends = []int{1}
	}
	last.thread = whole && pythonThread(t)
	return last, true
}

// pythonHead returns the line of the last head of a traceback before a line.
func pythonHead(t text, end int) int {
	for i := end - 1; i >= 0; i-- {
		if strings.HasSuffix(t.lines[i], "Traceback (most recent call last):") {
			return i
		}
	}
	return -1
}

// pythonChained reports whether a line separates chained exceptions.
func pythonChained(s string) bool {
	s, _ = pythonMargin(s)
	return s == "The above exception was the direct cause of the following exception:" ||
		s == "During handling of the above exception, another exception occurred:"
}

// readTraceback reads the traceback that begins at a line; whole means that it names
// its exception.
func readTraceback(t text, start int) (r report, whole bool) {
	var all []string
	place, owner, source := "", "", "" // source: the line of code of the last frame, if it is the program's own
	for i := start + 1; i < len(t.lines); i++ {
		s, margin := pythonMargin(t.lines[i])
		if f, ok := pythonFrame(s); ok {
			all = append(all, f)
			source = ""
			if p := pythonPlace(s); p != "" {
				place, owner = p, f
				if i+1 < len(t.lines) {
					source = t.lines[i+1]
				}
			}
			if len(all) > maxScan {
				all = all[len(all)-maxScan:]
			}
			continue
		}
		if strings.HasPrefix(s, "  ") || s == "" || !margin && strings.HasPrefix(s, " ") {
			continue
		}
		kind, msg, _ := strings.Cut(s, ": ")
		if !pythonName(kind) {
			continue // a source line without indentation
		}
		slices.Reverse(all)
		r = exception(kind, msg, ownFrames(all, pythonPlumbing))
		r.place, r.owner = place, owner
		r.raised = raises().MatchString(source) && !slices.Contains(failures, kind)
		return r, true
	}
	slices.Reverse(all)
	return report{class: ClassException, kind: "python exception", frames: all}, false
}

// raises matches a line of code that raises an exception; failures are the exceptions
// by which programs report their own bugs.
var (
	raises   = lazy.Pattern(`^[ |]*(.*:\s*)?raise\s+\w`)
	failures = []string{"RuntimeError", "NotImplementedError", "AssertionError", "SystemError", "RecursionError", "MemoryError"}
)

// pythonEnds reports whether the traceback at a line may be the one that ends the
// interpreter. Those of threads and of destructors do not, one after other words in
// its line comes from a log, and one that does not begin where the program does was
// printed by a function that caught the exception.
func pythonEnds(t text, start int) bool {
	head, _ := strings.CutPrefix(strings.TrimSpace(t.lines[start]), "+ Exception Group ")
	before := ""
	if start > 0 {
		before = t.lines[start-1]
	}
	return strings.HasPrefix(head, "Traceback ") && !strings.HasPrefix(before, "Exception in thread ") && !strings.HasPrefix(before, "Exception ignored in") &&
		(pythonBegins(t.line(start+1)) || pythonProcess(t, start))
}

// pythonBegins reports whether a line, the first after the head of a traceback, may be
// the outermost frame of a program: a module, the interpreter's own start, or a module
// that Cython compiled.
func pythonBegins(s string) bool {
	s, _ = pythonMargin(s)
	f, ok := pythonFrame(s)
	_, function, named := strings.Cut(f, ":")
	return !ok || !named || pythonPlumbing(f) || strings.HasPrefix(function, "<module") || strings.HasPrefix(function, "init ")
}

// pythonProcess reports whether the traceback at a line is the one that ended a process
// of the module multiprocessing, which prints the name of the process above it.
func pythonProcess(t text, start int) bool {
	name := t.line(start - 1)
	if !strings.HasPrefix(name, "Process ") || !strings.HasSuffix(name, ":") {
		return false
	}
	return slices.ContainsFunc(t.lines[start:], func(s string) bool {
		f, _ := pythonFrame(s)
		return f == "process.py:_bootstrap"
	})
}

// pythonThread reports whether an exception ended a thread or another process of the
// program: the interpreter says so above the first traceback of a chain.
func pythonThread(t text) bool {
	for i, s := range t.lines[1:] {
		if strings.HasPrefix(s, "Traceback ") && (strings.HasPrefix(t.lines[i], "Exception in thread ") || pythonProcess(t, i+1)) {
			return true
		}
	}
	return false
}

// pythonMargin removes the rulers that exception groups draw.
func pythonMargin(s string) (string, bool) {
	if rest := strings.TrimLeft(s, " "); strings.HasPrefix(rest, "| ") || strings.HasPrefix(rest, "+ ") {
		return rest[2:], true
	}
	return s, false
}

func pythonName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '.' {
			return false
		}
	}
	return s != "" && !isDigit(s[0])
}

// pythonFrame reads `  File "/src/tool.py", line 4, in read_len`.
func pythonFrame(s string) (string, bool) {
	rest, ok := strings.CutPrefix(s, `  File "`)
	if !ok {
		return "", false
	}
	file, rest, ok := strings.Cut(rest, `", line `)
	if !ok {
		return "", false
	}
	f := base(file)
	if _, function, ok := strings.Cut(rest, " in "); ok {
		f += ":" + function
	}
	return clip(f, 120), true
}

// pythonPlace returns the file and line of a frame of the program's own code, and not
// of the interpreter's library or an installed one.
func pythonPlace(s string) string {
	file, rest, ok := strings.Cut(strings.TrimPrefix(s, `  File "`), `", line `)
	if !ok || strings.HasPrefix(file, "<frozen ") || strings.Contains(file, "/lib/python") || strings.Contains(file, "-packages/") {
		return ""
	}
	return base(file) + ":" + rest[:spanTo(rest, ",")]
}

func pythonPlumbing(f string) bool {
	return strings.HasPrefix(f, "<frozen ") || strings.HasPrefix(f, "runpy.py:")
}

// readFaulthandler reads Python's own report of a signal.
func readFaulthandler(t text) (report, bool) {
	i := t.lastPrefix("Fatal Python error: ")
	if i < 0 {
		return report{}, false
	}
	what := t.lines[i][len("Fatal Python error: "):]
	r := report{class: ClassSignal, kind: "python fatal error: " + stem(what), severity: SeverityHigh}
	for i++; i < len(t.lines) && !strings.Contains(t.lines[i], "(most recent call first)"); i++ {
	}
	for i++; i < len(t.lines) && len(r.frames) < maxScan; i++ {
		f, ok := pythonFrame(t.lines[i])
		if !ok {
			break
		}
		r.frames = append(r.frames, f)
	}
	return r, true
}

// readJava reads a stack trace of the Java virtual machine; the last cause is the root.
func readJava(t text) (report, bool) {
	for i := 1; i < len(t.lines); i++ {
		if !javaFrameLine(t.lines[i]) {
			continue
		}
		head := javaHead(t, i)
		first := t.lines[head]
		var frames, outer []string // of the exception at head, and of the one that it caused
		omitted := 0               // frames at the end of outer that are frames of head, too
		for said := false; i < len(t.lines); i++ {
			switch s := t.lines[i]; {
			case javaFrameLine(s):
				frames, said = append(frames, s), false
				continue
			case strings.HasPrefix(s, "\t... "):
				omitted, said = javaOmitted(s, len(outer)), false
				frames = append(frames, outer[len(outer)-omitted:]...)
				continue
			case strings.HasPrefix(s, "\t"): // what was suppressed, with its own frames and causes
				continue
			case strings.HasPrefix(s, "Caused by: "):
				head, said = i, true
				frames, outer, omitted = nil, frames, 0
				continue
			case said && i < head+javaMessage: // its message goes on
				continue
			}
			break
		}
		s := strings.TrimPrefix(t.lines[head], "Caused by: ")
		if rest, ok := strings.CutPrefix(s, `Exception in thread "`); ok {
			_, s, _ = strings.Cut(rest, `" `)
		}
		kind, msg, _ := strings.Cut(s, ": ")
		if kind == "" || strings.ContainsAny(kind, " \t") {
			continue
		}
		var all []string
		place, owner := "", ""
		j := head + 1
		for ; j < len(t.lines) && j < head+javaMessage && !javaFrameLine(t.lines[j]); j++ {
			msg += "\n" + t.lines[j]
		}
		for j, s := range frames[:min(len(frames), maxScan)] {
			if j >= len(frames)-omitted && place != "" {
				break // the frames that are not printed again serve to find a place
			}
			f := javaFunc(s)
			if all = append(all, f); place == "" && !javaPlumbing(f) && !strings.HasPrefix(f, "java.") && !strings.HasPrefix(f, "javax.") {
				place, owner = javaPlace(s), f
			}
		}
		r := exception(kind, msg, ownFrames(all, javaPlumbing))
		r.place, r.owner = place, owner
		r.javaEnd(first)
		return r, true
	}
	// If the stack is broken, the virtual machine names only the exception.
	if i := t.lastPrefix(`Exception in thread "`); i >= 0 {
		_, s, _ := strings.Cut(t.lines[i][len(`Exception in thread "`):], `" `)
		kind, msg, _ := strings.Cut(s, ": ")
		if kind != "" && !strings.Contains(kind, " ") {
			r := exception(kind, msg, nil)
			r.javaEnd(t.lines[i])
			return r, true
		}
	}
	return report{}, false
}

// javaMessage bounds the lines of an exception before its first frame.
const javaMessage = 12

// javaOmitted reads the number of "\t... 3 more", the frames that an exception shares
// with the one that it caused, which has n of them.
func javaOmitted(s string, n int) int {
	number, _, _ := strings.Cut(s[len("\t... "):], " ")
	omitted, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return max(0, min(omitted, n))
}

// javaHead returns the line of the exception whose first frame is in a line: the line
// before or, if the message has several lines, the one that names a thread or a type.
// The nearest type counts, for the program's own words may come before it.
func javaHead(t text, frame int) int {
	head, best := frame-1, 0
	for i := frame - 1; i >= 0 && i > frame-javaMessage && !javaFrameLine(t.lines[i]); i-- {
		if strings.HasPrefix(t.lines[i], `Exception in thread "`) {
			return i
		}
		if n := javaType(t.lines[i]); n > best {
			head, best = i, n
		}
	}
	return head
}

// javaType says how surely a line begins with the type of an exception: 2 if it is named
// as exceptions are, 1 if it is a class in a package or in another class, 0 if it is none.
func javaType(s string) int {
	kind, _, _ := strings.Cut(s, ": ")
	name := kind[strings.LastIndexAny(kind, ".$")+1:]
	switch {
	case !pythonName(strings.ReplaceAll(kind, "$", "_")) || name == "" || name[0] >= 'a' && name[0] <= 'z':
		return 0
	case strings.Contains(name, "Exception"), strings.Contains(name, "Error"), name == "Throwable":
		return 2
	case name != kind:
		return 1
	}
	return 0
}

// javaEnd notes what an exception ended, from the first line that the virtual machine
// prints: the first thread, which ends the program, or another one. A trace that a
// program prints has no such line.
func (r *report) javaEnd(line string) {
	if strings.HasPrefix(line, `Exception in thread "main" `) {
		r.ends = []int{1}
	} else {
		r.thread = strings.HasPrefix(line, `Exception in thread "`)
	}
}

// javaFrameLine recognizes "\tat a.b.C.m(C.java:3)".
func javaFrameLine(s string) bool {
	return strings.HasPrefix(s, "\tat ") && strings.HasSuffix(s, ")") && strings.IndexByte(s, '(') > 0
}

func javaFunc(s string) string {
	s = s[len("\tat "):]
	s = s[:strings.IndexByte(s, '(')]
	if i := strings.LastIndexByte(s, '/'); i >= 0 { // module and loader
		s = s[i+1:]
	}
	// lambda$main$0 and C$1.run count what the compiler found on its way.
	return clip(trimCounters(s), 120)
}

// javaPlace returns the file and line of a frame; "" without debugging information.
func javaPlace(s string) string {
	place := strings.TrimSuffix(s[strings.IndexByte(s, '(')+1:], ")")
	if file, line, ok := strings.Cut(place, ":"); !ok || file == "" || !allDigits(line) {
		return ""
	}
	return place
}

// trimCounters removes the numbers after dollar signs.
func trimCounters(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		if s[i] == '$' {
			for i+1 < len(s) && isDigit(s[i+1]) {
				i++
			}
		}
	}
	return strings.TrimSuffix(b.String(), "$")
}

func javaPlumbing(f string) bool {
	for _, p := range [...]string{"jdk.internal.", "sun.", "java.lang.reflect.", "java.lang.Thread.", "java.util.concurrent.", "java.lang.invoke."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}
