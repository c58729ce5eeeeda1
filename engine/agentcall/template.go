package agentcall

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Names that every template can use, besides the fields of the prompt.
const (
	promptField  = "prompt"
	sessionField = "session"
	historyField = "history"
)

// Form is the form of a template's output.
type Form uint8

// The forms.
const (
	FormJSON  Form = iota // an object or an array
	FormPairs             // name=value&name=value
	FormText              // anything else
)

// Template is a request with places for the prompt. {prompt} is the prompt,
// {session} the name of the conversation, {history} the earlier messages as a JSON
// array, and any other {name} the prompt's field of that name, see [Fields]. A
// value is escaped for its place:
//
//   - inside a string of a JSON template as JSON text;
//   - outside of strings of a JSON template as it is if it is JSON itself, else
//     as a JSON string;
//   - in name=value pairs as in a query;
//   - in text that is sent as XML as XML text, in other text not at all.
//
// A place without a value stays as it is written, or is null outside strings.
// Values are never searched for places.
type Template struct {
	form  Form
	parts []part
	// Problem says why a template that looks like JSON is treated as text; "" for
	// any other.
	Problem string
}

// part is literal text, or a place if name is not "".
type part struct {
	text   string // as written, braces included
	name   string // in normal form
	quoted bool   // inside a JSON string
}

// ParseTemplate parses a template. Every text is one; see Template.Problem.
func ParseTemplate(text string) Template {
	parts := split(text, true)
	var sample strings.Builder
	for _, p := range parts {
		switch {
		case p.name == "":
			sample.WriteString(p.text)
		case !p.quoted:
			sample.WriteString("null")
		}
	}
	doc, err := jsontree.Parse([]byte(sample.String()), jsontree.Python())
	if err == nil && (doc.Root.Kind == jsontree.Object || doc.Root.Kind == jsontree.Array) {
		return Template{form: FormJSON, parts: parts}
	}
	t := Template{form: FormText, parts: split(text, false)}
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, `{"`) || strings.HasPrefix(trimmed, "[") {
		if e, ok := err.(*jsontree.Error); ok {
			t.Problem = e.Message()
		}
	}
	if pairs(trimmed) {
		t.form = FormPairs
	}
	return t
}

// split splits a text at its places. In JSON, a brace inside a string or before a
// name is a place; any other brace is part of the text.
func split(text string, isJSON bool) []part {
	var parts []part
	quoted, from := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"' && isJSON:
			quoted = !quoted
		case c == '{':
			end := strings.IndexFunc(text[i+1:], func(r rune) bool { return r < ' ' || r == utf8.RuneError || strings.ContainsRune("{}\"\\:,", r) })
			if end < 0 || text[i+1+end] != '}' {
				continue
			}
			name := Normal(text[i+1 : i+1+end])
			if name == "" {
				continue
			}
			stop := i + 1 + end + 1
			parts = append(parts, part{text: text[from:i]}, part{text[i:stop], name, quoted})
			from, i = stop, stop-1
		}
	}
	return append(parts, part{text: text[from:]})
}

// pairs reports whether a text is of the form name=value&name=value.
func pairs(text string) bool {
	for p := range strings.SplitSeq(text, "&") {
		name, _, ok := strings.Cut(p, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n<>{}\"") {
			return false
		}
	}
	return !strings.ContainsAny(text, "\r\n<>")
}

// Normal returns the form in which names of fields are compared: in lower case,
// with only a-z and 0-9.
func Normal(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// Form returns the form of the template's output.
func (t *Template) Form() Form { return t.form }

// Values are the values for a template's places.
type Values struct {
	Prompt  string
	Session string
	History []Message
	Fields  map[string]string // by normal name
}

func (v *Values) get(name string) (string, bool) {
	if name == promptField {
		return v.Prompt, true
	}
	if text, ok := v.Fields[name]; ok {
		return text, true
	}
	switch name {
	case sessionField:
		return v.Session, true
	case historyField:
		history := v.History
		if history == nil {
			history = []Message{}
		}
		text, err := json.Marshal(history)
		return string(text), err == nil // cannot fail for strings
	}
	return "", false
}

// Escape says how values are put into a template for text.
type Escape uint8

// The escapes.
const (
	EscapeNone Escape = iota
	EscapeQuery
	EscapeXML
)

// JSON returns the request of a template of FormJSON.
func (t *Template) JSON(v Values) string {
	return t.render(&v, func(p part, value string) string {
		switch {
		case p.quoted:
			text := quote(value)
			return text[1 : len(text)-1]
		case json.Valid([]byte(value)):
			return value
		}
		return quote(value)
	})
}

// Pairs returns the names and values of a template of FormPairs, unescaped.
func (t *Template) Pairs(v Values) [][2]string {
	var list [][2]string
	text := t.Text(v, EscapeQuery)
	for p := range strings.SplitSeq(strings.TrimSpace(text), "&") {
		name, value, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain // a stray % of the template itself stays
		}
		list = append(list, [2]string{name, value})
	}
	return list
}

// Text returns the request as text.
func (t *Template) Text(v Values, e Escape) string {
	return t.render(&v, func(_ part, value string) string {
		switch e {
		case EscapeQuery:
			return url.QueryEscape(value)
		case EscapeXML:
			var b strings.Builder
			if xml.EscapeText(&b, []byte(value)) == nil { // a builder never fails
				return b.String()
			}
		}
		return value
	})
}

func (t *Template) render(v *Values, put func(part, string) string) string {
	var b strings.Builder
	for _, p := range t.parts {
		value, ok := "", false
		if p.name != "" {
			value, ok = v.get(p.name)
		}
		switch {
		case ok:
			b.WriteString(put(p, value))
		case p.name != "" && t.form == FormJSON && !p.quoted:
			b.WriteString("null")
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// quote returns a text as a JSON string; invalid UTF-8 becomes U+FFFD.
func quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return `""` // cannot happen for a string
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Fields returns the "key: value" lines of a prompt: the first of ":", "=" and " -
// " that a line contains splits it once. Keys are in normal form (see [Normal]),
// and a later one replaces an earlier one.
func Fields(prompt string) map[string]string {
	fields := make(map[string]string)
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		for _, separator := range []string{":", "=", " - "} {
			key, value, ok := strings.Cut(line, separator)
			if !ok {
				continue
			}
			if name := Normal(key); name != "" {
				fields[name] = strings.TrimSpace(value)
			}
			break
		}
	}
	return fields
}
