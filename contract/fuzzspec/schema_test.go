package fuzzspec_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
)

// Rules that a schema can express. It takes 1.0 for an integer, and does not
// look at the disk.
var inSchema = []string{
	"fuzzspec.type", "fuzzspec.missing-key", "fuzzspec.unknown-key", "fuzzspec.schema-version", "fuzzspec.empty",
	"fuzzspec.absolute-path", "fuzzspec.range", "fuzzspec.digest-form", "fuzzspec.unknown-word",
	"fuzzspec.env-not-allowed", "fuzzspec.template", "fuzzspec.schema-limit", "fuzzspec.timeout", "fuzzspec.too-many-ops",
}

func TestSchemaRefusesWhatCheckRefuses(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(fuzzspec.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("fuzzspec.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("fuzzspec.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := fixtures(t)
	accepted, refused := 0, 0
	for _, v := range vectors(t, dir) {
		if !json.Valid([]byte(v.Text)) || strings.Contains(v.Name, "1.0") {
			continue
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(v.Text))
		if err != nil {
			t.Fatal(err)
		}
		_, list := fuzzspec.Check([]byte(v.Text), debian(dir), fuzzspec.CheckOptions{Strict: true})
		want := slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
			return d.Level == diag.Error && slices.Contains(inSchema, d.Code) && d.Path != "target.command[0]"
		})
		err = schema.Validate(instance)
		if (err != nil) != want {
			t.Errorf("%s: the schema says %v, Check says:\n%s", v.Name, err, list)
		}
		if want {
			refused++
		} else {
			accepted++
		}
	}
	if accepted < 20 || refused < 60 {
		t.Errorf("only %d accepted and %d refused documents were compared", accepted, refused)
	}
}
