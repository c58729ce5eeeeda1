package app

import (
	"context"
	"os"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/engine/dut"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
	"github.com/thresh-dev/thresh/target/command"
	"github.com/thresh-dev/thresh/target/httpcall"
	"github.com/thresh-dev/thresh/target/python"
	"github.com/thresh-dev/thresh/target/wasm"
)

// contracts is every front door of the program, with what it touches targets
// through. A further contract is a further line here.
func contracts() []campaign.Contract {
	return []campaign.Contract{
		fuzzspec.New(command.Open),
		fresnelfir.New(modules()),
		operator.New(python.OpenOperators, command.Open),
		spectest.New(spectest.Targets{Commands: command.Open, Python: python.OpenCommander, HTTP: httpcall.Open}),
	}
}

// modules opens WebAssembly modules by one engine, made when the first is
// opened: equal modules are compiled once in a process.
func modules() dut.Opener {
	engine := sync.OnceValues(func() (*wasm.Engine, error) { return wasm.NewEngine("") })
	return func(ctx context.Context, p dut.Plan) (dut.Device, error) {
		e, err := engine()
		if err != nil {
			return nil, err
		}
		return e.Open(ctx, p)
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
