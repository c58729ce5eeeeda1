package match

import (
	"slices"
	"strings"
)

// construct is a construct outside the portable profile.
type construct struct {
	reason string
	found  func(pattern string) bool
}

// nonPortable returns the constructs in the order in which the profile looks for
// them. It looks at text, not at meaning: [+*]+ is found, {2,3}+ is not.
func nonPortable() []construct {
	has := func(any ...string) func(string) bool {
		return func(pattern string) bool {
			return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(pattern, s) })
		}
	}
	return []construct{
		{"lookbehind", has("(?<=", "(?<!")},
		{"named capture group", hasNamedGroup},
		{"named backreference", has(`\k<`)},
		{"conditional group", has("(?(")},
		{"inline flags", hasInlineFlags},
		{"atomic group", has("(?>")},
		{"possessive quantifier", hasPossessive},
	}
}

// NonPortable returns the first construct of the pattern's text outside Spec-Test's
// portable profile, in the words of the profile ("lookbehind", "named capture
// group", ...), or "". It scans the text, and so also works for patterns that do
// not compile.
func NonPortable(pattern string) string {
	for _, c := range nonPortable() {
		if c.found(pattern) {
			return c.reason
		}
	}
	return ""
}

// AlwaysTrue reports whether Spec-Test's assertion health calls the pattern
// trivially true: .*, ^.*$ and \A.*\Z.
func AlwaysTrue(pattern string) bool {
	return pattern == ".*" || pattern == "^.*$" || pattern == `\A.*\Z`
}

// after calls f with the text after each (? of the pattern until f returns true.
func after(pattern string, f func(rest string) bool) bool {
	for {
		i := strings.Index(pattern, "(?")
		if i < 0 {
			return false
		}
		pattern = pattern[i+2:]
		if f(pattern) {
			return true
		}
	}
}

// hasNamedGroup looks for (?P< and (?<identifier>.
func hasNamedGroup(pattern string) bool {
	return after(pattern, func(rest string) bool {
		if strings.HasPrefix(rest, "P<") {
			return true
		}
		name, ok := strings.CutPrefix(rest, "<")
		if !ok {
			return false
		}
		end := strings.IndexFunc(name, func(r rune) bool { return !asciiWordSet.has(r) })
		return end > 0 && name[end] == '>' && !isDigit(name[0])
	})
}

// isDigit reports whether c is a decimal digit, with which no identifier begins.
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// hasInlineFlags looks for (?, letters of flags or hyphens, and then : or ).
func hasInlineFlags(pattern string) bool {
	return after(pattern, func(rest string) bool {
		tail := strings.TrimLeft(rest, "aiLmsux-")
		return len(tail) < len(rest) && (strings.HasPrefix(tail, ":") || strings.HasPrefix(tail, ")"))
	})
}

// hasPossessive looks for a plus after +, * or ? that is not escaped.
func hasPossessive(pattern string) bool {
	slashes := 0
	for i := range len(pattern) {
		c := pattern[i]
		if (c == '+' || c == '*' || c == '?') && slashes%2 == 0 && strings.HasPrefix(pattern[i+1:], "+") {
			return true
		}
		if c == '\\' {
			slashes++
		} else {
			slashes = 0
		}
	}
	return false
}
