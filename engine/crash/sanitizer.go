package crash

import "strings"

// readSanitizer reads the reports of AddressSanitizer and its relatives and of
// libFuzzer:
//
//	==123==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x… at pc …
//	WARNING: ThreadSanitizer: data race (pid=123)
//	SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:9 in parse
//
// The first report counts: later ones are often its consequence.
func readSanitizer(t text) (report, bool) {
	for i, line := range t.lines {
		tool, what, ok := sanitizerHeader(line)
		if !ok {
			continue
		}
		r := report{class: ClassSanitizer, kind: sanitizerKind(what)}
		r.frames, r.place = nativeStack(t, i+1)
		r.access, r.what = access(t, i)
		describeSanitizer(t, i, tool, &r)
		if f := dedupToken(t, i); len(f) > 0 && r.kind != "stack-overflow" {
			r.frames, r.place = f, ""
		}
		if len(r.frames) == 0 {
			r.frames, r.place = summaryFrame(t, i)
		}
		if r.kind == "stack-overflow" || tool == "ThreadSanitizer" { // it is random where in a cycle, or in which thread
			r.place = ""
		}
		if r.access != "" {
			r.what = r.kind + " " + r.what
		}
		return r, true
	}
	// The head of the report is lost, but the summary names it.
	if i := t.lastPrefix("SUMMARY: "); i >= 0 {
		rest := t.lines[i][len("SUMMARY: "):]
		if tool, what, ok := strings.Cut(rest, ": "); ok && isSanitizer(tool) && tool != "UndefinedBehaviorSanitizer" {
			kind, _, _ := strings.Cut(what, " ")
			r := report{class: ClassSanitizer, kind: kind}
			r.frames, r.place = summaryFrame(t, i)
			return r, true
		}
	}
	return report{}, false
}

// isSanitizer reports whether a tool is one of the compilers' sanitizers, and not one
// that cleans the input of a program.
func isSanitizer(tool string) bool {
	switch strings.TrimSuffix(tool, "Sanitizer") {
	case "Address", "HWAddress", "MemTag", "Memory", "Thread", "Leak", "UndefinedBehavior", "DataFlow", "Realtime", "Type", "NumericalStability":
		return strings.HasSuffix(tool, "Sanitizer")
	}
	return false
}

func sanitizerHeader(line string) (tool, what string, ok bool) {
	s := strings.TrimLeft(line, " ")
	if strings.HasPrefix(s, "==") {
		n := 2
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		if !strings.HasPrefix(s[n:], "==") {
			return "", "", false
		}
		s = strings.TrimLeft(s[n+2:], " ")
	}
	s, ok = strings.CutPrefix(s, "ERROR: ")
	if !ok {
		if s, ok = strings.CutPrefix(s, "WARNING: "); !ok {
			return "", "", false
		}
	}
	tool, what, ok = strings.Cut(s, ": ")
	ok = ok && (isSanitizer(tool) || tool == "libFuzzer")
	// Warnings of AddressSanitizer itself ("failed to allocate") are no reports.
	if ok && strings.HasPrefix(what, "failed to ") {
		return "", "", false
	}
	return tool, what, ok
}

// sanitizerKind is the name of the fault in a report's first line.
func sanitizerKind(what string) string {
	switch {
	case strings.HasPrefix(what, "attempting double-free"):
		return "double-free"
	case strings.HasPrefix(what, "attempting free on address"):
		return "bad-free"
	case strings.HasPrefix(what, "requested allocation size"):
		return "allocation-size-too-big"
	case strings.HasPrefix(what, "allocator is out of memory"), strings.Contains(what, "out-of-memory"):
		return "out-of-memory"
	case strings.HasPrefix(what, "detected memory leaks"):
		return "memory leak"
	case strings.HasPrefix(what, "deadly signal"):
		return "deadly signal"
	}
	for _, end := range [...]string{" on ", " (", ": ", " in ", " at "} {
		if i := strings.Index(what, end); i > 0 {
			what = what[:i]
		}
	}
	return Mask(what)
}

// access reads the line that says how memory was accessed.
func access(t text, header int) (way, phrase string) {
	for i := header; i < len(t.lines) && i < header+4; i++ {
		line := strings.TrimLeft(t.lines[i], " ")
		for _, w := range [...]string{"READ", "WRITE"} {
			if rest, ok := strings.CutPrefix(strings.ToUpper(clipBytes(line, 40)), w+" OF SIZE "); ok {
				size := rest[:spanTo(rest, " ,")]
				switch size {
				case "1", "2", "4", "8", "16", "32", "64":
				default: // the length of a block copy often comes from the input
					size = "<n>"
				}
				return w, w + " of size " + size
			}
			if strings.Contains(line, "caused by a "+w+" memory access") {
				return w, w
			}
		}
	}
	return "", ""
}

func clipBytes(s string, n int) string { return s[:min(n, len(s))] }

// describeSanitizer sets the severity, and handles the cases that need more than
// the first line.
func describeSanitizer(t text, i int, tool string, r *report) {
	r.severity = SeverityHigh
	switch tool {
	case "LeakSanitizer":
		r.severity = SeverityLow
		return
	case "ThreadSanitizer":
		return
	}
	switch {
	case r.kind == "SEGV" || r.kind == "BUS":
		if j := t.index(i, "Hint: address points to the zero page"); j > 0 && j < i+4 {
			r.kind = "null-dereference"
		} else if r.access == "WRITE" {
			r.severity = SeverityCritical
		}
	case r.kind == "ABRT" || r.kind == "deadly signal":
		// The program stopped itself, and its own words say why.
		for _, f := range [...]reader{readAssert, readLibc, readTerminate} {
			if own, ok := f(text{t.lines[:i]}); ok {
				frames, place := r.frames, r.place
				*r = own
				if len(frames) > 0 {
					r.frames, r.place = frames, place
				}
				return
			}
		}
		if r.kind == "ABRT" {
			r.severity = SeverityMedium
		}
	case r.kind == "out-of-memory" || r.kind == "allocation-size-too-big":
		r.severity = SeverityMedium
		r.volatile = r.kind == "out-of-memory"
	case r.kind == "timeout":
		r.severity, r.volatile = SeverityMedium, true
	case r.access == "WRITE", strings.Contains(r.kind, "use-after"), strings.HasSuffix(r.kind, "-free"):
		r.severity = SeverityCritical
	}
}

// dedupToken reads the stack that a sanitizer with dedup_token_length prints as
// the identity of a report.
func dedupToken(t text, from int) []string {
	i := t.index(from, "DEDUP_TOKEN: ")
	if i < 0 {
		return nil
	}
	_, token, _ := strings.Cut(t.lines[i], "DEDUP_TOKEN: ")
	var all []string
	for f := range strings.SplitSeq(token, "--") {
		if f = strings.TrimSpace(f); f != "" && !strings.HasPrefix(f, "0x") {
			all = append(all, FunctionName(f))
		}
	}
	return ownFrames(all, Plumbing)
}

// summaryFrame reads the function at the end of the SUMMARY line, and its place.
func summaryFrame(t text, from int) (frames []string, place string) {
	i := t.index(from, "SUMMARY: ")
	if i < 0 {
		return nil, ""
	}
	if s, f, ok := cutLast(t.lines[i], " in "); ok && f != "" {
		s, _, _ = strings.Cut(s, " (BuildId: ")
		_, at, _ := cutLast(s, " ")
		if file, line, ok := sourcePlace(at); ok {
			place = file + ":" + line
		} else if m, ok := between(at, "(", ")"); ok && strings.Contains(m, "+0x") && !SystemModule(base(m)) {
			place = base(m)
		}
		return []string{FunctionName(f)}, place
	}
	if m, ok := between(t.lines[i], "(", ")"); ok && strings.Contains(m, "+0x") {
		return []string{base(m)}, ""
	}
	return nil, ""
}

// readUndefined reads a report of UndefinedBehaviorSanitizer:
//
//	a.c:22:54: runtime error: signed integer overflow: 40 + 2147483647 cannot be represented in type 'int'
func readUndefined(t text) (report, bool) {
	const mark = ": runtime error: "
	for i := t.index(0, mark); i >= 0; i = t.index(i+1, mark) {
		place, what, _ := strings.Cut(t.lines[i], mark)
		file, line, ok := sourcePlace(place)
		_, column, _ := strings.Cut(place, file+":"+line+":")
		kind := undefinedKind(what)
		if !ok || column == "" || kind == "" {
			continue // a Go panic contains "runtime error:" too, and so does what an interpreter says
		}
		r := report{class: ClassSanitizer, kind: "undefined: " + kind, severity: SeverityMedium}
		r.message = strings.TrimLeft(strings.TrimPrefix(what, kind), ": ")
		r.place = file + ":" + line
		if _, _, ok := nativeFrame(t.line(i + 1)); ok {
			r.frames, _ = nativeStack(t, i+1)
		}
		if len(r.frames) == 0 {
			r.frames = []string{r.place}
		}
		if strings.Contains(r.kind, "index") || strings.Contains(r.kind, "null pointer") || strings.Contains(r.kind, "insufficient space") {
			r.severity = SeverityHigh
		}
		return r, true
	}
	return report{}, false
}

// readMinimal reads a report of UndefinedBehaviorSanitizer's minimal runtime, which names no place:
//
//	ubsan: mul-overflow by 0x000055d3c6a1b2c3
func readMinimal(t text) (report, bool) {
	for _, line := range t.lines {
		what, ok := strings.CutPrefix(line, "ubsan: ")
		if !ok {
			continue
		}
		kind, _, _ := strings.Cut(strings.TrimRight(what, "\r "), " by 0x")
		severity := SeverityMedium
		switch kind {
		case "out-of-bounds", "local-out-of-bounds", "type-mismatch", "pointer-overflow", "function-type-mismatch", "cfi-check-fail":
			severity = SeverityHigh
		case "alignment-assumption", "add-overflow", "sub-overflow", "mul-overflow", "negate-overflow", "divrem-overflow", "shift-out-of-bounds",
			"builtin-unreachable", "missing-return", "vla-bound-not-positive", "float-cast-overflow", "load-invalid-value", "invalid-builtin",
			"invalid-objc-cast", "implicit-conversion", "nonnull-arg", "nonnull-return", "nullability-arg", "nullability-return":
		default:
			continue
		}
		return report{class: ClassSanitizer, kind: "undefined: " + kind, severity: severity}, true
	}
	return report{}, false
}

// sourcePlace splits file:line or file:line:column.
func sourcePlace(s string) (file, line string, ok bool) {
	file, line, ok = cutLast(s, ":")
	if !ok || !allDigits(line) {
		return "", "", false
	}
	if f, l, ok := cutLast(file, ":"); ok && allDigits(l) {
		file, line = f, l
	}
	file = base(file)
	if file == "" || strings.Contains(file, " ") {
		return "", "", false
	}
	return file, line, true
}

// undefinedKind names what a report is about; "" if the sanitizer reports no such thing.
func undefinedKind(what string) string {
	for _, k := range [...]string{"signed integer overflow", "unsigned integer overflow", "division by zero", "shift exponent", "left shift",
		"negation", "member access within null pointer", "member access within misaligned", "member access within address",
		"member call on null pointer", "load of null pointer", "store to null pointer", "reference binding to null pointer", "null pointer passed",
		"load of misaligned", "store to misaligned", "load of value", "applying non-zero offset", "applying zero offset", "addition of unsigned offset",
		"subtraction of unsigned offset", "pointer index expression", "execution reached an unreachable", "variable length array bound",
		"implicit conversion", "call to function", "downcast of", "upcast of", "cast to virtual base", "constructor call on", "member call on",
		"member access within", "load of address", "store to address", "reference binding to", "dynamic operation on", "execution reached the end",
		"null pointer returned from", "passing zero to", "assumption is violated", "assumption of", "alignment assumption", "division of",
		"control flow integrity check", "invalid Objective-C cast", "invocation of"} {
		if strings.HasPrefix(what, k) {
			return k
		}
	}
	switch {
	case strings.HasPrefix(what, "index ") && strings.Contains(what, "out of bounds"):
		return "index out of bounds"
	case strings.Contains(what, "insufficient space"):
		return "insufficient space for an object"
	case strings.Contains(what, "outside the range of representable values"):
		return "value outside the range of its type"
	case strings.Contains(what, " cannot be represented in type "), strings.Contains(what, ", which "):
		return stem(what)
	}
	return ""
}
