package app

import (
	"context"
	"os"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/contract/spectest"
	"github.com/thresh-dev/thresh/engine/dut"
	flakedemo "github.com/thresh-dev/thresh/examples/flakestorm/demo"
	"github.com/thresh-dev/thresh/examples/fuzzspec/demo"
	"github.com/thresh-dev/thresh/target/agent"
	"github.com/thresh-dev/thresh/target/command"
	"github.com/thresh-dev/thresh/target/embed"
	"github.com/thresh-dev/thresh/target/fault"
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
		flakestorm.New(agents()),
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

// agents is how agents under test are reached, and how faults get into their
// calls.
func agents() flakestorm.Targets {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // good enough for the starter's text
	}
	return flakestorm.Targets{
		Agents: agent.New().Open, Faults: fault.Options{Shim: []string{self, shimCommand}}.Open, Measures: embed.Open, Variants: variants{dir: cacheFolder(os.Getenv, "variants")},
		Command: []string{self, flakedemo.Command},
	}
}

// shimCommand is the hidden verb that stands for an MCP server which an agent
// starts.
const shimCommand = "__mcp-shim"

// hidden runs what is not for people: targets of the demonstration and of the
// conformance cases.
func hidden(argv []string) (code int, ran bool) {
	if len(argv) > 1 && argv[1] == flakedemo.Command {
		return flakedemo.Main(), true
	}
	if len(argv) > 1 && argv[1] == shimCommand {
		return fault.Shim(context.Background(), argv[2:], os.Stdin, os.Stdout, os.Stderr), true
	}
	if len(argv) > 1 && argv[1] == demo.Command {
		return demo.Main(argv[2:]), true
	}
	if len(argv) > 1 && argv[1] == conformanceCommand {
		return conformanceEntrypoint(argv[2:], os.Stdout), true
	}
	return 0, false
}
