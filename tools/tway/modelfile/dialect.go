package modelfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Dialect is the notation of a PICT model, as set by PICT's switches. The zero value is the
// notation without switches. Models for ACTS have no dialects.
type Dialect struct {
	Separator     string // between values, one character; default: a comma
	Alias         string // between names of a value; default: |
	Negative      string // before an invalid value; default: ~
	CaseSensitive bool   // names and text are case-sensitive
}

// Check reports what is wrong with a dialect.
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

// filled fills in PICT's default characters.
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

// blank reports whether the separator of values is white space, any amount of which separates two
// values.
func (d Dialect) blank() bool { return strings.TrimSpace(d.Separator) == "" }
