package flakestorm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// The schema takes the documents of the examples and refuses keys of other types.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader((&flakestorm.Contract{}).Formats()[0].Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("flakestorm.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("flakestorm.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text []byte) error {
		tree, err := doctree.Parse(text, doctree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		value := tree.Root.JSON()
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(jsontree.Compact.Append(nil, &value)))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	files, err := filepath.Glob("../../examples/flakestorm/*/flakestorm.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	const head = "agent: {endpoint: http://localhost/}\ngolden_prompts: [a]\ninvariants:\n"
	for line, accepted := range map[string]bool{
		"  - {type: tool_called, tool: charge}":         true,
		"  - {type: tool_called, tool: charge, max: 1}": false,
		"  - {type: tokens, max: 1}":                    true,
		"  - {type: latency, maxms: 1}":                 false,
		"  - {type: contains_al, value: a}":             false,
	} {
		if err := validate([]byte(head + line)); (err == nil) != accepted {
			t.Errorf("%s: %v", line, err)
		}
	}
}
