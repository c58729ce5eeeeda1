// Package mutation makes the variants of golden prompts that flakestorm
// configurations ask for: all 24 types, offline, and the same ones for the same
// seed. What an LLM writes instead goes through the same rules, see [Valid].
//
// A type is a recipe: operators of engine/textop, wordings of its own, or both.
// The nine types that are about the system and not about the words (headers,
// method, size, encoding, concurrency, time) change the real request where the
// agent is called by one, by [agentcall.Wire]; other agents get the same idea as
// text. Wordings are harmless: they ask for a marker word and for nothing else.
//
// The types, their weights and what they are for are the format's; how they are
// made is Thresh's. The package is pure; it imports engines alone.
package mutation
