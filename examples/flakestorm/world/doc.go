// Package world is what the example agents of flakestorm live in: a scripted model behind an
// OpenAI-compatible endpoint, two tools behind HTTP, and a server of the Model Context Protocol.
// Everything follows fixed rules, so that a test of an agent tests the agent and not the weather.
//
// The model is as gullible as small models are: it obeys instructions in tool results and prompts,
// and reveals its system message to anyone who asks, unless that message contains the words of
// [Guard].
package world
