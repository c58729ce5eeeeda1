package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/contract/spectest"
	calls "github.com/thresh-dev/thresh/contract/system"
	flakedemo "github.com/thresh-dev/thresh/examples/demoagent"
	opdemo "github.com/thresh-dev/thresh/examples/operator/demo"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/agent"
	"github.com/thresh-dev/thresh/system/command"
	"github.com/thresh-dev/thresh/system/coverage"
	"github.com/thresh-dev/thresh/system/driver"
	"github.com/thresh-dev/thresh/system/embed"
	"github.com/thresh-dev/thresh/system/fault"
	httpsys "github.com/thresh-dev/thresh/system/http"
	"github.com/thresh-dev/thresh/system/program"
	"github.com/thresh-dev/thresh/system/python"
	"github.com/thresh-dev/thresh/system/scratch"
	"github.com/thresh-dev/thresh/system/wasm"
)

// builtin returns every contract of the program with its access to systems. To add a contract, add
// a line here. note is [App.Note].
func builtin(note func(line string)) []campaign.Contract {
	systems := systems()
	return []campaign.Contract{
		fuzzspec.New(command.Open).Systems(systems).Compiler(coverage.Compile),
		fresnelfir.New(modules()).Systems(systems),
		flakestorm.New(agents(systems, note)),
		operator.New(python.OpenOperators, command.Open).Systems(systems).Checks(readCheck),
		spectest.New(spectest.Targets{Commands: command.Open, Python: python.OpenCommander, HTTP: httpsys.OpenClient, Systems: systems, Scratch: Scratch,
			Room: scratch.Room, FreePort: program.FreePort}),
		calls.New(systems),
	}
}

// systems opens systems of every kind.
func systems() sut.Opener {
	return system.New(map[sut.Kind]system.Kind{
		sut.Command: command.OpenSystem, sut.HTTP: httpsys.Open, sut.Chat: agent.OpenChat, sut.MCP: agent.OpenMCP,
		sut.Python: python.OpenSystem, sut.WASM: openModule, sut.Driver: driver.Open,
	}).Open
}

// wasmEngine is created when the first module is opened. It compiles equal modules once per
// process.
var wasmEngine = sync.OnceValues(func() (*wasm.Engine, error) { return wasm.NewEngine("") })

func openModule(ctx context.Context, s system.Site) (system.Edge, error) {
	e, err := wasmEngine()
	if err != nil {
		return nil, err
	}
	return e.OpenSystem(ctx, s)
}

// modules opens WebAssembly modules.
func modules() dut.Opener {
	return func(ctx context.Context, p dut.Plan) (dut.Device, error) {
		e, err := wasmEngine()
		if err != nil {
			return nil, err
		}
		return e.Open(ctx, p)
	}
}

// agents returns how agents under test are reached, and how faults get into their calls.
func agents(systems sut.Opener, note func(line string)) flakestorm.Targets {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // good enough for the starter document's text
	}
	return flakestorm.Targets{
		Agents: agent.New().Systems(systems).Noting(note).Open, Faults: fault.Options{Shim: []string{self, shimCommand}}.Open, Measures: embed.Open, Variants: variants{dir: cacheFolder(os.Getenv, "variants")},
		Command: []string{campaign.Self, flakedemo.Command}, Start: program.Attached,
	}
}

// shimCommand is the hidden verb of the shim that replaces an MCP server started by an agent.
const shimCommand = "__mcp-shim"

// Hidden runs commands that are not for people: targets of the demo (package demo runs its own) and
// of the conformance cases.
func Hidden(argv []string) (code int, ran bool) {
	if len(argv) > 1 && argv[1] == flakedemo.Command {
		return flakedemo.Main(), true
	}
	if len(argv) > 1 && argv[1] == opdemo.Command {
		return opdemo.Main(argv[2:], os.Stdin, os.Stdout), true
	}
	if len(argv) > 1 && argv[1] == shimCommand {
		return fault.Shim(context.Background(), argv[2:], os.Stdin, os.Stdout, os.Stderr), true
	}
	if len(argv) > 1 && argv[1] == spectest.ConformanceVerb {
		conformanceEntrypoint(argv[2:], os.Stdout)
		return 0, true
	}
	return 0, false
}

// conformanceEntrypoint stands in for the Python function of the conformance suite: it prints a
// usage line for --help, JSON for --json, and a line of text otherwise.
func conformanceEntrypoint(args []string, out io.Writer) {
	line := "conformance entrypoint of thresh"
	for _, a := range args {
		switch a {
		case "-h", "--help":
			fmt.Fprintln(out, "usage: conformance-entrypoint [--json]")
			return
		case "--json":
			line = `{"ok": true, "source": "thresh"}`
		}
	}
	fmt.Fprintln(out, line)
}

// Scratch creates a temporary folder and returns a function that removes it. If this process is
// killed first, the next call of Scratch on the machine removes the folder.
func Scratch() (dir string, remove func() error, err error) {
	f, err := scratch.Make("")
	if err != nil {
		return "", nil, err
	}
	return f.Path, f.Close, nil
}
