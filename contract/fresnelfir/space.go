package fresnelfir

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/tway"
)

// maxValues is how many values of a domain are distinguished. In a larger range these are the
// values that tend to matter: its ends and their neighbours, values near 0, and every number in the
// document. If no constraint mentions such a domain, other values are drawn as well; for a string
// these are variants.
const maxValues = 64

// space is the inputs of a document: values by domain, the constraints on them, and the
// combinations to cover.
type space struct {
	domains []domain
	conds   []solve.Cond
	names   []string // of the constraints
	links   []int    // by field of the actor's entity: the domain that it is drawn from; -1: none
	reached []bool   // by domain: something depends on it
	targets []combination
	rows    [][]int // a covering array: every possible combination
	first   []int   // an input that the constraints allow
	faults  []fault // faults in the inputs as a whole
}

// fault is a problem that appears only in the compiled document.
type fault struct {
	at      ir.Place
	code    string
	message string
	doubt   bool
}

type domain struct {
	source *ir.Domain
	values []uint64 // indices of the values in the domain, simplest first
	whole  bool     // these are all values
	hints  []uint64 // of a large domain: indices of values that the module compares with
}

// combination is values of some domains, as indices among the distinguished ones.
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
		s.conds, s.names = append(s.conds, constraint(s.domains, c.Rule)), append(s.names, c.Name)
	}
	if p.actor >= 0 {
		s.link(p.doc.Entities[p.actor], p.moves[p.actor])
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
		s.faults = append(s.faults, fault{at: in.Constraints[append(core, 0)[0]].Place, code: "no-input", message: "the constraints exclude every input: " + s.named(core)})
	default:
		s.faults = append(s.faults, fault{at: in.Place, code: "no-input", message: "no input was found that the constraints allow, within the budget of the search"})
	}
	s.idle(in)
	return s
}

func (s *space) named(conds []int) string {
	return strings.Join(seq.Map(conds, func(i int) string { return s.names[i] }), ", ")
}

func (s *space) solver() *solve.Solver { return s.solverOf(s.conds) }

func (s *space) solverOf(conds []solve.Cond) *solve.Solver {
	sizes := make([]int, len(s.domains))
	for i := range s.domains {
		sizes[i] = len(s.domains[i].values)
	}
	return solve.New(sizes, conds)
}

// newDomain selects the values to distinguish.
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
	for _, v := range list {
		d.values = append(d.values, x.Number(v))
	}
	slices.Sort(d.values)
	d.values = slices.Compact(d.values)
	d.values = d.values[:min(len(d.values), 4*maxValues)]
	return d
}

// link finds the domains from which the actors' fields are drawn: those named "actor_field",
// "entity_field" or like the field, with its type. It does not link a field that actions set to an
// input of the same name that a call or an effect uses, such as the mode of set_mode(mode), because
// the module does not know the field's first value.
func (s *space) link(e *ir.Entity, moves []bool) {
	used := slices.Clone(s.reached)
	for k, f := range e.Fields {
		found := -1
		for _, name := range []string{f.Name, strings.ToLower(e.Name) + "_" + f.Name, "actor_" + f.Name} {
			for i, d := range s.domains {
				if d.source.Name == name && fitsField(d.source, f) && !(name == f.Name && moves[k] && used[i]) {
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

// linked returns notes on the inputs from which actors' fields are drawn.
func (p *plan) linked(src *ir.Source) (list diag.List) {
	for k, d := range p.space.links {
		if d >= 0 {
			list = append(list, src.Note(p.space.domains[d].source.Place,
				fmt.Sprintf("also supplies the %s of each acting %s, as it has the field's name", p.doc.Entity(p.doc.Actor).Fields[k].Name, p.doc.Actor)))
		}
	}
	return list
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

// cover lists the combinations that the targets ask for, and builds a covering array of all
// possible ones.
func (s *space) cover(in *ir.Inputs) {
	m := tway.Model{Conds: s.conds}
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
			_ = tway.Subsets(params, t.Strength, func(set []int) error {
				s.combinations(set, seen)
				return nil
			})
		case ir.Boundary:
			s.boundary(t, seen)
		}
	}
	array, err := tway.Generate(&m, in.Seed)
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

// includes reports whether a combination includes a tuple.
func includes(t *combination, u tway.Tuple) bool {
	for k, p := range u.Params {
		i := slices.Index(t.params, p)
		if i < 0 || t.values[i] != u.Values[k] {
			return false
		}
	}
	return true
}

// maxTargets limits the combinations that are counted individually.
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

// boundary adds the values that a target names and, for integers, the ends of the range and their
// neighbours.
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
				places = append(places, d.source.Number(v.Int))
			}
		}
		if x := d.source; x.Type == ir.Int {
			places = append(places, x.Number(x.Min), x.Number(x.Max))
			if x.Size() > 2 {
				places = append(places, x.Number(x.Min+1), x.Number(x.Max-1))
			}
		}
		for _, at := range places {
			if v := slices.Index(d.values, at); v >= 0 {
				s.target([]int{i}, []int{v}, seen)
			}
		}
	}
}

// text formats a value for people.
func (s *space) text(d, value int) string {
	x := s.domains[d].source
	at := s.domains[d].values[value]
	switch x.Type {
	case ir.Bool:
		return fmt.Sprint(at == 1)
	case ir.Enum, ir.String:
		return x.Values[at]
	}
	return fmt.Sprint(x.Integer(at))
}

// idle warns about domains that nothing uses: no coverage of them is possible.
func (s *space) idle(in *ir.Inputs) {
	for i, x := range in.Domains {
		used := s.reached[i]
		for k, c := range s.conds {
			used = used || slices.Contains(c.Vars, i) && len(s.names) > k
		}
		if !used {
			s.faults = append(s.faults, fault{at: x.Place, code: "idle-domain", doubt: true,
				message: fmt.Sprintf("the input %q has no effect: no argument of an action, no field of the actor and no expression uses it", x.Name)})
			for k := range s.targets {
				if t := &s.targets[k]; slices.Contains(t.params, i) && t.unreachable == "" {
					t.unreachable = "nothing takes the input " + x.Name
				}
			}
		}
	}
}
