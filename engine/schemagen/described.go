package schemagen

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/lazy"
)

var (
	// cue introduces an example in a description.
	cue = lazy.Pattern(`(?i)(?:\be\.\s?g\.|\bfor example\b|\bfor instance\b|\bsuch as\b|\bexamples?:|\bex\.|예:|예를 들어)[\s:,]*`)
	// quoted is an example in quotes or as code.
	quoted = lazy.Pattern("^(?:'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`|\u2018([^\u2019\n]{1,80})\u2019|\u201c([^\u201d\n]{1,80})\u201d)")
	// plain is an example without quotes.
	plain = lazy.Pattern(`^[^\s,;()"'` + "`" + `]{1,80}`)
	// next is what separates two examples.
	next = lazy.Pattern(`^\s*(?:,\s*(?:or|and)?|/|\bor\b|\band\b|또는)\s*`)
	// notations are the usual notations for dates and times in descriptions.
	notations = strings.NewReplacer("YYYY", "2024", "MM", "05", "DD", "17", "HH", "12", "mm", "30", "SS", "00", "ss", "00")
	notation  = lazy.Pattern(`\bYYYY-MM-DD(?:[T ]HH:(?:MM|mm)(?::(?:SS|ss))?Z?)?|\bHH:(?:MM|mm)(?::(?:SS|ss))?\b`)
)

// described returns the examples in a description, at most four: most tools of MCP servers,
// and many services, give there what a schema could give in "examples".
func described(n map[string]any, kind string) (list []variant) {
	text, _ := n["description"].(string)
	var found []string
	for _, at := range cue().FindAllStringIndex(text, 4) {
		for rest := text[at[1]:]; ; {
			m, value := quoted().FindStringSubmatch(rest), ""
			if m != nil {
				value = strings.Join(m[1:], "")
				rest = rest[len(m[0]):]
			} else if value = plain().FindString(rest); value != "" {
				rest = rest[len(value):]
				value = strings.TrimRight(value, ".:!?")
			}
			if value == "" {
				break
			}
			found = append(found, value)
			more := next().FindString(rest)
			if more == "" {
				break
			}
			// What follows an example without quotes may be the rest of the sentence.
			if rest = rest[len(more):]; m == nil || quoted().FindString(rest) == "" {
				break
			}
		}
	}
	if len(found) == 0 && kind == "string" {
		// The minutes of a time are written like the month of a date.
		found = append(found, notations.Replace(strings.NewReplacer("HH:MM", "HH:mm").Replace(notation().FindString(text))))
	}
	for _, v := range slices.Compact(found) {
		if len(list) == 4 {
			break
		}
		if value := fitting(n, kind, v); value != nil {
			list = append(list, variant{"the description's " + show(value), value})
		}
	}
	return list
}

// Quoted returns the first example that a description gives in quotes; "" if there is none.
// more means that it gives examples, quoted or not.
func Quoted(description string) (example string, more bool) {
	places := cue().FindAllStringIndex(description, 4)
	for _, at := range places {
		if m := quoted().FindStringSubmatch(description[at[1]:]); m != nil {
			return strings.Join(m[1:], ""), true
		}
	}
	return "", len(places) > 0
}

// fitting converts an example to a value of the kind; nil if the schema refuses it.
func fitting(n map[string]any, kind, v string) any {
	if kind != "string" {
		low, hasLow := number(n, "minimum")
		high, hasHigh := number(n, "maximum")
		f, err := json.Number(v).Float64()
		if err != nil || hasLow && f < low || hasHigh && f > high || kind == "integer" && f != float64(int64(f)) || !json.Valid([]byte(v)) {
			return nil
		}
		return json.Number(v)
	}
	low, hasLow := number(n, "minLength")
	high, hasHigh := number(n, "maxLength")
	length := float64(utf8.RuneCountInString(v))
	if length == 0 || hasLow && length < low || hasHigh && length > high {
		return nil
	}
	if pattern, ok := n["pattern"].(string); ok {
		if re, err := regexp.Compile(pattern); err != nil || !re.MatchString(v) {
			return nil
		}
	}
	return v
}
