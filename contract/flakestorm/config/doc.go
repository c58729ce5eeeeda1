// Package config reads flakestorm configuration files, version 1 and 2: every key with its default
// and rule, as users of the format know them, and the keys that Thresh adds. [Decode] reports
// everything that is wrong or doubtful at once, with positions; the rest of the contract works with
// the [Config].
//
// The rules are those of the format: YAML 1.1 as PyYAML reads it, strict strings, lax numbers and
// booleans. Unknown keys are not errors but warnings that name the nearest known key. Where an
// existing tool reads a key and does nothing with it, the key either does what its documentation
// says, or a warning says that it has no effect.
//
// The package is pure: it opens files and looks up variables only through [Options]. It imports
// diag and engine/doctree. Start reading at [Decode].
package config
