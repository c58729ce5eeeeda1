package fault

import (
	"context"

	"github.com/thresh-dev/thresh/port/pyhost"
)

// Opener starts an injector, once for a run.
type Opener func(ctx context.Context) (Injector, error)

// Injector puts faults into the calls of agents.
type Injector interface {
	// Port opens a port for one instance of an agent, that is, for one process:
	// every call through it is that agent's. At a given address, any path stands for
	// the first gateway's.
	Port(address string) (Port, error)
	// Notes returns what belongs to no cell, such as calls while no cell was open.
	Notes() []string
	// Close ends all ports and cells, and waits for what they started.
	Close() error
}

// Port is what the calls of one agent pass through. Its addresses are the same for
// all cells, so that an agent can be started once.
type Port interface {
	// Proxy is the URL of a forward proxy for HTTP and HTTPS.
	Proxy() string
	// CAFile is a file with the certificate that signs the proxy's certificates, and
	// the certificates that the system trusts.
	CAFile() string
	// Env returns everything that a process needs to call through the port, as
	// KEY=value: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, upper and lower case,
	// NO_PROXY empty, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE,
	// NODE_EXTRA_CA_CERTS, NODE_USE_ENV_PROXY and such, and what Node, Python and
	// Java must load. given are the variables that the process has in addition to
	// those of Thresh: what these make it load stays.
	Env(given []string) []string
	// Gateway returns a URL that stands for upstream, for agents that are configured
	// with the addresses of their tools and LLMs. Calls through it have the tool's
	// name.
	Gateway(tool, upstream string) (string, error)
	// Shim wraps the command of an MCP server on stdio, for agents that start their
	// servers themselves.
	Shim(server string, argv []string) ([]string, error)
	// Enter opens a cell. A call belongs to the cell of its token (see [Cell.Proxy])
	// or trace (see [Cell.Headers]), or else to the only open cell. A call that
	// cannot be attributed passes without faults and is reported in every open cell.
	Enter(p Plan) (Cell, error)
	Close() error
}

// Cell is one invocation of an agent under chaos.
type Cell interface {
	// Proxy, Env, Gateway and Shim are those of the port with the cell's token in
	// them, for agents that are started or configured for each invocation.
	Proxy() string
	Env(given []string) []string
	Gateway(tool, upstream string) (string, error)
	Shim(server string, argv []string) ([]string, error)
	// Headers returns a traceparent to call the agent with. An agent that passes it
	// on, as traced ones do, can serve several cells of a port at once.
	Headers() [][2]string
	// Prompt returns the input for the agent, after context attacks on it.
	Prompt(input string) string
	// Watcher is between the agent and its tools in the Python host.
	Watcher() pyhost.ToolWatcher
	// Report returns what has happened so far.
	Report() Report
	// Close cancels what is in flight and returns the final report.
	Close() Report
}
