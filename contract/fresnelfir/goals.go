package fresnelfir

import (
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/solve"
	"github.com/thresh-dev/thresh/engine/walk"
)

// goals is what a campaign has not covered yet and may be able to: calls, branches, branches in
// states in which they were open, properties that were never tested, and combinations of inputs.
type goals struct {
	p        *plan
	s        *state
	events   []event     // calls and branches; with a state: pairs
	branches []event     // guarded branches among them that were never taken
	untried  []int       // properties
	inputs   []int       // combinations
	missing  []inputGoal // inputs that contain some of them
	aims     []searchTarget
	found    []string
	have     map[event]bool // found in this search
	failures map[string]bool
}

func (c *Campaign) goals(s *state) *goals {
	p := c.plan
	g := &goals{p: p, s: s, have: map[event]bool{}, failures: map[string]bool{}}
	for at := range p.nodes {
		n := &p.nodes[at]
		if n.unreachable != "" {
			continue
		}
		if e := (event{kind: eventNode, node: at}); n.kind == walk.Call && s.hits.of(e) == 0 {
			g.events = append(g.events, e)
		}
		for i := range n.branches {
			e := event{kind: eventBranch, node: at, child: i}
			if b := &n.branches[i]; b.unreachable == "" && s.branchHits(at, i) == 0 {
				if g.events = append(g.events, e); !b.open {
					g.branches = append(g.branches, e)
				}
			}
		}
	}
	g.pairs()
	for i, n := range s.tried {
		if n == 0 {
			g.untried = append(g.untried, i)
		}
	}
	for i := range p.space.targets {
		if k := &p.space.targets[i]; k.unreachable == "" && !s.reached[i] && len(g.inputs) < maxInputs {
			g.inputs = append(g.inputs, i)
			if at := slices.IndexFunc(p.space.rows, func(row []int) bool { return holds(k, row) }); at >= 0 && len(g.missing) < maxRows {
				g.missing = append(g.missing, inputGoal{row: filledRow(p.space.rows[at])})
			}
		}
	}
	g.choose()
	return g
}

// uncovered reports whether anything is uncovered.
func (g *goals) uncovered() bool { return len(g.events)+len(g.untried)+len(g.inputs) > 0 }

// maxInputs is how many combinations one search looks for.
const maxInputs = 256

// filledRow returns a row with a value for every domain.
func filledRow(row []int) []int {
	row = slices.Clone(row)
	for d, v := range row {
		if v == solve.Open {
			row[d] = 0
		}
	}
	return row
}

// pairs adds the branches that were open in some state of their alternative and were never taken in
// it.
func (g *goals) pairs() {
	states := map[event]bool{}
	for e := range g.s.closed.all() {
		states[event{kind: eventBranch, node: e.node, state: e.state}] = true
	}
	for e := range states {
		branches := g.p.nodes[e.node].branches
		for i := range branches[:min(len(branches), 64)] {
			pair := event{eventBranch, e.node, e.state, i}
			if e.state>>i&1 == 1 && branches[i].unreachable == "" && g.s.branchHits(e.node, i) > 0 && g.s.hits.of(pair) == 0 {
				g.events = append(g.events, pair)
			}
		}
	}
	slices.SortFunc(g.events, compare)
}

// name describes an uncovered event for people.
func (g *goals) name(e event) string {
	n := &g.p.nodes[e.node]
	switch {
	case e.kind == eventSituation:
		return n.id + " in another state of the model"
	case e.kind == eventNode:
		return n.id + " " + n.action
	case e.state != 0 && g.s.branchHits(e.node, e.child) > 0:
		return fmt.Sprintf("%s#%s in another state", n.id, n.branches[e.child].id)
	}
	return n.id + "#" + n.branches[e.child].id
}

// reached reports whether what the traversal has just reached is new, also to this search.
func (g *goals) reached(t *traversal) bool {
	was := len(g.found)
	for _, e := range t.seen.events {
		if e.kind != eventModel && !g.have[e] && g.s.isNew(e) {
			g.have[e] = true
			g.found = append(g.found, g.name(e))
		}
		for k := range g.aims {
			x := &g.aims[k]
			x.over = x.over || x.property == "" && e.kind == eventBranch && e.node == x.branch.node && e.child == x.branch.child
		}
	}
	for _, i := range g.untried {
		if e := (event{kind: eventTried, node: i}); t.m.Tried[i] > 0 && !g.have[e] {
			g.have[e] = true
			g.found = append(g.found, g.p.program.Property(i))
		}
	}
	for _, row := range t.seen.rows {
		for _, i := range g.inputs {
			if e := (event{kind: eventInput, node: i}); !g.have[e] && holds(&g.p.space.targets[i], row) {
				g.have[e] = true
				g.found = append(g.found, g.p.space.targets[i].label)
			}
		}
	}
	return len(g.found) > was
}

// failed reports whether the traversal failed in a new way, also new to this search.
func (g *goals) failed(t *traversal) bool {
	f := t.failed
	if n := len(t.beyond); f == nil && n > 0 {
		f = &t.beyond[n-1].failure
	}
	if f == nil {
		return false
	}
	k := failureKey(f.kind, f.subject, f.cause)
	if g.s.failures[k] || g.failures[k] {
		return false
	}
	g.failures[k] = true
	g.found = append(g.found, f.title)
	for i := range g.aims {
		g.aims[i].over = g.aims[i].over || g.aims[i].property == f.subject
	}
	return true
}

// maxRows is how many inputs are tried in one state.
const maxRows = 12

// inputGoal is inputs to use if possible: indices by domain for distinguished values, and exact
// values of some large domains.
type inputGoal struct {
	row   []int
	exact map[int]uint64
}

// inputGoals returns inputs to try from the current state: the default ones, those that open a
// branch which was never taken, and those that contain an uncovered combination. There is always at
// least one.
func (g *goals) inputGoals(t *traversal, atStart bool) []inputGoal {
	s := &g.p.space
	list := []inputGoal{{row: slices.Clone(s.first)}}
	if len(s.domains) == 0 {
		return list
	}
	if !atStart {
		for _, i := range t.alive {
			t.m.Act(i)
			for _, e := range g.branches {
				if len(list) == maxRows {
					break
				}
				if x, ok := g.opening(t, e); ok {
					list = append(list, x)
				}
			}
		}
	}
	list = append(list, g.missing...)
	if atStart { // actors' fields come from the inputs
		for _, row := range s.rows[:min(len(s.rows), maxRows)] {
			list = append(list, inputGoal{row: filledRow(row)})
		}
	}
	return list
}

// openingNodes limits the solver's search for inputs that open a branch.
const openingNodes = 2000

// opening returns inputs for which a guard holds in the model's current state. The parts of the
// guard that read no input must hold already. ok is false if none were found.
func (g *goals) opening(t *traversal, e event) (x inputGoal, ok bool) {
	parts := g.p.aims()[e.node][e.child].parts
	x.exact = map[int]uint64{}
	asks := false
	for k := range parts {
		if asks = asks || parts[k].inputs; !parts[k].inputs && !holdsAlone(t.m, parts[k].code) {
			return x, false
		}
	}
	if !asks {
		return x, false
	}
	conds := slices.Clip(g.p.space.conds)
	for k := range parts {
		part := &parts[k]
		switch {
		case !part.inputs:
		case part.wide >= 0 && !g.p.space.domains[part.wide].whole && !g.p.space.bound(part.wide):
			if !g.solveExact(t.m, part, x.exact) {
				return x, false
			}
		default:
			conds = append(conds, g.asked(t.m, part, x.exact))
		}
	}
	a := g.p.space.solverOf(conds).Solve(solve.Query{Nodes: openingNodes})
	x.row = filledRow(a.Row)
	return x, a.Status == solve.Sat
}

// solveExact finds a value of a large domain that satisfies a comparison: the other operand or one
// next to it.
func (g *goals) solveExact(m *model.Machine, part *conjunct, exact map[int]uint64) bool {
	d := part.wide
	if at, ok := exact[d]; ok {
		m.SetInput(d, g.p.program.DomainValue(d, at))
		return holdsAlone(m, part.code)
	}
	other, ok := m.Modelled(part.other)
	if !ok || other.Kind != model.Int {
		return false
	}
	for _, off := range [...]int64{0, -1, 1} {
		if at, in := g.p.space.domains[d].place(other.N + off); in {
			m.SetInput(d, model.Number(other.N+off))
			if holdsAlone(m, part.code) {
				exact[d] = at
				return true
			}
		}
	}
	return false
}

// asked converts a part of a guard into a condition of the solver.
func (g *goals) asked(m *model.Machine, part *conjunct, exact map[int]uint64) solve.Cond {
	p := g.p
	return solve.Cond{Vars: p.guarded, Eval: func(row []int) solve.Truth {
		for _, d := range p.guarded {
			if row[d] == solve.Open {
				return solve.Unknown
			}
		}
		for _, d := range p.guarded {
			at, ok := exact[d]
			if !ok {
				at = p.space.domains[d].values[row[d]]
			}
			m.SetInput(d, p.program.DomainValue(d, at))
		}
		return solve.Of(holdsAlone(m, part.code))
	}}
}
