package mutator

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Kind is how an operator is implemented.
type Kind string

// The kinds.
const (
	Builtin  Kind = "built-in"
	Starlark Kind = "starlark"
	Python   Kind = "python"
)

// Entry is an operator in a registry.
type Entry struct {
	Meta   *textop.Meta
	Kind   Kind
	Source diag.Pos // where apply is defined; File is "" for built-in ones
	// New makes an operator for one goroutine; nil: a [Remote] applies the
	// operator, under the number Module.
	New    func() (textop.Operator, error)
	Module int
}

// Crosses reports whether the operator reads a second text, the context's
// partner_text.
func (e *Entry) Crosses() bool {
	return slices.ContainsFunc(e.Meta.Params, func(p textop.ParamSpec) bool { return p.Name == "partner_text" })
}

// Registry is an immutable list of operators with distinct ids, in the order of
// their ids (by code point).
type Registry struct {
	entries []Entry
}

// Builtins returns the entries of the built-in operators.
func Builtins() []Entry { return entries(textop.Builtins()) }

// Extended returns the entries of those that documents ask for.
func Extended() []Entry { return entries(textop.Extended()) }

// Third returns the entries of the third edition.
func Third() []Entry { return entries(textop.Third()) }

// Edition3 returns all built-in operators, including the third edition.
func Edition3() []Entry { return entries(textop.Edition3()) }

func entries(ops []textop.Operator) []Entry {
	var list []Entry
	for _, op := range ops {
		list = append(list, Entry{Meta: op.Meta(), Kind: Builtin, New: func() (textop.Operator, error) { return op, nil }})
	}
	return list
}

// NewRegistry sorts entries. If two have the same id, the later one is an error
// at its position, and is skipped.
func NewRegistry(entries []Entry) (*Registry, diag.List) {
	r := &Registry{}
	var list diag.List
	first := make(map[string]Entry, len(entries))
	for _, e := range entries {
		known, taken := first[e.Meta.ID]
		if !taken {
			first[e.Meta.ID] = e
			r.entries = append(r.entries, e)
			continue
		}
		where := "a built-in operator"
		if known.Source.File != "" {
			where = known.Source.String()
		}
		list = append(list, diag.Diagnostic{
			Code: "operator.duplicate-id", Pos: e.Source, Path: "op_id",
			Message: fmt.Sprintf("the id %q is taken by %s: ids must be unique (OC-2.1.1)", e.Meta.ID, where),
			Hint:    "give one of the two another op_id, such as " + e.Meta.ID + "_v2",
		})
	}
	slices.SortFunc(r.entries, func(a, b Entry) int { return cmp.Compare(a.Meta.ID, b.Meta.ID) })
	return r, list
}

// Entries returns all operators. The slice must not be changed.
func (r *Registry) Entries() []Entry { return r.entries }

// Find returns the index of an operator by its id, or -1.
func (r *Registry) Find(id string) int {
	i, ok := slices.BinarySearchFunc(r.entries, id, func(e Entry, id string) int { return cmp.Compare(e.Meta.ID, id) })
	if !ok {
		return -1
	}
	return i
}

// IDs returns the ids, sorted.
func (r *Registry) IDs() []string {
	return seq.Map(r.entries, func(e Entry) string { return e.Meta.ID })
}

// Filter selects operators. Zero fields allow all.
type Filter struct {
	Bucket  textop.Bucket
	Surface textop.Surface
	RiskMax textop.Risk
	// Include and Exclude are patterns of ids, as for path.Match. An operator
	// passes if it matches one of Include, or Include is empty, and none of
	// Exclude.
	Include, Exclude []string
	// Controls allows operators whose children contain control characters, which
	// the guard removes unless it must keep them.
	Controls bool
}

// Allows reports whether an operator passes the filter.
func (f *Filter) Allows(m *textop.Meta) bool {
	switch {
	case f.Bucket != "" && !m.Serves(f.Bucket),
		f.Surface != "" && !m.Takes(f.Surface),
		f.RiskMax != "" && m.Risk.Rank() > f.RiskMax.Rank(),
		m.Controls && !f.Controls:
		return false
	}
	return f.Named(m.ID)
}

// Named reports whether the patterns allow an id.
func (f *Filter) Named(id string) bool {
	return (len(f.Include) == 0 || matches(f.Include, id)) && !matches(f.Exclude, id)
}

// matches reports whether a pattern matches; a malformed one does not.
func matches(patterns []string, id string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, id)
		return ok && err == nil
	})
}

// Select returns the indexes of the operators that pass the filter, in order.
func (r *Registry) Select(f Filter) []int {
	var list []int
	for i := range r.entries {
		if f.Allows(r.entries[i].Meta) {
			list = append(list, i)
		}
	}
	return list
}
