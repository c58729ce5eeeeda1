// Package agentcall has the values with which contracts describe calls of agents
// under test: a [Plan] says how to reach an agent, a [Call] what to ask it, a
// [Reply] what it answered. The interface [Agent] makes the calls. Package
// system/agent implements it.
//
// Everything that needs no network is here as well, so that a document can be
// checked with it before anything runs: how a prompt is put into a request
// ([Template], [Fields]), how the answer is found in a reply ([Path], [Extract]),
// how a streamed reply is assembled ([Stream]).
//
// The rules are those of flakestorm's agent adapters, where they are sound: what
// a reply's text is, which keys are looked for, what an error is. They differ
// where those lose replies or treat answers as errors: values are escaped for
// their place, paths may have brackets, "error": null is not an error, and a time
// limit applies to the whole call.
//
// The package is pure; it imports engine/jsontree, port/pyhost and port/sut. It
// must not import a contract or an edge. Start reading at [Plan].
package agentcall
