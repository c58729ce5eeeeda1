package flakestorm

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

//go:embed starter/flakestorm.yaml
var starterText string

// Starter implements [campaign.Contract]: a configuration for the agent that
// Thresh brings along, explained within.
func (k *Contract) Starter(string) []campaign.File {
	words := make([]string, len(k.targets.Command))
	for i, w := range k.targets.Command {
		words[i] = strconv.Quote(w)
	}
	text := strings.Replace(starterText, "COMMAND", "["+strings.Join(words, ", ")+"]", 1)
	return []campaign.File{{Name: "flakestorm.yaml", Data: []byte(text)}}
}
