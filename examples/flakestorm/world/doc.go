// Package world is what the example agents of flakestorm live in: a scripted
// model behind an OpenAI-compatible endpoint, two tools behind HTTP, and a
// server of the Model Context Protocol. All of it answers by fixed rules, so
// that a test of an agent tests the agent and not the weather.
//
// The model is as gullible as small models are: it obeys instructions that it
// finds in tool results and prompts, and tells its system message to whoever
// asks, unless the system message has the words of [Guard].
package world
