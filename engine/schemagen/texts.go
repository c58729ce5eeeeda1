package schemagen

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// long is a length of texts that nobody expects.
const long = 20_000

func texts(n map[string]any) (list []variant) {
	low, hasLow := number(n, "minLength")
	high, hasHigh := number(n, "maxLength")
	add := func(about, v string) {
		if length := float64(utf8.RuneCountInString(v)); !(hasLow && length < low || hasHigh && length > high) {
			list = append(list, variant{about, v})
		}
	}
	if f := formatOf(n); f != nil && len(f.valid) > 0 {
		for _, v := range f.valid {
			add(v, v)
		}
		return list
	}
	if pattern, ok := n["pattern"].(string); ok {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil // nobody can say which texts match
		}
		match := func(more int) string {
			var b strings.Builder
			matching(&b, re, more, 0)
			return b.String()
		}
		repeats := []int{0, 1, 2, int(min(low, long))}
		short, each := utf8.RuneCountInString(match(2)), utf8.RuneCountInString(match(3))-utf8.RuneCountInString(match(2))
		if most := min(high, 4000); each > 0 && hasHigh {
			repeats = append(repeats, 2+(int(most)-short)/each)
		} else if each > 0 {
			repeats = append(repeats, 64, 4000)
		}
		for _, more := range repeats {
			about := "matches"
			if more > 2 {
				about = "matches, long"
			}
			add(about, match(more))
		}
	}
	add("a", "a")
	add("word", "hello")
	if hasLow && low < long {
		add("minLength", strings.Repeat("a", int(low)))
	}
	if hasHigh && high < long {
		add("maxLength", strings.Repeat("a", int(high)))
		add("maxLength, 3 bytes each", strings.Repeat("\u20ac", int(high)))
	}
	add("empty", "")
	add("blank", " ")
	for _, v := range []string{"0", "1", "-1", "1.5", "null", "true", "NaN", "../../etc/passwd", "a/b", "%", "%00", "'", "\"", "\\", "<b>a</b>", "{}", "[", "a,b", "a\nb",
		"\u00e9\u0301", "\u00df", "\u0130", "\u202eabc", "\U0001F600", "2024-02-30", "a@b", "__proto__", "constructor"} {
		add(strconv.QuoteToASCII(v), v)
	}
	add("NUL", "a\x00b")
	add("64 characters", strings.Repeat("a", 64))
	add("300 characters", strings.Repeat("a", 300))
	add("5000 characters", strings.Repeat("a", 5000))
	add("long", strings.Repeat("a", long))
	add("long, ends otherwise", strings.Repeat("a", 5000)+"!")
	add("many brackets", strings.Repeat("[", 5000))
	return list
}

// matching writes a text that a regular expression matches, if that is simple;
// unbounded repetitions get more repetitions than necessary.
func matching(b *strings.Builder, re *syntax.Regexp, more, depth int) {
	if depth > 50 || b.Len() > 4096 {
		return
	}
	times := func(n int) {
		for range n {
			matching(b, re.Sub[0], more, depth+1)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			r := re.Rune[0]
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= 'a' && 'a' <= re.Rune[i+1] {
					r = 'a'
				}
			}
			b.WriteRune(r)
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture:
		times(1)
	case syntax.OpPlus:
		times(max(1, more))
	case syntax.OpStar:
		times(more)
	case syntax.OpRepeat:
		times(re.Min + min(more, max(re.Max, more)-re.Min))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			matching(b, sub, more, depth+1)
		}
	case syntax.OpAlternate:
		matching(b, re.Sub[0], more, depth+1)
	}
}
