package crash

import "strings"

// stem returns the constant beginning of a message: what precedes the first
// masked token, at most six words. For a message without such a beginning it
// returns "message".
func stem(s string) string {
	s = Mask(s)
	if i := strings.IndexByte(s, '<'); i >= 0 && isToken(s[i:]) {
		s = s[:i]
	}
	n := 0
	for i := range len(s) {
		if s[i] == ' ' {
			if n++; n == 6 {
				s = s[:i]
				break
			}
		}
	}
	if s = strings.TrimRight(s, " :,;.([{=-`'\""); s == "" {
		return "message"
	}
	return s
}

func isToken(s string) bool {
	for _, t := range [...]string{"<n>", "<str>", "<path>", "<raw>", "<time>", "<url>", "<uuid>", "<tmp>"} {
		if strings.HasPrefix(s, t) {
			return true
		}
	}
	return false
}

// lastWords returns the line that says why a program failed: the last line with
// a word for failure, or else the last line. It skips usage texts, hints and
// what a shell prints about a dead child.
func lastWords(t text) string {
	last, failure, usage := "", "", ""
	from := max(0, len(t.lines)-64)
	inUsage := false
	for _, line := range t.lines[from:] {
		s := strings.TrimSpace(line)
		if !hasLetter(s) {
			inUsage = inUsage && s != ""
			continue
		}
		lower := strings.ToLower(s)
		if strings.HasPrefix(lower, "usage:") {
			inUsage, usage = true, s
			continue
		}
		fails := saysFailure(lower)
		if inUsage {
			if line[0] == ' ' || line[0] == '\t' || !fails {
				continue
			}
			inUsage = false
		}
		if isHint(s, lower) {
			continue
		}
		last = s
		if fails {
			failure = s
		}
	}
	switch {
	case failure != "":
		return failure
	case last != "":
		return last
	}
	return usage
}

func hasLetter(s string) bool {
	for i := range len(s) {
		if isWord(s[i]) && !isDigit(s[i]) && s[i] != '_' {
			return true
		}
	}
	return false
}

func saysFailure(lower string) bool {
	for _, w := range [...]string{"error", "fatal", "fail", "invalid", "illegal", "cannot", "can't", "could not", "unable", "unexpected", "unknown",
		"unrecogni", "unsupported", "missing", "not found", "no such", "denied", "exception", "abort", "corrupt", "bad ", "malformed", "panic",
		"expected", "out of range", "overflow", "exceed", "truncated", "refus", "unterminated", "not supported"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// isHint recognizes lines that name no cause.
func isHint(s, lower string) bool {
	switch {
	case strings.HasPrefix(lower, "try '"), strings.HasPrefix(lower, "try `"), strings.HasPrefix(lower, "note: "), strings.HasPrefix(lower, "hint: "),
		strings.HasPrefix(lower, "see '"), strings.HasPrefix(lower, "for more information"), strings.HasPrefix(s, "Node.js v"),
		strings.HasPrefix(lower, "run with "), strings.HasPrefix(lower, "exit status "):
		return true
	}
	s = strings.TrimSuffix(s, " (core dumped)")
	for _, w := range [...]string{"Segmentation fault", "Aborted", "Bus error", "Illegal instruction", "Floating point exception", "Killed", "Terminated", "Trace/breakpoint trap"} {
		if s == w || strings.Contains(s, ": line ") && strings.Contains(s, " "+w+" ") {
			return true
		}
	}
	return false
}
