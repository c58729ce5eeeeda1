package secret

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Literal is a value that a document has in itself.
type Literal struct {
	From, To int // in the text
	Value    string
}

// Declared is what a document declares.
type Declared struct {
	Variables []string // sorted
	Literals  []Literal
}

const (
	// certain are names whose values are secrets.
	certain = `(?:proxy-)?authorization|(?:[a-z0-9]+[-_])*api[-_]?key|(?:x-)?auth[-_]token|(?:access|refresh|bearer)[-_]token|client[-_]secret|x-[a-z0-9-]*-(?:key|token)`
	// likely are names whose values are secrets if they come from a variable.
	likely = `(?:[a-z0-9]+[-_])*(?:key|token|secret|password|passwd|cookie|credentials?)`
	// queries are the key-like parameters of a URL.
	queries = `key|api[-_]?key|(?:access[-_]|auth[-_])?token|auth|secret|client[-_]secret|password|passwd|pwd|sig|signature`
	// value ends where a list or a mapping goes on, not at each comma, quote or bracket.
	value = `("(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|(?:\$\{[^}\n]*\}|[^\s"',}\]#])(?:\$\{[^}\n]*\}|[^"'\n,}\]]|["',}\]][^\s"',}\]])*)`
)

var (
	hint     = regexp.MustCompile(`(?i)authorization|key|token|secret|passw|pwd|cookie|credential|auth=|sig=|signature=|://[^\s/"']+@`)
	field    = regexp.MustCompile(`(?i)(?:^|[\s"'{,\[(?&-])(` + certain + `|` + likely + `)["']?\s*:\s*` + value)
	assign   = regexp.MustCompile(`(?i)(?:^|[\s"'])(?:` + likely + `)=((?:\$\{[^}\n]*\}|[^&\s"'])+)`)
	param    = regexp.MustCompile(`(?i)[?&](?:` + queries + `)=((?:\$\{[^}\n]*\}|[^&\s"'#<>)\]},])+)`)
	userinfo = regexp.MustCompile("(?i)[a-z][a-z0-9+.-]*://([^\\s/\"'@<>`]+)@")
	sure     = regexp.MustCompile(`(?i)^(?:` + certain + `)$`)
	marked   = regexp.MustCompile(`(?i)["']?secret["']?\s*:\s*true\b`)
	content  = regexp.MustCompile(`(?:^|[\s"'{,])value["']?\s*:\s*` + value)
	scheme   = regexp.MustCompile(`(?i)^(?:bearer|basic|token|apikey|digest|key)\s+`)
	variable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
	// further is the next key of a mapping that is written without spaces.
	further = regexp.MustCompile(`,["']?[\w-]+["']?:`)
	// template is a place that something else fills.
	template = regexp.MustCompile(`\$\{|^\$\w+$|\{\w+\}|^<[^<>]*>$`)
	fence    = regexp.MustCompile("(?m)^[ \t]*(```+|~~~+)([^\n]*)$")
	// placeholder stands for a literal in a document that is stored.
	placeholder = regexp.MustCompile(`\$\{secret:([0-9]+)\}`)
)

// Scan finds what a text declares. Of a page of Markdown only blocks count whose
// opening line names more than a language: prose shows, blocks declare.
func Scan(text []byte) Declared {
	var d Declared
	if !hint.Match(text) {
		return d
	}
	seen := make(map[string]bool)
	s := scanner{d: &d, seen: seen}
	for _, part := range parts(text) {
		s.scan(string(text[part[0]:part[1]]), part[0])
	}
	slices.Sort(d.Variables)
	slices.SortFunc(d.Literals, func(a, b Literal) int { return a.From - b.From })
	kept := d.Literals[:0]
	end := 0
	for _, l := range d.Literals { // two rules may find the same one
		if l.From >= end {
			kept, end = append(kept, l), l.To
		}
	}
	d.Literals = kept
	return d
}

// parts are the stretches of a text that declare something: all of it, or the
// blocks of a page.
func parts(text []byte) (list [][2]int) {
	open, from := "", 0
	declares, page := false, false
	for _, m := range fence.FindAllSubmatchIndex(text, -1) {
		ticks, info := string(text[m[2]:m[3]]), strings.TrimSpace(string(text[m[4]:m[5]]))
		switch {
		case open == "":
			open, from, page = ticks, m[1], true
			declares = len(strings.Fields(info)) > 1
		case info == "" && strings.HasPrefix(ticks, open):
			if declares {
				list = append(list, [2]int{from, m[0]})
			}
			open = ""
		}
	}
	if !page {
		return [][2]int{{0, len(text)}}
	}
	return list
}

type scanner struct {
	d    *Declared
	seen map[string]bool
}

func (s *scanner) scan(text string, at int) {
	for _, m := range field.FindAllStringSubmatchIndex(text, -1) {
		s.value(text[m[4]:m[5]], at+m[4], sure.MatchString(text[m[2]:m[3]]))
	}
	for _, m := range assign.FindAllStringSubmatchIndex(text, -1) {
		s.value(text[m[2]:m[3]], at+m[2], false)
	}
	for _, m := range param.FindAllStringSubmatchIndex(text, -1) {
		s.value(text[m[2]:m[3]], at+m[2], true)
	}
	for _, m := range userinfo.FindAllStringSubmatchIndex(text, -1) {
		from := m[2]
		if i := strings.IndexByte(text[m[2]:m[3]], ':'); i >= 0 {
			from += i + 1
		}
		s.value(text[from:m[3]], at+from, true)
	}
	for _, m := range marked.FindAllStringIndex(text, -1) {
		from, to := siblings(text, m[0])
		for _, v := range content.FindAllStringSubmatchIndex(text[from:to], -1) {
			s.value(text[from+v[2]:from+v[3]], at+from+v[2], true)
		}
	}
}

// siblings is the mapping around an offset: the braces that it is in, or the
// lines around it that are indented alike.
func siblings(text string, at int) (from, to int) {
	line := strings.LastIndexByte(text[:at], '\n') + 1
	if i := strings.LastIndexAny(text[:at], "{}"); i >= 0 && text[i] == '{' {
		if j := strings.IndexByte(text[at:], '}'); j >= 0 {
			return i, at + j
		}
	}
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " -")) }
	depth := at - line
	for from = line; from > 0; {
		i := strings.LastIndexByte(text[:from-1], '\n') + 1
		if indent(text[i:from-1]) != depth {
			break
		}
		from = i
	}
	for to = at; to < len(text); {
		end := strings.IndexByte(text[to:], '\n')
		if end < 0 {
			return from, len(text)
		}
		to += end + 1
		next, _, _ := strings.Cut(text[to:], "\n")
		if indent(next) != depth {
			break
		}
	}
	return from, to
}

// value takes what a name has: its variables, or, where that is certain, itself.
func (s *scanner) value(text string, at int, literal bool) {
	text = strings.TrimRight(text, " \t\r")
	if i := strings.Index(text, " #"); i > 0 && text[0] != '"' && text[0] != '\'' {
		text = strings.TrimRight(text[:i], " \t") // a comment
	}
	quoted := len(text) >= 2 && (text[0] == '"' || text[0] == '\'')
	raw := text
	if quoted {
		raw, at = text[1:len(text)-1], at+1
	} else if i := further.FindStringIndex(raw); i != nil {
		raw = raw[:i[0]]
	}
	names := variable.FindAllStringSubmatch(raw, -1)
	for _, n := range names {
		if name := n[1] + n[2]; !s.seen[name] {
			s.seen[name] = true
			s.d.Variables = append(s.d.Variables, name)
		}
	}
	if m := scheme.FindString(raw); m != "" {
		raw, at = raw[len(m):], at+len(m)
	}
	if !literal || len(raw) < Shortest || template.MatchString(raw) || !quoted && strings.ContainsAny(raw, " \t") {
		return
	}
	plain := raw
	switch {
	case quoted && text[0] == '\'':
		plain = strings.ReplaceAll(raw, "''", "'")
	case quoted:
		if json.Unmarshal([]byte(`"`+raw+`"`), &plain) != nil {
			plain = raw
		}
	}
	s.d.Literals = append(s.d.Literals, Literal{From: at, To: at + len(raw), Value: plain})
}

// Placeholder stands for literal n of a document, counted from 1.
func Placeholder(n int) string { return fmt.Sprintf("${secret:%d}", n) }

// Seal is the text with place(n) for its literals, counted from 1. Without
// literals it is the text itself.
func Seal(text []byte, d Declared, place func(n int) string) []byte {
	if len(d.Literals) == 0 {
		return text
	}
	var out []byte
	end := 0
	for i, l := range d.Literals {
		out = append(append(out, text[end:l.From]...), place(i+1)...)
		end = l.To
	}
	return append(out, text[end:]...)
}

// Sealed reports whether a text has placeholders.
func Sealed(text []byte) bool { return placeholder.Match(text) }

// Reveal puts values where placeholders are. The first that value does not know
// is an error that names it.
func Reveal(text []byte, value func(n int) (string, bool)) ([]byte, error) {
	missing := 0
	out := placeholder.ReplaceAllFunc(text, func(b []byte) []byte {
		n, err := strconv.Atoi(string(b[len("${secret:") : len(b)-1]))
		if v, ok := value(n); err == nil && ok {
			return []byte(v)
		}
		if missing == 0 {
			missing = n
		}
		return b
	})
	if missing != 0 {
		return nil, &MissingError{missing}
	}
	return out, nil
}

// MissingError says that the value of a literal is nowhere to be found.
type MissingError struct{ N int }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the value of %s is not known", Placeholder(e.N))
}
