package spectest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// How much of a comparison the text of a failure shows; the complete one has its own exhibit.
const (
	shownDiff   = 40 // lines
	shownPlaces = 5  // of JSON
)

// comparison holds two texts that should be equal.
type comparison struct {
	want, have string
	places     []string // JSON paths that differ
	diff       string   // unified; for texts of several lines
}

// compare finds the differences of two texts. If both are JSON objects or arrays, whitespace and
// the order of keys do not count.
func compare(want, have string) comparison {
	c := comparison{want: want, have: have}
	if w, ok := structured(want); ok {
		if h, ok := structured(have); ok {
			if c.places = jsonPlaces(w, h, "$", nil); len(c.places) > 0 {
				c.want, c.have = indentedJSON(w), indentedJSON(h)
			}
		}
	}
	if strings.Contains(strings.TrimSuffix(c.want, "\n"), "\n") || strings.Contains(strings.TrimSuffix(c.have, "\n"), "\n") {
		c.diff = textdiff.Format("expected", "actual", c.want, c.have)
	}
	return c
}

// plain reports that the two values alone explain the difference.
func (c comparison) plain() bool {
	return c.diff == "" && len(c.places) == 0 && (differs(c.want, c.have) == "" || strconv.Quote(c.want) == c.have || c.want == strconv.Quote(c.have))
}

// write adds the differences to the text of a failure.
func (c comparison) write(b *strings.Builder) {
	for i, p := range c.places {
		if i == shownPlaces {
			fmt.Fprintf(b, "          and in %s\n", diag.Plural(len(c.places)-i, "more place"))
			break
		}
		lead := "differs:  "
		if i > 0 {
			lead = "          "
		}
		b.WriteString(lead + p + "\n")
	}
	if c.diff == "" {
		if len(c.places) == 0 {
			fmt.Fprintf(b, "actual:   %s\n", quoteClipped(c.have))
			if why := differs(c.want, c.have); why != "" {
				fmt.Fprintf(b, "differs:  %s\n", why)
			}
		}
		return
	}
	if len(c.places) == 0 {
		b.WriteString("differs:  " + firstLine(c.want, c.have) + "\n")
	}
	n := 0
	for l := range strings.Lines(c.diff) {
		if n++; n > shownDiff {
			fmt.Fprintf(b, "(%s of the difference)\n", diag.Plural(strings.Count(c.diff, "\n")-shownDiff, "more line"))
			return
		}
		b.WriteString(l)
	}
}

// firstLine describes the first line in which two multi-line texts differ: a diff alone hides
// trailing blanks, and a short report ends before that line.
func firstLine(want, have string) string {
	w, h := strings.SplitAfter(want, "\n"), strings.SplitAfter(have, "\n")
	at := 0
	for at < min(len(w), len(h))-1 && w[at] == h[at] {
		at++
	}
	in := fmt.Sprintf("in line %d: ", at+1)
	switch {
	case w[at] == "":
		return in + "expected the end, actual " + quoteClipped(h[at])
	case h[at] == "":
		return in + "expected " + quoteClipped(w[at]) + ", actual the end"
	}
	if why := differs(w[at], h[at]); why != "" {
		return in + why
	}
	return in + "expected " + quoteClipped(w[at]) + ", actual " + quoteClipped(h[at])
}

// differs describes the difference of two single-line texts; "" if it is obvious.
func differs(want, have string) string {
	more := func(what, part string) string { return what + " " + strconv.QuoteToGraphic(part) }
	blank := func(s string) bool { return s != "" && strings.TrimSpace(s) == "" }
	if rest, ok := strings.CutPrefix(have, want); ok && blank(rest) {
		return more("the actual text ends with", rest) + ", the expected one does not"
	}
	if rest, ok := strings.CutPrefix(want, have); ok && blank(rest) {
		return more("the expected text ends with", rest) + ", the actual one does not"
	}
	if rest, ok := strings.CutSuffix(have, want); ok && blank(rest) {
		return more("the actual text begins with", rest) + ", the expected one does not"
	}
	if rest, ok := strings.CutSuffix(want, have); ok && blank(rest) {
		return more("the expected text begins with", rest) + ", the actual one does not"
	}
	switch {
	case strconv.Quote(want) == have:
		return "the actual value is in double quotes, as a text is in JSON, the expected one is not"
	case want == strconv.Quote(have):
		return "the expected value is in double quotes, as a text is in JSON, the actual one is not"
	case norm.NFC.String(want) == norm.NFC.String(have):
		return fmt.Sprintf("the same characters in another composition: %+q and %+q", want, have)
	case strings.EqualFold(want, have):
		return "in upper and lower case alone"
	case lettersOf(want) == lettersOf(have):
		return fmt.Sprintf("in blanks and invisible characters alone: %+q and %+q", want, have)
	}
	at := 0
	for at < len(want) && at < len(have) && want[at] == have[at] {
		at++
	}
	for at > 0 && (at < len(want) && !utf8.RuneStart(want[at]) || at < len(have) && !utf8.RuneStart(have[at])) {
		at--
	}
	if at < 40 {
		return ""
	}
	return fmt.Sprintf("from character %d on: expected %s, actual %s", utf8.RuneCountInString(want[:at])+1,
		quoteClipped(clipped(want[at:], 60)), quoteClipped(clipped(have[at:], 60)))
}

// lettersOf is a text without whitespace and invisible characters, in NFC.
func lettersOf(s string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) {
			return -1
		}
		return r
	}, s))
}

// structured parses a text that is a JSON object or array.
func structured(s string) (any, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil, false
	}
	return v, true
}

func indentedJSON(v any) string { return writtenJSON(v, "  ") }

// writtenJSON encodes a value as JSON without escaping HTML characters.
func writtenJSON(v any, indent string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if e.Encode(v) != nil {
		return ""
	}
	return b.String()
}

// jsonPlaces lists the paths at which two JSON values differ, each with both values.
func jsonPlaces(want, have any, path string, list []string) []string {
	say := func(v any) string {
		return clipped(compactJSON(v), 120)
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Sorted(maps.Keys(w))
		for k := range h {
			if _, both := w[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			x, wanted := w[k]
			y, there := h[k]
			at := doctree.KeyPath(path, k)
			switch {
			case !there:
				list = append(list, fmt.Sprintf("at %s: expected %s, there is no such key", at, say(x)))
			case !wanted:
				list = append(list, fmt.Sprintf("at %s: %s, which is not expected", at, say(y)))
			default:
				list = jsonPlaces(x, y, at, list)
			}
		}
		return list
	case []any:
		h, ok := have.([]any)
		if !ok {
			break
		}
		for i := range min(len(w), len(h)) {
			list = jsonPlaces(w[i], h[i], fmt.Sprintf("%s[%d]", path, i), list)
		}
		if len(w) != len(h) {
			list = append(list, fmt.Sprintf("at %s: expected %s, actual %d", path, diag.Plural(len(w), "item"), len(h)))
		}
		return list
	case json.Number:
		if h, ok := have.(json.Number); ok && sameNumber(w, h) {
			return list
		}
	}
	if compactJSON(want) != compactJSON(have) {
		list = append(list, fmt.Sprintf("at %s: expected %s, actual %s", path, say(want), say(have)))
	}
	return list
}

// sameNumber reports whether two numbers are equal, however they are written.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if len(a)+len(b) > 100 || strings.ContainsAny(string(a+b), "eE") { // the exponent may be huge
		x, xerr := a.Float64()
		y, yerr := b.Float64()
		return xerr == nil && yerr == nil && x == y
	}
	x, xok := new(big.Rat).SetString(string(a))
	y, yok := new(big.Rat).SetString(string(b))
	return xok && yok && x.Cmp(y) == 0
}

func compactJSON(v any) string { return strings.TrimSuffix(writtenJSON(v, ""), "\n") }
