package spectest

import (
	_ "embed"
	"slices"
)

//go:embed schema/spectest.v1.schema.json
var schema []byte

// BlockSchema returns the JSON Schema (draft 2020-12) of what a block holds, for
// editors and other tools. It cannot express what depends on a target, on files
// or on the form of texts, and takes a key that nothing reads for an error;
// checking says the rest.
func BlockSchema() []byte { return slices.Clone(schema) }
