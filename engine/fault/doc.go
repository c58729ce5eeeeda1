// Package fault has the rules of chaos: which fault hits which call of an
// agent, and what the agent sees then. It is the pure half of fault injection;
// package fault under system has the proxies that apply it on the wire, and
// [Watcher] applies it to tools of the Python host.
//
// A [Plan] has the faults of one cell, that is, of one independent invocation
// of an agent. A [Ledger] is made from it for that cell: it counts calls,
// decides about each, and keeps the [Report]. Cells share no counters, and a
// random decision depends only on the plan's seed, the rule, the name of the
// called tool or model and how often that was called before, so agents that
// call several tools at once get the same faults every time.
//
// The modes of tool and LLM faults, their defaults and the meaning of their
// keys follow the flakestorm contract and, where it is silent, its existing
// users; replies have the formats that OpenAI, Anthropic, Ollama and MCP
// publish.
//
// No fault is silent: a fault that was due but could not be put into a reply
// (too large, not text, nothing earlier to repeat) is counted as missed, with
// the reason. The package imports diag, port/pyhost and small pure packages of
// engine; it opens no connection, starts nothing and reads no clock. Start
// reading at [Rule], [Ledger] and, to run cells, [Injector].
package fault
