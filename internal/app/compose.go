package app

import (
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
	"github.com/thresh-dev/thresh/target/command"
)

// contracts is every front door of the program, with what it touches targets
// through. A further contract is a further line here.
func contracts() []campaign.Contract {
	return []campaign.Contract{
		fuzzspec.New(command.Open),
	}
}

// hidden runs what is not for people: the target of the demonstration.
func hidden(argv []string) (code int, ran bool) {
	if len(argv) > 1 && argv[1] == demo.Command {
		return demo.Main(argv[2:]), true
	}
	return 0, false
}
