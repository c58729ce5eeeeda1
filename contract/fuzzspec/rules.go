package fuzzspec

import "github.com/thresh-dev/thresh/diag"

// Rule is one thing that [Check] says about documents.
type Rule struct {
	Code  string
	Level diag.Level
	// Stricter says why Check refuses what [Validate] accepts; empty for rules
	// that both share, and for warnings.
	Stricter string
	// UnderStrict marks warnings that become errors with CheckOptions.Strict.
	UnderStrict bool
}

// The codes of rules.
const (
	codeSyntax          = "fuzzspec.syntax"
	codeEncoding        = "fuzzspec.encoding"
	codeDepth           = "fuzzspec.too-deep"
	codeDigits          = "fuzzspec.too-many-digits"
	codeType            = "fuzzspec.type"
	codeMissing         = "fuzzspec.missing-key"
	codeUnknown         = "fuzzspec.unknown-key"
	codeVersion         = "fuzzspec.schema-version"
	codeEmpty           = "fuzzspec.empty"
	codeAbsolute        = "fuzzspec.absolute-path"
	codeExecutable      = "fuzzspec.executable"
	codeNotAllowed      = "fuzzspec.executable-not-allowed"
	codeRange           = "fuzzspec.range"
	codeRuntimeRoot     = "fuzzspec.under-runtime-root"
	codeSeedMissing     = "fuzzspec.seed-missing"
	codeUnreadable      = "fuzzspec.path-unreadable"
	codeDigestForm      = "fuzzspec.digest-form"
	codeWord            = "fuzzspec.unknown-word"
	codeSize            = "fuzzspec.too-large"
	codeEnv             = "fuzzspec.env-not-allowed"
	codeTemplate        = "fuzzspec.template"
	codeTimeout         = "fuzzspec.timeout"
	codeSeedKind        = "fuzzspec.seed-not-a-file"
	codeSeedDigest      = "fuzzspec.seed-digest"
	codeSeedUnread      = "fuzzspec.seed-unread"
	codeTooManyOps      = "fuzzspec.too-many-ops"
	codeTooManyBytes    = "fuzzspec.too-many-bytes"
	codeReserved        = "fuzzspec.reserved"
	codeSchemaLimit     = "fuzzspec.schema-limit"
	codeDuplicate       = "fuzzspec.duplicate-key"
	codeSeedEmpty       = "fuzzspec.seed-empty"
	codeSeedCut         = "fuzzspec.seed-truncated"
	codeDigestUnchecked = "fuzzspec.seed-digest-unchecked"
	codeCasesHuge       = "fuzzspec.cases-huge"
	codePlaceholder     = "fuzzspec.unknown-placeholder"
	codeInputUnused     = "fuzzspec.input-unused"
	codeBytesHuge       = "fuzzspec.bytes-huge"
	codeNoOp            = "fuzzspec.no-mutation"
)

// Rules returns every rule. A document has an error from [Check] exactly when
// [Validate] refuses it, but for the rules that say why they are stricter.
func Rules() []Rule {
	shared := func(code string) Rule { return Rule{Code: code} }
	stricter := func(code, why string) Rule { return Rule{Code: code, Stricter: why} }
	warning := func(code string) Rule { return Rule{Code: code, Level: diag.Warning} }
	doubtful := func(code string) Rule { return Rule{Code: code, Level: diag.Warning, UnderStrict: true} }
	return []Rule{
		shared(codeSyntax), shared(codeEncoding), shared(codeDepth), shared(codeDigits),
		shared(codeType), shared(codeMissing), shared(codeUnknown), shared(codeVersion), shared(codeEmpty),
		shared(codeAbsolute), shared(codeExecutable), shared(codeNotAllowed), shared(codeRange),
		shared(codeRuntimeRoot), shared(codeSeedMissing), shared(codeUnreadable), shared(codeDigestForm),
		shared(codeWord), shared(codeSize), shared(codeEnv), shared(codeTemplate),
		stricter(codeTimeout, "a timeout that is no number of seconds, or longer than 292 years, ends a run with an overflow"),
		stricter(codeSeedKind, "a seed that is not a file cannot be read when the campaign starts"),
		stricter(codeSeedUnread, "a seed that cannot be read fails every case"),
		stricter(codeSeedDigest, "a seed other than the one that the document names makes other cases"),
		stricter(codeTooManyOps, "a case of more than a million operations would not end"),
		stricter(codeTooManyBytes, "append_bytes draws lengths up to max_bytes, more than memory holds"),
		doubtful(codeReserved), doubtful(codeSchemaLimit),
		warning(codeDuplicate), warning(codeSeedEmpty), warning(codeSeedCut), warning(codeDigestUnchecked),
		warning(codeCasesHuge), warning(codePlaceholder), warning(codeInputUnused), warning(codeBytesHuge),
		warning(codeNoOp),
	}
}
