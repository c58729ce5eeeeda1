package schemagen

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const order = `{"type": "object", "required": ["amount", "size"], "additionalProperties": false, "properties": {
	"amount": {"type": "integer", "minimum": 1, "exclusiveMaximum": 100},
	"size": {"$ref": "#/components/schemas/Size"},
	"code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$", "nullable": true},
	"tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}}}, 
	"components": {"schemas": {"Size": {"enum": ["s", "m"]}}}}`

// Valid inputs fit the schema, the others break it, and each rule has one.
func TestInputs(t *testing.T) {
	s, err := New([]byte(order))
	if err != nil {
		t.Fatal(err)
	}
	list := s.Inputs(20, 1)
	var about []string
	mixed := 0
	for _, in := range list {
		if why := s.Check(in.Value); in.Valid != (why == "") {
			t.Errorf("%s: %s valid=%t: %q", in.About, in.Value, in.Valid, why)
		}
		if in.Mixed {
			mixed++
			continue
		}
		about = append(about, in.About)
	}
	for _, want := range []string{
		"all", "required alone", "without code", "amount: minimum + 1", "amount: maximum - 1", "size: enum \"m\"", "code: null", "tags: empty", "tags: maxItems",
		"amount: missing", "amount: below minimum", "amount: at exclusiveMaximum", "amount: of type string", "amount: a fraction", "size: not in enum",
		"code: does not match pattern", "tags: more than maxItems", "tags: item: longer than maxLength", "unknown property",
	} {
		if !slices.Contains(about, want) {
			t.Errorf("no input %q among\n%s", want, strings.Join(about, "\n"))
		}
	}
	if mixed != 20 {
		t.Errorf("%d inputs with several special values, want 20", mixed)
	}
	again := s.Inputs(20, 1)
	if a, b := text(t, list), text(t, again); a != b {
		t.Error("the same schema and seed gave other inputs")
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`{`:                              "is no JSON",
		`[]`:                             "is no object",
		`{"type": 5}`:                    "cannot be used",
		`{"$ref": "http://a.example/b"}`: "cannot be used",
		`true`:                           "",
		`{"type": "object", "properties": {"a": {"$ref": "#"}}}`: "",
	} {
		s, err := New([]byte(schema))
		if want == "" && err == nil {
			s.Inputs(5, 1)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, x := range []struct{ schema, value, want string }{
		{`{"type": "integer"}`, `"a"`, "the value: got string, want integer"},
		{`{"properties": {"a": {"items": {"type": "string"}}}}`, `{"a": ["x", 1]}`, "/a/1: got number, want string"},
		{`{"type": "string", "nullable": true}`, `null`, ""},
		{`{"minimum": 1, "exclusiveMinimum": true}`, `1`, "the value: exclusiveMinimum"},
		{`{}`, `{`, "it is no JSON"},
	} {
		s, err := New([]byte(x.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Check([]byte(x.value)); (x.want == "") != (got == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%s, %s: %q, want %q", x.schema, x.value, got, x.want)
		}
	}
}
