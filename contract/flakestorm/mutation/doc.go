// Package mutation makes the variants of golden prompts that flakestorm configurations ask for: all
// 24 types, offline, and the same variants for the same seed. Variants written by an LLM must pass
// the same rules, see [Valid].
//
// Each type has a recipe: operators of engine/textop, wordings of its own, or both. Nine types are
// about the system and not about the words (headers, method, size, encoding, concurrency, time): if
// the agent is called by HTTP requests, they change the real request ([agentcall.Wire]); other
// agents get the same idea as text. The wordings are harmless: all they ask for is a marker word.
//
// The types, their weights and their purposes come from the format; how variants are made is up to
// Thresh. The package is pure and imports only engines.
package mutation
