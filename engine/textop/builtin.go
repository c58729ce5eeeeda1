package textop

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/pyrand"
	"github.com/thresh-dev/thresh/engine/seq"
)

// Builtins returns the built-in operators, in order of their ids. Every call
// makes a new list of the same operators.
func Builtins() []Operator { return added(1) }

// Extended returns further operators, for documents that ask for them: adding
// some never changes what other documents draw.
func Extended() []Operator { return added(2) }

// added returns the operators that were added in an edition.
func added(n int) []Operator {
	families := [][]builtin{templates(n)}
	switch n {
	case 1:
		families = append(families, encodings(), ciphers(), confusables(), letterforms(), invisibles(), typos(), augmentations(), whitespace(), resizing(),
			crossovers(), structures(), conversations(), retrievals(), toolcalls(), exhaustions())
	case 2:
		families = append(families, turnings(), spellings())
	case 3:
		families = append(families, lettered())
	}
	var list []Operator
	for _, b := range slices.Concat(families...) {
		b.meta.resolve()
		b.meta.Strength, b.meta.OverLength = Range{1, 5}, SkipLong
		list = append(list, &b)
	}
	slices.SortFunc(list, func(a, b Operator) int { return cmp.Compare(a.Meta().ID, b.Meta().ID) })
	return list
}

// builtin is a built-in operator: its description and its one function.
type builtin struct {
	meta Meta
	// apply returns the child of d.text; it returns "" after d.skip or a bad
	// option.
	apply func(d *draft) string
}

// Meta implements Operator.
func (b *builtin) Meta() *Meta { return &b.meta }

// Apply implements Operator.
func (b *builtin) Apply(seed string, ctx *Context, rng *pyrand.Rand) Result {
	n := utf8.RuneCountInString(seed)
	if reason := mismatch(&b.meta, ctx); reason != "" {
		return skipped(b.meta.ID, seed, n, Params{{"reason", reason}})
	}
	if seed == "" {
		return skipped(b.meta.ID, seed, n, Params{{"reason", ReasonEmpty}})
	}
	d := &ctx.work
	*d = draft{text: seed, points: n, strength: b.meta.Strength.Clamp(ctx.Strength), ctx: ctx, rng: rng, buf: d.buf, raw: d.raw, spots: d.spots}
	d.params = append(make(Params, 0, 4), Param{"strength", d.strength})
	child := b.apply(d)
	r := Result{Status: OK, Child: child, Trace: Step{OpID: b.meta.ID, Status: OK, Params: d.params, LenBefore: n}}
	switch {
	case d.problem != "":
		r.Status, r.Error = Invalid, d.problem
	case d.reason != "":
		return skipped(b.meta.ID, seed, n, append(d.params, Param{"reason", d.reason}))
	case child == seed:
		return skipped(b.meta.ID, seed, n, append(d.params, Param{"reason", ReasonNoChange}))
	}
	if r.Status == OK {
		r.Trace.LenAfter = utf8.RuneCountInString(child)
		if limit := ctx.Constraints.MaxChars; limit <= 0 || r.Trace.LenAfter <= limit {
			return r
		}
		if b.meta.OverLength == SkipLong {
			return skipped(b.meta.ID, seed, n, append(d.params, Param{"reason", ReasonLength}))
		}
		r.Status, r.Error = Invalid, fmt.Sprintf("the child has %d code points, more than max_chars %d", r.Trace.LenAfter, ctx.Constraints.MaxChars)
	}
	r.Child, r.Trace.Status, r.Trace.LenAfter = seed, r.Status, n
	return r
}

// tags converts concepts to the tags of a built-in operator.
func tags(buckets ...Bucket) []string {
	return seq.Map(buckets, func(b Bucket) string { return string(b) })
}

// on converts surfaces likewise.
func on(surfaces ...Surface) []string {
	return seq.Map(surfaces, func(s Surface) string { return string(s) })
}

// prose returns the surfaces with running text.
func prose() []string { return on(PromptText, SystemMessage, RAGContext) }

// anywhere returns all surfaces except structured tool calls, which noise would
// break.
func anywhere() []string { return on(PromptText, SystemMessage, RAGContext, OutputShaping) }
