package secret

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
)

// placeholder matches a placeholder for a literal in a stored document.
var placeholder = lazy.Pattern(`\$\{secret:([0-9]+)\}`)

// Placeholder returns the placeholder for literal n of a document, counted from 1.
func Placeholder(n int) string { return fmt.Sprintf("${secret:%d}", n) }

// Placeholders returns the numbers of the placeholders in a text.
func Placeholders(text []byte) (list []int) {
	for _, m := range placeholder().FindAllSubmatch(text, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// Number returns the number of literal i of a text, after those of its placeholders.
func (d Declared) Number(i int) int { return d.Held + i + 1 }

// Seal returns the text with placeholders for its literals. Without literals it returns the text
// itself.
func Seal(text []byte, d Declared) []byte {
	if len(d.Literals) == 0 {
		return text
	}
	var out []byte
	end := 0
	for i, l := range d.Literals {
		out = append(append(out, text[end:l.From]...), Placeholder(d.Number(i))...)
		end = l.To
	}
	return append(out, text[end:]...)
}

// Sealed reports whether a text has placeholders.
func Sealed(text []byte) bool { return placeholder().Match(text) }

// Reveal replaces placeholders by values, escaped for the quotes around them. The first placeholder
// that value does not know is an error that names it.
func Reveal(text []byte, value func(n int) (string, bool)) ([]byte, error) {
	var out []byte
	end := 0
	for _, m := range placeholder().FindAllSubmatchIndex(text, -1) {
		n, _ := strconv.Atoi(string(text[m[2]:m[3]])) // digits; too many are no known number
		v, ok := value(n)
		if !ok {
			return nil, &MissingError{n}
		}
		line := bytes.LastIndexByte(text[:m[0]], '\n') + 1
		out = append(append(out, text[end:m[0]]...), around(string(text[line:m[0]])).written(v)...)
		end = m[1]
	}
	if end == 0 {
		return text, nil
	}
	return append(out, text[end:]...), nil
}

// MissingError says that the value of a literal cannot be found.
type MissingError struct{ N int }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the value of %s is not known", Placeholder(e.N))
}

// ScanVariables returns what a file of variables declares: a mapping in YAML or JSON, or lines of
// NAME=VALUE. The values of these names are literals too.
func ScanVariables(text []byte, names []string) Declared {
	d := Scan(text)
	if len(names) == 0 {
		return d
	}
	either := `["']?(?:` + strings.Join(seq.Map(names, regexp.QuoteMeta), "|") + `)["']?\s*`
	s := scanner{d: &d, seen: make(map[string]bool)}
	for _, form := range []string{`(?m)(?:^|[{,])[ \t]*` + either + `:[ \t]*` + value, `(?m)^[ \t]*(?:export[ \t]+)?` + either + `=[ \t]*([^\n]+)`} {
		for _, m := range regexp.MustCompile(form).FindAllSubmatchIndex(text, -1) {
			given := strings.TrimRight(string(text[m[2]:m[3]]), " \t\r")
			if fromEnvironment().MatchString(given) {
				continue
			}
			if strings.ContainsAny(given[:1], `"'|>&!*`) {
				s.value(string(text), m[2], m[3], true)
				continue
			}
			given, _, _ = strings.Cut(given, " #")
			s.literal(string(text), m[2], strings.TrimRight(given, " \t"))
		}
	}
	d.arrange()
	return d
}

// fromEnvironment matches a value that names an environment variable.
var fromEnvironment = lazy.Pattern(`^\{\s*["']?env["']?\s*:`)

// holder matches the placeholder for a credential in stored options.
var holder = lazy.Pattern(`^(?:--var=)?([^=]+)=\$\{secret:([^}]+)\}$`)

// Held returns the variable NAME of a stored NAME=VALUE whose value was removed.
func Held(text string) (name string, held bool) {
	m := holder().FindStringSubmatch(text)
	if m == nil || m[1] != m[2] {
		return "", false
	}
	return m[1], true
}

// Unvalued returns options for storage: in those with this name, which are NAME=VALUE, credentials
// have no value.
func Unvalued(options map[string][]string, name string, credentials []string) map[string][]string {
	list := slices.Clone(options[name])
	for i := range list {
		list[i] = UnvaluedIn(list[i], credentials)
	}
	if len(list) == 0 || slices.Equal(list, options[name]) {
		return options
	}
	options = maps.Clone(options)
	options[name] = list
	return options
}

// UnvaluedIn returns a word of a command line without the value of a credential.
func UnvaluedIn(word string, credentials []string) string {
	name, v, _ := strings.Cut(strings.TrimPrefix(word, "--var="), "=")
	if len(v) < Shortest || !slices.Contains(credentials, name) {
		return word
	}
	return word[:len(word)-len(v)] + "${secret:" + name + "}"
}
