package crash

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds a masked message in runes.
const maxMessage = 200

// Mask replaces what changes between two failures of one cause by stable tokens.
// It reads the text once from left to right; at each place it applies the first
// rule that fits:
//
//  1. white space runs become one space; control characters and bytes that are
//     not UTF-8 become <raw>, one for a run.
//  2. Text in quotes ('…', "…", `…`, `…', ‘…’, “…”) becomes <str>: messages quote
//     the input. A quote opens only at the start of a word and reaches to the
//     end of the line if nothing closes it.
//  3. scheme://… becomes <url>.
//  4. An absolute path (/a/b, ~/a, C:\a) becomes <path>; relative paths stay.
//  5. A file name made by mktemp (tmp.Xy12Zw, tmpab3k_9xq) becomes <tmp>.
//  6. A UUID becomes <uuid>.
//  7. Dates and times of day (2026-01-31T12:00:00.5Z, 2026/01/31, 12:00:00,
//     Jan 31 12:00:00) become <time>.
//  8. Numbers become <n>: decimal with sign, fraction and exponent, 0x…, and
//     words of hexadecimal digits with at least one digit. This covers
//     addresses, process ids, sizes, lines and columns; digits within names too.
//  9. Repeated equal tokens become one.
//
// The result is at most 200 characters long.
func Mask(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine]
	}
	m := masker{s: s}
	m.out.Grow(min(len(s), 256))
	for m.i < len(s) && m.out.Len() < 4*maxMessage {
		m.step()
	}
	return clip(strings.TrimRight(m.out.String(), " "), maxMessage)
}

type masker struct {
	s    string
	i    int
	out  strings.Builder
	last string // the token written last, if only separators followed
	sep  string // these separators
	// plain means that people read the result: see [asRead].
	plain bool
}

// token writes a token, unless it repeats the one before.
func (m *masker) token(tok string, n int) {
	if m.plain {
		m.out.WriteString(asRead(tok, m.s[m.i:m.i+n], m.s[:m.i]))
		m.i += n
		return
	}
	m.i += n
	if m.last == tok {
		m.sep = ""
		return
	}
	m.flush()
	m.out.WriteString(tok)
	m.last = tok
}

func (m *masker) flush() {
	m.out.WriteString(m.sep)
	m.sep, m.last = "", ""
}

// literal keeps n bytes.
func (m *masker) literal(n int) {
	part := m.s[m.i : m.i+n]
	m.i += n
	if m.last != "" && (part == " " || part == ",") && len(m.sep) < 4 {
		m.sep += part
		return
	}
	m.flush()
	m.out.WriteString(part)
}

func (m *masker) step() {
	s, rest := m.s, m.s[m.i:]
	c := rest[0]
	atWord := m.i == 0 || !isWord(s[m.i-1])
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		n := 1
		for n < len(rest) && (rest[n] == ' ' || rest[n] >= '\t' && rest[n] <= '\r') {
			n++
		}
		if m.i+n == len(s) {
			m.i += n
			return
		}
		if m.out.Len() == 0 {
			m.i += n
			return
		}
		m.i += n - 1
		if m.last != "" && len(m.sep) < 4 {
			m.sep += " "
		} else {
			m.flush()
			m.out.WriteByte(' ')
		}
		m.i++
		return
	case c < 0x20 || c == 0x7f:
		m.token("<raw>", rawLen(rest))
		return
	case c >= 0x80:
		r, w := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			m.token("<raw>", rawLen(rest))
			return
		}
		if (r == '‘' || r == '“') && atWord {
			if n := quoteLen(rest, w, map[rune]string{'‘': "’", '“': "”"}[r]); n > 0 {
				m.token("<str>", n)
				return
			}
		}
		m.literal(w)
		return
	case (c == '\'' || c == '"' || c == '`') && atWord:
		if n := asciiQuoteLen(rest); n > 0 {
			m.token("<str>", n)
			return
		}
	case isWord(c) && atWord:
		if tok, n := maskWord(rest); n > 0 {
			m.token(tok, n)
			return
		}
	case c == '/' || c == '~':
		if pathStart(s, m.i) {
			if n := pathLen(rest); n > 1 {
				m.token("<path>", n)
				return
			}
		}
	case c == '-' || c == '+':
		if len(rest) > 1 && isDigit(rest[1]) && (m.i == 0 || strings.IndexByte(" ([{=,:<>", s[m.i-1]) >= 0) {
			m.token("<n>", 1+numberLen(rest[1:]))
			return
		}
	}
	if isDigit(c) {
		m.token("<n>", numberLen(rest))
		return
	}
	m.literal(1)
}

// maskWord masks at the start of a word; 0 means that no rule fits.
func maskWord(s string) (string, int) {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	switch {
	case strings.HasPrefix(s[n:], "://"):
		return "<url>", n + 3 + spanTo(s[n+3:], " \t\"'`<>")
	case n == 1 && len(s) > 2 && s[1] == ':' && s[2] == '\\' && isLetter(s[0]):
		return "<path>", 3 + spanTo(s[3:], " \t\"'`<>|:")
	case strings.HasPrefix(s, "tmp") && n == 3 && strings.HasPrefix(s[3:], "."):
		k := 4
		for k < len(s) && isWord(s[k]) {
			k++
		}
		if k-4 >= 6 && k-4 <= 12 {
			return "<tmp>", k
		}
	case strings.HasPrefix(s, "tmp") && n == 11 && strings.ContainsAny(s[3:n], "0123456789_"):
		return "<tmp>", n
	}
	if k := uuidLen(s); k > 0 {
		return "<uuid>", k
	}
	if k := timeLen(s); k > 0 {
		return "<time>", k
	}
	if isDigit(s[0]) {
		if k := numberLen(s); k >= n {
			return "<n>", k
		}
	}
	digits := 0
	for i := range n {
		if !isHex(s[i]) {
			return "", 0
		}
		if isDigit(s[i]) {
			digits++
		}
	}
	if n >= 2 && digits > 0 {
		return "<n>", n
	}
	return "", 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// numberLen returns the length of the number at the start of s, which begins with
// a digit.
func numberLen(s string) int {
	n := 0
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && isHex(s[2]) {
		for n = 2; n < len(s) && isHex(s[n]); {
			n++
		}
		return n
	}
	digits := func() {
		for n < len(s) && isDigit(s[n]) {
			n++
		}
	}
	digits()
	for n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) { // fractions and versions
		n++
		digits()
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		k := n + 1
		if k < len(s) && (s[k] == '-' || s[k] == '+') {
			k++
		}
		if k < len(s) && isDigit(s[k]) {
			n = k
			digits()
		}
	}
	return n
}

// uuidLen recognizes 8-4-4-4-12 hexadecimal digits.
func uuidLen(s string) int {
	if len(s) < 36 {
		return 0
	}
	for i := range 36 {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return 0
		}
	}
	return 36
}

// pathStart reports whether a slash or tilde at i may begin an absolute path.
func pathStart(s string, i int) bool {
	if i > 0 && strings.IndexByte(" \t([{=,:;|'\"`", s[i-1]) < 0 {
		return false
	}
	return s[i] == '/' || strings.HasPrefix(s[i:], "~/")
}

func pathLen(s string) int {
	n := spanTo(s, " \t\r\n\"'`<>|:,;()[]{}")
	for n > 1 && s[n-1] == '.' { // the end of a sentence
		n--
	}
	if strings.Trim(s[:n], "/") == "" { // an operator, as in 7 // 2
		return 0
	}
	return n
}

// asciiQuoteLen returns the length of the quoted text at the start of s.
func asciiQuoteLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] == ' ' { // a quote only if something closes it: KeyError: ' '
		if n := quoteLen(s, 1, s[:1]); s[n-1] == s[0] && n > 1 {
			return n
		}
		return 0
	}
	if s[0] == '`' {
		// GNU messages open with a backtick and close with an apostrophe.
		if i := strings.IndexAny(s[1:], "`'\n"); i >= 0 && s[1+i] == '\'' {
			return i + 2
		}
	}
	return quoteLen(s, 1, s[:1])
}

// quoteLen finds the closing quote in s after its first n bytes. An apostrophe
// within a word does not close. Without a closing quote, the quoted text is the
// whole line, since the quoted input may have broken it.
func quoteLen(s string, n int, closing string) int {
	for i := n; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i
		case s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n':
			i++
		case strings.HasPrefix(s[i:], closing):
			end := i + len(closing)
			if closing == "'" && end < len(s) && isWord(s[end]) {
				continue
			}
			return end
		}
	}
	return len(s)
}

// rawLen returns the length of the run of unprintable bytes at the start of s.
func rawLen(s string) int {
	n := 0
	for n < len(s) {
		r, w := utf8.DecodeRuneInString(s[n:])
		if r >= 0x20 && r != 0x7f && r != utf8.RuneError && unicode.IsGraphic(r) || r >= '\t' && r <= '\r' {
			break
		}
		n += w
	}
	return n
}

// spanTo returns the length of s up to the first of the stop bytes.
func spanTo(s, stops string) int {
	if i := strings.IndexAny(s, stops); i >= 0 {
		return i
	}
	return len(s)
}
