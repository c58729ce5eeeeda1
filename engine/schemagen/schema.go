package schemagen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is a schema for checking and making values.
type Schema struct {
	root     map[string]any
	compiled *jsonschema.Schema
}

// New parses a schema. References must lead to places within it.
func New(text []byte) (*Schema, error) {
	v, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if b, ok := v.(bool); ok && b {
		v = map[string]any{}
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the schema is not an object")
	}
	modern(root, 0)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, f := range formats {
		c.RegisterFormat(&jsonschema.Format{Name: f.name, Validate: f.check})
	}
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(expression)
	if err := c.AddResource(address, root); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	s := &Schema{root: root}
	s.compiled, err = c.Compile(address)
	if outside := (*jsonschema.LoadURLError)(nil); errors.As(err, &outside) {
		return nil, fmt.Errorf("the schema cannot be used: %w", outside.Err)
	} else if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %s", strings.ReplaceAll(err.Error(), address, ""))
	}
	return s, nil
}

const (
	host    = "schema://of/"
	address = host + "operation.json"
)

// nowhere refuses schemas outside the document.
type nowhere struct{}

// Load implements jsonschema.URLLoader.
func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, and no other file is read: bundle them into one", strings.TrimPrefix(url, host))
}

// expression compiles a pattern; one that only other engines can read matches
// everything.
func expression(text string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(text); err == nil {
		return re, nil
	}
	return anything(text), nil
}

type anything string

// MatchString implements jsonschema.Regexp.
func (anything) MatchString(string) bool { return true }

// String implements jsonschema.Regexp.
func (a anything) String() string { return string(a) }

func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// Check says why a value does not fit; "": it does.
func (s *Schema) Check(value []byte) string {
	v, err := decode(value)
	if err != nil {
		return "it is not JSON"
	}
	return s.misfit(v)
}

func (s *Schema) misfit(v any) string {
	err := s.compiled.Validate(v)
	if err == nil {
		return ""
	}
	var e *jsonschema.ValidationError
	if !errors.As(err, &e) {
		return err.Error()
	}
	for len(e.Causes) > 0 { // a validator visits properties in no particular order
		e = slices.MinFunc(e.Causes, func(a, b *jsonschema.ValidationError) int {
			return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.Error(), b.Error()))
		})
	}
	where := "the value"
	if len(e.InstanceLocation) > 0 {
		where = "/" + strings.Join(e.InstanceLocation, "/")
	}
	text := e.Error()
	if _, after, found := strings.Cut(text, "': "); found {
		text = after
	}
	switch k := e.ErrorKind.(type) {
	case *kind.FalseSchema:
		text = "must not be there"
	case *kind.Format:
		text = fmt.Sprintf("%s is not of the format %s", show(k.Got), k.Want)
	}
	return where + ": " + text
}

// modern converts OpenAPI 3.0's own keywords to JSON Schema.
func modern(v any, depth int) {
	if depth > 200 {
		return
	}
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			modern(item, depth+1)
		}
	case map[string]any:
		for key, item := range x {
			switch named, ok := item.(map[string]any); {
			case ok && (key == "properties" || key == "patternProperties" || key == "$defs" || key == "definitions"):
				for _, sub := range named {
					modern(sub, depth+1)
				}
			case key != "example" && key != "examples" && key != "default" && key != "enum" && key != "const":
				modern(item, depth+1)
			}
		}
		if n, ok := x["nullable"].(bool); ok {
			delete(x, "nullable")
			if n {
				nullable(x)
			}
		}
		for _, side := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
			exclusive, ok := x[side[0]].(bool)
			if !ok {
				continue
			}
			delete(x, side[0])
			if border, there := x[side[1]]; exclusive && there {
				x[side[0]] = border
				delete(x, side[1])
			}
		}
		if _, ok := x["required"].(bool); ok { // of a parameter, or a mistake
			delete(x, "required")
		}
	}
}

// nullable makes a schema accept null too.
func nullable(x map[string]any) {
	list, listed := x["enum"].([]any)
	if t, ok := x["type"].(string); ok && x["allOf"] == nil && x["oneOf"] == nil && x["anyOf"] == nil && x["$ref"] == nil {
		x["type"] = []any{t, "null"}
		if listed {
			x["enum"] = append(list[:len(list):len(list)], nil)
		}
		return
	}
	same := maps.Clone(x)
	clear(x)
	x["anyOf"] = []any{same, map[string]any{"type": "null"}}
}
