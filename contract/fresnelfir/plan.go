package fresnelfir

import (
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/engine/walk"
	"github.com/thresh-dev/thresh/port/dut"
)

// plan is what all traversals of a document share.
type plan struct {
	doc     *ir.Document
	program *model.Program
	grammar walk.Grammar
	nodes   []node // by index, as in the grammar
	roots   []int  // rules of the protocols with which traversals begin
	actor   int    // the actors' entity; -1: none
	starts  []start
	space   space
	// guarded are the inputs that guards read; they are drawn before a branch is chosen. asked are,
	// by action, the further inputs that the action needs.
	guarded []int
	asked   [][]int
	// feeds returns, by branch, the branches that lead to an action which sets a field that the
	// branch's guard reads. Its size may be the square of the number of branches, and a check does
	// not need it.
	feeds func() map[event][]event
	// aims returns, by node and branch, what searches need to know about guards. A check does not
	// need it.
	aims func() [][]aim
	// breaking is, by property, the distance of the model to a breach of it.
	breaking []model.Distance
	// makes says, by entity, whether some action creates instances of it.
	makes []bool
	// exceeds says that an effect assigns a literal that the field's declaration excludes.
	exceeds bool
	// moves says, by entity and field, whether some effect sets the field.
	moves [][]bool
	// collects says that beginnings that reach something new are kept.
	collects bool
	// claims are what the bindings claim, by action.
	claims []claims
}

// node is further information about a node of the grammar.
type node struct {
	id       string // "lifecycle/root/1/body"
	kind     walk.Kind
	branches []branch // of an alt
	weights  []float64
	attempts bool   // some branch has an attempt
	action   string // of a call
	// unreachable says why nothing leads here; "" if something may.
	unreachable string
}

// branch is an alternative of an alt.
type branch struct {
	id     string
	weight float64
	guard  model.Condition
	open   bool // it has no guard
	hidden bool // its guard depends on something that the system cannot know
	// unreachable says why the branch is never taken; "" if it may be.
	unreachable string
	// attempt is the action to try although the guard does not hold; -1: none.
	attempt int
	passed  []int // variables whose instances the system learns from the call's arguments
	rivals  []int // other branches that may begin with the same action
	leads   int   // the action with which the branch begins; -1 if that is not fixed
}

// start is a compiled generator.
type start struct {
	gen   *ir.Generator
	steps []startStep
	post  model.Condition
}

type startStep struct {
	action int
	binds  []startBind
	inputs map[int]model.Value    // by domain
	given  map[string]model.Value // by name of the argument
}

// startBind binds a variable to an instance: a named one, created on first use, or a new one.
type startBind struct {
	slot, entity int
	name         int // slot of the name; -1: always create an instance
	where        model.Code
	fields       []int // fields on which the condition may depend
	at           ir.Place
}

func newPlan(doc *ir.Document) *plan {
	p := &plan{doc: doc, program: model.Compile(doc), actor: -1}
	p.collects = p.listens("coverage_delta")
	if doc.Actor != "" {
		p.actor = p.program.Entity(doc.Actor)
	}
	rules := map[string]int{}
	for i, x := range doc.Protocols {
		rules[x.Name] = i
	}
	hides := doc.Hidden()
	for _, x := range doc.Protocols {
		p.grammar.Rules = append(p.grammar.Rules, p.add(x.Root, rules, hides))
	}
	for _, x := range doc.Roots() {
		p.roots = append(p.roots, rules[x.Name])
	}
	for _, g := range doc.Generators {
		p.starts = append(p.starts, p.compileStart(g))
	}
	for i := range p.program.Properties() {
		p.breaking = append(p.breaking, p.program.Breaking(i))
	}
	p.compileMoves()
	p.compileInputs()
	p.exceeds = p.program.Exceeds()
	p.prove()
	p.feeds, p.aims = sync.OnceValue(p.compileFeeds), sync.OnceValue(p.compileAims)
	p.compileAttempts()
	p.compileClaims()
	return p
}

// add adds a node and everything below it to the grammar.
func (p *plan) add(n *ir.Node, rules map[string]int, hides func(guard *ir.Expr) string) int {
	at := len(p.nodes)
	p.nodes = append(p.nodes, node{id: n.ID})
	p.grammar.Nodes = append(p.grammar.Nodes, walk.Node{})
	var g walk.Node
	info := node{id: n.ID}
	switch n.Kind {
	case ir.Seq:
		g.Kind = walk.Seq
		for _, c := range n.Children {
			g.Children = append(g.Children, p.add(c, rules, hides))
		}
	case ir.Alt:
		g.Kind = walk.Alt
		info.branches, info.weights = make([]branch, 0, len(n.Branches)), make([]float64, 0, len(n.Branches))
		for _, b := range n.Branches {
			g.Children = append(g.Children, p.add(b.Body, rules, hides))
			x := branch{id: b.ID, weight: float64(b.Weight), open: b.Guard == nil, hidden: hides(b.Guard) != ""}
			if b.Guard != nil {
				x.guard = p.program.Condition(b.Guard)
			}
			info.branches, info.weights = append(info.branches, x), append(info.weights, x.weight)
		}
	case ir.Repeat:
		g.Kind, g.Min, g.Max = walk.Repeat, int(n.Min), int(n.Max)
		g.Children = []int{p.add(n.Body, rules, hides)}
	case ir.Call:
		g.Kind, g.Action, info.action = walk.Call, p.program.Action(n.Action), n.Action
	case ir.RefTo:
		g.Kind, g.Rule = walk.Refer, rules[n.Protocol]
	}
	info.kind = g.Kind
	p.nodes[at], p.grammar.Nodes[at] = info, g
	return at
}

func (p *plan) compileStart(g *ir.Generator) start {
	s := start{gen: g}
	for _, step := range g.Steps {
		x := startStep{action: p.program.Action(step.Action), inputs: map[int]model.Value{}, given: map[string]model.Value{}}
		for _, w := range step.With {
			if w.Literal != nil {
				v, _ := p.program.New(1).Eval(p.program.Condition(w.Literal).Code)
				x.given[w.Name] = v
				if d := p.program.Domain(w.Name); d >= 0 {
					x.inputs[d] = v
				}
				continue
			}
			b := startBind{slot: p.program.Slot(w.Name), entity: p.program.VarEntity(w.Name), name: -1, at: w.Place}
			if w.Bind != "" {
				b.name = p.program.Slot(w.Bind)
			}
			if w.Where != nil {
				b.where = p.program.Predicate(w.Where, b.entity)
				named := p.mentioned(w.Where)
				for i, f := range p.doc.Entities[b.entity].Fields {
					if named[f.Name] {
						b.fields = append(b.fields, i)
					}
				}
			}
			x.binds = append(x.binds, b)
		}
		s.steps = append(s.steps, x)
	}
	if g.Postcondition != nil {
		s.post = p.program.Condition(g.Postcondition)
	}
	return s
}

// mentioned returns the names of the fields that an expression reads, directly or through what it
// calls.
func (p *plan) mentioned(e *ir.Expr) map[string]bool {
	named := map[string]bool{}
	seen := map[string]bool{}
	var visit func(*ir.Expr)
	visit = func(e *ir.Expr) {
		e.Walk(func(x *ir.Expr) {
			switch {
			case x.Op == ir.FieldOf:
				named[x.Text] = true
			case x.Op == ir.Is && !seen["r"+x.Text]:
				seen["r"+x.Text] = true
				visit(p.doc.Refinement(x.Text).Predicate)
			case x.Op == ir.Derived && !seen["f"+x.Text]:
				seen["f"+x.Text] = true
				visit(p.doc.Function(x.Text).Body)
			}
		})
	}
	visit(e)
	return named
}

// compileFeeds finds which branches may open which.
func (p *plan) compileFeeds() map[event][]event {
	feeds := map[event][]event{}
	sets := map[string][]event{} // by field: branches that lead to an action that sets it
	for at := range p.nodes {
		for i, child := range p.grammar.Nodes[at].Children {
			if p.nodes[at].kind != walk.Alt {
				continue
			}
			for field := range p.written(child, map[int]bool{}) {
				sets[field] = append(sets[field], event{kind: eventBranch, node: at, child: i})
			}
		}
	}
	for at := range p.nodes {
		for i, b := range p.nodes[at].branches {
			if b.open {
				continue
			}
			e := event{kind: eventBranch, node: at, child: i}
			for field := range p.mentioned(b.guard.Expr) {
				feeds[e] = append(feeds[e], sets[field]...)
			}
			slices.SortFunc(feeds[e], compare)
			feeds[e] = slices.DeleteFunc(slices.Compact(feeds[e]), func(x event) bool { return x == e })
		}
	}
	return feeds
}

// written returns the names of the fields that actions below a node set.
func (p *plan) written(at int, seen map[int]bool) map[string]bool {
	names := map[string]bool{}
	if seen[at] {
		return names
	}
	seen[at] = true
	n := &p.grammar.Nodes[at]
	below := n.Children
	switch n.Kind {
	case walk.Refer:
		below = []int{p.grammar.Rules[n.Rule]}
	case walk.Call:
		for _, s := range p.program.Actions()[n.Action].Effect.Sets {
			names[s.Field] = true
		}
	}
	for _, c := range below {
		for f := range p.written(c, seen) {
			names[f] = true
		}
	}
	return names
}

// compileInputs finds out where each input is used.
func (p *plan) compileInputs() {
	domains := p.doc.Inputs.Domains
	guarded := make([]bool, len(domains))
	note := func(set []bool) func(*ir.Expr) {
		return func(e *ir.Expr) {
			if e.Input {
				set[p.program.Domain(e.Text)] = true
			}
		}
	}
	for _, x := range p.doc.Protocols {
		x.Root.Walk(func(n *ir.Node) {
			for _, b := range n.Branches {
				b.Guard.Walk(note(guarded))
			}
		})
	}
	reached := make([]bool, len(domains))
	for i := range guarded {
		if guarded[i] {
			p.guarded, reached[i] = append(p.guarded, i), true
		}
	}
	for _, a := range p.program.Actions() {
		used := make([]bool, len(domains))
		for _, s := range a.Effect.Sets {
			s.Value.Walk(note(used))
		}
		for _, x := range a.Effect.Picks {
			x.Where.Walk(note(used))
		}
		for _, x := range a.Effect.Conds {
			x.Walk(note(used))
		}
		if a.Binding != nil {
			for _, x := range a.Binding.Values {
				x.Value.Walk(note(used))
			}
			for _, arg := range a.Binding.Args {
				if x, ok := p.doc.ArgumentOf(a.Binding, arg); ok && x.Kind == ir.ArgInput {
					used[p.program.Domain(x.Domain)] = true
				}
			}
		}
		var list []int
		for i := range used {
			if used[i] && !guarded[i] {
				list = append(list, i)
			}
			reached[i] = reached[i] || used[i]
		}
		p.asked = append(p.asked, list)
	}
	p.space = newSpace(p, reached)
}

// argument is the source of a parameter's value.
type argument struct {
	ir.ArgumentSource
	kind   dut.Kind
	slot   int
	field  int
	domain int
	code   model.Code // of a computed value
	enum   []string   // declared values, whose indices are passed to the module
}

// argumentOf says how to compute an argument, and its kind.
func (p *plan) argumentOf(src ir.ArgumentSource) argument {
	a := argument{ArgumentSource: src, kind: dut.Ref, slot: p.program.Slot(src.Var)}
	switch src.Kind {
	case ir.ArgField:
		for k, f := range p.doc.Entity(p.doc.Vars[src.Var]).Fields {
			if f.Name == src.Field {
				a.field, a.kind, a.enum = k, resultKinds[f.Type], f.Values
			}
		}
	case ir.ArgInput:
		a.domain = p.program.Domain(src.Domain)
		x := p.doc.Inputs.Domains[a.domain]
		a.kind, a.enum = resultKinds[x.Type], x.Values
	case ir.ArgValue:
		a.code, a.kind, a.enum = p.program.Condition(src.Value.Value).Code, resultKinds[src.Value.Result.Type], src.Value.Result.Values
	case ir.ArgWith:
		a.kind = dut.Int
		for _, g := range p.doc.Generators {
			for _, s := range g.Steps {
				for _, w := range s.With {
					if w.Name == src.With && w.Literal != nil {
						a.kind = map[ir.Op]dut.Kind{ir.LitBool: dut.Bool, ir.LitInt: dut.Int, ir.LitString: dut.String}[w.Literal.Op]
					}
				}
			}
		}
	}
	return a
}
