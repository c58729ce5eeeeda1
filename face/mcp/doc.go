// Package mcp serves Thresh to programs that speak the Model Context Protocol,
// such as coding agents: over standard input and output, or over HTTP for this
// machine alone, with a token.
//
// Three groups of tools, all of which run real campaigns in the background:
//
//   - The eight tools fresnel_fir_*, with the names, inputs and answers that
//     users of the FresnelFir format know (campaigns.go, answers.go), and
//     load_dut. Keys beside the known ones are additions.
//   - check_spec, run_spec, run_status and run_findings, for documents of every
//     format (runs.go).
//   - replay and explain_finding, for what was found (findings.go).
//
// Every answer is compact JSON, as text and as structured content. Stored runs
// and their reports are resources (resources.go).
//
// A campaign that explores a model without its module says mode: model_only in
// every answer: that nothing was found then says nothing of a module.
//
// What the server does is declared as [UseCases] and handed in. The package
// imports campaign, diag, report and store; never a contract, a target, the
// runner or package app. Start reading at [Server].
package mcp
