package modelfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Dialect is how a PICT model is spelt, as PICT's switches say. The zero value
// is how it is spelt without any. Models for ACTS have none.
type Dialect struct {
	Separator     string // between values, one character: a comma
	Alias         string // between names of a value: |
	Negative      string // before an invalid value: ~
	CaseSensitive bool   // names and text differ if their case does
}

// Check says what is wrong with a dialect.
func (d Dialect) Check() error {
	d = d.filled()
	for _, x := range []struct{ what, text string }{
		{"the separator of values", d.Separator}, {"the separator of names", d.Alias}, {"the sign of invalid values", d.Negative},
	} {
		if utf8.RuneCountInString(x.text) != 1 || strings.ContainsAny(x.text, "\r\n") {
			return fmt.Errorf("%s must be one character, got %q", x.what, x.text)
		}
	}
	return nil
}

// filled has PICT's own characters where none are given.
func (d Dialect) filled() Dialect {
	for _, x := range []struct {
		to  *string
		own string
	}{{&d.Separator, ","}, {&d.Alias, "|"}, {&d.Negative, "~"}} {
		if *x.to == "" {
			*x.to = x.own
		}
	}
	return d
}

// blank reports whether the separator of values is white space, of which any
// number stands between two.
func (d Dialect) blank() bool { return strings.TrimSpace(d.Separator) == "" }
