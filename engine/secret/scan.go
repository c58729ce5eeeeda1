package secret

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// Literal is a value that a document contains itself.
type Literal struct {
	From, To int // in the text
	Value    string
}

// Declared is what a document declares.
type Declared struct {
	Variables []string // sorted
	Literals  []Literal
	// Held is the highest number of a placeholder that the text already has.
	Held int
}

const (
	// certain are names whose values are secrets.
	certain = `(?:proxy-)?authorization|(?:[a-z0-9]+[-_])*api[-_]?key|(?:x-)?auth[-_]token|(?:access|refresh|bearer)[-_]token|client[-_]secret|x-[a-z0-9-]*-(?:key|token)|bearer`
	// likely are names whose values are secrets if they come from a variable.
	likely = `(?:[a-z0-9]+[-_])*(?:key|token|secret|password|passwd|cookie|credentials?)`
	// queries are the key-like parameters of a URL.
	queries = `key|api[-_]?key|(?:access[-_]|auth[-_])?token|auth|secret|client[-_]secret|password|passwd|pwd|sig|signature`
	// value ends where a list or a mapping continues, not at each comma, quote or bracket.
	value = `(\\"(?:\\\\\\"|[^"\\\n]|\\[^"\n])*\\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|(?:\$\{[^}\n]*\}|[^\s"',}\]#])(?:\$\{[^}\n]*\}|[^"'\n,}\]]|["',}\]][^\s"',}\]])*)`
)

var (
	field = lazy.Pattern(`(?i)(?:^|[\s"'{,\[(?&-])(` + certain + `|` + likely + `)(?:\\?["'])?\s*:\s*` + value)
	// folded is a field whose quoted value spans several lines.
	folded = lazy.Pattern(`(?im)^([ \t-]*)["']?(` + certain + `|` + likely + `)["']?[ \t]*:[ \t]*("[^"\\\n]*(?:\\.[^"\\\n]*)*\\?\n(?:[^"\\]|\\(?s:.))*"|'[^'\n]*(?:''[^'\n]*)*\n(?:[^']|'')*')[ \t]*(?:#.*)?$`)
	assign = lazy.Pattern(`(?i)(?:^|[\s"'-])(` + likely + `)=((?:\$\{[^}\n]*\}|[^&\s"'\\])+)`)
	// setting is one of the variables that the opening line of a block sets.
	setting  = lazy.Pattern(`(?i)(?:[ \t"]env="?|,)(?:` + certain + `|` + likely + `)=([^,\s"]+)`)
	param    = lazy.Pattern(`(?i)(?:[?&]|&amp;|\\u0026)(?:` + queries + `)=((?:\$\{[^}\n]*\}|\\/|[^&\s"'#<>)\]},\\])+)`)
	userinfo = lazy.Pattern("(?i)[a-z][a-z0-9+.-]*:(?:\\\\?/){2}([^\\s/\"'@<>`\\\\]+)@")
	named    = lazy.Pattern(`(?i)^(?:` + certain + `|` + likely + `|` + queries + `)$`)
	sure     = lazy.Pattern(`(?i)^(?:` + certain + `)$`)
	marked   = lazy.Pattern(`(?i)["']?secret["']?\s*:\s*true\b`)
	content  = lazy.Pattern(`(?:^|[\s"'{,])value["']?\s*:\s*` + value)
	scheme   = lazy.Pattern(`(?i)^(?:bearer|basic|token|apikey|digest|key)\s+`)
	// sent are mappings in which likely names of secrets are certain.
	sent = lazy.Pattern(`(?i)^(?:headers?|cookies?|query(?:[-_]?params?)?|params|auth|basic|env(?:ironment)?)$`)
	// parameter is one of several in a header, such as those of the scheme Digest.
	parameter = lazy.Pattern(`[\w.-]+=(?:"([^"\n]*)"|([^\s",;&]+))`)
	variable  = lazy.Pattern(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
	// block opens a text on the following lines, indented more than its key.
	block = lazy.Pattern(`^[|>][-+0-9]*$`)
	// property is an anchor or a tag before a value, and alias refers to an anchor.
	property = lazy.Pattern(`^[&!][^\s,{}\[\]]*\s+`)
	alias    = lazy.Pattern(`^\*[^\s,{}\[\]]+$`)
	first    = lazy.Pattern(`^` + value)
	// further is the next key of a mapping that is written without spaces.
	further = lazy.Pattern(`,["']?[\w-]+["']?:`)
	// template is filled in by something else, and place is a part of it.
	template = lazy.Pattern(`\$\{|^\$\w+$|^<[^<>]*>$`)
	place    = lazy.Pattern(`\{\w+\}`)
)

// IsName reports whether values of that name, such as of a header or a parameter, are secrets.
func IsName(name string) bool { return named().MatchString(name) }

// Scan finds what a text declares. In a page of Markdown only blocks count whose opening line
// names more than a language: prose shows, blocks declare.
func Scan(text []byte) Declared { return ScanLong(text, func() {}) }

// ScanLong is Scan for a text whose memory release frees until it is read again.
func ScanLong(text []byte, release func()) Declared {
	const piece, overlap = 1 << 20, 8 << 10
	quiet := true
	for at := 0; at < len(text) && quiet; at += piece {
		quiet = len(near(text[at:min(at+piece+overlap, len(text))])) == 0
		if at > 0 {
			release()
		}
	}
	if quiet { // there is no placeholder either
		return Declared{}
	}
	d := Declared{Held: slices.Max(append(Placeholders(text), 0))}
	seen := make(map[string]bool)
	s := scanner{d: &d, seen: seen}
	for i, part := range parts(text) {
		if x := text[part[0]:part[1]]; len(near(x)) > 0 {
			s.scan(string(x), part[0])
		}
		if i%1024 == 1023 {
			release()
		}
	}
	d.arrange()
	return d
}

// arrange sorts what was found; two rules may find the same literal.
func (d *Declared) arrange() {
	slices.Sort(d.Variables)
	slices.SortFunc(d.Literals, func(a, b Literal) int { return a.From - b.From })
	kept := d.Literals[:0]
	end := 0
	for _, l := range d.Literals {
		if l.From >= end {
			kept, end = append(kept, l), l.To
		}
	}
	d.Literals = kept
}

// parts returns the parts of a text that declare something: all of it, or the blocks of a
// page.
func parts(text []byte) (list [][2]int) {
	open, from, at := "", 0, 0
	declares, page := false, false
	for l := range bytes.Lines(text) {
		start := at
		at += len(l)
		marks := bytes.TrimLeft(l, " \t")
		info := marks
		if len(marks) > 0 && (marks[0] == '`' || marks[0] == '~') {
			info = bytes.TrimLeft(marks, string(marks[:1]))
		}
		ticks := string(marks[:len(marks)-len(info)])
		end := start + len(bytes.TrimSuffix(l, []byte("\n")))
		switch {
		case len(ticks) < 3:
		case open == "":
			open, from, page = ticks, end, true
			if declares = len(bytes.Fields(info)) > 1; declares {
				list = append(list, [2]int{at - len(info), end})
			}
		case len(bytes.TrimSpace(info)) == 0 && strings.HasPrefix(ticks, open):
			if declares {
				list = append(list, [2]int{from, start})
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
	at   int // where the current part begins
}

func (s *scanner) scan(text string, at int) {
	s.at = at
	stretches := near(text)
	find := func(re *regexp.Regexp) (list [][]int) {
		for _, w := range stretches {
			for _, m := range re.FindAllStringSubmatchIndex(text[w[0]:w[1]], -1) {
				for i := range m {
					m[i] += w[0] // every group that is read has matched
				}
				list = append(list, m)
			}
		}
		return list
	}
	for _, m := range find(field()) {
		name, value := text[m[2]:m[3]], text[m[4]:m[5]]
		s.value(text, m[4], m[5], certainly(text, m[2], name, value))
	}
	for _, m := range find(folded()) {
		name, value := text[m[4]:m[5]], text[m[6]:m[7]]
		_, rest, _ := strings.Cut(value, "\n")
		deeper := func(line string) bool { return strings.TrimSpace(line) == "" || indent(line) > m[3]-m[2] }
		if lines := strings.Split(rest, "\n"); len(lines) <= 64 && !slices.ContainsFunc(lines, func(l string) bool { return !deeper(l) }) {
			s.value(text, m[6], m[7], certainly(text, m[4], name, value))
		}
	}
	for _, m := range find(assign()) {
		s.value(text, m[4], m[5], sure().MatchString(text[m[2]:m[3]]))
	}
	if !strings.Contains(text, "\n") {
		for _, m := range find(setting()) {
			s.value(text, m[2], m[3], true)
		}
	}
	for _, m := range find(param()) {
		s.value(text, m[2], m[3], true)
	}
	for _, m := range find(userinfo()) {
		from := m[2]
		if i := strings.IndexByte(text[m[2]:m[3]], ':'); i >= 0 {
			from += i + 1
		}
		s.value(text, from, m[3], true)
	}
	for _, m := range find(marked()) {
		from, to, depth := siblings(text, m[0])
		for _, v := range content().FindAllStringSubmatchIndex(text[from:to], -1) {
			key := from + v[0]
			if depth < 0 || indent(text[strings.LastIndexByte(text[:key+1], '\n')+1:]) == depth {
				s.value(text, from+v[2], from+v[3], true)
			}
		}
	}
}

// certainly reports whether the value of a name is a secret wherever it comes from.
func certainly(text string, at int, name, value string) bool {
	return sure().MatchString(name) || strings.EqualFold(name, "cookie") && strings.Contains(value, "=") || sent().MatchString(parent(text, at))
}

// flowing bounds how far back to look for the beginning of a mapping in braces.
const flowing = 16 << 10

// parent returns the key of the mapping around an offset; "" if there is none.
func parent(text string, at int) string {
	line := strings.LastIndexByte(text[:at], '\n') + 1
	for i, open := at-1, 0; i >= max(line, at-flowing); i-- {
		switch text[i] {
		case '}', ']':
			open++
		case '[':
			open--
		case '{':
			if open--; open < 0 {
				if key := lastKey(text[line:i]); key != "" {
					return key
				}
				at = i // the mapping begins on its own line
			}
		}
	}
	depth := indent(text[line:at])
	for end := line; end > 0; {
		from := strings.LastIndexByte(text[:end-1], '\n') + 1
		if l := text[from : end-1]; strings.TrimSpace(l) != "" && indent(l) < depth {
			return lastKey(strings.TrimRight(l, "{[ \t\r"))
		}
		if end = from; line-end > flowing {
			break
		}
	}
	return ""
}

// lastKey returns the key at the end of a text, before its value.
func lastKey(text string) string {
	text, keyed := strings.CutSuffix(strings.TrimRight(text, " \t"), ":")
	if !keyed {
		return ""
	}
	text = strings.TrimRight(text, `"'\`)
	return text[strings.LastIndexAny(text, " \t\"'{,[-")+1:]
}

// indent returns the indentation of a line, including the dashes of lists.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " -")) }

// siblings returns the mapping around an offset: the braces that contain it, or the lines
// around it with the same indentation, and the more indented ones below these. depth is the
// indentation of its keys, negative in braces.
func siblings(text string, at int) (from, to, depth int) {
	line := strings.LastIndexByte(text[:at], '\n') + 1
	if i := strings.LastIndexAny(text[:at], "{}"); i >= 0 && text[i] == '{' {
		if j := strings.IndexByte(text[at:], '}'); j >= 0 {
			return i, at + j, -1
		}
	}
	depth = at - line
	outside := func(line string) bool { return strings.TrimSpace(line) != "" && indent(line) < depth }
	for from = line; from > 0; {
		i := strings.LastIndexByte(text[:from-1], '\n') + 1
		if outside(text[i : from-1]) {
			break
		}
		from = i
	}
	for to = at; to < len(text); {
		end := strings.IndexByte(text[to:], '\n')
		if end < 0 {
			return from, len(text), depth
		}
		to += end + 1
		if next, _, _ := strings.Cut(text[to:], "\n"); outside(next) {
			break
		}
	}
	return from, to, depth
}

// value collects the variables of a named value or, where that is certain, the value itself.
func (s *scanner) value(whole string, at, to int, literal bool) {
	for m := property().FindString(whole[at:to]); m != ""; m = property().FindString(whole[at:to]) {
		at += len(m)
		next := first().FindStringIndex(whole[at:])
		if next == nil {
			return
		}
		to = at + next[1]
	}
	line, _, _ := strings.Cut(whole[at:], "\n")
	text := strings.TrimRight(whole[at:to], " \t\r")
	opening, _, _ := strings.Cut(text, " #")
	switch opening = strings.TrimRight(opening, " \t"); {
	case block().MatchString(opening):
		s.block(whole, at, literal)
		return
	case alias().MatchString(opening):
		for _, m := range regexp.MustCompile(`&`+regexp.QuoteMeta(opening[1:])+`\s+`+value).FindAllStringSubmatchIndex(whole, -1) {
			s.value(whole, m[2], m[3], literal)
		}
		return
	}
	q := 0
	switch {
	case len(text) > 3 && text[:2] == `\"`:
		q = 2
	case len(text) > 1 && (text[0] == '"' || text[0] == '\''):
		q = 1
	}
	quoted := q > 0
	if i := strings.Index(text, " #"); i > 0 && !quoted {
		text = strings.TrimRight(text[:i], " \t") // a comment
	}
	raw := text
	if quoted {
		raw, at = text[q:len(text)-q], at+q
	} else if i := further().FindStringIndex(raw); i != nil {
		raw = raw[:i[0]]
	}
	names := variable().FindAllStringSubmatch(raw, -1)
	for _, n := range names {
		if name := n[1] + n[2]; !s.seen[name] {
			s.seen[name] = true
			s.d.Variables = append(s.d.Variables, name)
		}
	}
	if !literal {
		return
	}
	spaced := !quoted && strings.ContainsAny(raw, " \t")
	if spaced {
		for _, m := range parameter().FindAllStringSubmatchIndex(line, -1) {
			i, j := max(m[2], m[4]), max(m[3], m[5]) // in quotes, or without
			s.literal(whole, at+i, line[i:j])
		}
	}
	if m := scheme().FindString(raw); m != "" {
		raw, at = raw[len(m):], at+len(m)
	}
	if spaced {
		i := strings.LastIndexAny(raw, " \t") + 1
		if strings.ContainsAny(strings.TrimRight(raw[:i], " \t"), " \t") || strings.Contains(strings.TrimRight(raw[i:], "="), "=") {
			return
		}
		raw, at = raw[i:], at+i // after the name of a scheme
	}
	s.literal(whole, at, raw)
}

// block collects each line of the text that is opened at an offset.
func (s *scanner) block(text string, at int, literal bool) {
	line := strings.LastIndexByte(text[:at], '\n') + 1
	key := text[line:at]
	depth := len(key) - len(strings.TrimLeft(key, " -"))
	for {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return
		}
		at += end + 1
		next, _, _ := strings.Cut(text[at:], "\n")
		trimmed := strings.TrimSpace(next)
		moved := len(next) - len(strings.TrimLeft(next, " "))
		if trimmed != "" && moved <= depth {
			return
		}
		if m := first().FindStringIndex(next[moved:]); m != nil {
			s.value(text, at+moved, at+moved+m[1], literal)
		}
	}
}

// literal collects a value that is not a template.
func (s *scanner) literal(text string, from int, raw string) {
	if len(place().ReplaceAllString(raw, "")) >= Shortest && !template().MatchString(raw) {
		q := around(text[max(strings.LastIndexByte(text[:from], '\n')+1, from-flowing):from])
		s.d.Literals = append(s.d.Literals, Literal{From: s.at + from, To: s.at + from + len(raw), Value: q.plain(raw)})
	}
}
