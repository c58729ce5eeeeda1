package config

import (
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// expand replaces $NAME and ${NAME} the way Python's os.path.expandvars does: an unset variable
// stays as it is written, which is reported, and there is no way to escape it. n and path say where
// the text stands.
func (d *decoder) expand(text string, n *doctree.Node, path string) string {
	if d.opt.Getenv == nil || !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		name, length := variable(text[i:])
		v, ok := "", false
		if length > 0 {
			v, ok = d.opt.Getenv(name)
		}
		switch {
		case ok:
			b.WriteString(v)
			i += length
		case length > 0: // letters of the name cannot begin another variable
			if n != nil && name != "" && (name[0] > '9' || name[0] < '0') { // but $5 is an amount
				d.warn(n.Pos, "unset", path, "", "the variable %s is not set: the text stays %s", name, text[i:i+length])
			}
			b.WriteString(text[i : i+length])
			i += length
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

// expanded returns the text of a key with variables replaced.
func (s *section) expanded(key, text string) string {
	return s.d.expand(text, s.n.Get(key), s.at(key))
}

// expandedPairs returns pairs with the variables in their values replaced.
func (s *section) expandedPairs(key string) []Pair {
	list := s.pairs(key)
	for i := range list {
		list[i].Value = s.d.expand(list[i].Value, s.n.Get(key).Get(list[i].Key), s.at(key)+"."+list[i].Key)
	}
	return list
}

// variable returns the name of the variable at the start of text, written as $NAME (ASCII letters,
// digits and underscores) or ${anything}, and the length of the whole reference.
func variable(text string) (name string, length int) {
	if text[0] != '$' {
		return "", 0
	}
	if strings.HasPrefix(text, "${") {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return "", 0
		}
		return text[2:end], end + 1
	}
	n := 1
	for n < len(text) && word(text[n]) {
		n++
	}
	if n == 1 {
		return "", 0
	}
	return text[1:n], n
}

func word(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// envName returns the variable that an api_key names; "": it is not written as ${NAME}.
func envName(key string) string {
	name, ok := strings.CutPrefix(key, "${")
	name, closed := strings.CutSuffix(name, "}")
	if !ok || !closed || name == "" || strings.IndexFunc(name, func(r rune) bool { return r > 127 || !word(byte(r)) }) >= 0 {
		return ""
	}
	return name
}

// Key looks up the variable that an api_key names.
func Key(apiKey string, getenv func(string) (string, bool)) (value, name string, ok bool) {
	if apiKey == "" {
		return "", "", true
	}
	name = envName(apiKey)
	value, ok = getenv(name)
	return value, name, ok && value != ""
}
