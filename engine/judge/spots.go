package judge

import (
	"regexp"
	"strconv"
	"strings"
)

const patternWords = "the pattern "

// Spots returns the places of a reply that a reason is about, as ranges of bytes: what
// the reason quotes, in any case, and what its patterns match.
func Spots(reason, reply string) (list [][2]int) {
	eachQuoted(reason, func(before, quoted string) {
		text, err := strconv.Unquote(quoted)
		if err != nil || text == "" {
			return
		}
		if !strings.HasSuffix(before, patternWords) {
			text = regexp.QuoteMeta(text)
		}
		// A pattern that Go cannot compile marks nothing.
		if p, err := regexp.Compile("(?i)" + text); err == nil {
			if at := p.FindStringIndex(reply); at != nil && at[0] < at[1] {
				list = append(list, [2]int{at[0], at[1]})
			}
		}
	})
	return list
}

// Readable returns a reason with its patterns as their authors wrote them, since
// quoting doubles each backslash.
func Readable(reason string) string {
	var b strings.Builder
	rest, pattern := reason, false
	eachQuoted(reason, func(before, quoted string) {
		pattern = strings.HasSuffix(before, patternWords) || strings.HasSuffix(before, "none of ") || pattern && strings.HasSuffix(before, `", `)
		at := strings.Index(rest, quoted)
		b.WriteString(rest[:at])
		rest = rest[at+len(quoted):]
		if text, err := strconv.Unquote(quoted); err == nil && pattern && strconv.Quote(text) == `"`+strings.ReplaceAll(text, `\`, `\\`)+`"` {
			quoted = `"` + text + `"`
		}
		b.WriteString(quoted)
	})
	return b.String() + rest
}

// eachQuoted yields each quoted part of a text, with the text before it.
func eachQuoted(text string, yield func(before, quoted string)) {
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '"')
		if i < 0 {
			return
		}
		at += i
		q, err := strconv.QuotedPrefix(text[at:])
		if err != nil {
			return
		}
		yield(text[:at], q)
		at += len(q)
	}
}
