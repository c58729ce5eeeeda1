package crash

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	// Reports are at the beginning of the output or at its end; what a verbose
	// program prints in between is ignored.
	windowHead = 128 << 10
	windowTail = 128 << 10
	maxLine    = 4096
	lineEnd    = 256 // kept from the end of a longer line: Ruby ends with the type of an exception
)

// text is output as lines, without colours and carriage returns.
type text struct{ lines []string }

func newText(b []byte) text {
	var t text
	if len(b) > windowHead+windowTail {
		head, tail := b[:windowHead], b[len(b)-windowTail:]
		if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
			head = head[:i]
		}
		if i := bytes.IndexByte(tail, '\n'); i >= 0 {
			tail = tail[i+1:]
		}
		t.add(head)
		t.lines = append(t.lines, "")
		t.add(tail)
		return t
	}
	t.add(b)
	return t
}

func (t *text) add(b []byte) {
	s := string(b)
	for len(s) > 0 {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		if len(line) > maxLine {
			line = line[:maxLine-lineEnd] + line[len(line)-lineEnd:]
		}
		t.lines = append(t.lines, stripEscapes(strings.TrimRight(line, "\r")))
	}
}

// stripEscapes removes terminal control sequences.
func stripEscapes(s string) string {
	i := strings.IndexByte(s, 0x1b)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, 0x1b) {
		b.WriteString(s[:i])
		s = s[i+1:]
		if !strings.HasPrefix(s, "[") {
			continue
		}
		j := 1
		for j < len(s) && (s[j] < 0x40 || s[j] > 0x7e) {
			j++
		}
		s = s[min(j+1, len(s)):]
	}
	b.WriteString(s)
	return b.String()
}

// index returns the first line from i on that contains sub, or -1.
func (t text) index(i int, sub string) int {
	for ; i < len(t.lines); i++ {
		if strings.Contains(t.lines[i], sub) {
			return i
		}
	}
	return -1
}

// lastPrefix returns the last line that begins with prefix, or -1.
func (t text) lastPrefix(prefix string) int {
	for i := len(t.lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(t.lines[i], prefix) {
			return i
		}
	}
	return -1
}

// line returns line i, or "" if there is none.
func (t text) line(i int) string {
	if i < 0 || i >= len(t.lines) {
		return ""
	}
	return t.lines[i]
}

// clip cuts s to at most n runes, including an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	i := 0
	for range n - 1 {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return strings.TrimRight(s[:i], " ") + "…"
}

// between returns what is in s after the first a and before the next b.
func between(s, a, b string) (string, bool) {
	_, s, ok := strings.Cut(s, a)
	if !ok {
		return "", false
	}
	s, _, ok = strings.Cut(s, b)
	return s, ok
}

// base returns the last element of a path with either kind of slash.
func base(p string) string {
	return p[strings.LastIndexAny(p, `/\`)+1:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// allDigits reports whether s consists of digits.
func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
