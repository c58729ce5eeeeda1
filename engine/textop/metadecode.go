package textop

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// ParseMeta reads the metadata of a plug-in (OPERATOR_META) from its host's
// value: strings, bools, int, int64, float64, json.Number, []any,
// map[string]any. It reports everything that is wrong; the Meta is usable if
// the list has no errors. As in the original registry, risk_level may be in any
// case, and lists of tags become sorted and distinct.
func ParseMeta(raw map[string]any) (Meta, diag.List) {
	var l faults
	m := Meta{OverLength: SkipLong}
	known := []string{"op_id", "bucket_tags", "surface_compat", "risk_level", "strength_range", "params_schema", "over_length", "purpose", "strength_doc", "origin"}
	for _, key := range known[:5] {
		if _, ok := raw[key]; !ok {
			l.add(key, "is missing: the contract requires it")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		v := raw[key]
		switch key {
		case "op_id":
			m.ID = l.text(key, v)
		case "bucket_tags":
			m.BucketTags = l.texts(key, v)
		case "surface_compat":
			m.SurfaceTags = l.texts(key, v)
		case "risk_level":
			m.Risk = Risk(strings.ToUpper(l.text(key, v)))
		case "strength_range":
			m.Strength = l.span(key, v)
		case "params_schema":
			m.Params = l.params(key, v)
		case "over_length":
			m.OverLength = OverLength(strings.ToUpper(l.text(key, v)))
		case "purpose":
			m.Purpose = l.text(key, v)
		case "strength_doc":
			m.StrengthDoc = l.text(key, v)
		case "origin":
			m.Origin = l.text(key, v)
		default:
			if near := diag.Nearest(key, known); near != "" {
				l.warn(key, fmt.Sprintf("is not a field of the contract; did you mean %s?", near))
			}
		}
	}
	// A field of the wrong type was reported above; for its zero value,
	// Validate would report the same fault again.
	reported := make(map[string]bool)
	for _, d := range l.list {
		reported[d.Path] = reported[d.Path] || d.Level == diag.Error
	}
	for _, d := range m.Validate() {
		if field, _, _ := strings.Cut(d.Path, "["); !reported[field] && !reported[d.Path] {
			l.list = append(l.list, d)
		}
	}
	m.resolve() // last, since messages count positions in the lists as written
	return m, l.list
}

// resolve fills Buckets and Surfaces from the tags.
func (m *Meta) resolve() {
	m.BucketTags = distinct(m.BucketTags)
	m.SurfaceTags = distinct(m.SurfaceTags)
	m.Buckets, m.Surfaces = nil, nil
	for _, tag := range m.BucketTags {
		if b, _ := ParseBucket(tag); b != "" {
			m.Buckets = append(m.Buckets, b)
		}
	}
	for _, tag := range m.SurfaceTags {
		if s, _ := ParseSurface(tag); s != "" {
			m.Surfaces = append(m.Surfaces, s)
		}
	}
	m.Buckets, m.Surfaces = distinct(m.Buckets), distinct(m.Surfaces)
}

func distinct[S ~[]T, T ~string](s S) S {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

func (f *faults) text(path string, v any) string {
	s, ok := v.(string)
	if !ok {
		f.add(path, "is "+describe(v)+": expected a string")
	}
	return s
}

func (f *faults) texts(path string, v any) []string {
	list, ok := v.([]any)
	if !ok {
		f.add(path, "is "+describe(v)+": expected a list of strings")
		return nil
	}
	var out []string
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			f.add(fmt.Sprintf("%s[%d]", path, i), "is "+describe(e)+": expected a string")
		}
		out = append(out, s)
	}
	return out
}

func (f *faults) span(path string, v any) Range {
	list, ok := v.([]any)
	if !ok || len(list) != 2 {
		f.add(path, "is "+describe(v)+": expected a list of two integers, [min, max]")
		return Range{}
	}
	var ends [2]int
	for i, e := range list {
		n, ok := whole(e)
		if !ok {
			f.add(path, fmt.Sprintf("has %s at place %d: expected two integers, [min, max]", describe(e), i))
			return Range{}
		}
		ends[i] = n
	}
	return Range{ends[0], ends[1]}
}

// params reads params_schema: a dict from names to a list of choices or the
// name of a type.
func (f *faults) params(path string, v any) []ParamSpec {
	schema, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			f.add(path, "is "+describe(v)+": expected an object from parameter names to a type name or a list of choices")
		}
		return nil
	}
	var specs []ParamSpec
	for _, name := range slices.Sorted(maps.Keys(schema)) {
		spec := ParamSpec{Name: name}
		switch d := schema[name].(type) {
		case string:
			spec.Kind = d
		case []any:
			spec.Kind = "choice"
			for _, c := range d {
				spec.Choices = append(spec.Choices, fmt.Sprint(c))
			}
		default:
			spec.Kind = fmt.Sprint(d)
		}
		specs = append(specs, spec)
	}
	return specs
}

// whole returns an integer; a bool is none.
func whole(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), int64(int(n)) == n
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) < 1<<53
	case json.Number:
		i, err := n.Int64()
		return int(i), err == nil
	}
	return 0, false
}

// describe names a value for a message.
func describe(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", x)
	case bool:
		return fmt.Sprintf("the boolean %t", x)
	case int, int64, float64, json.Number:
		return fmt.Sprintf("the number %v", x)
	case []any:
		return fmt.Sprintf("a list of %d", len(x))
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v)
}
