package app

import (
	"os"

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

// demoTarget is the hidden verb under which the program serves as the target
// of its own demonstration.
const demoTarget = "__demo-target"

// hidden runs what is not for people: the helper processes of targets and the
// target of the demonstration.
func hidden(argv []string) (code int, ran bool) {
	command.MaybeLane()
	if len(argv) > 1 && argv[1] == demoTarget {
		return demo.Main(append([]string{argv[0]}, argv[2:]...)), true
	}
	return 0, false
}

// executable is the path of this program.
func executable() (string, error) { return os.Executable() }
