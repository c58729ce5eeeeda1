package secret

import (
	"slices"
	"strings"
)

// words: one of these is near everything that the expressions find. The last two
// precede userinfo.
var words = [...]string{"authorization", "bearer", "key", "token", "secret", "passw", "pwd", "cookie", "credential", "auth=", "sig=", "signature=", ":/", `:\/`}

// prefixes has a bit for each word at its first three letters.
var prefixes = func() (t [3][256]uint16) {
	for bit, w := range words {
		for i := range t {
			if i >= len(w) {
				for c := range t[i] {
					t[i][c] |= 1 << bit
				}
				continue
			}
			t[i][w[i]] |= 1 << bit
			t[i][strings.ToUpper(w)[i]] |= 1 << bit
		}
	}
	return t
}()

// near returns the parts of a text in which something may be declared. The expressions
// are slow, and most of a long text does not concern them.
func near[T string | []byte](text T) (list [][2]int) {
	const (
		step  = 4 << 10
		reach = 64 << 10 // from a name to the end of its value
	)
	for at := 0; at+2 < len(text); at++ {
		bits := prefixes[0][text[at]] & prefixes[1][text[at+1]] & prefixes[2][text[at+2]]
		if bits == 0 {
			continue
		}
		ahead := string(text[at:min(at+step, len(text))])
		if !slices.ContainsFunc(words[:], func(w string) bool {
			if len(w) > len(ahead) || !strings.EqualFold(ahead[:len(w)], w) {
				return false
			}
			if w[0] == ':' {
				return strings.Contains(ahead, "@")
			}
			return names(ahead[len(w)-1:], len(ahead) == step)
		}) {
			continue
		}
		from, to := max(at-3*step, 0), min(at+step+reach, len(text))
		if n := len(list); n > 0 && from <= list[n-1][1] {
			list[n-1][1] = to
		} else {
			list = append(list, [2]int{from, to})
		}
		at += step
	}
	return list
}

// names reports whether the end of a word belongs to a name with a value, or may if
// the text continues. Most texts that contain the words only mention them.
func names(rest string, goesOn bool) bool {
	if rest[0] == '=' {
		return true
	}
	rest = strings.TrimLeftFunc(rest, func(r rune) bool {
		return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	})
	rest = strings.TrimPrefix(rest, `\`)
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		rest = rest[1:]
	}
	rest = strings.TrimLeft(rest, " \t\n\f\r")
	return rest == "" && goesOn || rest != "" && (rest[0] == ':' || rest[0] == '=')
}
