// Package mcp serves Thresh to programs that speak the Model Context Protocol,
// such as coding agents: over standard input and output, or over HTTP for this
// machine alone, with a token.
//
// Three groups of tools, all of which run real campaigns in the background:
//
//   - Those that contracts bring for their own documents: [campaign.Toolmaker].
//   - check_spec, run_spec, run_status and run_findings, for documents of every
//     format (runs.go).
//   - replay and explain_finding, for what was found (findings.go).
//
// Every answer is compact JSON, as text and as structured content. Stored runs
// and their reports are resources (resources.go).
//
// What the server does is declared as [UseCases] and handed in. The package
// imports app, campaign, diag, report and store; never a contract, a system or
// the runner. Start reading at [Server].
package mcp
