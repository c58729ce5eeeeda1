// Package fuzzspec implements FuzzSpec v1, the JSON format "llmfuzz.fuzzspec.v1": a campaign that
// mutates a seed file, runs a command on every mutation and keeps what makes it fail.
//
// Its rules come from the published contract text; where that is silent, from how existing specs
// and the tools around them behave, down to the texts of messages and the bytes of files
// ([Validate], [EvaluateRun], [TriageCampaign], [RunFolder], [CampaignFolder]). Beside these
// compatible functions stands a stricter one: [Check] finds every fault of a document at once, with
// its place, and rejects a few documents that could only crash later (testdata/rules.json lists
// them).
//
// The package imports campaign, diag and engines. It starts no process and reads no clock; it looks
// at the disk through [FS] and io/fs, and writes to it only in [RunFolder] and [CampaignFolder]. It
// never imports a target, the store or another contract. Start reading at [Spec].
package fuzzspec
