package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/seq"
)

// piece is a run of text that a screen shows unchanged, or one escaped thing that would otherwise
// act on the screen or be invisible.
type piece struct {
	Text   string
	Hidden bool // Text is the escaped form
	Break  bool // a line may end after it
}

// pieces splits text into visible parts and escaped ones: control characters, escape sequences,
// characters without width or that change the direction of text, and bytes that are not UTF-8. If
// layout is true, it keeps line feeds and tabs.
func pieces(s string, layout bool) []piece {
	var out []piece
	from := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		esc := ""
		switch {
		case r == utf8.RuneError && n == 1:
			esc = fmt.Sprintf(`\x%02x`, s[i])
		case layout && (r == '\n' || r == '\t'):
		case unseen(r):
			esc = escape(r)
		}
		if esc != "" {
			if from < i {
				out = append(out, piece{Text: s[from:i]})
			}
			out = append(out, piece{Text: esc, Hidden: true})
			from = i + n
		}
		i += n
	}
	if from < len(s) {
		out = append(out, piece{Text: s[from:]})
	}
	return out
}

// unseen reports whether a rune acts on a screen or is invisible. Some characters of the format
// category, such as the Arabic end of ayah, are visible.
func unseen(r rune) bool {
	switch {
	case r < ' ' || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		r&0xfffe == 0xfffe // noncharacters
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// visible returns untrusted text on one line, safe for a screen.
func visible(s string) string { return join(pieces(s, false)) }

// inlineCap is how many bytes of a title, a label or a cell are shown.
const inlineCap = 2000

// brief returns untrusted text on one line, cut to a readable length.
func brief(s string) string {
	if len(s) <= inlineCap {
		return visible(s)
	}
	return visible(head(s, inlineCap)) + "…"
}

// visibleLines returns untrusted text as lines, safe for a screen. Tabs become spaces, so that the
// width of a line is known.
func visibleLines(s string) []string {
	lines := strings.Split(join(pieces(s, true)), "\n")
	for i, l := range lines {
		lines[i] = expandTabs(l)
	}
	if n := len(lines); n > 1 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}

func join(ps []piece) string {
	if len(ps) == 1 {
		return ps[0].Text
	}
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.Text)
	}
	return b.String()
}

func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	col := 0
	for _, r := range s {
		if r == '\t' {
			n := 8 - col%8
			b.WriteString(strings.Repeat(" ", n))
			col += n
			continue
		}
		b.WriteRune(r)
		col += runeWidth(r)
	}
	return b.String()
}

// head returns the longest prefix of s with at most n bytes that does not split a character.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Shell returns argv as a line for a POSIX shell.
func Shell(argv []string) string { return shellQuote(argv) }

// shellQuote returns argv as a line for a POSIX shell. It writes invisible characters as $'…', so
// that the line shows what it runs.
func shellQuote(argv []string) string {
	return strings.Join(seq.Map(argv, shellWord), " ")
}

const shellSafe = "%+,-./:=@_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func shellWord(a string) string {
	switch {
	case a == "":
		return "''"
	case strings.Trim(a, shellSafe) == "":
		return a
	}
	for _, p := range pieces(a, false) {
		if p.Hidden {
			return ansiQuote(a)
		}
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// ansiQuote escapes invisible characters byte by byte, because some shells with $'…' lack \u. Each
// byte has three octal digits, so that a digit after it does not become part of it.
func ansiQuote(a string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(a); {
		r, n := utf8.DecodeRuneInString(a[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteString(escape(r))
		case r == utf8.RuneError && n == 1, unseen(r):
			for _, c := range []byte(a[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteRune(r)
		}
		i += n
	}
	b.WriteString("'")
	return b.String()
}
