package system

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

func nested(v any) bool {
	switch v.(type) {
	case nil, []any, map[string]any:
		return true
	}
	return false
}

// arguments returns the members of an object as arguments.
func arguments(object []byte) (list []sut.Named, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		return nil, fmt.Errorf("the arguments of the case: %w", err)
	}
	for name, v := range m {
		list = append(list, sut.Named{Name: name, Value: v})
	}
	slices.SortFunc(list, func(a, b sut.Named) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// sendable reports whether an input reaches the operation unchanged. In a path, a query or a
// header, everything is a text.
func sendable(o *sut.Operation, in *schemagen.Input) bool {
	var m map[string]any
	if json.Unmarshal(in.Value, &m) != nil {
		return false
	}
	for _, a := range o.Arguments {
		if a.In != "path" && a.In != "query" && a.In != "header" && a.In != "cookie" {
			continue
		}
		v, given := m[a.Name]
		if a.In == "path" && !given {
			return false
		}
		if !given {
			continue
		}
		text, isText := v.(string)
		wrong := !in.Valid && strings.HasPrefix(in.About, a.Name+": ")
		if a.Style != sut.StyleJSON && !written(v, &a, wrong) {
			return false
		}
		if wrong && a.Type == "string" && !isText || wrong && a.Type == "" {
			return false // it would be read as a text
		}
		switch {
		case a.In == "path" && isText && (text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\\%\x00?#") || len(text) > 2000):
			return false
		case a.In == "query" && len(text) > 6000:
			return false // servers refuse such a long address
		case a.In == "header" && (len(text) > 4000 || strings.TrimSpace(text) != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })):
			return false // it would arrive as another text, or is too long for servers
		case a.In == "cookie" && (len(text) > 2000 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\";,\\", r) })):
			return false
		}
	}
	return sendableBody(o, in, m)
}

// written reports whether a value that is a list or an object stays unambiguous as a parameter: it
// must not be nested.
func written(v any, a *sut.Argument, wrong bool) bool {
	switch v := v.(type) {
	case nil:
		return false
	case []any: // an empty list, and the types of items, would be lost
		return len(v) > 0 && !wrong && !slices.ContainsFunc(v, unclear(a, len(v)))
	case map[string]any:
		parts := slices.Collect(maps.Values(v))
		for name := range v {
			parts = append(parts, name)
		}
		return a.In != "cookie" && len(v) > 0 && !wrong && !slices.ContainsFunc(parts, unclear(a, len(v)))
	}
	return true
}

// unclear returns a function that reports whether one of a value's n parts is ambiguous once it is
// joined to the others.
func unclear(a *sut.Argument, n int) func(any) bool {
	joined := a.In != "query" || a.Style != "" && a.Style != sut.StyleDeep
	marks := ", |/?#%\\\x00"
	if a.In != "query" && a.Style != "" {
		marks += ".;="
	}
	return func(x any) bool {
		text, isText := x.(string)
		if number, ok := x.(float64); ok {
			text = strconv.FormatFloat(number, 'g', -1, 64)
		}
		return nested(x) || joined && (isText && text == "" || strings.ContainsAny(text, marks) || len(text) > 300 || n > 50)
	}
}

// sendableBody reports whether a body reaches the operation unchanged. In a form, in parts and in a
// text, everything is a text.
func sendableBody(o *sut.Operation, in *schemagen.Input, args map[string]any) bool {
	kind := ""
	for _, h := range o.Headers {
		if strings.EqualFold(h[0], "Content-Type") {
			kind = h[1]
		}
	}
	if kind == "" || isJSON(kind) {
		return true
	}
	for _, a := range o.Arguments {
		v, given := args[a.Name]
		if a.In != "body" || !given {
			continue
		}
		_, isText := v.(string)
		list, isList := v.([]any)
		_, isObject := v.(map[string]any)
		wrong := !in.Valid && strings.HasPrefix(in.About, a.Name+": ")
		switch {
		case v == nil, isObject && kind != sut.Multipart, isList && (len(list) == 0 || wrong || slices.ContainsFunc(list, nested)):
			return false
		case wrong && !isText && (a.Type == "string" || a.Type == ""):
			return false
		}
	}
	return true
}

// callable returns the operations to call and the names of those that are called only on request.
// It warns of those that cannot be called, and of answers that cannot be judged, once for each reason.
func (c *Campaign) callable(all []sut.Operation) (called []sut.Operation, left, warnings []string) {
	var reasons []string
	without := make(map[string][]string)
	note := func(what, reason string) {
		if without[reason] == nil {
			reasons = append(reasons, reason)
		}
		without[reason] = append(without[reason], what)
	}
	for _, o := range all {
		if c.onlyIfAsked(&o) {
			left = append(left, o.Name)
			continue
		}
		if o.Schema == nil {
			note(o.Name, "not called: nothing says what its arguments are")
			continue
		}
		if _, err := schemagen.New(o.Schema); err != nil {
			note(o.Name, fmt.Sprintf("not called: %v", err))
			continue
		}
		called = append(called, o)
		for _, status := range slices.Sorted(maps.Keys(o.Answers)) {
			if _, err := schemagen.New(o.Answers[status]); len(o.Answers[status]) > 0 && string(o.Answers[status]) != "null" && err != nil {
				note(strings.TrimSuffix(fmt.Sprintf("%s with status %s", o.Name, status), " with status 0"), fmt.Sprintf("not compared with their schema: %v", err))
			}
		}
	}
	for _, reason := range reasons {
		what, is := strings.Join(without[reason], ", "), "are"
		if !strings.HasPrefix(reason, "not called") {
			what = "answers of " + what
		} else if len(without[reason]) == 1 {
			is = "is"
		}
		warnings = append(warnings, fmt.Sprintf("%s %s %s", what, is, reason))
	}
	return called, left, warnings
}
