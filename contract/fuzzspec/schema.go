package fuzzspec

import (
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// Schema returns the JSON Schema (draft 2020-12) of FuzzSpec v1, for editors
// and other tools. It cannot express what depends on the disk or on two fields
// at once, and takes 1.0 for an integer; [Check] says the rest.
func Schema() []byte { return doctree.Schema("fuzzspec.v1", doctree.Object(format())) }

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "fuzzspec", Summary: "a FuzzSpec campaign (JSON)", Schema: Schema,
		Keys: func() string { return doctree.Tables(doctree.Object(format())) },
	}}
}
