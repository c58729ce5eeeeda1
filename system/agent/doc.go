// Package agent calls agents under test: it executes the plans and calls of engine/agentcall and
// returns replies. [Agents.Open] is an agentcall.Opener.
//
// An agent is treated as hostile. Every call has one deadline for everything it involves. Every
// reply is read only up to a limit. Anything but a complete, readable answer is classified
// (agentcall.End) and never passes for an answer. A program that Thresh starts gets its own process
// group, which is killed as a whole, even when Thresh itself is killed, and is restarted when it
// dies.
//
// What lanes share (the places of Plan.Concurrency, a program that all of them call) is kept in
// [Agents], one value for the whole program. A lane's agent has its own connections, cookies and,
// if the plan allows it, process.
//
// The rules for requests and replies are in engine/agentcall. The package imports system/command
// and system/python for programs and Python objects, and the official Go SDK for MCP; it must not
// import a contract, run, store or report. Start reading at open.go, then endpoint.go.
package agent
