package schemagen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a schema that values are checked against and made from.
type Schema struct {
	root     map[string]any
	compiled *jsonschema.Schema
}

// New reads a schema. References lead to places within it.
func New(text []byte) (*Schema, error) {
	v, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	if b, ok := v.(bool); ok && b {
		v = map[string]any{}
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the schema is no object")
	}
	modern(root, 0)
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if err := c.AddResource(address, root); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	s := &Schema{root: root}
	if s.compiled, err = c.Compile(address); err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %s", strings.ReplaceAll(err.Error(), address, ""))
	}
	return s, nil
}

const address = "schema://of/operation.json"

// nowhere refuses schemas elsewhere.
type nowhere struct{}

// Load implements jsonschema.URLLoader.
func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not within the document", url)
}

func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

// Check says why a value does not fit; "" if it does.
func (s *Schema) Check(value []byte) string {
	v, err := decode(value)
	if err != nil {
		return "it is no JSON"
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
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	where := "the value"
	if len(e.InstanceLocation) > 0 {
		where = "/" + strings.Join(e.InstanceLocation, "/")
	}
	text := e.Error()
	if _, after, found := strings.Cut(text, "': "); found {
		text = after
	}
	return where + ": " + text
}

// modern turns what OpenAPI 3.0 says in its own way into JSON Schema.
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
			if key != "example" && key != "examples" && key != "default" && key != "enum" && key != "const" {
				modern(item, depth+1)
			}
		}
		if n, ok := x["nullable"].(bool); ok {
			delete(x, "nullable")
			if t, ok := x["type"].(string); ok && n {
				x["type"] = []any{t, "null"}
				if list, ok := x["enum"].([]any); ok {
					x["enum"] = append(list[:len(list):len(list)], nil)
				}
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
		if _, ok := x["required"].(bool); ok { // of a parameter, or a habit
			delete(x, "required")
		}
	}
}
