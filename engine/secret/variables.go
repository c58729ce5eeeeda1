package secret

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
)

// ScanVariables is what a file of variables declares: a mapping in YAML or JSON, or lines of NAME=VALUE.
// The values of these names are literals as well.
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

// holder stands for the value of a credential in options that are stored.
var holder = lazy.Pattern(`^(?:--var=)?([^=]+)=\$\{secret:([^}]+)\}$`)

// Held is the variable whose value NAME=VALUE had before it was stored.
func Held(text string) (name string, held bool) {
	m := holder().FindStringSubmatch(text)
	if m == nil || m[1] != m[2] {
		return "", false
	}
	return m[1], true
}

// Unvalued is options as they are stored: in those of a name, which are NAME=VALUE, credentials have no value.
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

// UnvaluedIn is a word of a command line without the value of a credential.
func UnvaluedIn(word string, credentials []string) string {
	name, v, _ := strings.Cut(strings.TrimPrefix(word, "--var="), "=")
	if len(v) < Shortest || !slices.Contains(credentials, name) {
		return word
	}
	return word[:len(word)-len(v)] + "${secret:" + name + "}"
}
