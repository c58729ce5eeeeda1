// Package agentcall holds the values with which contracts describe calls of
// agents under test: a [Plan] says how an agent is reached, a [Call] what it is
// asked, a [Reply] what it answered. The interface [Agent] makes the calls.
// Package system/agent implements it.
//
// What needs no network is here as well, because a document can be checked
// with it before anything runs: how a prompt is put into a request ([Template],
// [Fields]), how the answer is found in a reply ([Path], [Extract]), how a
// streamed reply is put together again ([Stream]).
//
// The rules are those of flakestorm's agent adapters, where they are sound:
// what a reply's text is, which keys are looked for, what an error is. They
// depart from them where those lose replies or make errors of answers: values are
// escaped for the place that they are put in, brackets are allowed in paths,
// "error": null is not an error, a time limit is one for the whole call.
//
// The package is pure; it imports engine/jsontree, port/process and
// port/pyhost. It must not import a contract or an edge. Start reading at
// [Plan].
package agentcall
