package textop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Risk is the sensitivity of the texts that an operator can make.
type Risk string

// The risk levels of the contract.
const (
	Low    Risk = "LOW"    // format, whitespace, style
	Medium Risk = "MEDIUM" // framing, context, attempts to circumvent a policy
	High   Risk = "HIGH"   // tool calls, assembled security probes
)

// Rank orders risks, LOW first; an unknown one is 0.
func (r Risk) Rank() int { return slices.Index([]Risk{"", Low, Medium, High}, r) }

// OverLength is what an operator does with a child longer than max_chars; the
// contract (OC-6.3) requires that it be fixed for each operator.
type OverLength string

// Options A and B of OC-6.3.
const (
	SkipLong   OverLength = "SKIPPED" // A, recommended: give up
	RefuseLong OverLength = "INVALID" // B: a violation of policy
)

// Range is a closed range of strengths.
type Range struct{ Min, Max int }

// Clamp returns the strength in the range that is nearest to n.
func (r Range) Clamp(n int) int { return max(r.Min, min(n, r.Max)) }

// ParamSpec describes a parameter that an operator reads from the context (see
// [Context.Options]).
type ParamSpec struct {
	Name    string
	Kind    string   // "int", "string", "choice", or what a plug-in wrote
	Choices []string // the values, if Kind is "choice"
	Doc     string
}

// Meta is the description of an operator: section 2 of the contract, and what
// Thresh requires of built-in operators.
type Meta struct {
	ID         string   // unique; op_<category>_<name> is recommended
	BucketTags []string // as declared, sorted, distinct
	Buckets    []Bucket // the concepts of the tags, sorted, distinct
	// SurfaceTags are the surfaces as declared, sorted, distinct; Surfaces are
	// the same with the names of the contract. Operators of other tools may know
	// a surface only by another name; see SurfaceTag.
	SurfaceTags []string
	Surfaces    []Surface
	Risk        Risk
	Strength    Range
	Params      []ParamSpec
	OverLength  OverLength // "" is SkipLong

	// Only built-in operators need what follows.

	Purpose     string // in one sentence
	StrengthDoc string // the meaning of strength: OC-2.5
	// Grows names an integer parameter of the trace that never falls when
	// strength rises, all else equal; "" if there is none.
	Grows string
	// Origin is the paper or tool that described the technique.
	Origin string
	// Inverse says how to turn a child back into its seed, if the operator is an
	// [Inverter]; otherwise "".
	Inverse string
	// Controls means that children contain control characters on purpose, so that
	// the guard must keep them (keep_controls).
	Controls bool
}

// Serves reports whether the operator is for the bucket.
func (m *Meta) Serves(b Bucket) bool { return slices.Contains(m.Buckets, b) }

// Accepts reports whether the operator is for the surface.
func (m *Meta) Accepts(s Surface) bool { return slices.Contains(m.Surfaces, s) }

// Takes is Accepts, where the messages of a conversation count as text of a user.
func (m *Meta) Takes(s Surface) bool {
	return m.Accepts(s) || s == Conversation && m.Accepts(PromptText)
}

// SurfaceTag returns the name by which the operator knows a surface: given, if it
// declared that name, otherwise the first declared name for s, otherwise s.
func (m *Meta) SurfaceTag(s Surface, given string) string {
	if slices.Contains(m.SurfaceTags, given) {
		return given
	}
	for _, tag := range m.SurfaceTags {
		if known, _ := ParseSurface(tag); known == s {
			return tag
		}
	}
	return string(s)
}

// Validate returns everything that is wrong with m. Diagnostics have the field as
// Path and no position; the caller that read a file adds it.
func (m *Meta) Validate() diag.List {
	var l faults
	if strings.TrimSpace(m.ID) == "" {
		l.add("op_id", "is empty: expected an identifier such as op_lex_swap_words")
	} else if !strings.HasPrefix(m.ID, "op_") || strings.Count(m.ID, "_") < 2 {
		l.warn("op_id", fmt.Sprintf("%q does not have the recommended form op_<category>_<name>", m.ID))
	}
	if len(m.BucketTags) == 0 {
		l.add("bucket_tags", "is empty: expected at least one bucket, such as LLM01_PROMPT_INJECTION")
	}
	for i, tag := range m.BucketTags {
		_, found := ParseBucket(tag)
		l.nest(fmt.Sprintf("bucket_tags[%d]", i), found)
	}
	if len(m.SurfaceTags) == 0 {
		l.add("surface_compat", "is empty: expected at least one surface, such as PROMPT_TEXT")
	}
	for i, tag := range m.SurfaceTags {
		s, found := ParseSurface(tag)
		l.nest(fmt.Sprintf("surface_compat[%d]", i), found)
		if s != "" && string(s) != tag {
			l.warn(fmt.Sprintf("surface_compat[%d]", i), fmt.Sprintf("%q is not a name of the contract; taken as %s", tag, s))
		}
	}
	if m.Risk.Rank() <= 0 {
		l.add("risk_level", fmt.Sprintf("is %q: expected LOW, MEDIUM or HIGH", m.Risk))
	}
	switch r := m.Strength; {
	case r.Min > r.Max:
		l.add("strength_range", fmt.Sprintf("is [%d, %d]: expected [min, max] with min not above max", r.Min, r.Max))
	case r.Min < 1 || r.Max > 5:
		l.warn("strength_range", fmt.Sprintf("is [%d, %d]: the contract recommends 1 to 5", r.Min, r.Max))
	}
	switch m.OverLength {
	case "", SkipLong, RefuseLong:
	default:
		l.add("over_length", fmt.Sprintf("is %q: expected SKIPPED (option A) or INVALID (option B)", m.OverLength))
	}
	return l.list
}

// faults collects diagnostics about fields of metadata or a context.
type faults struct{ list diag.List }

func (f *faults) add(path, message string) {
	f.list = append(f.list, diag.Diagnostic{Code: "operator.meta", Level: diag.Error, Path: path, Message: message})
}

func (f *faults) warn(path, message string) {
	f.list = append(f.list, diag.Diagnostic{Code: "operator.meta", Level: diag.Warning, Path: path, Message: message})
}

func (f *faults) nest(path string, found diag.List) {
	for _, d := range found {
		d.Path = path
		f.list = append(f.list, d)
	}
}
