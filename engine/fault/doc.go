// Package fault holds the rules of chaos: which fault hits which call of an
// agent, and what the agent then sees. It is the pure half of fault injection;
// package fault under system has the proxies that put it on the wire, and
// [Watcher] does the same for tools of the Python host.
//
// A [Plan] holds the faults of one cell, that is of one independent invocation
// of an agent. A [Ledger] is made from it for that cell: it counts calls,
// decides about each, and keeps the [Report]. Counters are never shared between
// cells, and a decision by chance depends on the plan's seed, the rule, the
// name of what is called and how often that was called before, and on nothing
// else: agents that call several tools at once get the same faults every time.
//
// The modes of tool and LLM faults, their defaults and the meaning of their
// keys are those of the flakestorm contract, and of its existing users where
// the contract is silent; the shapes of replies are those that OpenAI,
// Anthropic and Ollama publish, and those of MCP.
//
// Nothing is silent: a fault that was due and could not be put into a reply
// (too large, not text, nothing earlier to repeat) is counted as missed, with
// the reason. The package imports engine/jsontree and port/pyhost; it opens
// no connection, starts nothing and reads no clock. Start reading at [Rule],
// [Ledger] and, for those who run cells, [Injector].
package fault
