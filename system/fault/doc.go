// Package fault injects faults on the wire: proxies for an agent's real calls
// to tools and LLMs that answer, delay, cut or change them as a fault.Plan of
// package engine/fault says. It implements fault.Injector; start reading at
// [Options.Open].
//
// There are four ways through it:
//
//   - a forward proxy for HTTP and HTTPS, for agents that honour HTTP_PROXY and
//     the like. HTTPS is opened with a certificate authority that is made in
//     memory for the run and that only this agent is configured to trust. What
//     Node, Python's aiohttp and Java are told to load brings those to it that
//     heed no variable, see the folder client.
//   - gateways, URLs that stand for a tool's or an LLM's own, for agents that
//     are told where those are. Programs in Go need them for servers on this
//     machine: Go's own proxy rules leave loopback addresses out.
//   - a pipe for MCP servers on stdio ([Shim] for agents that start them
//     themselves); MCP over HTTP is recognized on the other ways.
//   - the tools of an agent in the Python host, through a watcher.
//
// Calls are attributed to cells by the token of the way they took, else by
// their traceparent, else to the only cell that is open at the port. What
// cannot be attributed passes without faults and is reported.
//
// A server's answer is streamed through. It is only held back if a fault needs
// the whole of it, and then at most 8 MiB; a fault that would need more is
// reported as missed and the answer passes as it is. The proxies speak HTTP/1.1
// to the agent and whatever the server likes to the server, they follow no
// redirects and keep no cookies.
//
// The rules are those of engine/fault; this package knows no contract.
package fault
