package modelfile

import (
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/tools/tway/logic"
)

// number parses a decimal number.
func number(s string) (float64, bool) {
	if s == "" || strings.ContainsFunc(s, func(c rune) bool { return !strings.ContainsRune("0123456789+-.eE", c) }) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// relation is a comparison: which of less, equal and greater satisfy it.
type relation struct{ less, equal, greater bool }

func (r relation) holds(order int) bool {
	return order < 0 && r.less || order == 0 && r.equal || order > 0 && r.greater
}

// relations are the comparisons of both formats, longer ones first.
var relations = []struct {
	text string
	relation
}{
	{"<>", relation{true, false, true}}, {"!=", relation{true, false, true}},
	{"<=", relation{true, true, false}}, {">=", relation{false, true, true}},
	{"==", relation{false, true, false}}, {"=", relation{false, true, false}},
	{"<", relation{true, false, false}}, {">", relation{false, false, true}},
}

// order compares two values of one type.
func (r *reader) order(numeric bool, a, b *Value) int {
	if numeric {
		switch {
		case a.number < b.number:
			return -1
		case a.number > b.number:
			return 1
		}
		return 0
	}
	return r.compare(a.Name(), b.Name())
}

func (r *reader) compare(a, b string) int {
	return strings.Compare(r.folded(a), r.folded(b))
}

// folded is text in the form to compare.
func (r *reader) folded(s string) string {
	if r.f.dialect.CaseSensitive {
		return s
	}
	return strings.ToUpper(s)
}

// choose is the condition that parameter p has a value that f accepts. It warns if the condition
// always or never holds.
func (r *reader) choose(p int, at diag.Pos, hint string, f func(v *Value) bool) solve.Cond {
	values := r.f.Params[p].Values
	set, n := make([]bool, len(values)), 0
	for x := range values {
		if set[x] = f(&values[x]); set[x] {
			n++
		}
	}
	switch n {
	case 0:
		r.warn(at, "no-match", "no value of "+quote(r.f.Params[p].Name)+" satisfies this", hint)
	case len(values):
		r.warn(at, "all-match", "every value of "+quote(r.f.Params[p].Name)+" satisfies this", "")
	}
	return logic.In(p, set)
}

// nearest is a hint for a value that parameter p does not have.
func (r *reader) nearest(p int, name string) string {
	var names []string
	for i := range r.f.Params[p].Values {
		v := &r.f.Params[p].Values[i]
		if r.equal(v.Name(), name) {
			return ""
		}
		names = append(names, v.Name())
	}
	return diag.DidYouMean(name, names)
}

// both compares two parameters of one type.
func (r *reader) both(p, q int, rel relation) solve.Cond {
	a, b := &r.f.Params[p], &r.f.Params[q]
	return logic.Relation([]int{p, q}, func(row []int) bool {
		return rel.holds(r.order(a.Numeric, &a.Values[row[p]], &b.Values[row[q]]))
	})
}

// like matches a pattern of * (any text) and ? (any character).
func like(pattern, text []rune) bool {
	star, from := -1, 0
	i, j := 0, 0
	for j < len(text) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, from = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == text[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}
