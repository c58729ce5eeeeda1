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
		`{`:                              "is not JSON",
		`[]`:                             "is not an object",
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

// References may have percent escapes and lead into lists.
func TestReferences(t *testing.T) {
	s, err := New([]byte(`{"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#/$defs/small%20number"}, "b": {"$ref": "#/$defs/either/anyOf/1"}},
		"$defs": {"small number": {"enum": [7]}, "either": {"anyOf": [{"enum": ["x"]}, {"enum": ["y"]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if list := s.Inputs(0, 1); len(list) == 0 || !list[0].Valid || string(list[0].Value) != `{"a":7,"b":"y"}` {
		t.Errorf("the first input is %s", text(t, list))
	}
}

func TestCheck(t *testing.T) {
	for _, x := range []struct{ schema, value, want string }{
		{`{"type": "integer"}`, `"a"`, "the value: got string, want integer"},
		{`{"properties": {"a": {"items": {"type": "string"}}}}`, `{"a": ["x", 1]}`, "/a/1: got number, want string"},
		{`{"type": "string", "nullable": true}`, `null`, ""},
		{`{"minimum": 1, "exclusiveMinimum": true}`, `1`, "the value: exclusiveMinimum"},
		{`{"properties": {"a": {"type": "string", "format": "uuid"}}}`, `{"a": "12"}`, `/a: "12" is not of the format uuid`},
		{`{}`, `{`, "it is not JSON"},
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

// Schemas as services have them give usual calls, and calls that break what they say.
func TestKindsOfSchemas(t *testing.T) {
	for name, x := range map[string]struct {
		schema  string // of the property a
		valid   []string
		invalid []string
	}{
		"a date":              {`{"type":"string","format":"date"}`, []string{`"9999-12-31"`}, []string{`"2024-02-30"`}},
		"a moment":            {`{"type":"string","format":"date-time"}`, []string{`"2024-02-29T12:00:00Z"`}, []string{`"2024-02-30T12:00:00Z"`}},
		"32 bits":             {`{"type":"integer","format":"int32"}`, []string{`2147483647`, `-2147483648`}, []string{`2147483648`}},
		"64 bits":             {`{"type":"integer","format":"int64"}`, []string{`9223372036854775807`}, []string{`9223372036854775808`}},
		"nullable in parts":   {`{"allOf":[{"type":"object","properties":{"b":{"type":"integer"}}}],"nullable":true}`, []string{`null`, `{"b":1}`}, nil},
		"one of, with a base": {`{"type":"object","required":["id"],"properties":{"id":{"type":"integer","minimum":5}},"oneOf":[{"required":["x"],"properties":{"x":{"type":"boolean"}}},{"required":["y"],"properties":{"y":{"type":"integer","minimum":8}}}]}`, []string{`{"id":5,"x":true}`, `{"id":5,"y":8}`}, nil},
		"two borders in it":   {`{"type":"object","required":["b","c"],"properties":{"b":{"type":"integer","minimum":5},"c":{"type":"string","minLength":9}}}`, []string{`{"b":5,"c":"aaaaaaaaa"}`}, []string{`{"b":4,"c":"aaaaaaaaa"}`}},
		"a pattern, long":     {`{"type":"string","pattern":"^[a-z]+$","minLength":5}`, []string{`"aaaaa"`}, []string{`"aaaa"`}},
		"named as a keyword":  {`{"type":"object","required":["example"],"properties":{"example":{"type":"string","nullable":true}}}`, []string{`{"example":null}`}, nil},
		"two items at least":  {`{"type":"array","minItems":2,"items":{"type":"integer","minimum":3}}`, []string{`[3,3]`}, []string{`[3]`}},
	} {
		s, err := New([]byte(`{"type":"object","required":["a"],"properties":{"a":` + x.schema + `}}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := map[bool][]string{}
		for _, in := range s.Inputs(0, 1) {
			got[in.Valid] = append(got[in.Valid], string(in.Value))
		}
		for valid, list := range map[bool][]string{true: x.valid, false: x.invalid} {
			for _, want := range list {
				if !slices.Contains(got[valid], `{"a":`+want+`}`) {
					t.Errorf("%s: no input with %s, valid %t, among %s", name, want, valid, strings.Join(got[valid], " "))
				}
			}
		}
	}
}

// Formats are read leniently where services differ.
func TestFormats(t *testing.T) {
	for format, x := range map[string][2]string{
		"date-time": {`"2024-02-29T12:00:00.5+01:00" "2024-02-29T12:00:00" "2024-02-29 12:00:00Z" "2016-12-31T23:59:60Z" 7`, `"yesterday" "2024-13-01T00:00:00Z" ""`},
		"date":      {`"2024-02-29"`, `"2023-02-29" "29.02.2024"`},
		"time":      {`"12:00:00" "12:00:00Z"`, `"25:00:00"`},
		"uuid":      {`"123E4567-e89b-42d3-a456-426614174000"`, `"123e4567"`},
		"email":     {`"a@b.example"`, `"a"`},
		"ipv4":      {`"10.0.0.1"`, `"10.0.0" "::1"`},
		"ipv6":      {`"::1"`, `"10.0.0.1"`},
		"uri":       {`"urn:a:b" "https://a.example/b"`, `"a b"`},
		"int32":     {`2147483647 -2147483648 1.5 "x"`, `2147483648 -2147483649 1e10`},
		"int64":     {`9223372036854775807`, `9223372036854775808`},
		"unheard":   {`"["`, ``},
	} {
		s, err := New([]byte(`{"format":"` + format + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range x {
			values := json.NewDecoder(strings.NewReader(list))
			for values.More() {
				var v json.RawMessage
				if err := values.Decode(&v); err != nil {
					t.Fatal(err)
				}
				if why := s.Check(v); (why == "") != (i == 0) {
					t.Errorf("%s: %s: %q", format, v, why)
				}
			}
		}
	}
}

// A pattern with what Go's expressions lack is not checked, and no text is made for it.
func TestForeignPattern(t *testing.T) {
	s, err := New([]byte(`{"type":"object","required":["a"],"properties":{"a":{"type":"string","pattern":"^(?=x).*$"},"b":{"type":"string","pattern":"^(?!y)z$","example":"z"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if why := s.Check([]byte(`{"a":"y"}`)); why != "" {
		t.Error(why)
	}
	for _, in := range s.Inputs(0, 1) {
		if in.Valid {
			t.Errorf("%s", in.Value)
		}
	}
}

// What is optional hides nothing: each special value also comes without it, as it does in
// combinations. A pattern is also met by texts as long as there may be.
func TestWithoutWhatIsOptional(t *testing.T) {
	s, err := New([]byte(`{"type":"object","required":["unit"],"properties":{"unit":{"enum":["m","mi"]},"digits":{"type":"integer"},
		"isbn":{"type":"string","pattern":"^[0-9-]+$","maxLength":20},"path":{"type":"string","pattern":"^x[a-z]*$"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{`{"unit":"mi"}`: false, `{"digits":42,"unit":"m"}`: false, `{"isbn":"--------------------","unit":"m"}`: false,
		`{"path":"x` + strings.Repeat("a", 4000) + `","unit":"m"}`: false}
	mixed := false
	for _, in := range s.Inputs(20, 1) {
		if _, ok := want[string(in.Value)]; ok {
			want[string(in.Value)] = true
		}
		mixed = mixed || in.Mixed && !strings.Contains(string(in.Value), `"digits"`)
	}
	for value, there := range want {
		if !there {
			t.Errorf("there is no %.50s", value)
		}
	}
	if !mixed {
		t.Error("combinations have every argument")
	}
}

// The usual value of an argument is one that a call is likely to have: neither null,
// which many schemas name as the default, nor a day that few years have.
func TestUsualValues(t *testing.T) {
	s, err := New([]byte(`{"type": "object", "properties": {"born": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
		"day": {"type": "string", "format": "date"}, "only": {"const": null}}}`))
	if err != nil {
		t.Fatal(err)
	}
	list := s.Inputs(0, 1)
	if got := string(list[0].Value); got != `{"born":1,"day":"2024-05-17","only":null}` {
		t.Errorf("the usual input is %s", got)
	}
	for _, want := range []string{`{"born":null,"day":"2024-05-17","only":null}`, `{"born":1,"day":"2024-02-29","only":null}`} {
		if !slices.ContainsFunc(list, func(in Input) bool { return string(in.Value) == want }) {
			t.Errorf("no input is %s", want)
		}
	}
}

// Of several breaches the same one is named each time, though properties are looked at in
// no order.
func TestCheckNamesTheFirst(t *testing.T) {
	s, err := New([]byte(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if why := s.Check([]byte(`{"e":1,"d":1,"c":1,"b":1,"a":1}`)); !strings.HasPrefix(why, "/a: ") {
			t.Fatal(why)
		}
	}
}

// Examples in a description are the usual values of what has no others.
func TestDescribedValues(t *testing.T) {
	for _, c := range []struct{ property, want string }{
		{`"type": "string", "description": "IANA zone (e.g., 'America/New_York', 'Europe/London'). Use 'UTC' if the user's zone is unknown."`, `"America/New_York"`},
		{`"type": "string", "description": "The time, in 24-hour format (HH:MM)"`, `"12:30"`},
		{`"type": "string", "description": "Day as YYYY-MM-DD"`, `"2024-05-17"`},
		{`"type": "string", "description": "ISO code, such as EUR, of the account"`, `"EUR"`},
		{`"type": "string", "description": "통화 코드. 예: \"KRW\""`, `"KRW"`},
		{`"type": "integer", "description": "How many, e.g. 25."`, `25`},
		{`"type": "integer", "maximum": 20, "description": "How many, e.g. 25."`, `1`},
		{`"type": "string", "pattern": "^[0-9]+$", "description": "for example 12ab"`, `"0"`},
		{`"type": "string", "format": "date", "description": "e.g. tomorrow"`, `"2024-05-17"`},
		{`"type": "string", "default": "x", "description": "e.g. y"`, `"x"`},
		{`"type": "string", "description": "The user's name, which 'admin' is not"`, `"a"`},
		{`"type": "string", "description": "e.g. (see the manual)"`, `"a"`},
	} {
		s, err := New([]byte(`{"type": "object", "properties": {"v": {` + c.property + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, s.Inputs(0, 1)[0].Value); got != `{"v":`+c.want+`}` {
			t.Errorf("%s: the usual input is %s, want %s", c.property, got, c.want)
		}
	}
}
