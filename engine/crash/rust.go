package crash

import "strings"

// readRust reads a Rust panic in the forms before and after 1.73, and the
// runtime's abort messages. The first panic counts: a thread that joins the one
// that failed panics after it.
func readRust(t text) (report, bool) {
	for i, s := range t.lines {
		switch {
		case strings.HasPrefix(s, "thread '") && strings.HasSuffix(s, "has overflowed its stack"):
			return report{class: ClassStackOverflow, kind: "rust stack overflow"}, true
		case strings.HasPrefix(s, "memory allocation of ") && strings.HasSuffix(s, " bytes failed"):
			return report{class: ClassMemoryLimit, kind: "rust out of memory", volatile: true}, true
		case strings.HasPrefix(s, "thread '") && strings.Contains(s, " panicked at "):
		default:
			continue
		}
		_, rest, _ := strings.Cut(s, " panicked at ")
		place, msg := strings.TrimSuffix(rest, ":"), t.line(i+1)
		if strings.HasPrefix(rest, "'") { // 'message', src/x.rs:1:2
			if m, p, ok := cutLast(rest, "', "); ok {
				place, msg = p, m[1:]
			}
		}
		kind, rest, custom := rustPanicKind(msg)
		r := report{class: ClassPanic, kind: "rust panic: " + kind, frames: rustFrames(t, i), message: rest, ends: []int{101}}
		if custom {
			r.what = "rust panic"
		}
		if strings.HasPrefix(kind, "assertion") {
			r.class = ClassAssert
		}
		if file, line, ok := sourcePlace(place); ok {
			if custom { // its words may come from the input, so the line says which panic it was
				r.kind = "rust panic"
			}
			if r.place = file + ":" + line; len(r.frames) == 0 {
				r.frames = []string{r.place}
			}
		}
		return r, true
	}
	return report{}, false
}

// rustPanicKind names a panic and returns the rest of its message; custom means
// that the program chose the words.
func rustPanicKind(msg string) (kind, rest string, custom bool) {
	for _, k := range [...]string{"index out of bounds", "called `Option::unwrap()` on a `None` value", "called `Result::unwrap()` on an `Err` value",
		"assertion failed", "assertion `left == right` failed", "assertion `left != right` failed", "already borrowed", "already mutably borrowed",
		"internal error: entered unreachable code", "not implemented", "not yet implemented", "explicit panic", "capacity overflow"} {
		if rest, ok := strings.CutPrefix(msg, k); ok {
			return k, strings.TrimPrefix(rest, ": "), false
		}
	}
	if strings.HasPrefix(msg, "attempt to ") && (strings.HasSuffix(msg, " with overflow") || strings.HasSuffix(msg, " by zero") || strings.HasSuffix(msg, " of zero")) {
		return msg, "", false
	}
	return stem(msg), msg, true
}

// rustFrames reads a backtrace in the form of RUST_BACKTRACE=1.
func rustFrames(t text, i int) []string {
	j := t.index(i, "stack backtrace:")
	if j < 0 || j > i+16 {
		return nil
	}
	var all []string
	for j++; j < len(t.lines) && len(all) < maxScan; j++ {
		s := strings.TrimLeft(t.lines[j], " ")
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if n == 0 || !strings.HasPrefix(s[n:], ": ") {
			if strings.HasPrefix(s, "at ") {
				continue
			}
			break
		}
		name := s[n+2:]
		if strings.HasPrefix(name, "0x") { // RUST_BACKTRACE=full
			_, name, _ = strings.Cut(name, " - ")
		}
		if strings.HasPrefix(name, "<") && strings.Contains(name, " as core::") || strings.HasPrefix(name, "<alloc::") {
			name = "core::" + name
		}
		all = append(all, FunctionName(name))
	}
	return ownFrames(all, func(f string) bool {
		return Plumbing(f) || strings.HasPrefix(f, "core::") || strings.HasPrefix(f, "alloc::")
	})
}
