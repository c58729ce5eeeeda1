package flakestorm

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/seq"
)

//go:embed starter/flakestorm.yaml
var starterText string

// Starter implements [campaign.Contract]: a configuration with explanations, for the agent that is
// part of Thresh.
func (k *Contract) Starter(string) []campaign.File {
	words := seq.Map(k.targets.Command, strconv.Quote)
	text := strings.Replace(starterText, "COMMAND", "["+strings.Join(words, ", ")+"]", 1)
	return []campaign.File{{Name: "flakestorm.yaml", Data: []byte(text)}}
}
