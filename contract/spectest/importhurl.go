package spectest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
)

// The lines of a Hurl file that begin a part.
var (
	hurlRequest  = lazy.Pattern(`^([A-Z]+) (\S.*)$`)
	hurlAnswer   = lazy.Pattern(`^HTTP(?:/[0-9.]+)? +(\d{3}|\*)\s*(?:#.*)?$`)
	hurlSection  = lazy.Pattern(`^\[([A-Za-z]+)\]\s*(?:#.*)?$`)
	hurlVariable = lazy.Pattern(`\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}`)
	hurlWord     = lazy.Pattern("^(?:\"(?:[^\"\\\\]|\\\\.)*\"|/(?:[^/\\\\]|\\\\.)*/|`[^`]*`|[^ \t#]+)")
)

// hurlRune matches a character escape by code point.
var hurlRune = lazy.Pattern(`\\u\{[0-9A-Fa-f]{1,6}\}`)

// hurlRunes replaces character escapes with the characters.
func hurlRunes(s string) string {
	return hurlRune().ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseUint(m[3:len(m)-1], 16, 31)
		quoted, _ := json.Marshal(string(rune(n))) // a string
		return string(quoted[1 : len(quoted)-1])
	})
}

// hurlScalar matches a JSON body that is neither a list nor a mapping.
var hurlScalar = lazy.Pattern(`^(?:"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null)$`)

// hurlEntry is one request of a Hurl file with its expected answer.
type hurlEntry struct {
	keys, harness, capture, assert []string // lines of the case
	headers, form, query, cookies  [][2]string
	parts                          []string // of a multipart body
	answered                       bool
}

// fromHurl converts a Hurl file to cases of type api.http, which run in sequence as in Hurl.
func fromHurl(m *imported, text string) {
	text = strings.ReplaceAll(text, "${", "$${")
	lines := strings.Split(text, "\n")
	var e *hurlEntry
	var all []*hurlEntry
	section := ""
	for i := 0; i < len(lines); i++ {
		l, number := strings.TrimSpace(lines[i]), i+1
		refuse := func(format string, args ...any) { m.report(diag.Error, number, lines[i], format, args...) }
		answer, request, head := hurlAnswer().FindStringSubmatch(l), hurlRequest().FindStringSubmatch(l), hurlSection().FindStringSubmatch(l)
		switch {
		case l == "" || l[0] == '#':
		case answer != nil && e != nil:
			if e.answered, section = true, ""; answer[1] != "*" {
				e.assert = append(e.assert, "when: status == "+answer[1])
			}
		case request != nil && answer == nil && (section == "" || section == "Asserts" || section == "Captures" || e.answered):
			e, section = &hurlEntry{}, ""
			all = append(all, e)
			e.keys = append(e.keys, "method: "+jsonText(request[1]), "url: "+jsonText(hurlText(hurlPlain(request[2]))))
		case e == nil:
			refuse("a request must come first, such as GET http://localhost:8080/orders")
			return
		case head != nil:
			section = head[1]
		case section == "" && hurlScalar().MatchString(l), strings.IndexByte("{[`<", l[0]) >= 0, strings.HasPrefix(l, "file,"), strings.HasPrefix(l, "base64,"), strings.HasPrefix(l, "hex,"):
			body, used := hurlBody(lines[i:])
			e.body(m, number, l, body)
			i += used - 1
		case section == "Asserts":
			if when, why := hurlAssert(l); why != "" {
				m.report(diag.Warning, number, lines[i], "the assertion is not imported: %s", why)
			} else {
				e.assert = append(e.assert, "when: "+conditionText(when))
			}
		default:
			key, value, ok := strings.Cut(l, ":")
			if key, value = strings.TrimSpace(key), strings.TrimSpace(value); section != "Captures" {
				value = hurlPlain(value)
			}
			if value = hurlText(value); !ok {
				refuse("expected NAME: VALUE")
				continue
			}
			pair := [2]string{hurlText(key), value}
			switch section {
			case "":
				if e.answered {
					when, _ := hurlAssert(fmt.Sprintf("header %s == %s", jsonText(key), jsonText(value)))
					one := "header(" + infixText(pair[0]) + ")" // one of several headers of that name is enough
					when += " or json_type(" + one + `, "list") and ` + infixText(value) + " in " + one
					e.assert = append(e.assert, "when: "+conditionText(when))
				} else {
					e.headers = append(e.headers, pair)
				}
			case "QueryStringParams", "Query":
				e.query = append(e.query, pair)
			case "FormParams", "Form":
				e.form = append(e.form, pair)
			case "MultipartFormData", "Multipart":
				e.parts = append(e.parts, hurlPart(pair))
			case "Cookies":
				e.cookies = append(e.cookies, pair)
			case "BasicAuth":
				e.basic(pair[0], value)
			case "Captures":
				if what, why := hurlCapture(value); why != "" {
					refuse("the capture is not imported: %s", why)
				} else {
					e.capture = append(e.capture, key+": "+what)
				}
			case "Options":
				if why := e.option(key, value); why != "" {
					refuse("%s", why)
				}
			default:
				refuse("the section %s is not imported", section)
			}
		}
	}
	for i, e := range all {
		if len(all) > 1 { // cookies are kept from entry to entry
			e.keys = append(e.keys, "jar: true")
		}
		e.write(m, i+1)
	}
}

// jsonText is a text as a YAML and JSON string.
func jsonText(s string) string {
	b, _ := json.Marshal(s) // a string can always be written
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// conditionText is a condition as a YAML string, in the quotes that need no backslashes.
func conditionText(s string) string {
	if strings.ContainsRune(s, '"') && !strings.ContainsAny(s, "\n\r\t") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return jsonText(s)
}

// hurlPlain removes the comment from a value and resolves its escapes.
func hurlPlain(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '#' {
			s = strings.TrimSpace(s[:i])
		}
	}
	return hurlEscapes.Replace(hurlRunes(s))
}

var hurlEscapes = strings.NewReplacer(`\#`, "#", `\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")

// hurlText is a text with its variables in the form of documents.
func hurlText(s string) string { return hurlVariable().ReplaceAllString(s, "$${$1}") }

func (e *hurlEntry) basic(user, password string) {
	e.keys = append(e.keys, fmt.Sprintf("basic: {user: %s, password: %s}", jsonText(user), jsonText(password)))
}

// option reads a line of [Options]; it returns the reason if the line cannot be imported.
func (e *hurlEntry) option(key, value string) string {
	seconds := func() (time.Duration, error) {
		if !strings.HasSuffix(value, "s") && !strings.HasSuffix(value, "m") {
			value += map[bool]string{true: "s", false: "ms"}[key == "max-time"]
		}
		return time.ParseDuration(value)
	}
	set := func(name, value string) {
		e.keys = append(slices.DeleteFunc(e.keys, func(l string) bool { return strings.HasPrefix(l, name+":") }), name+": "+value)
	}
	switch key {
	case "location", "location-trusted":
		if value == "true" {
			set("redirects", "50")
		}
	case "max-redirs":
		set("redirects", value)
	case "insecure":
		set("insecure", value)
	case "proxy", "cacert", "cert", "key":
		set(key, jsonText(hurlText(value)))
	case "user":
		user, password, _ := strings.Cut(value, ":")
		e.basic(user, password)
	case "retry":
		if value == "-1" {
			value = "8191"
		}
		set("retry", fmt.Sprintf("{times: %s, every: 1s}", value))
	case "retry-interval":
		every, err := seconds()
		if err != nil {
			return err.Error()
		}
		for i, l := range e.keys {
			if strings.HasPrefix(l, "retry: ") {
				e.keys[i] = strings.Replace(l, "every: 1s", "every: "+every.String(), 1)
			}
		}
	case "max-time":
		limit, err := seconds()
		if err != nil {
			return err.Error()
		}
		e.harness = append(e.harness, fmt.Sprintf("timeout_seconds: %g", limit.Seconds()))
	case "compressed", "verbose", "very-verbose", "output", "http1.1":
	case "variable":
		return "set the variable by --var " + value + " in place of the option"
	default:
		return fmt.Sprintf("the option %s is not imported", key)
	}
	return ""
}

// hurlPart converts a part of a multipart body: a text, or file,PATH and an optional type.
func hurlPart(pair [2]string) string {
	file, isFile := strings.CutPrefix(pair[1], "file,")
	if !isFile {
		return jsonText(pair[0]) + ": " + jsonText(pair[1])
	}
	file, kind, _ := strings.Cut(file, ";")
	if kind = strings.TrimSpace(kind); kind != "" {
		kind = ", type: " + jsonText(kind)
	}
	return fmt.Sprintf("%s: {file: %s%s}", jsonText(pair[0]), jsonText(strings.TrimSpace(file)), kind)
}

// hurlBody returns the body that begins at the first line, and the number of lines it uses.
func hurlBody(lines []string) (body string, used int) {
	first := strings.TrimSpace(lines[0])
	depth, quoted := 0, false
	for i, l := range lines {
		switch {
		case strings.HasPrefix(first, "```"):
			if i > 0 && strings.TrimSpace(l) == "```" {
				return strings.Join(lines[1:i], "\n") + "\n", i + 1
			}
			continue
		case first[0] == '<':
			if next := strings.TrimSpace(l); i > 0 && (next == "" || hurlAnswer().MatchString(next)) {
				return strings.Join(lines[:i], "\n"), i
			}
			continue
		case first[0] != '{' && first[0] != '[':
			return first, 1
		}
		for k := 0; k < len(l); k++ {
			switch c := l[k]; {
			case c == '\\' && quoted:
				k++
			case c == '"':
				quoted = !quoted
			case !quoted && (c == '{' || c == '['):
				depth++
			case !quoted && (c == '}' || c == ']'):
				depth--
			}
		}
		if depth == 0 {
			return strings.Join(lines[:i+1], "\n"), i + 1
		}
	}
	return strings.Join(lines, "\n"), len(lines)
}

// body adds the body of the request, or of the answer.
func (e *hurlEntry) body(m *imported, number int, first, body string) {
	refuse := func(why string) { m.report(diag.Error, number, first, "the body is not imported: %s", why) }
	name, file := strings.CutPrefix(strings.TrimSuffix(body, ";"), "file,")
	fence, _, _ := strings.Cut(strings.TrimPrefix(first, "```"), ",")
	if bytes, coded := hurlBytes(body); coded && utf8.Valid(bytes) {
		first, body = "`", string(bytes)
	} else if !strings.HasPrefix(first, "```") {
		fence = map[byte]string{'<': "xml"}[first[0]]
	}
	switch {
	case fence == "graphql":
		query, variables, _ := strings.Cut(body, "\nvariables ")
		if body = `{"query": ` + jsonText(strings.TrimSpace(query)); variables != "" {
			body += `, "variables": ` + strings.TrimSpace(variables)
		}
		first, body = "{", body+"}"
	case fence == "json" || fence == "xml":
		e.sends("application/" + fence)
	}
	switch {
	case file && !e.answered:
		e.keys = append(e.keys, "body_file: "+jsonText(hurlText(name)))
	case file, strings.HasPrefix(body, "base64,"), strings.HasPrefix(body, "hex,"):
		refuse("it is neither text nor JSON")
	case first[0] == '{' || first[0] == '[' || hurlScalar().MatchString(first):
		value := hurlText(regexp.MustCompile(`([:\[,]\s*)(\{\{[^}"]*\}\})`).ReplaceAllString(body, `$1"$2"`)) // keep the type of a variable
		doc, err := jsontree.Parse([]byte(value), jsontree.Options{})
		if err != nil {
			refuse(err.Error())
			return
		}
		if value = (jsontree.Style{Kept: true}).Format(&doc.Root); e.answered {
			e.assert = append(e.assert, "target: body_json\n    must:\n      - evaluate:\n          - [\"eq\", [\"subject\"], [\"json_parse\", "+jsonText(value)+"]]")
		} else {
			e.keys = append(e.keys, "body_json: "+value)
		}
	default:
		if fence != "raw" {
			body = hurlText(body)
		}
		text := jsonText(strings.Trim(body, "`"))
		if e.answered {
			e.assert = append(e.assert, "target: body_text\n    must:\n      - evaluate:\n          - [\"eq\", [\"subject\"], "+text+"]")
		} else {
			e.keys = append(e.keys, "body_text: "+text)
		}
	}
}

// sends adds the content type of the request's body unless a header gives it.
func (e *hurlEntry) sends(kind string) {
	if !e.answered && !slices.ContainsFunc(e.headers, func(h [2]string) bool { return strings.EqualFold(h[0], "Content-Type") }) {
		e.headers = append(e.headers, [2]string{"Content-Type", kind})
	}
}

// hurlWords splits a line into quoted texts, patterns between slashes, and words.
func hurlWords(l string) (words []string) {
	for l = strings.TrimSpace(l); l != "" && l[0] != '#'; l = strings.TrimSpace(l) {
		w := hurlWord().FindString(l)
		if w == "" {
			break
		}
		words, l = append(words, w), l[len(w):]
	}
	return words
}

// hurlString is the text of a quoted word, or the word itself.
func hurlString(w string) string {
	var s string
	w = hurlRunes(w)
	switch {
	case json.Unmarshal([]byte(w), &s) == nil && w[0] == '"':
		return s
	case len(w) > 1 && (w[0] == '/' || w[0] == '`'):
		return strings.ReplaceAll(w[1:len(w)-1], `\/`, "/")
	}
	return w
}

// write writes an entry as a case.
func (e *hurlEntry) write(m *imported, number int) {
	list := func(name string, pairs [][2]string) {
		if len(pairs) > 0 {
			fmt.Fprintf(m, "  %s:\n", name)
		}
		for i, p := range pairs {
			var values []string
			for _, q := range pairs {
				if q[0] == p[0] {
					values = append(values, jsonText(q[1]))
				}
			}
			switch first := slices.IndexFunc(pairs, func(q [2]string) bool { return q[0] == p[0] }) == i; {
			case first && len(values) > 1:
				fmt.Fprintf(m, "    %s: [%s]\n", jsonText(p[0]), strings.Join(values, ", "))
			case first:
				fmt.Fprintf(m, "    %s: %s\n", jsonText(p[0]), values[0])
			}
		}
	}
	if len(e.cookies) > 0 {
		all := seq.Map(e.cookies, func(c [2]string) string { return c[0] + "=" + c[1] })
		e.headers = append(e.headers, [2]string{"Cookie", strings.Join(all, "; ")})
	}
	if !slices.ContainsFunc(e.keys, func(l string) bool { return strings.HasPrefix(l, "redirects:") }) {
		e.keys = append(e.keys, "redirects: false")
	}
	fmt.Fprintf(m, "```yaml spec-test\nid: HURL-%03d\ntype: api.http\nrequest:\n  %s\n", number, strings.Join(e.keys, "\n  "))
	list("query", e.query)
	list("headers", e.headers)
	list("form", e.form)
	if len(e.parts) > 0 {
		fmt.Fprintf(m, "  multipart:\n    %s\n", strings.Join(e.parts, "\n    "))
	}
	if number > 1 {
		e.harness = append(e.harness, fmt.Sprintf("after: HURL-%03d", number-1))
	}
	if len(e.harness) > 0 {
		fmt.Fprintf(m, "harness: {%s}\n", strings.Join(e.harness, ", "))
	}
	if len(e.capture) > 0 {
		fmt.Fprintf(m, "capture:\n  %s\n", strings.Join(e.capture, "\n  "))
	}
	if len(e.assert) > 0 {
		fmt.Fprintf(m, "assert:\n  - %s\n", strings.Join(e.assert, "\n  - "))
	}
	m.WriteString("```\n\n")
}
