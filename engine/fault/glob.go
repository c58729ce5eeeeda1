package fault

import (
	"strings"
	"unicode/utf8"
)

// Glob reports whether a pattern of "*" (anything, including "/"), "?" (one
// character), "[abc]", "[a-z]" and "[!abc]" matches the whole of a text. These
// are the rules of Python's fnmatch, which users of the contract know: an
// unclosed "[" stands for itself.
func Glob(pattern, text string) bool {
	star, mark := -1, 0 // where to continue if what follows the last star fails
	p, t := 0, 0
	for t < len(text) {
		r, size := utf8.DecodeRuneInString(text[t:])
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, t
			p++
			continue
		}
		if n, ok := one(pattern[p:], r); ok {
			p += n
			t += size
			continue
		}
		if star < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(text[mark:])
		mark += size
		p, t = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Literal returns the pattern that matches only one text.
func Literal(text string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(text)
}

// one matches one character; n is how much of the pattern it used.
func one(pattern string, r rune) (n int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	c, size := utf8.DecodeRuneInString(pattern)
	switch c {
	case '?':
		return size, true
	case '[':
		if end := classEnd(pattern); end > 0 {
			return end + 1, inClass(pattern[1:end], r)
		}
	}
	return size, c == r
}

// classEnd returns the position of the "]" of a class, which is not the first
// character of the class.
func classEnd(pattern string) int {
	from := 1
	if strings.HasPrefix(pattern[from:], "!") {
		from++
	}
	if strings.HasPrefix(pattern[from:], "]") {
		from++
	}
	if i := strings.IndexByte(pattern[from:], ']'); i >= 0 {
		return from + i
	}
	return -1
}

func inClass(class string, r rune) bool {
	members, not := strings.CutPrefix(class, "!")
	in := false
	for runes := []rune(members); len(runes) > 0; {
		if len(runes) > 2 && runes[1] == '-' {
			in = in || runes[0] <= r && r <= runes[2]
			runes = runes[3:]
			continue
		}
		in = in || runes[0] == r
		runes = runes[1:]
	}
	return in != not
}
