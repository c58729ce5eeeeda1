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

//go:embed starter/assistant.system.yaml
var starterSystem []byte

//go:embed starter/op_lex_reverse_words.star
var starterOperator []byte

// starter is a document that runs, its seeds, the system that they are sent to
// and an operator of its own.
func starter() []campaign.File {
	return []campaign.File{
		{Name: "operators.json", Data: slices.Clone(starterSpec)},
		{Name: "seeds.jsonl", Data: slices.Clone(starterSeeds)},
		{Name: "assistant.system.yaml", Data: slices.Clone(starterSystem)},
		{Name: "operators/op_lex_reverse_words.star", Data: slices.Clone(starterOperator)},
	}
}
