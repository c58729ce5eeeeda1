package secret

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// placeholder stands for a literal in a document that is stored.
var placeholder = lazy.Pattern(`\$\{secret:([0-9]+)\}`)

// Placeholder stands for literal n of a document, counted from 1.
func Placeholder(n int) string { return fmt.Sprintf("${secret:%d}", n) }

// Placeholders are the numbers of the literals that a text has placeholders for.
func Placeholders(text []byte) (list []int) {
	for _, m := range placeholder().FindAllSubmatch(text, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// Number is that of literal i of a text, behind those that it has placeholders for.
func (d Declared) Number(i int) int { return d.Held + i + 1 }

// Seal is the text with placeholders for its literals. Without literals it is the
// text itself.
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

// Reveal puts values where placeholders are, escaped as the quotes around them
// need it. The first that value does not know is an error that names it.
func Reveal(text []byte, value func(n int) (string, bool)) ([]byte, error) {
	var out []byte
	end := 0
	for _, m := range placeholder().FindAllSubmatchIndex(text, -1) {
		n, _ := strconv.Atoi(string(text[m[2]:m[3]])) // digits; too many are no number that is known
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

// MissingError says that the value of a literal is nowhere to be found.
type MissingError struct{ N int }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the value of %s is not known", Placeholder(e.N))
}
