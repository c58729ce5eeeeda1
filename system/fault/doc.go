// Package fault injects faults on the wire: proxies for an agent's real calls to tools and LLMs
// that answer, delay, cut or change them as a fault.Plan of package engine/fault says. It
// implements fault.Injector; start reading at [Options.Open].
//
// A call can reach it in four ways:
//
//   - a forward proxy for HTTP and HTTPS, for agents that honour HTTP_PROXY and
//     the like. It decrypts HTTPS with a certificate authority that is made in
//     memory for the run and that only this agent is configured to trust. Files
//     that Node, Python's aiohttp and Java load cover clients that ignore these
//     variables, see the folder client.
//   - gateways, URLs that stand for those of a tool or an LLM, for agents whose
//     URLs can be configured. Go programs need them for servers on this machine,
//     because Go's own proxy rules exempt loopback addresses.
//   - a pipe for MCP servers on stdio ([Shim] for agents that start them
//     themselves); MCP over HTTP is recognized on the other ways.
//   - the tools of an agent in the Python host, through a watcher.
//
// A call is attributed to a cell by the token of the way it took, else by its traceparent, else to
// the port's only open cell. A call that cannot be attributed passes without faults and is
// reported.
//
// A server's answer is streamed through. It is buffered only if a fault needs all of it, and then
// up to 8 MiB; if the answer is larger, the fault is reported as missed and the answer passes
// unchanged. The proxies speak HTTP/1.1 to the agent and whatever the server prefers to the server;
// they follow no redirects and keep no cookies.
//
// The rules are those of engine/fault; this package knows no contract.
package fault
