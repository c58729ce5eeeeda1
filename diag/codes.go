package diag

// Codes are the words that end the codes of diagnostics, after the format's name:
// "fuzzspec.unknown-key". These words mean the same in every format.
var Codes = map[string]string{
	"syntax":         "the text is not of its language: JSON, YAML or Markdown",
	"encoding":       "the text is not UTF-8",
	"too-deep":       "lists and mappings are nested too deep",
	"too-large":      "there are more values than are read",
	"type":           "a value is of another type than declared",
	"range":          "a number is outside its bounds",
	"empty":          "a text, list or name must not be empty",
	"unknown-word":   "a text is none of the words that may stand there",
	"missing-key":    "a key must be given",
	"unknown-key":    "a key is known nowhere, or belongs to another type of the same mapping",
	"duplicate-key":  "a key is given twice",
	"duplicate-id":   "two things have the same name",
	"no-effect":      "a value is read and nothing follows it",
	"vacuous":        "a check whose verdict nothing changes, or nothing to check at all",
	"pattern":        "a text is not a pattern or regular expression",
	"schema-version": "the document is of a version that is not known",
	"timeout":        "a time limit is not a time",
	"template":       "a template has tokens that mean nothing, or lacks one",
	"expression":     "an expression has a form that cannot be evaluated",
}

// FormatCodes are the words that only one format uses. The format's page explains them.
var FormatCodes = map[string][]string{
	"flakestorm": {
		"base-url", "cannot-check", "cannot-inject", "compatibility", "contradiction", "dataset", "disabled", "duplicate-prompt",
		"endpoint", "fault", "id", "literal-key", "literal-pattern", "live-source", "mutations", "never", "never-applies",
		"no-judge", "no-key", "no-template", "other-kind", "read-as", "schema", "seconds", "session", "too-few-runs", "two-prompts", "two-rates",
		"two-weights",
		"unknown-gateway", "unset", "unused-gateway", "weights",
	},
	"fresnelfir": {
		"actor-by-name", "actor-state", "all-zero-weights", "argument-count", "argument-type", "arity", "claims",
		"constant-property", "constraint-operator", "coverage-floor", "cyclic-ref", "dangling-entity-ref",
		"dangling-protocol-ref", "default", "depth", "derived-body", "duplicate-branch", "duplicate-parameter",
		"duplicate-value", "empty-alt", "empty-enum", "empty-generator", "enum-value", "epoch-size",
		"generator-value", "handle-collision", "hidden-guard", "idle-constraint", "idle-value", "int-bounds", "invalid-repeat-bounds",
		"missing-binding", "missing-effect", "missing-parameter", "models", "never-asked", "never-compared", "never-exercised",
		"no-actions", "not-a-condition", "observer-binding", "operand-type", "outside-domain", "property-predicate",
		"property-rule", "recursion", "refinement-base", "rejects", "reserved-variable", "return-type", "reuses", "strength",
		"target", "temporal-rule", "threads", "unbound-variable", "unknown-action", "unknown-argument",
		"unknown-domain", "unknown-entity", "unknown-field", "unknown-function", "unknown-operator",
		"unknown-parameter", "unknown-refinement", "unknown-return-type", "unreachable-branch", "unset-field", "unused-binding",
		"unused-effect", "value-type", "variable-type",
	},
	"fuzzspec": {
		"absolute-path", "bytes-huge", "cases-huge", "digest-form", "env-not-allowed", "executable",
		"executable-not-allowed", "input-unused", "no-mutation", "path-unreadable", "reserved", "schema-limit",
		"seed-digest", "seed-digest-unchecked", "seed-empty", "seed-missing", "seed-not-a-file", "seed-truncated",
		"seed-unread", "too-many-bytes", "too-many-digits", "too-many-ops", "under-runtime-root",
		"unknown-placeholder",
	},
	"operator": {
		"bucket-ambiguous", "bucket-number", "bucket-unknown", "constraint", "control", "meta", "no-operators",
		"seed-bucket", "seed-buckets", "seed-constraints", "seed-header", "seed-id", "seed-mutable", "seed-repeat",
		"seed-strength", "seed-surface", "seed-syntax", "seed-text", "surface-unknown", "testcase", "verdict",
	},
	"spectest": {
		"argv", "assert", "assert-health", "asserts-nothing", "cannot-several", "capability", "capture",
		"case-shape", "console-key", "console-line", "empty-branch", "entrypoint", "env", "exit-code", "expect",
		"group-keys", "group-list", "hook", "id", "later-dialect", "leaf-empty", "leaf-target", "misplaced-key",
		"near-block", "operand", "operator", "operator-list", "own-text", "page-file", "path", "python-only",
		"quoted-block", "redact", "request", "requires", "setup-files", "tags", "unclosed-block", "unknown-target",
	},
}
