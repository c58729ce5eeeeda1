package secret

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// fold is where a quoted text continues on the next line.
var fold = lazy.Pattern(`(?:\\|[ \t]*)\n(?:[ \t]*\n)*[ \t]*`)

// quotes are those around a position in a text of YAML or JSON.
type quotes struct {
	outer byte // 0: none
	inner bool // in double quotes within such quotes
}

// around returns the quotes around a position, given the beginning of its line.
func around(line string) (q quotes) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case q.outer == '"' && c == '\\':
			i++
			q.inner = q.inner != (i < len(line) && line[i] == '"')
		case q.outer == '\'' && c == '"':
			q.inner = !q.inner
		case c == q.outer && c == '\'' && i+1 < len(line) && line[i+1] == c: // two of them stand for one
			i++
		case c == q.outer:
			q = quotes{}
		case q.outer == 0 && (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t{[,:", line[i-1]) >= 0):
			q.outer = c
		}
	}
	return q
}

// written returns a text as it is written there.
func (q quotes) written(text string) string {
	if q.inner {
		text = escape(text)
	}
	switch q.outer {
	case '"':
		return escape(text)
	case '\'':
		return strings.ReplaceAll(text, "'", "''")
	}
	return text
}

// plain decodes what is written there.
func (q quotes) plain(raw string) string {
	if q.outer != 0 { // lines are folded
		raw = fold().ReplaceAllStringFunc(raw, func(s string) string {
			switch n := strings.Count(s, "\n"); {
			case s[0] == '\\' && q.outer == '"':
				return strings.Repeat(`\n`, n-1)
			case n == 1:
				return " "
			case q.outer == '"':
				return strings.Repeat(`\n`, n-1)
			default:
				return strings.Repeat("\n", n-1)
			}
		})
	}
	switch q.outer {
	case '"':
		raw = unescape(raw)
	case '\'':
		raw = strings.ReplaceAll(raw, "''", "'")
	}
	if q.inner {
		raw = unescape(raw)
	}
	return raw
}

// escape returns a text as written between quotes in JSON.
func escape(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string
	return string(b.Bytes()[1 : b.Len()-2])
}

func unescape(raw string) (text string) {
	if json.Unmarshal([]byte(`"`+raw+`"`), &text) != nil {
		return raw
	}
	return text
}
