package schemagen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/splitmix"
)

// Input is an object of arguments.
type Input struct {
	// About says what is special about the input; for an invalid one it names the
	// broken rule: "amount: below minimum".
	About string
	Valid bool
	Mixed bool            // several values are special
	Value json.RawMessage // an object
}

// maxInputs bounds the number of inputs for one schema.
const maxInputs = 4000

// Inputs returns valid objects and objects that break one rule each, the most
// revealing ones first. mixed is the number of combinations of special values,
// which are drawn with the seed.
func (s *Schema) Inputs(mixed int, seed uint64) []Input {
	var list []Input
	seen := make(map[string]bool)
	mixing := false
	add := func(about string, v map[string]any, valid bool) bool {
		if len(list) >= maxInputs || (s.misfit(v) == "") != valid {
			return false
		}
		text, err := json.Marshal(v)
		if err != nil || seen[string(text)] {
			return false
		}
		seen[string(text)] = true
		list = append(list, Input{About: about, Valid: valid, Mixed: mixing, Value: text})
		return true
	}
	n := s.follow(s.root, 0)
	p := s.parts(n, 0)
	for _, name := range p.names { // the usual value is the first that fits
		p.values[name] = s.usable(p, name)
	}
	usual := p.with("", nil)
	for _, v := range s.objectsOf(p) {
		if object, ok := v.value.(map[string]any); ok {
			add(v.about, object, true)
		}
	}
	for _, b := range s.breaks(n, usual, p, 0) {
		if object, ok := b.value.(map[string]any); ok {
			add(b.about, object, false)
		}
	}
	for _, v := range p.sweep(p.small()) { // here no optional part hides anything
		if object, ok := v.value.(map[string]any); ok {
			add(v.about, object, true)
		}
	}
	r := draw(seed)
	mixing = true
	for range mixed * 2 {
		if mixed == 0 || len(p.names) < 2 {
			break
		}
		m := p.with("", nil)
		var about []string
		for _, name := range p.names {
			if len(p.values[name]) == 0 || r.Intn(3) == 0 {
				if r.Intn(2) == 0 && !slices.Contains(p.required, name) {
					delete(m, name)
				}
				continue
			}
			v := p.values[name][r.Intn(len(p.values[name]))]
			m[name] = v.value
			about = append(about, name+": "+v.about)
		}
		if add(strings.Join(about, ", "), m, true) {
			mixed--
		}
	}
	return list
}

// draw is a random generator with a seed.
type draw uint64

func (r *draw) Intn(n int) int {
	return int(splitmix.Next((*uint64)(r)) % uint64(n))
}

func (s *Schema) objectsOf(p *parts) []variant {
	list := []variant{{"all", p.with("", nil)}}
	list = append(list, variant{"required alone", p.small()})
	for _, name := range p.names {
		without := p.with("", nil)
		delete(without, name)
		list = append(list, variant{"without " + name, without})
	}
	return append(list, p.sweep(p.with("", nil))...)
}

// sweep varies one argument at a time, through its values.
func (p *parts) sweep(base map[string]any) (list []variant) {
	for i := 0; ; i++ {
		more := false
		for _, name := range p.names {
			if i < len(p.values[name]) {
				more = true
				m := maps.Clone(base)
				m[name] = p.values[name][i].value
				list = append(list, variant{name + ": " + p.values[name][i].about, m})
			}
		}
		if !more {
			return list
		}
	}
}

// usable returns the values of a property that fit its schema.
func (s *Schema) usable(p *parts, name string) []variant {
	sub := maps.Clone(p.schemas[name])
	for _, key := range []string{"$defs", "definitions", "components"} {
		if v, ok := s.root[key]; ok && sub[key] == nil {
			sub[key] = v
		}
	}
	text, err := json.Marshal(sub)
	if err != nil {
		return nil
	}
	alone, err := New(text)
	if err != nil {
		return p.values[name]
	}
	return slices.DeleteFunc(slices.Clone(p.values[name]), func(v variant) bool { return alone.misfit(v.value) != "" })
}

// strangers are values of a type that no lax reader mistakes for another.
var strangers = []struct {
	kind  string
	value any
}{
	{"string", "abc"}, {"integer", json.Number("12345")}, {"boolean", true}, {"array", []any{}}, {"object", map[string]any{}}, {"null", nil},
}

// breaks returns objects that break one rule each.
func (s *Schema) breaks(n map[string]any, usual map[string]any, p *parts, depth int) (list []variant) {
	set := func(name string, v any) map[string]any {
		m := maps.Clone(usual)
		m[name] = v
		return m
	}
	for _, name := range p.required {
		m := maps.Clone(usual)
		delete(m, name)
		list = append(list, variant{name + ": missing", m})
	}
	for _, name := range p.names {
		for _, b := range s.wrong(p.schemas[name], usual[name], depth+1) {
			list = append(list, variant{name + ": " + b.about, set(name, b.value)})
		}
	}
	if extra, ok := n["additionalProperties"].(bool); ok && !extra {
		list = append(list, variant{"unknown property", set("thresh_unknown", json.Number("1"))})
	}
	return list
}

// wrong returns values that break one rule of a schema.
func (s *Schema) wrong(n map[string]any, usual any, depth int) (list []variant) {
	n = s.follow(n, depth)
	add := func(about string, v any) { list = append(list, variant{about, v}) }
	for _, x := range strangers {
		if !slices.Contains(kinds(n), x.kind) && (x.kind != "integer" || !slices.Contains(kinds(n), "number") && !slices.Contains(kinds(n), "boolean") && !slices.Contains(kinds(n), "string")) {
			add("of type "+x.kind, x.value)
		}
	}
	if slices.Contains(kinds(n), "integer") {
		add("a fraction", json.Number("1.5"))
	}
	for _, b := range []struct {
		key, about string
		by         float64
	}{{"minimum", "below minimum", -1}, {"exclusiveMinimum", "at exclusiveMinimum", 0}, {"maximum", "above maximum", 1}, {"exclusiveMaximum", "at exclusiveMaximum", 0}} {
		if f, ok := number(n, b.key); ok {
			add(b.about, num(f+b.by))
		}
	}
	if f, ok := number(n, "minLength"); ok && f >= 1 && f < long {
		add("shorter than minLength", strings.Repeat("a", int(f)-1))
	}
	if f, ok := number(n, "maxLength"); ok && f < long {
		add("longer than maxLength", strings.Repeat("a", int(f)+1))
	}
	if _, ok := n["enum"]; ok {
		add("not in enum", "thresh-unknown")
		add("not in enum", json.Number("987654"))
	}
	if f := formatOf(n); f != nil {
		for _, v := range f.invalid {
			add("no "+f.name, v)
		}
		if over := map[string]string{"int32": "2147483648", "int64": "9223372036854775808"}[f.name]; over != "" && n["maximum"] == nil {
			add("beyond "+f.name, json.Number(over))
		}
	}
	if _, ok := n["pattern"]; ok {
		add("does not match pattern", "\u00a7 no match \u00a7")
	}
	if f, ok := number(n, "multipleOf"); ok && f > 0 {
		add("not multipleOf", num(f*1.5))
	}
	if items, ok := usual.([]any); ok {
		if f, ok := number(n, "minItems"); ok && f >= 1 && int(f)-1 <= len(items) {
			add("fewer than minItems", items[:int(f)-1])
		}
		if f, ok := number(n, "maxItems"); ok && f < 10_000 && len(items) > 0 {
			l := make([]any, int(f)+1)
			for i := range l {
				l[i] = items[0]
			}
			add("more than maxItems", l)
		}
		if sub, ok := n["items"].(map[string]any); ok && depth < maxDepth && len(items) > 0 {
			for _, b := range s.wrong(sub, items[0], depth+1) {
				add("item: "+b.about, []any{b.value})
			}
		}
	}
	if object, ok := usual.(map[string]any); ok && depth < maxDepth {
		for _, b := range s.breaks(n, object, s.parts(n, depth), depth) {
			add(fmt.Sprintf("in it, %s", b.about), b.value)
		}
	}
	return list
}
