package app

import (
	"os"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
	"github.com/thresh-dev/thresh/target/command"
	"github.com/thresh-dev/thresh/target/httpcall"
	"github.com/thresh-dev/thresh/target/python"
)

// contracts is every front door of the program, with what it touches targets
// through. A further contract is a further line here.
func contracts() []campaign.Contract {
	return []campaign.Contract{
		fuzzspec.New(command.Open),
		fresnelfir.New(),
		operator.New(python.OpenOperators, command.Open),
		spectest.New(spectest.Targets{Commands: command.Open, Python: python.OpenCommander, HTTP: httpcall.Open}),
	}
}

// hidden runs what is not for people: targets of the demonstration and of the
// conformance cases.
func hidden(argv []string) (code int, ran bool) {
	if len(argv) > 1 && argv[1] == demo.Command {
		return demo.Main(argv[2:]), true
	}
	if len(argv) > 1 && argv[1] == conformanceCommand {
		return conformanceEntrypoint(argv[2:], os.Stdout), true
	}
	return 0, false
}
