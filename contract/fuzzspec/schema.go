package fuzzspec

import (
	_ "embed"
	"slices"
)

//go:embed schema/fuzzspec.v1.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of FuzzSpec v1, for editors
// and other tools. It cannot express what depends on the disk or on two fields
// at once, and takes 1.0 for an integer; [Check] says the rest.
func Schema() []byte { return slices.Clone(schema) }
