package schemagen

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// variant is a value and what is special about it.
type variant struct {
	about string
	value any
}

// maxDepth is how deep references and nesting are followed.
const maxDepth = 5

// follow resolves references and merges allOf.
func (s *Schema) follow(n map[string]any, depth int) map[string]any {
	for range 20 {
		ref, ok := n["$ref"].(string)
		if !ok {
			break
		}
		at := any(s.root)
		for _, step := range jsontree.Steps(ref) {
			switch x := at.(type) {
			case map[string]any:
				at = x[step]
			case []any:
				if at = nil; jsontree.Item(x, step) != nil {
					at = *jsontree.Item(x, step)
				}
			default:
				return map[string]any{}
			}
		}
		if n, ok = at.(map[string]any); !ok {
			return map[string]any{}
		}
	}
	parts, ok := n["allOf"].([]any)
	if !ok || depth > maxDepth {
		return n
	}
	whole := maps.Clone(n)
	delete(whole, "allOf")
	for _, p := range parts {
		if part, ok := p.(map[string]any); ok {
			whole = s.merged(whole, part, depth)
		}
	}
	return whole
}

// merged returns a schema with the additions of another.
func (s *Schema) merged(n, part map[string]any, depth int) map[string]any {
	whole := maps.Clone(n)
	for key, v := range s.follow(part, depth+1) {
		switch have := whole[key].(type) {
		case map[string]any:
			if more, ok := v.(map[string]any); ok && key == "properties" {
				have = maps.Clone(have)
				maps.Copy(have, more)
				whole[key] = have
			}
		case []any:
			if more, ok := v.([]any); ok && key == "required" {
				whole[key] = append(slices.Clone(have), more...)
			}
		case nil:
			whole[key] = v
		}
	}
	return whole
}

// kinds returns the types of a schema; all types if it names none.
func kinds(n map[string]any) []string {
	switch t := n["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, v := range t {
			if k, ok := v.(string); ok {
				list = append(list, k)
			}
		}
		return list
	}
	switch {
	case n["properties"] != nil:
		return []string{"object"}
	case n["items"] != nil:
		return []string{"array"}
	}
	return []string{"string"}
}

func number(n map[string]any, key string) (float64, bool) {
	v, ok := n[key].(json.Number)
	if !ok {
		return 0, false
	}
	f, err := v.Float64()
	return f, err == nil
}

// values returns candidates for valid values; the first is the usual one.
func (s *Schema) values(n map[string]any, depth int) (list []variant) {
	n = s.follow(n, depth)
	for _, key := range []string{"const", "default", "example"} {
		if v, ok := n[key]; ok && (v != nil || key == "const") { // null is among the values below, but is not the usual one
			list = append(list, variant{key, v})
		}
	}
	if examples, ok := n["examples"].([]any); ok {
		for _, v := range examples {
			list = append(list, variant{"example", v})
		}
	}
	if enum, ok := n["enum"].([]any); ok {
		for _, v := range enum {
			list = append(list, variant{"enum " + show(v), v})
		}
		return list
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if parts, ok := n[key].([]any); ok && depth < maxDepth {
			rest := maps.Clone(n) // what each of them must fit as well
			for _, key := range []string{key, "const", "default", "example", "examples"} {
				delete(rest, key)
			}
			for _, p := range parts {
				if part, ok := p.(map[string]any); ok {
					list = append(list, s.values(s.merged(rest, part, depth), depth+1)...)
				}
			}
			return list
		}
	}
	for _, kind := range kinds(n) {
		if len(list) == 0 && (kind == "integer" || kind == "number" || kind == "string" && formatOf(n) == nil) {
			list = described(n, kind)
		}
		switch kind {
		case "integer":
			list = append(list, numbers(n, true)...)
		case "number":
			list = append(list, numbers(n, false)...)
		case "boolean":
			list = append(list, variant{"true", true}, variant{"false", false})
		case "null":
			list = append(list, variant{"null", nil})
		case "array":
			list = append(list, s.arrays(n, depth)...)
		case "object":
			list = append(list, s.objects(n, depth)...)
		default:
			list = append(list, texts(n)...)
		}
	}
	return list
}

func num(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

func numbers(n map[string]any, whole bool) (list []variant) {
	low, hasLow := number(n, "minimum")
	high, hasHigh := number(n, "maximum")
	add := func(about string, f float64) {
		if !(hasLow && f < low || hasHigh && f > high) {
			list = append(list, variant{about, num(f)})
		}
	}
	step := 1.0
	if m, ok := number(n, "multipleOf"); ok && m > 0 {
		step = m
		add("multipleOf", m)
	}
	if x, ok := number(n, "exclusiveMinimum"); ok {
		low, hasLow = x+step, true
	}
	if x, ok := number(n, "exclusiveMaximum"); ok {
		high, hasHigh = x-step, true
	}
	add("1", 1)
	if hasLow {
		add("minimum", low)
		add("minimum + 1", low+step)
	}
	if hasHigh {
		add("maximum", high)
		add("maximum - 1", high-step)
	}
	for _, f := range []float64{0, -1, 2, 3, 7, 10, 13, 42, 99, 100, 255, 256, 1000, 65536, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, 1 << 53} {
		add(num(f).String(), f)
	}
	if !hasHigh && n["format"] != "int32" && n["format"] != "int64" {
		list = append(list, variant{"2^63", json.Number("9223372036854775808")})
	}
	if n["format"] == "int64" && !hasHigh {
		list = append(list, variant{"2^63 - 1", json.Number("9223372036854775807")})
	}
	if !whole {
		for _, f := range []float64{0.5, -0.1, 1e-9, 3.999} {
			add(num(f).String(), f)
		}
		list = append(list, variant{"1e308", json.Number("1e308")})
	}
	return list
}

func (s *Schema) arrays(n map[string]any, depth int) (list []variant) {
	items, _ := n["items"].(map[string]any)
	if items == nil {
		items = map[string]any{}
	}
	if depth >= maxDepth {
		return []variant{{"empty", []any{}}}
	}
	values := s.values(items, depth+1)
	if len(values) == 0 {
		return []variant{{"empty", []any{}}}
	}
	low, hasLow := number(n, "minItems")
	high, hasHigh := number(n, "maxItems")
	add := func(about string, l []any) {
		if k := float64(len(l)); !(hasLow && k < low || hasHigh && k > high) {
			list = append(list, variant{about, l})
		}
	}
	times := func(k int) []any {
		l := make([]any, k)
		for i := range l {
			l[i] = values[0].value
			if unique, _ := n["uniqueItems"].(bool); unique {
				l[i] = values[i%len(values)].value
			}
		}
		return l
	}
	add("one item", times(1))
	if hasLow && low < 1000 {
		add("minItems", times(int(low)))
	}
	if hasHigh && high < 1000 {
		add("maxItems", times(int(high)))
	}
	add("empty", []any{})
	add("2 items", times(2))
	add("1000 items", times(1000))
	for _, v := range values[1:] {
		add("an item: "+v.about, append(times(max(int(low)-1, 0)), v.value))
	}
	return list
}

func (s *Schema) objects(n map[string]any, depth int) (list []variant) {
	if depth >= maxDepth {
		return []variant{{"empty", map[string]any{}}}
	}
	p := s.parts(n, depth)
	list = append(list, variant{"all", p.with("", nil)})
	if len(p.required) < len(p.names) {
		list = append(list, variant{"required alone", p.small()})
	}
	for _, name := range p.names {
		if !slices.Contains(p.required, name) {
			without := p.with("", nil)
			delete(without, name)
			list = append(list, variant{"without " + name, without})
		}
		for i, v := range p.values[name] {
			if i > 0 {
				list = append(list, variant{name + ": " + v.about, p.with(name, v.value)})
			}
		}
	}
	return list
}

// parts are the properties of an object.
type parts struct {
	names, required []string
	schemas         map[string]map[string]any
	values          map[string][]variant
}

func (s *Schema) parts(n map[string]any, depth int) *parts {
	p := &parts{schemas: make(map[string]map[string]any), values: make(map[string][]variant)}
	properties, _ := n["properties"].(map[string]any)
	p.names = slices.Sorted(maps.Keys(properties))
	if list, ok := n["required"].([]any); ok {
		for _, v := range list {
			if name, ok := v.(string); ok {
				p.required = append(p.required, name)
			}
		}
	}
	for _, name := range p.names {
		sub, _ := properties[name].(map[string]any)
		if sub == nil {
			sub = map[string]any{}
		}
		p.schemas[name] = sub
		p.values[name] = s.values(sub, depth+1)
	}
	return p
}

// with returns the usual object with one property set.
func (p *parts) with(name string, value any) map[string]any {
	m := make(map[string]any, len(p.names))
	for _, k := range p.names {
		if len(p.values[k]) > 0 {
			m[k] = p.values[k][0].value
		}
	}
	if name != "" {
		m[name] = value
	}
	return m
}

// small returns the usual object without optional properties.
func (p *parts) small() map[string]any {
	m := make(map[string]any, len(p.required))
	for _, k := range p.required {
		if len(p.values[k]) > 0 {
			m[k] = p.values[k][0].value
		}
	}
	return m
}

// show returns a value in a few characters.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil || len(b) > 40 || !utf8.Valid(b) {
		return "value"
	}
	return string(b)
}
