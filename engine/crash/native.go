package crash

import "strings"

// readValgrind reads the first error of valgrind's memcheck:
//
//	==123== Invalid read of size 1
//	==123==    at 0x109204: parse_field (bugs.c:9)
//	==123==    by 0x10924E: parse_header (bugs.c:10)
func readValgrind(t text) (report, bool) {
	for i, line := range t.lines {
		if !strings.HasPrefix(line, "==") {
			continue
		}
		if _, _, ok := valgrindFrame(line); !ok || i == 0 {
			continue
		}
		var all, places []string
		end := i
		for ; end < len(t.lines) && len(all) < maxScan; end++ {
			f, at, ok := valgrindFrame(t.lines[end])
			if !ok || end > i && strings.Contains(t.lines[end], "    at ") {
				break
			}
			all, places = append(all, f), append(places, at)
		}
		what := valgrindText(t.lines[i-1])
		r := report{class: ClassSanitizer, severity: SeverityHigh}
		r.frames, r.place = placed(all, places)
		if n, ok := strings.CutPrefix(what, "Process terminating with default action of signal "); ok {
			r.what, _ = between(n, "(", ")")
			r.kind = "valgrind: " + r.what
			return r, true
		}
		if strings.HasPrefix(what, "Access not within mapped region") || strings.HasPrefix(what, "Bad permissions") || strings.HasPrefix(what, "General Protection") {
			r.kind = "valgrind: invalid access"
			return r, true
		}
		r.kind = "valgrind: " + strings.ToLower(strings.TrimSuffix(stem(what), " of size"))
		address, _ := between(valgrindText(t.line(end)), "Address 0x", " is not stack'd")
		null := address != "" && len(address) <= 3 // in the first page, like AddressSanitizer's limit
		if strings.HasPrefix(what, "Invalid write") && !null || strings.HasPrefix(what, "Invalid free") {
			r.severity = SeverityCritical
		}
		if strings.Contains(what, " lost in loss record") {
			r.kind, r.severity = "valgrind: memory leak", SeverityLow
		}
		return r, true
	}
	return report{}, false
}

// valgrindText returns a line of valgrind's without its process id.
func valgrindText(line string) string {
	s, ok := strings.CutPrefix(line, "==")
	if !ok {
		return ""
	}
	_, s, _ = strings.Cut(s, "==")
	return strings.TrimSpace(s)
}

func valgrindFrame(line string) (name, place string, ok bool) {
	s := valgrindText(line)
	rest, ok := strings.CutPrefix(s, "at 0x")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "by 0x"); !ok {
			return "", "", false
		}
	}
	addr, f, ok := strings.Cut(rest, ": ")
	if !ok {
		return "", "", false
	}
	if strings.HasPrefix(f, "???") {
		if m, ok := between(f, "(in ", ")"); ok && !SystemModule(base(m)) {
			return base(m) + "+0x" + addr, "", true
		}
		return "", "", true
	}
	if i := strings.LastIndex(f, " ("); i > 0 {
		at := strings.TrimSuffix(f[i+2:], ")")
		if file, line, ok := sourcePlace(at); ok {
			place = file + ":" + line
		} else if m, ok := strings.CutPrefix(at, "in "); ok && !SystemModule(base(m)) {
			place = base(m) + "+0x" + addr
		}
		f = f[:i]
	}
	return FunctionName(f), place, true
}

// readLibc reads what the C library prints before it aborts.
func readLibc(t text) (report, bool) {
	for i := len(t.lines) - 1; i >= 0; i-- {
		s := strings.TrimSpace(t.lines[i])
		if _, what, ok := strings.Cut(s, "*** "); ok {
			// *** stack smashing detected ***: terminated
			// *** Error in `./x': double free or corruption (fasttop): 0x0123 ***
			if msg, ok := between(what, "Error in `", " ***"); ok {
				_, s, _ = strings.Cut(msg, "': ")
			} else if msg, _, ok := strings.Cut(what, " ***"); ok && strings.HasSuffix(msg, "detected") {
				kind := strings.TrimSuffix(msg, " detected")
				return corruption(t, i, kind)
			} else if msg, ok := strings.CutPrefix(what, "error for object "); ok { // macOS
				_, s, _ = strings.Cut(msg, ": ")
			}
		}
		if kind := heapComplaint(s); kind != "" {
			return corruption(t, i, kind)
		}
	}
	return report{}, false
}

func corruption(t text, i int, kind string) (report, bool) {
	frames, place := nativeStack(t, i)
	return report{class: ClassMemoryCorruption, kind: kind, frames: frames, place: place}, true
}

func heapComplaint(s string) string {
	for _, p := range [...]string{"free(): ", "malloc(): ", "realloc(): ", "malloc_consolidate(): ", "munmap_chunk(): ", "mremap_chunk(): ",
		"calloc(): ", "memalign: ", "double free or corruption", "corrupted size vs. prev_size", "corrupted double-linked list",
		"invalid fastbin entry", "pointer being freed was not allocated", "incorrect checksum for freed object", "break adjusted to free malloc space",
		"chunk_main_arena", "tcache_thread_shutdown(): "} {
		if strings.HasPrefix(s, p) {
			s, _, _ = strings.Cut(s, ": 0x")
			return clip(s, 80)
		}
	}
	return ""
}

// readAssert reads a failed assertion of C and C++ in the forms of glibc, musl,
// macOS, GLib and the logging libraries.
func readAssert(t text) (report, bool) {
	for i := len(t.lines) - 1; i >= 0; i-- {
		s := t.lines[i]
		var expr, function, file string
		switch {
		case strings.Contains(s, ": Assertion `"): // prog: file:line: func: Assertion `expr' failed.
			head, rest, _ := strings.Cut(s, ": Assertion `")
			j := strings.LastIndex(rest, "' failed")
			if j < 0 {
				continue
			}
			expr = rest[:j]
			_, function, _ = cutLast(head, ": ")
			if k := strings.Index(head, ": "); k > 0 {
				file, _, _ = strings.Cut(head[k+2:], ":")
			}
		case strings.HasPrefix(s, "Assertion failed: "):
			s = s[len("Assertion failed: "):]
			if e, rest, ok := strings.Cut(s, ", function "); ok { // (expr), function f, file x.c, line 12.
				expr = strings.TrimSuffix(strings.TrimPrefix(e, "("), ")")
				function, rest, _ = strings.Cut(rest, ", ")
				file, _ = between(rest, "file ", ",")
			} else if e, rest, ok := cutLast(s, " ("); ok && strings.Count(rest, ": ") == 2 { // expr (file: func: line)
				expr = e
				parts := strings.Split(rest, ": ")
				file, function = parts[0], parts[1]
			} else { // expr, file x.c, line 12
				expr, rest, _ = strings.Cut(s, ", file ")
				file, _, _ = strings.Cut(rest, ",")
			}
		case strings.Contains(s, ": assertion failed: ("): // ERROR:x.c:12:func: assertion failed: (expr)
			head, rest, _ := strings.Cut(s, ": assertion failed: (")
			expr = strings.TrimSuffix(strings.TrimSpace(rest), ")")
			if parts := strings.Split(head, ":"); len(parts) >= 4 {
				file, function = parts[len(parts)-3], parts[len(parts)-1]
			}
		case strings.Contains(s, "] Check failed: "): // F0101 12:00:00.0 123 x.cc:12] Check failed: expr
			head, rest, _ := strings.Cut(s, "] Check failed: ")
			expr, _, _ = strings.Cut(rest, " (") // the values compared follow
			if k := strings.LastIndexAny(head, " :/("); k >= 0 {
				head = head[:k]
				file = head[strings.LastIndexAny(head, " /:")+1:]
			}
		default:
			continue
		}
		r := report{class: ClassAssert, kind: "assertion failed: " + clip(strings.Join(strings.Fields(expr), " "), 80)}
		if r.frames, r.place = nativeStack(t, i); len(r.frames) == 0 {
			if function != "" {
				r.frames = []string{FunctionName(function)}
			} else if file != "" {
				r.frames = []string{base(file)}
			}
		}
		return r, true
	}
	return report{}, false
}

// readTerminate reads the end of a C++ program by an uncaught exception, in the
// words of libstdc++ and libc++.
func readTerminate(t text) (report, bool) {
	for i := len(t.lines) - 1; i >= 0; i-- {
		s := t.lines[i]
		r := report{class: ClassException}
		switch {
		case strings.HasPrefix(s, "terminate called after throwing an instance of "):
			r.kind = strings.Trim(s[len("terminate called after throwing an instance of "):], "'")
			if what, ok := strings.CutPrefix(strings.TrimSpace(t.line(i+1)), "what():"); ok {
				r.message = strings.TrimSpace(what)
			}
		case strings.Contains(s, "uncaught exception of type "):
			_, rest, _ := strings.Cut(s, "uncaught exception of type ")
			r.kind, r.message, _ = strings.Cut(rest, ": ")
		case strings.HasPrefix(s, "terminate called without an active exception"), strings.HasPrefix(s, "terminate called recursively"),
			strings.HasPrefix(s, "pure virtual method called"):
			if r.kind = s; strings.HasPrefix(t.line(i-1), "pure virtual method called") { // which ends by terminate
				r.kind = t.lines[i-1]
			}
		default:
			continue
		}
		if strings.Contains(r.kind, "bad_alloc") || strings.Contains(r.kind, "bad_array_new_length") {
			r.class, r.volatile = ClassMemoryLimit, true
		}
		r.kind = clip(strings.ReplaceAll(r.kind, "__cxx11::", ""), 100)
		r.frames, r.place = nativeStack(t, i)
		return r, true
	}
	return report{}, false
}

// readOutOfMemory reads further ways to report that memory, processes or threads
// were refused.
func readOutOfMemory(t text) (report, bool) {
	for i := len(t.lines) - 1; i >= 0 && i >= len(t.lines)-64; i-- {
		s := t.lines[i]
		switch {
		case strings.Contains(s, "JavaScript heap out of memory"):
			return report{class: ClassMemoryLimit, kind: "JavaScript heap out of memory", volatile: true}, true
		case strings.Contains(s, "insufficient memory for the Java Runtime"):
			return report{class: ClassMemoryLimit, kind: "Java out of memory", volatile: true}, true
		case strings.HasSuffix(s, ": memory exhausted"), strings.HasPrefix(s, "Out of memory"), strings.HasSuffix(s, ": Cannot allocate memory"),
			strings.HasSuffix(s, ": out of memory"):
			return report{class: ClassMemoryLimit, kind: "out of memory", volatile: true}, true
		case strings.Contains(s, "fork") && strings.HasSuffix(s, "Resource temporarily unavailable"),
			strings.Contains(s, "pthread_create") && strings.HasSuffix(s, "Resource temporarily unavailable"):
			return report{class: ClassProcessLimit, kind: "no more processes", volatile: true}, true
		}
	}
	return report{}, false
}

// readDebugger reads what gdb prints when the program that it runs is stopped.
func readDebugger(t text) (report, bool) {
	const mark = " received signal "
	i := t.index(0, mark)
	if i < 0 || !strings.HasPrefix(t.lines[i], "Program") && !strings.HasPrefix(t.lines[i], "Thread ") {
		return report{}, false
	}
	_, rest, _ := strings.Cut(t.lines[i], mark)
	name := rest[:spanTo(rest, ", ")]
	frames, place := nativeStack(t, i)
	return report{class: ClassSignal, kind: name, frames: frames, place: place}, name != ""
}

// looseStack finds a native stack without any words that say what it is, such as
// one printed by a program's own crash handler.
func looseStack(t text) (frames []string, place string) {
	for i, line := range t.lines {
		if frameNumber(line) == "0" {
			if frames, place = nativeStack(t, i); len(frames) > 0 {
				return frames, place
			}
		}
	}
	return nil, ""
}
