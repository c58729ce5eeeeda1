package crash

import (
	"cmp"
	"strings"
)

// readGo reads the end of a Go program: a panic, a fatal error of the runtime,
// or a signal that the runtime reports.
func readGo(t text) (report, bool) {
	trace := max(t.lastPrefix("goroutine "), t.lastPrefix("runtime stack:"))
	for i, line := range t.lines {
		switch {
		case strings.HasPrefix(line, "panic: "):
			if i > trace && !goWords(line) {
				continue
			}
			msg := trimRecovered(line[len("panic: "):])
			kind, custom := goPanicKind(msg)
			r := report{class: ClassPanic, kind: "go panic: " + kind, frames: goFrames(t, i), ends: goEnds}
			if j := t.index(i, "goroutine "); j > 0 && strings.HasPrefix(t.line(j+1), "runtime/debug.Stack(") {
				r.ends = nil // the program recovered, and prints where it was
			}
			r.place, r.owner = goPlace(t, i)
			if custom {
				r.what, r.message = "go panic", msg
				if r.place != "" {
					// Its words may come from the input, so the line says which
					// panic of a function it was.
					r.kind, r.place = "go panic at "+r.place, ""
				}
			}
			return r, true
		case strings.HasPrefix(line, "fatal error: "):
			if i > trace && !goWords(line) {
				continue
			}
			return goFatal(t, i, line[len("fatal error: "):]), true
		case strings.HasPrefix(line, "SIG") && strings.HasPrefix(t.line(i+1), "PC="):
			name, _, _ := strings.Cut(line, ":")
			r := report{class: ClassSignal, kind: name, frames: goFrames(t, i), severity: SeverityMedium, ends: goEnds}
			if name == "SIGSEGV" || name == "SIGBUS" || name == "SIGILL" {
				r.severity = SeverityHigh
			}
			return r, true
		}
	}
	return report{}, false
}

// goEnds is the exit code of a panic and of a fatal error of the runtime.
var goEnds = []int{2}

// goWords reports whether a line comes from the runtime, if there is no trace after
// it: other programs print "panic:" and "fatal error:" too, and with
// GOTRACEBACK=none the runtime prints nothing else.
func goWords(line string) bool {
	return strings.Contains(line, "runtime error: ") || strings.Contains(line, "all goroutines are asleep")
}

func trimRecovered(s string) string {
	for _, end := range [...]string{" [recovered]", " [recovered, repanicked]"} {
		s = strings.TrimSuffix(s, end)
	}
	return s
}

// goPanicKind names a panic; custom means that the program chose the words.
func goPanicKind(msg string) (kind string, custom bool) {
	s, fromRuntime := strings.CutPrefix(msg, "runtime error: ")
	for _, k := range [...]string{"index out of range", "slice bounds out of range", "integer divide by zero", "makeslice: len out of range",
		"makeslice: cap out of range", "makechan: size out of range", "hash of unhashable type", "comparing uncomparable type", "negative shift amount",
		"cannot convert slice", "floating point error", "growslice: len out of range"} {
		if fromRuntime && strings.HasPrefix(s, k) {
			return k, false
		}
	}
	switch {
	case fromRuntime && strings.Contains(s, "nil pointer dereference"):
		return "nil pointer dereference", false
	case fromRuntime:
		return stem(s), false
	case strings.HasPrefix(s, "interface conversion: "):
		return "interface conversion", false
	case s == "assignment to entry in nil map", s == "close of closed channel", s == "close of nil channel", s == "send on closed channel",
		strings.HasPrefix(s, "sync: "), strings.HasPrefix(s, "all goroutines "):
		return s, false
	}
	if strings.HasPrefix(s, "(") { // panic: (main.T) {…}: a type without Error or String
		typ, _ := between(s, "(", ")")
		return typ, true
	}
	return stem(s), true
}

func goFatal(t text, i int, msg string) report {
	r := report{class: ClassPanic, kind: "go fatal error: " + stem(msg), severity: SeverityHigh, ends: goEnds}
	switch {
	case msg == "stack overflow":
		r.class, r.kind = ClassStackOverflow, "go stack overflow"
	case strings.Contains(msg, "out of memory"), strings.Contains(msg, "cannot allocate memory"), strings.Contains(msg, "failed to reserve"),
		strings.Contains(msg, "cannot map pages"), strings.HasPrefix(msg, "too many address space collisions"):
		return report{class: ClassMemoryLimit, kind: "go out of memory", volatile: true, ends: goEnds}
	case strings.Contains(msg, "newosproc"), strings.Contains(msg, "failed to create new OS thread"):
		return report{class: ClassProcessLimit, kind: "no more threads", volatile: true, ends: goEnds}
	case strings.HasPrefix(msg, "all goroutines are asleep"):
		r.kind, r.severity = "go fatal error: deadlock", SeverityMedium
	case strings.HasPrefix(msg, "fault"), strings.HasPrefix(msg, "unexpected signal"):
		r.kind = "go fatal error: memory fault"
	}
	r.frames = goFrames(t, i)
	return r
}

// goFrames reads the first goroutine's trace after line i; with nested panics it
// begins where the first of them began.
func goFrames(t text, i int) []string {
	for i++; i < len(t.lines) && !strings.HasPrefix(t.lines[i], "goroutine "); i++ {
	}
	var all []string
	for i++; i < len(t.lines) && len(all) < maxScan; i++ {
		s := t.lines[i]
		if s == "" || strings.HasPrefix(s, "created by ") || strings.HasPrefix(s, "goroutine ") || strings.HasPrefix(s, "exit status ") {
			break
		}
		if s[0] == '\t' || s[0] == ' ' || !strings.HasSuffix(s, ")") {
			continue // a source line, or "...additional frames elided..."
		}
		if strings.HasPrefix(s, "panic(") {
			all = all[:0]
			continue
		}
		all = append(all, goFunc(s))
	}
	own := ownFrames(all, goPlumbing)
	for i, f := range own {
		own[i] = goShort(f)
	}
	return own
}

// goPlace returns the file and line where the program panicked, according to the
// trace after line i, and the function: the first that is neither plumbing nor, if
// possible, in the standard library.
func goPlace(t text, i int) (place, owner string) {
	for i++; i < len(t.lines) && !strings.HasPrefix(t.lines[i], "goroutine "); i++ {
	}
	standard := ""
	for i++; i+1 < len(t.lines) && t.lines[i] != "" && !strings.HasPrefix(t.lines[i], "created by "); i++ {
		f, source := t.lines[i], strings.TrimSpace(t.lines[i+1])
		if strings.HasPrefix(f, "panic(") {
			place, standard = "", "" // the previous frame was called while another unwound the stack
			continue
		}
		if f[0] == '\t' || place != "" || goPlumbing(goFunc(f)) {
			continue
		}
		source, _, _ = strings.Cut(source, " +0x")
		switch file, line, ok := sourcePlace(source); {
		case !ok:
		case !goStandard(f, source):
			place, owner = file+":"+line, goShort(goFunc(f))
		case standard == "":
			standard = file + ":" + line
		}
	}
	return cmp.Or(place, standard), owner
}

// goStandard reports whether a function belongs to the standard library: its
// package begins like one of that library, and its file is in a folder of that
// name.
func goStandard(f, source string) bool {
	i := strings.LastIndexByte(f[:spanTo(f, "(")], '/') + 1
	pkg := f[:i+max(strings.IndexByte(f[i:], '.'), 0)]
	first, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(goLibrary, " "+first+" ") && (strings.HasPrefix(source, pkg+"/") || strings.Contains(source, "/src/"+pkg+"/"))
}

const goLibrary = " archive bufio bytes compress container context crypto database debug embed encoding errors expvar flag fmt go hash html image " +
	"index io iter log maps math mime net os path plugin reflect regexp slices sort strconv strings text time unicode unique "

// goShort returns the short name of a function, with its package's name instead of
// its path.
func goShort(f string) string { return f[strings.LastIndexByte(f[:spanTo(f, "(")], '/')+1:] }

// goFunc reduces "main.(*Dec[...]).field(0x5acd20?)" to "main.(*Dec).field" and
// drops the counters of function literals.
func goFunc(s string) string {
	// The arguments are the last balanced parentheses.
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ')' {
			depth++
		} else if s[i] == '(' {
			if depth--; depth == 0 {
				s = s[:i]
				break
			}
		}
	}
	s = strings.ReplaceAll(s, "[...]", "")
	s = strings.TrimSuffix(s, "-fm")
	for _, lit := range [...]string{".func", ".gowrap", ".deferwrap", ".init."} {
		i := strings.Index(s, lit)
		if i <= 0 {
			continue
		}
		rest := s[i+len(lit):]
		if rest != "" && isDigit(rest[0]) {
			s = s[:i] + strings.TrimSuffix(lit, ".")
		}
	}
	return clip(s, 120)
}

func goPlumbing(f string) bool {
	for _, p := range [...]string{"runtime.", "runtime/", "internal/", "sync.", "sync/", "syscall.", "golang.org/x/sys/", "reflect.Value.", "panic", "testing."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}
