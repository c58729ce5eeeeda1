package textop

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize is what happens to a text when it comes in (OC-6.2): CRLF and CR
// become LF, tabs stay, blanks at the ends of lines stay unless the constraint
// trim_trailing asks otherwise, and bytes that are not UTF-8 become U+FFFD.
func Normalize(text string, c Constraints) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	if c.TrimTrailing {
		text = trimTrailing(text)
	}
	return text
}

// trimTrailing removes blanks before every newline and at the end.
func trimTrailing(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, hasNewline := strings.CutSuffix(line, "\n")
		b.WriteString(strings.TrimRightFunc(body, unicode.IsSpace))
		if hasNewline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
