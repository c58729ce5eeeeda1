// Package config reads flakestorm configuration files, version 1 and 2: every
// key with its default and rule, as users of the format know them, and the keys
// that Thresh adds. [Decode] tells everything that is wrong or doubtful at once,
// with its place; [Config] is what the rest of the contract works with.
//
// The rules are those of the format: YAML 1.1 as PyYAML reads it, strings are
// strict, numbers and booleans lax, unknown keys no errors (they are warnings
// with the nearest known key). Where an existing tool reads a key and does
// nothing with it, the key does here what its documentation says, or a warning
// says that it has no effect.
//
// The package is pure: it opens no file and looks no variable up but through
// [Options]. It imports diag and engine/doctree. Start reading at [Decode].
package config
