package operator

import (
	_ "embed"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
)

//go:embed starter/operators.json
var starterSpec []byte

//go:embed starter/seeds.jsonl
var starterSeeds []byte

//go:embed starter/op_lex_reverse_words.star
var starterOperator []byte

//go:embed schema/operators.v1.schema.json
var schema []byte

// starter is a document that runs, its seeds and an operator of its own.
func starter() []campaign.File {
	return []campaign.File{
		{Name: "operators.json", Data: slices.Clone(starterSpec)},
		{Name: "seeds.jsonl", Data: slices.Clone(starterSeeds)},
		{Name: "operators/op_lex_reverse_words.star", Data: slices.Clone(starterOperator)},
	}
}

// Schema returns the JSON Schema (draft 2020-12) of the document, for editors
// and other tools.
func Schema() []byte { return slices.Clone(schema) }
