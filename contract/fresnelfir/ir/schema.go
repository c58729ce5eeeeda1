package ir

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/doctree"
)

// What follows an operator, by operators that take the same: names, operands (x),
// the parameters of a refinement (with), and * for any number more of the last.
// [exprReader] reads it.
var operands = []struct{ ops, take []string }{
	{[]string{"field"}, []string{"name", "name"}},
	{[]string{"forall", "exists", "sum", "count"}, []string{"name", "name", "x"}},
	{[]string{"derived", "observer"}, []string{"name", "name", "*"}},
	{[]string{"is"}, []string{"name", "name"}},
	{[]string{"is"}, []string{"name", "name", "with"}},
	{[]string{"not", "old"}, []string{"x"}},
	{[]string{"and", "or"}, []string{"x", "*"}},
	{[]string{"if"}, []string{"x", "x", "x"}},
	{[]string{"eq", "neq", "lt", "lte", "gt", "gte", "implies", "add", "sub", "mul", "div", "mod", "min", "max"}, []string{"x", "x"}},
}

// expressionType is an expression for editors; with arithmetic, one that may have the
// operators that only Thresh knows.
func expressionType(withArithmetic bool) doctree.Type {
	name, known := "expression", slices.Sorted(maps.Keys(words))
	if withArithmetic {
		name, known = "value", slices.Sorted(maps.Keys(arithmetic))
		known = append(slices.Sorted(maps.Keys(words)), known...)
	}
	schemas := map[string]string{"name": `{"type": "string"}`, "x": `{"$ref": "#/$defs/` + name + `"}`, "with": `{"type": "object", "additionalProperties": {"type": "string"}}`}
	var forms []string
	for _, o := range operands {
		ops := slices.DeleteFunc(slices.Clone(o.ops), func(op string) bool { return !slices.Contains(known, op) })
		if len(ops) == 0 {
			continue
		}
		first, _ := json.Marshal(ops) // of strings
		items, rest, least := []string{`{"enum": ` + string(first) + `}`}, "false", 0
		for i, take := range o.take {
			if take == "*" {
				rest = schemas[o.take[i-1]]
				continue
			}
			items = append(items, schemas[take])
			least = len(items)
		}
		forms = append(forms, fmt.Sprintf(`{"type": "array", "minItems": %d, "prefixItems": [%s], "items": %s}`, least, strings.Join(items, ", "), rest))
	}
	return doctree.Any().As(fmt.Sprintf(`{"$ref": "#/$defs/%s", "$defs": {%[1]q: {"anyOf": [{"type": ["boolean", "string"]},
		{"type": "integer", "minimum": -9223372036854775808, "maximum": 9223372036854775807}, %s]}}}`, name, strings.Join(forms, ", ")))
}

// ruleType is a temporal rule for editors.
func ruleType() doctree.Type {
	trigger := `{"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties":
		{"action": {"type": "string"}, "tag": {"enum": ["` + strings.Join(Tags(), `", "`) + `"]}, "writes": {"type": "string"}, "reads": {"type": "string"}}}]}`
	rule := func(word, least, third string) string {
		return fmt.Sprintf(`{"type": "array", "minItems": %s, "prefixItems": [{"const": %q}, %s, %s], "items": false}`, least, word, trigger, third)
	}
	never := rule("never", "2", `{"type": "object", "additionalProperties": false, "properties": {"same": {"type": "string", "minLength": 1}}}`)
	holds := `{"$ref": "#/$defs/expression"}`
	return doctree.Any().As(`{"anyOf": [` + rule("before", "3", holds) + `, ` + never + `, ` + rule("after", "3", `{"anyOf": [`+holds+`, `+never+`]}`) + `]}`)
}

// given is a keyword of JSON Schema: one of the keys has a value.
func given(keys ...string) string {
	var forms []string
	for _, key := range keys {
		forms = append(forms, fmt.Sprintf(`{"required": [%q], "properties": {%[1]q: {"not": {"type": "null"}}}}`, key))
	}
	return `"anyOf": [` + strings.Join(forms, ", ") + `]`
}

// where is a keyword of JSON Schema: what holds if a key is a word, and what else.
func where(key, word, then, otherwise string) string {
	return fmt.Sprintf(`{"if": {"required": [%q], "properties": {%[1]q: {"const": %q}}}, "then": {%s}, "else": {%s}}`, key, word, then, otherwise)
}

// lacks is a keyword of JSON Schema: a key has no value.
func lacks(key string) string { return fmt.Sprintf(`"properties": {%q: {"type": "null"}}`, key) }

// wordType is a text of which only some are known; others are doubtful, as the published
// format names no more.
func wordType(words []string) doctree.Type {
	list, _ := json.Marshal(words) // of strings
	return doctree.Text().As(`{"enum": ` + string(list) + `}`)
}
