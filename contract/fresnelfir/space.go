package fresnelfir

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/choice"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/tway"
)

// maxValues is how many values of a domain are told apart. Of a larger range
// those count that tend to matter: its ends, what is next to them, what is
// near 0, and every number that the document mentions. Where no constraint is
// on such a domain, other values are drawn as well; of a string they are variants.
const maxValues = 64

// space is the inputs of a document: values by domain, the constraints on them
// and the combinations that are to be covered.
type space struct {
	domains []domain
	conds   []solve.Cond
	names   []string // of the constraints
	links   []int    // by field of the actor's entity: the domain that it is drawn from; -1: none
	reached []bool   // by domain: something depends on it
	targets []combination
	rows    [][]int // a covering array: every combination that is possible
	first   []int   // an input that the constraints allow
	faults  []fault // what is wrong with the inputs as a whole
}

// fault is a problem that only the compiled document shows.
type fault struct {
	at      ir.Place
	code    string
	message string
	doubt   bool
}

type domain struct {
	source *ir.Domain
	values []uint64 // places of the values in the domain, simplest first
	whole  bool     // these are all
	hints  []uint64 // of a large domain: places of values that the module compares with
}

// combination is values of some domains, by their places among those told apart.
type combination struct {
	params, values []int
	label          string
	unreachable    string // why no input has it; "" if one may
}

func newSpace(p *plan, reached []bool) space {
	s := space{reached: reached}
	in := &p.doc.Inputs
	for _, x := range in.Domains {
		s.domains = append(s.domains, newDomain(p.doc, x))
	}
	for _, c := range in.Constraints {
		s.conds, s.names = append(s.conds, constraint(p, s.domains, c.Rule)), append(s.names, c.Name)
	}
	if p.actor >= 0 {
		s.link(p.doc.Entities[p.actor])
	}
	if len(s.domains) == 0 {
		return s
	}
	solver := s.solver()
	switch a := solver.Solve(solve.Query{}); a.Status {
	case solve.Sat:
		s.first = a.Row
		s.cover(in)
	case solve.Unsat:
		core, _ := solver.Conflict(nil, solve.DefaultNodes)
		s.faults = append(s.faults, fault{at: in.Constraints[0].Place, code: "no-input", message: "the constraints exclude every input: " + s.named(core)})
	default:
		s.faults = append(s.faults, fault{at: in.Place, code: "no-input", message: "no input was found that the constraints allow, within the budget of the search"})
	}
	s.idle(in)
	return s
}

func (s *space) named(conds []int) string {
	var list []string
	for _, i := range conds {
		list = append(list, s.names[i])
	}
	return strings.Join(list, ", ")
}

func (s *space) solver() *solve.Solver {
	sizes := make([]int, len(s.domains))
	for i := range s.domains {
		sizes[i] = len(s.domains[i].values)
	}
	return solve.New(sizes, s.conds)
}

// newDomain chooses the values that are told apart.
func newDomain(doc *ir.Document, x *ir.Domain) domain {
	d := domain{source: x, whole: x.Size() <= maxValues && x.Type != ir.String}
	if d.whole || x.Type == ir.String {
		for i := range x.Size() {
			d.values = append(d.values, i)
		}
		return d
	}
	near := func(v int64) []int64 { return []int64{v - 1, v, v + 1} }
	list := []int64{x.Min, x.Min + 1, x.Max - 1, x.Max, -1, 0, 1, 2}
	for _, t := range doc.Inputs.Targets {
		for _, v := range t.Values {
			if t.Domain == x.Name {
				list = append(list, v.Int)
			}
		}
	}
	doc.Expressions(func(e *ir.Expr) {
		if e.Op == ir.LitInt && e.Int > math.MinInt64 && e.Int < math.MaxInt64 {
			list = append(list, near(e.Int)...)
		}
	})
	list = slices.DeleteFunc(list, func(v int64) bool { return v < x.Min || v > x.Max })
	slices.Sort(list)
	list = slices.Compact(list)
	for _, v := range list[:min(len(list), 4*maxValues)] {
		d.values = append(d.values, uint64(v)-uint64(x.Min))
	}
	return d
}

// link finds the domains that the fields of an acting instance are drawn from:
// those called "actor_field", "entity_field" or as the field itself, of its type.
func (s *space) link(e *ir.Entity) {
	for _, f := range e.Fields {
		found := -1
		for _, name := range []string{f.Name, strings.ToLower(e.Name) + "_" + f.Name, "actor_" + f.Name} {
			for i, d := range s.domains {
				if d.source.Name == name && fitsField(d.source, f) {
					found = i
				}
			}
		}
		if found >= 0 {
			s.reached[found] = true
		}
		s.links = append(s.links, found)
	}
}

func fitsField(x *ir.Domain, f *ir.Field) bool {
	if x.Type != f.Type {
		return false
	}
	for _, v := range x.Values {
		if x.Type == ir.Enum && !slices.Contains(f.Values, v) {
			return false
		}
	}
	return x.Type != ir.Int || (f.Min == nil || *f.Min <= x.Min) && (f.Max == nil || *f.Max >= x.Max)
}

// cover lists the combinations that the targets ask for and makes an array that
// has all that are possible.
func (s *space) cover(in *ir.Inputs) {
	m := tway.Model{Strength: 1, Conds: s.conds}
	for _, d := range s.domains {
		m.Levels = append(m.Levels, len(d.values))
	}
	seen := map[string]bool{}
	for _, t := range in.Targets {
		var params []int
		switch t.Kind {
		case ir.AllPairs, ir.TWay:
			for i, d := range s.domains {
				if slices.Contains(t.Over, d.source.Name) {
					params = append(params, i)
				}
			}
			m.Relations = append(m.Relations, tway.Relation{Params: params, Strength: t.Strength})
			subsets(params, t.Strength, func(set []int) { s.combinations(set, seen) })
		case ir.Boundary:
			s.boundary(t, seen)
		}
	}
	array, err := tway.Generate(&m, tway.Options{Seed: in.Seed})
	if err != nil {
		s.faults = append(s.faults, fault{at: in.Place, code: "coverage", message: "the coverage targets cannot be worked out: " + err.Error()})
		return
	}
	s.rows = array.Rows
	for _, u := range array.Unreachable {
		for i := range s.targets {
			if t := &s.targets[i]; includes(t, u.Tuple) {
				t.unreachable = "excluded by " + s.named(u.Conds)
			}
		}
	}
}

// includes reports whether a combination holds all that a tuple does.
func includes(t *combination, u tway.Tuple) bool {
	for k, p := range u.Params {
		i := slices.Index(t.params, p)
		if i < 0 || t.values[i] != u.Values[k] {
			return false
		}
	}
	return true
}

func subsets(list []int, n int, visit func([]int)) {
	set := make([]int, 0, n)
	var from func(int)
	from = func(i int) {
		if len(set) == n {
			visit(set)
			return
		}
		for ; i < len(list); i++ {
			set = append(set, list[i])
			from(i + 1)
			set = set[:len(set)-1]
		}
	}
	from(0)
}

// maxTargets bounds the combinations that are counted one by one.
const maxTargets = 200_000

func (s *space) combinations(params []int, seen map[string]bool) {
	values := make([]int, len(params))
	for len(s.targets) < maxTargets {
		s.target(params, values, seen)
		k := len(values) - 1
		for ; k >= 0; k-- {
			if values[k]++; values[k] < len(s.domains[params[k]].values) {
				break
			}
			values[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

func (s *space) target(params, values []int, seen map[string]bool) {
	var label strings.Builder
	for k, p := range params {
		if k > 0 {
			label.WriteString(", ")
		}
		label.WriteString(s.domains[p].source.Name + "=" + s.text(p, values[k]))
	}
	if !seen[label.String()] {
		seen[label.String()] = true
		s.targets = append(s.targets, combination{params: slices.Clone(params), values: slices.Clone(values), label: label.String()})
	}
}

// boundary asks for the values that a target names and, for integers, for the
// ends of the range and what is next to them.
func (s *space) boundary(t ir.Target, seen map[string]bool) {
	for i := range s.domains {
		d := &s.domains[i]
		if d.source.Name != t.Domain {
			continue
		}
		places := []uint64{}
		for _, v := range t.Values {
			switch v.Op {
			case ir.LitBool:
				places = append(places, map[bool]uint64{true: 1}[v.Bool])
			case ir.LitString:
				places = append(places, uint64(slices.Index(d.source.Values, v.Text)))
			default:
				places = append(places, uint64(v.Int)-uint64(d.source.Min))
			}
		}
		if last := d.source.Size() - 1; d.source.Type == ir.Int {
			places = append(places, 0, last)
			if last > 1 {
				places = append(places, 1, last-1)
			}
		}
		for _, at := range places {
			if v := slices.Index(d.values, at); v >= 0 {
				s.target([]int{i}, []int{v}, seen)
			}
		}
	}
}

// text is a value as people read it.
func (s *space) text(d, value int) string {
	x := s.domains[d].source
	at := s.domains[d].values[value]
	switch x.Type {
	case ir.Bool:
		return fmt.Sprint(at == 1)
	case ir.Enum, ir.String:
		return x.Values[at]
	}
	return fmt.Sprint(int64(uint64(x.Min) + at))
}

// idle doubts domains that reach nothing: what is asked of them cannot be covered.
func (s *space) idle(in *ir.Inputs) {
	for i, x := range in.Domains {
		used := s.reached[i]
		for k, c := range s.conds {
			used = used || slices.Contains(c.Vars, i) && len(s.names) > k
		}
		if !used {
			s.faults = append(s.faults, fault{at: x.Place, code: "idle-domain", doubt: true,
				message: fmt.Sprintf("the input %q reaches nothing: no argument of an action, no field of the actor and no expression takes its value", x.Name)})
			for k := range s.targets {
				if t := &s.targets[k]; slices.Contains(t.params, i) && t.unreachable == "" {
					t.unreachable = "nothing takes the input " + x.Name
				}
			}
		}
	}
}

// inputs are the inputs of one traversal.
type inputs struct {
	s      *space
	solver *solve.Solver // nil until it is needed
	row    []int         // the place of each value; solve.Open where the value is another
	fixed  []int
	hint   func(d int) (uint64, bool) // a value to try, or none
}

func (in *inputs) reset(s *space) {
	in.s = s
	in.row = append(in.row[:0], s.first...)
}

// draw decides on new values for some domains, such that all constraints hold.
// like is a row to take them from where that can be, or nil.
func (in *inputs) draw(src *choice.Source, m *model.Machine, domains []int, like []int) {
	p := m.Program()
	for _, d := range domains {
		x := &in.s.domains[d]
		n := uint64(len(x.values))
		var k int
		if like != nil {
			k = int(src.Prefer(uint64(like[d]), n))
		} else {
			k = int(src.Draw(n))
		}
		free := !slices.ContainsFunc(in.s.conds, func(c solve.Cond) bool { return slices.Contains(c.Vars, d) })
		if free {
			in.row[d] = k
			at := x.values[k]
			if !x.whole {
				at = in.other(src, d, at)
			}
			m.SetInput(d, p.DomainValue(d, at))
			continue
		}
		in.constrained(d, k, domains)
		m.SetInput(d, p.DomainValue(d, x.values[in.row[d]]))
	}
}

// other decides on any value of a large domain, now and then, in place of at.
func (in *inputs) other(src *choice.Source, d int, at uint64) uint64 {
	x := in.s.domains[d].source
	size := x.Size() + uint64(len(x.Variants))
	if hint, ok := in.hint(d); ok {
		if src.Prefer(1, 2) == 1 {
			at, in.row[d] = src.Prefer(hint, size), solve.Open
		}
	} else if src.Weighted(onceInFour) == 1 {
		at, in.row[d] = src.Draw(size), solve.Open
	}
	return at
}

// constrained gives a domain the first value from k on that the others allow:
// those that are still to be drawn may change for it, the rest stay.
func (in *inputs) constrained(d, k int, domains []int) {
	if in.solver == nil {
		in.solver = in.s.solver()
	}
	if !in.solver.Constrained(d) { // the conditions on it hold whatever it is
		in.row[d] = k
		return
	}
	at := slices.Index(domains, d)
	n := len(in.s.domains[d].values)
	for i := range n {
		in.fixed = append(in.fixed[:0], in.row...)
		for _, later := range domains[at+1:] {
			in.fixed[later] = solve.Open
		}
		for v := range in.fixed {
			if !in.solver.Constrained(v) {
				in.fixed[v] = 0 // no condition is on it
			}
		}
		in.fixed[d] = (k + i) % n
		if a := in.solver.Solve(solve.Query{Fixed: in.fixed}); a.Status == solve.Sat {
			for v, x := range a.Row {
				if in.solver.Constrained(v) {
					in.row[v] = x
				}
			}
			return
		}
	}
}
