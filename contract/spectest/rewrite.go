package spectest

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// rewrite returns the range and the new text of a scalar; the range is empty if the scalar is not
// one plain or quoted text or the lines of a literal block.
func (d *document) rewrite(n *doctree.Node, v speclang.Value) (from, to int, text string) {
	if from, to, text = d.written(n, v); bytes.Contains(d.text[from:to], []byte("${")) { // keep a variable
		return 0, 0, ""
	}
	return from, to, text
}

func (d *document) written(n *doctree.Node, v speclang.Value) (from, to int, text string) {
	if n.Pos.Line < 1 || n.Pos.Line > d.lines.count {
		return 0, 0, ""
	}
	from = d.lines.start(d.text, n.Pos.Line) + n.Pos.Col - 1
	rest := d.text[min(from, len(d.text)):]
	text = v.JSON()
	s, isText := v.Str()
	switch {
	case len(rest) == 0:
		return 0, 0, ""
	case rest[0] == '"':
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\\' {
				i++
			} else if rest[i] == '"' {
				return from, from + i + 1, text
			}
		}
	case rest[0] == '\'':
		if isText && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			text = "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\'' && i+1 < len(rest) && rest[i+1] == '\'' {
				i++
			} else if rest[i] == '\'' {
				return from, from + i + 1, text
			}
		}
	case rest[0] == '|' && isText:
		return d.rewriteBlock(from, s)
	case n.Raw() != "" && strings.IndexByte("&*!|>", rest[0]) < 0 && bytes.HasPrefix(rest, []byte(n.Raw())):
		return from, from + len(n.Raw()), text
	}
	return 0, 0, ""
}

// rewriteBlock returns the range and the new lines of a literal block whose indicator is at an
// offset. The text must fit the indicator: it ends in a line feed unless the indicator strips it.
func (d *document) rewriteBlock(mark int, s string) (from, to int, text string) {
	from = lineEnd(d.text, mark)
	head := string(bytes.TrimSpace(d.text[mark:from]))
	body, fed := strings.CutSuffix(s, "\n")
	if head != "|" && head != "|-" || fed != (head == "|") || body == "" || strings.HasSuffix(body, "\n") || strings.ContainsRune("\n\t ", rune(body[0])) ||
		strings.ContainsFunc(body, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffd }) {
		return 0, 0, ""
	}
	first := line(d.text, from)
	indent := first[:len(first)-len(bytes.TrimLeft(first, " "))]
	if len(indent) == 0 {
		return 0, 0, ""
	}
	to = from
	for at := from; at < len(d.text); at = lineEnd(d.text, at) {
		l := line(d.text, at)
		if len(bytes.TrimSpace(l)) > 0 {
			if !bytes.HasPrefix(l, indent) {
				break
			}
			to = at + len(l)
		}
	}
	feed := "\n"
	if bytes.HasSuffix(d.text[:from], []byte("\r\n")) {
		feed = "\r\n"
	}
	var b strings.Builder
	for i, l := range strings.Split(body, "\n") {
		if i > 0 {
			b.WriteString(feed)
		}
		if l != "" {
			b.WriteString(string(indent) + l)
		}
	}
	return from, to, b.String()
}

// likeliest is the part of a text that should replace the expected want, "" if none is similar. If
// want has several lines, it is as many lines, starting with the one most similar to the first;
// otherwise it is as many words.
func likeliest(want, text string) string {
	body := strings.TrimSuffix(want, "\n")
	lines := strings.Split(text, "\n")
	if !strings.Contains(body, "\n") {
		return strings.TrimSpace(likeliestWords(body, lines))
	}
	count := strings.Count(body, "\n") + 1
	no := bestMatch(strings.Split(body, "\n"), lines)
	if no == 0 {
		no, _ = nearest(body, text)
	}
	if no == 0 || no-1+count > len(lines) {
		return ""
	}
	have := strings.Join(lines[no-1:no-1+count], "\n") + want[len(body):]
	if have == want || !strings.Contains(text, have) {
		return ""
	}
	return have
}

// digits is the pattern that replaces digits.
var digits = lazy.Pattern(`[0-9]+`)

// likeliestPattern is a pattern for the part of a text that is most similar to a match of want, ""
// if none is. It keeps want's form for digits and line ends.
func likeliestPattern(want, text string) string {
	alike := func(s string) string { // byte for byte, so that offsets stay valid
		return strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return '0'
			}
			return r
		}, s)
	}
	example, blurred := want, alike(text)
	if p, err := syntax.Parse(want, syntax.Perl); err == nil {
		example = alike(exampleOf(p))
	}
	part := likeliest(example, blurred)
	if part == "" {
		return ""
	}
	at := strings.Index(blurred, part)
	have := regexp.QuoteMeta(text[at : at+len(part)])
	for _, form := range []string{`\d`, `[0-9]`} {
		if strings.Contains(want, form) {
			have = digits().ReplaceAllLiteralString(have, form+"+")
			break
		}
	}
	matches := func(pattern string) bool {
		p, err := regexp.Compile(pattern)
		return err == nil && p.MatchString(strings.TrimSuffix(text, "\n"))
	}
	if strings.HasPrefix(want, "^") && matches("^"+have) {
		have = "^" + have
	}
	if strings.HasSuffix(want, "$") && matches(have+"$") {
		have += "$"
	}
	return have
}

// exampleOf is a short text that a pattern matches, except for characters of classes other than
// digits.
func exampleOf(p *syntax.Regexp) string {
	switch p.Op {
	case syntax.OpLiteral:
		return string(p.Rune)
	case syntax.OpCharClass:
		return string(p.Rune[:min(len(p.Rune), 1)])
	case syntax.OpRepeat:
		return strings.Repeat(exampleOf(p.Sub[0]), min(max(p.Min, 1), 64))
	case syntax.OpCapture, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpAlternate:
		return exampleOf(p.Sub[0])
	case syntax.OpConcat:
		return strings.Join(seq.Map(p.Sub, exampleOf), "")
	}
	return ""
}

// bestMatch is the line, from 1, at which most of the wanted lines match; 0: none.
func bestMatch(wanted, lines []string) int {
	best, no := 0, 0
	for at := 0; at+len(wanted) <= min(len(lines), nearLines); at++ {
		same := 0
		for i, w := range wanted {
			if lines[at+i] == w {
				same++
			}
		}
		if same > best {
			best, no = same, at+1
		}
	}
	return no
}

// likeliestWords returns about as many consecutive words as want has, those most similar to it.
// Punctuation after them is included only if want ends in some.
func likeliestWords(want string, lines []string) string {
	words := len(strings.Fields(want))
	wanted := pairs(strings.ToLower(want))
	best, found := 0.3, ""
	for _, l := range lines[:min(len(lines), nearLines)] {
		var starts, ends []int
		for i := 0; i < len(l); i++ {
			blank := l[i] == ' ' || l[i] == '\t'
			before := i == 0 || l[i-1] == ' ' || l[i-1] == '\t'
			if !blank && before {
				starts = append(starts, i)
			}
			if !blank && (i+1 == len(l) || l[i+1] == ' ' || l[i+1] == '\t') {
				ends = append(ends, i+1)
			}
		}
		for i := range starts {
			for count := max(words-1, 1); count <= words+2 && i+count <= len(starts); count++ {
				part := l[starts[i]:ends[i+count-1]]
				if trimmed := strings.TrimRight(part, ".,;:!?"); trimmed != "" && strings.TrimRight(want, ".,;:!?") == want {
					part = trimmed
				}
				like := likeness(wanted, pairs(strings.ToLower(part)))
				if count != words {
					like -= 0.05
				}
				if like > best {
					best, found = like, part
				}
			}
		}
	}
	return found
}
