package schemagen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// What is made of schemas, and what they say of values that are damaged in every place.
func TestEverySmallChange(t *testing.T) {
	schemas := []string{
		order,
		`{"type": "object", "properties": {"a": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "date", "minLength": 2}]}, "b": {"allOf": [{"type": "number", "minimum": 0}, {"multipleOf": 0.5}]}, "c": {"const": 7}, "d": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": ["boolean", "null"]}}}, "required": ["b"]}`,
		`{"type": "object", "minProperties": 1, "patternProperties": {"^x-": {"type": "string"}}, "properties": {"e": {"type": "string", "format": "email"}, "u": {"type": "string", "format": "uri", "example": "http://x.example"}, "n": {"type": "object", "properties": {"deep": {"type": "integer", "default": 3}}, "required": ["deep"]}, "not": {"not": {"type": "string"}}}}`,
	}
	values := []string{`{"amount": 5, "size": "m", "code": "AB-12", "tags": ["abc", ""]}`, `{"a": 1, "b": 1.5, "c": 7, "d": [true, null]}`, `{"e": "a@b.example", "n": {"deep": 1}, "x-1": "y"}`}
	for i, text := range schemas {
		s, err := New([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		golden.Sweep(t, fmt.Sprint("values", i), golden.Changed("0\"", values[i]), func(text string) string { return s.Check([]byte(text)) })
	}
	golden.Sweep(t, "inputs", golden.Changed("", `{"type": "object", "required": ["b"], "properties": {"a": {"oneOf": [{"type": "integer"}, {"const": 7}]}, "b": {"type": "array", "maxItems": 2, "items": {"enum": ["x", null]}}, "c": {"type": "string", "pattern": "^k+$"}}}`), func(text string) string {
		s, err := New([]byte(text))
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		for _, in := range s.Inputs(3, 3) {
			fmt.Fprintf(&b, "%s %t %t %s\n", in.About, in.Valid, in.Mixed, in.Value)
		}
		return b.String()
	})
}
