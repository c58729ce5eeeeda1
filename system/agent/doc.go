// Package agent calls agents under test: it executes the plans and calls of
// engine/agentcall and returns replies. [Agents.Open] is an agentcall.Opener.
//
// An agent is hostile until proven otherwise. Every call has one deadline for
// all that belongs to it; every reply is read up to a limit and no further; what
// is not a whole, readable answer is classified (agentcall.End) and never taken for
// one. A program that Thresh starts is a process group of its own, killed whole,
// also when Thresh itself is killed, and started again when it dies.
//
// What lanes share (the places of Plan.Concurrency, a program that all of them
// talk to) is kept in [Agents], one value for the whole program; a lane's agent
// has its own connections, cookies and, where the plan allows it, process.
//
// The rules of requests and replies stand in engine/agentcall. The package
// imports system/command and system/python for programs and Python objects, and
// the official Go SDK for MCP; it must not import a contract, run, store or
// report. Start reading at open.go, then endpoint.go.
package agent
