package secret

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// fold is where a text in quotes goes on in the next line.
var fold = lazy.Pattern(`(?:\\|[ \t]*)\n(?:[ \t]*\n)*[ \t]*`)

// quotes are those that a place in a text of YAML or JSON is in.
type quotes struct {
	outer byte // 0: none
	inner bool // in double quotes of a text in such quotes
}

// around is what a place is in, behind this beginning of its line.
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

// written is a text as it stands there.
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

// plain is what stands there as a text.
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

// escape is a text as it stands between quotes in JSON.
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
